//! The table of behaviours: the releases that have each, and the evidence.
//!
//! One row per threshold of the contract's version table (1.22.md F) that the server acts on, and a few from its parts
//! A and B. A row of the contract with several thresholds is several rows here, whose ids differ in their last word. If
//! the contract leaves two candidates for a release, the later one is here, because it is certain. Every row is read by
//! code (`tests/tidy/versions.rs`).

use super::Version;

/// The versions with a behaviour. A backported fix has one entry per release line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// This version and every later one.
    Onward(Version),
    /// This version and the later patches of its release line.
    Line(Version),
    /// Only this version: its build has a patch that its release line lacks.
    Only(Version),
}

impl Since {
    /// Whether this entry covers `version`.
    pub fn covers(self, version: Version) -> bool {
        match self {
            Since::Onward(first) => version >= first,
            Since::Line(first) => version >= first && version.same_line(first),
            Since::Only(one) => version == one,
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The behaviour.
    pub behaviour: Behaviour,
    /// The id of the contract's row, such as `kv.path_clean`.
    pub id: &'static str,
    /// A version has the behaviour if any of these covers it.
    pub since: &'static [Since],
    /// The first later version that lacks the behaviour.
    pub until: Option<Version>,
    /// The evidence, in the marks of `conformance/contract/README.md`. V: a 1.8.7 was seen without the behaviour; N: a build
    /// of late 2025 was seen with it; D, H and I: how the release is known.
    pub evidence: &'static str,
}

const fn onward(major: u16, minor: u16, patch: u16) -> Since {
    Since::Onward(Version::new(major, minor, patch))
}

const fn line(major: u16, minor: u16, patch: u16) -> Since {
    Since::Line(Version::new(major, minor, patch))
}

const fn until(major: u16, minor: u16, patch: u16) -> Option<Version> {
    Some(Version::new(major, minor, patch))
}

impl Version {
    /// Whether this version has `behaviour`.
    pub fn has(self, behaviour: Behaviour) -> bool {
        let row = behaviour.row();
        row.since.iter().any(|since| since.covers(self))
            && row.until.is_none_or(|until| self < until)
    }
}

/// Makes the enum and the table from one list, so that they cannot differ.
macro_rules! behaviours {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, [$($since:expr),+], $until:expr, $evidence:literal;)+) => {
        /// A difference between releases of Consul.
        ///
        /// Each variant describes the behaviour of the versions that have it ([`Version::has`]).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Behaviour {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Behaviour {
            /// What the rows say.
            const TEXTS: &'static [&'static str] = &[$(concat!($($doc),+)),+];

            /// The rows, in the order of the variants.
            pub const TABLE: &'static [Row] = &[
                $(Row {
                    behaviour: Behaviour::$name,
                    id: $id,
                    since: &[$($since),+],
                    until: $until,
                    evidence: $evidence,
                },)+
            ];
        }
    };
}

impl Behaviour {
    /// Returns what versions with this behaviour do, in a sentence.
    pub fn text(self) -> &'static str {
        Behaviour::TEXTS[self as usize].trim()
    }

    /// Returns the row of this behaviour.
    pub fn row(self) -> &'static Row {
        &Behaviour::TABLE[self as usize]
    }
}

behaviours! {
    // The HTTP layer.

    /// The mux redirects with 307, before with 301, and no longer redirects the host of a CONNECT (2.1.md 1.r1).
    HttpRedirectTemporary = "http.redirect_307", [onward(2, 0, 0)], None, "N D";
    /// Registrations of the agent and reports of checks have bodies of at most 512 KiB (2.1.md 1.r7). The text is unknown.
    AgentBodyLimit = "agent.body_limit", [onward(2, 0, 3)], None, "C I";
    /// `X-Consul-Default-Acl-Policy: <policy>` on every answer of a registered endpoint.
    HttpDefaultAclHeader = "http.default_acl_header", [onward(1, 9, 0)], None, "V N D";
    /// Bodies under 1400 bytes are not gzipped; before, every body was.
    HttpGzipMinimum = "http.gzip_min", [onward(1, 9, 0)], None, "V N H";
    /// A connection over the limit per client gets a raw 429 with a body; before, it was closed without a word.
    HttpConnectionLimitAnswer = "http.conn_limit", [onward(1, 9, 0)], None, "V N D";
    /// `X-Consul-Query-Backend` beside every `X-Consul-Index`.
    HttpQueryBackendHeader = "http.query_backend", [onward(1, 10, 1)], None, "V N H";
    /// `cached` is ignored where `http_config.use_cache` is off; before, it still conflicted with `consistent`.
    HttpUseCacheSwitch = "http.use_cache", [onward(1, 10, 0)], None, "N H";
    /// A `;` in the query string is an error (500, empty body); before, it separated parameters.
    HttpSemicolonRefused = "http.semicolon", [line(1, 9, 17), line(1, 10, 10), onward(1, 11, 0)], None, "V N D";
    /// The 404 of an unknown path has a text.
    HttpUnknownPathText = "http.unknown_path", [onward(1, 11, 0)], None, "V N D";
    /// `partition` is refused with 400; before, it was ignored.
    HttpPartitionRefused = "http.partition_param", [onward(1, 11, 0)], None, "N H";
    /// `/` with the UI off explains how to enable it; before, it said `Consul Agent`.
    HttpUiOffText = "http.ui_off_text", [onward(1, 11, 2)], None, "V N D";
    /// The refusal of namespaces has lost its prefix `Bad request: `.
    HttpNamespaceErrorUnprefixed = "http.bad_request_prefix_ns", [onward(1, 13, 0)], None, "V N H";
    /// Every 400 of a handler starts with `Bad request: `.
    HttpBadRequestPrefix = "http.bad_request_prefix_all", [onward(1, 12, 0)], until(1, 13, 0), "H";
    /// The answers of rate limits have a text, and leader-only ones are 503; before, 429 with an empty body.
    HttpRateLimitText = "http.rpc_rate_body", [onward(1, 15, 0)], None, "V N H";
    /// A request without a leader is held 7 to 13.5 s in growing steps; before, 7.1 to 7.3 s.
    HttpNoLeaderHoldGrows = "http.no_leader_hold", [onward(1, 15, 0)], None, "N H";
    /// `datacenter` means `dc`, and wins over it.
    HttpDatacenterAlias = "http.dc_alias", [onward(1, 16, 0)], None, "N D";
    /// Pretty JSON ends in a newline only if the request said `pretty`; before, always.
    HttpPrettyNewlineOnRequest = "http.dev_newline", [onward(1, 17, 0)], None, "V N D";
    /// Go's parser of heads is stricter and says less: names and values of headers, `HTTP/1.10`, 505 for `HTTP/2.0`.
    HttpStrictHeads = "http.strict_heads", [onward(1, 20, 0)], None, "N I";
    /// Go's reader of chunks is stricter: sizes, line ends, and what stands beside the data.
    HttpStrictChunks = "http.strict_chunks", [onward(1, 22, 0)], None, "G I";
    /// `/api` belongs to the resource API, with its own 404 text.
    HttpApiPrefix = "http.api_prefix", [onward(1, 17, 0)], None, "N H";
    /// Paths are cleaned while still escaped, so `%2F%2F` and `%2E` reach the handler instead of a redirect.
    HttpMuxEscaped = "http.mux_escaped", [onward(1, 20, 0)], None, "N H";
    /// An empty 200 has a Content-Type, at first `text/plain; charset=utf-8`.
    HttpEmptyContentType = "http.empty200_ct.text", [onward(1, 20, 0)], None, "G D";
    /// An empty 200 is `application/json`, or what the request's own Content-Type was (GET, DELETE).
    HttpEmptyContentTypeJson = "http.empty200_ct.json", [onward(1, 20, 2)], None, "G D";
    /// That `application/json` has `; charset=utf-8`.
    HttpEmptyContentTypeCharset = "http.empty200_ct.charset", [onward(1, 21, 5)], None, "N D";
    /// The error of a handler sets its Content-Type itself, before all other headers.
    HttpErrorContentTypeFirst = "http.error_ct_first", [onward(1, 20, 0)], None, "V N D";
    /// The 500 of a malformed query string has a Content-Type.
    HttpBadQueryContentType = "http.badquery_ct", [onward(1, 20, 0)], None, "V N D";
    /// A response that is not written within `http_config.write_timeout` of its request is lost: the connection closes (2.1.md 1.r4).
    HttpWriteTimeout = "http.write_timeout", [onward(1, 22, 4)], None, "C D";
    /// `http_config.write_timeout` is 30 s, which blocking queries outlast; later 15 minutes, which none does.
    HttpWriteTimeoutShort = "http.write_timeout.30s", [onward(1, 22, 4)], until(1, 22, 5), "C I";

    /// A dev server writes four entries more before it registers itself (1.22.md A4). The release is not known.
    StartWritesMore = "start.entries", [onward(1, 22, 0)], None, "V N";

    // KV.

    /// A raw read is `text/plain`, `nosniff` and sandboxed; before, Go guessed the type from the value.
    /// Debian's 1.8.7 has this, upstream's has not (introduction of `kv.md`).
    KvRawHeaders = "kv.raw_headers",
        [line(1, 7, 14), Since::Only(Version::V1_8_7), line(1, 8, 10), onward(1, 9, 5)], None, "S D V";
    /// That type has `; charset=utf-8`.
    KvRawCharset = "kv.raw_charset", [onward(1, 21, 5)], None, "V N D";
    /// A blocking read of a missing key waits for that key; before, other writes could end it early (kv.md 5.4).
    KvMissingKeyBlocks = "kv.missing_block", [line(1, 10, 9), line(1, 11, 4), onward(1, 12, 0)], None, "N D";
    /// Errors of the replicated state machine start with `raft apply failed: `.
    KvApplyErrorPrefix = "kv.fsm_prefix", [onward(1, 10, 0)], None, "V N H";
    /// The path of a key is decoded twice.
    KvPathDecodedTwice = "kv.double_decode", [onward(1, 12, 0)], until(1, 12, 3), "D";
    /// `Conflicting flags: ...` ends in a newline.
    KvConflictNewline = "kv.conflict_newline", [onward(1, 19, 1)], None, "V N D";
    /// The 413 links to the page of the configuration files; before, to that of the agent's options.
    KvLimitLinkConfigFiles = "kv.413_link.config_files", [onward(1, 12, 0)], None, "S H";
    /// That link names the host developer.hashicorp.com.
    KvLimitLinkDeveloperHost = "kv.413_link.developer_host", [onward(1, 22, 0)], None, "N H";
    /// The decoded key is cleaned as a path is, keeping a slash at its end.
    KvPathClean = "kv.path_clean", [onward(1, 21, 5)], None, "V N D";
    /// A key has to match a regular expression, or is refused with 500.
    KvKeyPattern = "kv.key_regex", [onward(1, 21, 5)], until(1, 22, 0), "S D";
    /// A key must not traverse paths nor start or end in a space; there is a switch and a warning header.
    KvKeyRules = "kv.key_rules", [onward(1, 22, 0)], None, "V N D";
    /// The size limit also holds for chunked bodies (one byte more generously, and with another text).
    KvChunkedLimit = "kv.chunked_limit", [onward(1, 22, 0)], None, "V N D";

    // Transactions.

    /// 128 operations fit in a transaction; before, 64.
    TxnLimit128 = "txn.limit", [onward(1, 14, 0)], None, "N D";
    /// The verb `get-or-empty`.
    TxnGetOrEmpty = "txn.get_or_empty", [onward(1, 14, 0)], None, "N D";
    /// The answer of a read-only transaction has `NotModified`.
    TxnReadNotModified = "txn.read_fields.not_modified", [onward(1, 9, 0)], None, "N H";
    /// The answer of a read-only transaction has `Backend`.
    TxnReadBackend = "txn.read_fields.backend", [onward(1, 10, 1)], None, "N H";
    /// The answer of a read-only transaction has `ResultsFilteredByACLs`.
    TxnReadFiltered = "txn.read_fields.filtered", [onward(1, 11, 0)], None, "N H";
    /// The answer of a read-only transaction has `Index` 1; before, 0.
    TxnReadIndexOne = "txn.read_fields.index", [onward(1, 12, 0)], None, "N H";
    /// An unknown verb is found before anything is executed: `unknown KV operation: SET`.
    TxnUnknownVerbEarly = "txn.unknown_verb", [onward(1, 19, 1)], None, "N D";
    /// A 409 is `application/json; charset=utf-8`.
    TxnConflictCharset = "txn.409_ct", [onward(1, 21, 5)], None, "N D";
    /// A service operation keeps `TaggedAddresses`; before, they were dropped.
    TxnServiceTaggedAddresses = "txn.svc_tagged_addr", [onward(1, 22, 0)], None, "N H";
    /// A check operation keeps `Type`; before, it was dropped.
    TxnCheckType = "txn.check_type", [onward(1, 22, 0)], None, "N H";
    /// Rights on services and checks are those of what their ids name (2.1.md 2.r1).
    TxnStoredNames = "txn.rights_by_stored_name", [onward(2, 0, 0)], None, "C I";

    // Sessions.

    /// Errors of the replicated state machine start with `apply failed: `.
    SessionApplyErrorPrefix = "sess.fsm_prefix", [onward(1, 10, 0)], None, "N H";
    /// A malformed id is an unknown one, and destroying an unknown one writes nothing; before, 500 and a write.
    SessionMalformedIdIsUnknown = "sess.malformed_id", [onward(1, 11, 0)], None, "N H";
    /// Checks of type `session` follow the sessions of their name.
    SessionChecks = "sess.session_checks", [onward(1, 21, 0)], None, "N D";

    // The catalog.

    /// Registering an identical check leaves the checks index where it was.
    CatalogCheckUnchangedKeepsIndex = "cat.check_noop_index", [onward(1, 9, 0)], None, "V N H";
    /// Texts for a check of another node and for an unknown service id.
    CatalogRegisterTexts = "cat.register_texts", [onward(1, 11, 0)], None, "N H";
    /// `PeerName` in a registration is refused; before, it was ignored.
    CatalogPeerNameRefused = "cat.peername_reject", [onward(1, 13, 0)], None, "N H";
    /// One node is read at its own index, and the list of nodes moves with services.
    CatalogNodeIndex = "cat.node_index", [onward(1, 13, 0)], None, "N D";
    /// A service with an id and no name is refused with the long text.
    CatalogServiceNameText = "cat.svc_name_text", [onward(1, 14, 0)], None, "N H";
    /// A service with neither id nor name is refused with the long text.
    CatalogServiceEmptyText = "cat.svc_empty_text", [onward(1, 21, 2)], None, "N D";
    /// A service that supports Connect natively needs a port or a socket, as a proxy does. The release is unknown
    /// ("between"): the newest one is here.
    CatalogNativePort = "cat.native_port", [onward(1, 22, 0)], None, "V";
    /// The later words about proxies; the agent's refusals of a service begin with `Validation failed: `. The release is
    /// unknown ("between"): the newest one is here.
    CatalogProxyTexts = "cat.proxy_texts", [onward(1, 22, 0)], None, "V";

    /// Looking up a check without an id, or a node by an id that is not hexadecimal, is an error of the index; before, only
    /// the insertion of such a check was one, and the form of the id was checked. Between 1.8.7 and late 2025.
    CatalogIndexErrors = "cat.empty_ids", [onward(1, 22, 0)], None, "V N";
    /// A proxy may expose a path twice. The release is unknown ("between"): the newest one is here.
    CatalogExposedPathTwice = "cat.exposed_path_twice", [onward(1, 22, 0)], None, "V N";
    /// A registration looks at the id of its node before the address, at a null check before all else, and at the services
    /// that its checks name, in the case of their ids, before it writes anything. The release is unknown: the newest one is
    /// here.
    CatalogRegisterOrder = "cat.register_order", [onward(1, 22, 0)], None, "N";
    /// A `cas` of a check in a transaction that cannot be written returns the check as it is; before, nothing. The release is
    /// unknown: the newest one is here.
    TxnCheckCasShown = "txn.check_cas_shown", [onward(1, 22, 0)], None, "V N";
    /// The name of a node in another case writes nothing; before, it renamed a node with an id. Between 1.8.7 and late 2025.
    CatalogNodeNameCase = "cat.node_case", [onward(1, 22, 0)], None, "V N";
    /// A gateway without services has `[]`; before, `null`. Between 1.8.7 and late 2025.
    CatalogGatewayServicesEmpty = "gateway.services_empty", [onward(1, 22, 0)], None, "V N";
    /// The service `consul` has `read_replica` in its metadata. Between 1.8.7 and late 2025.
    CatalogReadReplica = "cat.read_replica", [onward(1, 22, 0)], None, "V N";

    /// `catalog/services` takes a filter; before, it was ignored.
    CatalogServicesFilter = "cat.services_filter", [onward(1, 14, 0)], None, "N D";

    // Fields of JSON.

    /// A check has `ExposedPort`.
    JsonCheckExposedPort = "json.check_fields.exposed_port", [onward(1, 10, 0)], None, "N D";
    /// A check has `Interval` and `Timeout`.
    JsonCheckInterval = "json.check_fields.interval", [onward(1, 10, 2)], None, "N D";
    /// A service of a node omits `Port` where it is 0, and its `Proxy` has `Mode`.
    JsonNodeServiceMode = "json.node_service.mode", [onward(1, 10, 0)], None, "N H";
    /// A service of a node has `PeerName`.
    JsonNodeServicePeerName = "json.node_service.peer_name", [onward(1, 13, 0)], None, "N H";
    /// Services have `SocketPath`.
    JsonCatalogServiceSocketPath = "json.catalog_service.socket_path", [onward(1, 10, 0)], None, "N H";
    /// agent/self has `PrimaryDatacenter`.
    JsonAgentSelfPrimaryDatacenter = "json.agent_self.primary_datacenter", [onward(1, 11, 0)], None, "N H";
    /// agent/self has `BuildDate`.
    JsonAgentSelfBuildDate = "json.agent_self.build_date", [line(1, 12, 6), onward(1, 13, 0)], None, "N D";
    /// agent/self has `BindAddr`.
    JsonAgentSelfBindAddress = "json.agent_self.bind_addr", [onward(1, 22, 0)], None, "N D";
    /// A service of the agent has `Datacenter`.
    JsonAgentServiceDatacenter = "json.agent_service_dc", [onward(1, 9, 0)], None, "N D";
    /// `DebugConfig` of agent/self groups the settings of ACLs, TLS and the UI. Between 1.8.7 and 1.22, the newest known.
    JsonDebugConfigNested = "json.debug_config", [onward(1, 22, 0)], None, "V N";
    /// Where the handler of coordinate/update refuses a body, it returns the error; before, it writes it itself. The release
    /// is not known (operator.md 2.r21).
    CoordinateBodyReturned = "coordinate.body_returned", [onward(1, 22, 0)], None, "V N";
    /// agent/self, agent/version and members name the commit of the build: Debian's 1.8.7 has none, and of those between
    /// none was asked.
    JsonRevision = "json.revision", [onward(1, 22, 0)], None, "V N";
    /// The refusal of a join names the port. Between 1.8.7 and 1.22, the newest known.
    AgentJoinNamesPort = "agent.join_text", [onward(1, 22, 0)], None, "V N";
    /// The root certificate is `Consul CA Primary Cert`. Between 1.8.7 and 1.22, the newest known.
    ConnectRootIsPrimary = "connect.root_name", [onward(1, 22, 0)], None, "V N";
    /// The roots of Connect are read with a known leader, and the agent has read them before any client asks; the settings of
    /// their authority have `RootCertTTL`; before, `RotationPeriod`. The release is not known (operator.md 3.r9).
    ConnectRootsKept = "connect.roots_kept", [onward(1, 22, 0)], None, "V N";
    /// A server of raft has `LastIndex`. Between 1.8.7 and 1.22, the newest known.
    RaftLastIndex = "op.raft_last_index", [onward(1, 22, 0)], None, "V N";
    /// Raft's refusals begin in lower case. Between 1.8.7 and 1.22, the newest known.
    RaftTextsLower = "op.raft_texts", [onward(1, 22, 0)], None, "V N";
    /// Without configuration entries their index is that of the start; before, 1. Between 1.8.7 and 1.22, the newest known.
    ConfigIndexOfStart = "config.index_of_start", [onward(1, 22, 0)], None, "V N";
    /// Entries and discovery chains have the forms, texts and checks of late 2025 (operator.md 4, 5), whose releases are unknown.
    ConfigLate = "config.late", [onward(1, 22, 0)], None, "V N";
    /// A root of Connect has `DaysRemaining` (2.1.md 6.r3).
    ConnectRootDays = "connect.root_days", [onward(2, 0, 0)], None, "C I";
    /// Entries have the fields of 2.0 (2.1.md 5). Their order, and what is checked of them, is unknown.
    ConfigTwo = "config.two", [onward(2, 0, 0)], None, "C I";
    /// Entries have the fields of 2.1, some of them in a late 2.0 already (2.1.md 5).
    ConfigTwoOne = "config.two_one", [onward(2, 1, 0)], None, "C I";
    /// Connect is on unless the configuration says otherwise; before, only in `-dev` (operator.md 3.r20).
    ConnectByDefault = "connect.by_default", [onward(1, 14, 0)], None, "V I";
    /// Intentions are sources of `service-intentions` entries; before, rows of an own table with ids (operator.md 4.5).
    IntentionEntries = "intention.entries", [onward(1, 9, 0)], None, "V I";
    /// Reads of intentions refuse namespaces, and everything where Connect is off; names may have a partition. The release is
    /// not known (operator.md 4.5).
    IntentionLate = "intention.late", [onward(1, 22, 0)], None, "V N";
    /// `connect/intentions/match` reads the agent's cache. The release is not known (session.md 4.5c).
    IntentionMatchCached = "intention.match_cached", [onward(1, 22, 0)], None, "V N";
    // Kinds and fields of configuration entries, a row for each release that brought some (operator.md 4.3). The releases of
    // fields are those of what they belong to.

    /// Resolvers have `LoadBalancer`.
    ConfigLoadBalancers = "config.load_balancers", [onward(1, 9, 0)], None, "V N I";
    /// `mesh`; transparent proxies, settings of upstreams, changes of headers, certificates of gateways' listeners.
    ConfigTransparentProxies = "config.transparent_proxies", [onward(1, 10, 0)], None, "V N I";
    /// `exported-services`; partitions of destinations, the versions of TLS that a gateway takes.
    ConfigPartitions = "config.partitions", [onward(1, 11, 0)], None, "V N I";
    /// Destinations outside of the mesh; limits and timeouts of a service's own connections.
    ConfigDestinations = "config.destinations", [onward(1, 13, 0)], None, "V N I";
    /// Peers as destinations; limits of gateways, balance of connections.
    ConfigPeers = "config.peers", [onward(1, 14, 0)], None, "V N I";
    /// `api-gateway`, its routes and certificates; extensions of Envoy, access logs, more about retries.
    ConfigApiGateways = "config.api_gateways", [onward(1, 15, 0)], None, "V N I";
    /// `sameness-group`; failover by locality, permissive TLS, JSON Web Tokens in intentions.
    ConfigSamenessGroups = "config.sameness_groups", [onward(1, 16, 0)], None, "V N I";
    /// `jwt-provider`; rate limits, hosts that a terminating gateway leaves.
    ConfigJwtProviders = "config.jwt_providers", [onward(1, 17, 0)], None, "V N I";
    /// `ValidateClusters` of the mesh, `CaseInsensitive` of routes.
    ConfigValidClusters = "config.valid_clusters", [onward(1, 18, 0)], None, "V N I";
    /// `file-system-certificate`; `Contains` and `IgnoreCase` of headers.
    ConfigCertificateFiles = "config.certificate_files", [onward(1, 20, 0)], None, "V N I";

    /// An entry can be deleted by its index.
    ConfigDeleteCas = "config.delete_cas", [onward(1, 11, 0)], None, "D N";
    /// Flaws of a template are told with their place. Between 1.8.7 and 1.22, the newest known.
    QueryTemplateText = "query.template_text", [onward(1, 22, 0)], None, "V N";
    /// A prepared query must not have `Targets` beside `NearestN` or `Datacenters`.
    QueryTargetsAlone = "query.targets_alone", [onward(1, 14, 0)], None, "N I";
    /// Health and catalog/service look at `peer`.
    HttpPeerParameter = "http.query_peer_sg.peer", [onward(1, 13, 0)], None, "N H";
    /// Reads of health refuse `sg`.
    HttpSamenessGroupRefused = "http.query_peer_sg.sg", [onward(1, 16, 0)], None, "N H";
    /// The tags of a member have `ft_si`.
    AgentTagIntentions = "agent.tag_ft_si", [onward(1, 14, 0)], None, "V N I";
    /// The tags of a client agent have no `acls`.
    AgentClientWithoutAclsTag = "agent.client_tag_acls", [onward(1, 11, 0)], None, "V N I";
    /// The node's `Meta` has `consul-version`.
    JsonNodeMetaVersion = "json.node_meta_version", [onward(1, 16, 1)], None, "N D";
    /// A prepared query has `Targets` and `Peer`, its result `PeerName`.
    JsonQueryPeer = "json.query.peer", [onward(1, 14, 0)], None, "N H";
    /// A prepared query has `SamenessGroup`.
    JsonQuerySamenessGroup = "json.query.sameness_group", [onward(1, 16, 0)], None, "N H";
    /// The result of a prepared query has `Index` 1; before, 0.
    JsonQueryIndexOne = "json.query.index", [onward(1, 12, 0)], None, "N H";

    /// Services have `Ports`.
    JsonServicePorts = "json.service_ports", [onward(1, 22, 0)], None, "N D";
    /// The hash of a service's content counts a field `AI`, in 2.0.4 at the earliest (1.22.md B4.2q).
    ServiceAiHashed = "json.service_ai_hashed", [onward(2, 1, 0)], None, "C I";
    /// Bodies may name a `Partition`.
    JsonPartition = "json.partition", [onward(1, 11, 0)], None, "S H";
    /// Services and nodes have a `Locality`.
    JsonLocality = "json.locality", [onward(1, 16, 0)], None, "N H";
    /// Definitions of checks have `TLSServerName`.
    JsonCheckTlsServerName = "json.check_definition.tls_server_name", [onward(1, 9, 0)], None, "I";
    /// Definitions of checks have `H2PING` and `H2PingUseTLS`.
    JsonCheckH2Ping = "json.check_definition.h2ping", [onward(1, 10, 0)], None, "I";
    /// Checks have the words of later releases of Go's TLS and gRPC libraries, and gRPC checks name the status. Nobody has
    /// asked which release of Consul was the first with them: 1.22.
    AgentCheckLateWords = "agent.check.late_words", [onward(1, 22, 0)], None, "N I";
    /// A `-dev` agent with a port for HTTPS and no certificate makes its own. Nobody has asked which release was the first:
    /// 1.22, as in the rows below.
    HttpsOwnCertificate = "https.own_certificate", [onward(1, 22, 0)], None, "N I";
    /// Clients that offer only unknown protocols (ALPN) are refused.
    HttpsProtocolRefused = "https.protocol_refused", [onward(1, 22, 0)], None, "N I";
    /// The alert names the flaw of a client's certificate; before, it is always `bad_certificate`.
    HttpsClientAlerts = "https.client_alerts", [onward(1, 22, 0)], None, "N I";
    /// The key `ui`, if it is false, does not switch the page of `-dev` off. The release is unknown ("between"): the newest
    /// one is here.
    UiKeyOnlyTurnsOn = "ui.key_only_turns_on", [onward(1, 22, 0)], None, "V N";
    /// `agent/members` has a filter. The release is unknown ("between"): the newest one is here.
    AgentMembersFilter = "agent.members_filter", [onward(1, 22, 0)], None, "N";
    /// Bodies of checks may say `grpc_use_tls`. Seen on late 2025; the release is unknown: the newest one is here.
    JsonCheckGrpcUseTlsSnake = "json.check_definition.grpc_use_tls_snake", [onward(1, 22, 0)], None, "N";
    /// Definitions of checks have `FailuresBeforeWarning`.
    JsonCheckFailuresBeforeWarning = "json.check_definition.failures_before_warning", [onward(1, 11, 0)], None, "I";
    /// Definitions of checks have `UDP` and `DisableRedirects`.
    JsonCheckUdp = "json.check_definition.udp", [onward(1, 13, 0)], None, "I";
    /// Definitions of checks have `OSService`.
    JsonCheckOsService = "json.check_definition.os_service", [onward(1, 14, 0)], None, "I";
    /// Definitions of checks have `TCPUseTLS`.
    JsonCheckTcpUseTls = "json.check_definition.tcp_use_tls", [onward(1, 17, 0)], None, "I";
    /// Definitions of checks in the types of Consul's client, which transactions and `agent/health` use, have `GRPC` and
    /// `GRPCUseTLS`. Seen on late 2025 alone.
    JsonClientCheckGrpc = "json.check_definition.client_grpc", [onward(1, 22, 0)], None, "N";
    /// A service of the mesh has the tagged address `consul-virtual` in the catalog and in health.
    JsonConsulVirtual = "json.consul_virtual", [onward(1, 11, 0)], None, "V D";
    /// The catalog shows no empty `Config` of an upstream and no `ParsedFromCheck` that is false. The release is unknown
    /// ("between"): the newest one is here.
    JsonProxyUnsetHidden = "json.proxy.unset_hidden", [onward(1, 22, 0)], None, "V";
    /// An upstream may say `CentrallyConfigured`. The release is unknown ("between"): the newest one is here.
    JsonUpstreamCentral = "json.upstream.centrally_configured", [onward(1, 22, 0)], None, "V";
    /// A proxy has `EnvoyExtensions` and `AccessLogs`.
    JsonProxyExtensions = "json.proxy.extensions", [onward(1, 16, 0)], None, "I";

    // The agent, health, queries, events.

    /// An unknown service id is answered with 404; before, with 200.
    AgentUnknownService404 = "agent.unknown_service.404", [onward(1, 11, 0)], None, "N D";
    /// That 404 says that the id is meant and not the name.
    AgentUnknownServiceText = "agent.unknown_service.text", [onward(1, 12, 0)], None, "N D";
    /// An unknown check id is answered with 500 `Unknown check "x"`; before, with 200 or the text about TTL.
    AgentUnknownCheck500 = "agent.unknown_check.500", [onward(1, 11, 0)], None, "S D";
    /// An unknown check id is answered with 404.
    AgentUnknownCheck404 = "agent.unknown_check.404", [onward(1, 11, 2)], None, "N D";
    /// That 404 says that the id is meant and not the name.
    AgentUnknownCheckText = "agent.unknown_check.text", [onward(1, 12, 0)], None, "N D";
    /// A check for an unknown service is refused with 404; before, with 500.
    AgentCheckUnknownService404 = "agent.check_unknown_svc", [onward(1, 11, 0)], None, "N H";
    /// An agent's check keeps its status until it has passed or failed as often as it says; 1.8 goes by the last run.
    AgentCheckThresholds = "agent.check_thresholds", [onward(1, 9, 0)], None, "N I";
    /// The text about a missing interval names all kinds of check that are run; some came earlier, one by one.
    AgentCheckIntervalText = "agent.check_interval_text", [onward(1, 14, 0)], None, "N H";
    /// The check that a sidecar gets dials the sidecar's own address; before, that of its service behind it (session.md 4.4.r9).
    AgentSidecarAddress = "agent.sidecar_check_address", [onward(1, 13, 2)], None, "V I";
    /// `agent/version` exists.
    AgentVersion = "agent.version", [onward(1, 16, 0)], None, "N H";
    /// Metrics in Prometheus' format, where they are off, are an empty answer that says why in a header; before, 415. The
    /// release is not known (operator.md 7).
    AgentPrometheusReason = "agent.prometheus_reason", [onward(1, 22, 0)], None, "V N";
    /// Without `enable_debug` and ACLs there are no profiles: 404 without a text; before, 401. The release is not known
    /// (operator.md 7.r7).
    AgentPprofUnknown = "agent.pprof_unknown", [onward(1, 22, 0)], None, "V N";
    /// `agent/metrics/stream` exists.
    AgentMetricsStream = "agent.metrics_stream", [onward(1, 11, 0)], None, "N D";
    /// The durations of requests are one metric with labels; before, one for each method and endpoint. The release is not
    /// known (operator.md 7).
    MetricsOfRequestsLabelled = "metrics.api_http", [onward(1, 22, 0)], None, "V N";
    /// The names of gauges have the host's in them also where metrics go nowhere else, and there are gauges of the state.
    /// The release is not known (operator.md 7).
    MetricsOfState = "metrics.state", [onward(1, 22, 0)], None, "V N";
    /// health/service with an index says `X-Consul-Query-Backend: streaming`.
    HealthStreaming = "health.streaming", [onward(1, 10, 1)], None, "N D";
    /// The 404 of a prepared query has the index headers.
    QueryNotFoundHeaders = "query.404_headers", [onward(1, 12, 0)], None, "N H";
    /// The payload of an event is limited to 300 bytes.
    EventLimit = "event.limit", [onward(1, 22, 0)], None, "N D";

    // ACLs.

    /// An answer says in a header that rows were removed from it.
    HttpFilteredHeader = "http.filtered_header", [onward(1, 11, 0)], None, "V N D";
    /// A denial names the accessor and the permission.
    AclDeniedText = "acl.denied_text", [onward(1, 12, 0)], None, "V N D";
    /// The endpoints of the legacy ACL system are gone.
    AclLegacyRemoved = "acl.legacy", [onward(1, 11, 0)], None, "V N D";
    /// The endpoints of templated policies exist.
    AclTemplatedPolicies = "acl.templated_policies", [onward(1, 17, 0)], None, "N D";
    /// An argument that rules give twice is an error; before, the last one counted.
    AclArgumentsOnce = "acl.dup_keys", [onward(1, 20, 2)], None, "V N D";
    /// Rules have `mesh`; before, it was ignored.
    AclMeshRules = "acl.mesh_rules", [onward(1, 10, 0)], None, "D";
    /// Rules have `peering`; before, it was ignored.
    AclPeeringRules = "acl.peering_rules", [onward(1, 13, 0)], None, "D";

    /// An unknown token of a server that was never bootstrapped is told that it must be.
    AclNotBootstrapped = "acl.not_bootstrapped", [onward(1, 15, 0)], None, "V N D";
    /// A denial of a request without a token says `anonymous token`.
    AclDeniedAnonymous = "acl.denied_text.anonymous", [onward(1, 15, 0)], None, "N D";
    /// `acl/bootstrap` takes a secret.
    AclBootstrapSecret = "acl.bootstrap_secret", [onward(1, 15, 0)], None, "N D";
    /// Missing policies, roles, auth methods and binding rules are 404 with a text, and so is deleting missing objects;
    /// before, policies were 403, the others an empty 404, and deleting succeeded.
    AclMissing404 = "acl.missing_404", [onward(1, 15, 0)], None, "V N D";
    /// Lists of tokens show the secrets.
    AclListSecrets = "acl.stub_secret", [onward(1, 10, 1)], None, "V N D";
    /// There is a builtin policy that allows reading everything.
    AclReadOnlyPolicy = "acl.readonly_policy", [onward(1, 16, 1)], None, "V N D";
    /// The name of a policy may have a slash.
    AclPolicyNameSlash = "acl.policy_name_text", [onward(1, 16, 1)], None, "V N D";
    /// A missing token is told in words. The release is not known: between 1.8.7 and late 2025 (acl.md 13).
    AclTokenMissingText = "acl.token_missing", [onward(1, 22, 0)], None, "V N";
    /// Policies and roles are listed by name; before, by id. The release is not known (acl.md 13).
    AclListsByName = "acl.lists_by_name", [onward(1, 22, 0)], None, "V N";
    /// A token may live for more than a day. The release is not known (acl.md 13).
    AclLongLives = "acl.long_lives", [onward(1, 22, 0)], None, "V N";
    /// The texts about tokens, roles and identities of late 2025. The releases are not known (acl.md 5, 8).
    AclLateTexts = "acl.late_texts", [onward(1, 22, 0)], None, "V N";
    /// Reads of a token take `?expanded`. The release is not known: between 1.8.7 and late 2025 (acl.md 5.15).
    AclExpanded = "acl.expanded", [onward(1, 22, 0)], None, "V N";
    /// The roles of a token are looked up before its policies, and identities stay in the order in which they were sent;
    /// before, they were sorted by name (acl.md 5.10, 8.2.r4). The release is not known.
    AclGrantsAsGiven = "acl.grants_as_given", [onward(1, 22, 0)], None, "V N";
    /// Auth methods in lists show the lifetime and the locality of tokens (acl.md 8.4.r1). The release is not known.
    AclMethodStubs = "acl.method_stubs", [onward(1, 22, 0)], None, "V N";
    /// Tokens of logins have a `Name`, which auth methods form by `TokenNameFormat` (2.1.md 3.r1, 3.r2).
    AclTokenName = "acl.token_name", [onward(2, 0, 0)], None, "C I";
    /// A check of a missing service of the agent is told so before rights are looked at (acl.md 7.r26). The release is not
    /// known.
    AclServiceOfCheckFirst = "acl.service_of_check_first", [onward(1, 22, 0)], None, "V N";
    /// The literal `anonymous` counts as no token where an answer says that rows were removed.
    AclAnonymousUntold = "acl.anonymous_untold", [onward(1, 21, 5)], None, "D";
    /// The agent's recovery token counts on all endpoints; before, on the agent's own. The release is not known
    /// (acl.md 13).
    AclRecoveryEverywhere = "acl.recovery_everywhere", [onward(1, 22, 0)], None, "V N";

    /// A service is listed only to who may read a node that has it, too. The release is not known (acl.md 13).
    AclServicesOfNodes = "acl.services_of_nodes", [onward(1, 22, 0)], None, "V N";
    /// health/connect is refused without a right on the service; before, it found nothing. The release is not known
    /// (acl.md 13).
    AclHealthConnectRefused = "acl.health_connect_refused", [onward(1, 22, 0)], None, "V N";
    /// `operator/autopilot/state` exists.
    OperatorAutopilotState = "op.autopilot_state", [onward(1, 9, 0)], None, "V N D";
    /// What a new configuration of autopilot leaves out has its default; before, it is zero. The release is not known.
    OperatorAutopilotDefaults = "op.autopilot_defaults", [onward(1, 22, 0)], None, "V N";
    /// `operator/raft/transfer-leader` exists.
    OperatorTransferLeader = "op.transfer_leader", [onward(1, 15, 0)], None, "V N I";
    /// `operator/usage` exists.
    OperatorUsage = "op.usage", [onward(1, 15, 0)], None, "V N I";
    /// It counts nodes, too.
    OperatorUsageNodes = "op.usage.nodes", [onward(1, 16, 1)], None, "D N";
    /// `operator/usage` counts inference gateways, of which there are none.
    OperatorUsageInference = "op.usage.inference", [onward(2, 1, 0)], None, "C I";
    /// `operator/utilization` is known, and refused by the community edition.
    OperatorUtilization = "op.utilization", [onward(1, 22, 0)], None, "N D";
    /// `peerings` and `peering/` exist.
    Peering = "peering.endpoints", [onward(1, 13, 0)], None, "V N D";
    /// `exported-services` exists.
    ExportedServices = "peering.exported_services", [onward(1, 18, 0)], None, "V N I";
    /// `imported-services` exists (2.1.md 6.r1).
    ImportedServices = "peering.imported_services", [onward(1, 22, 3)], None, "C I";
    /// Consul's page reads what proxies, peers and gateways do with services (operator.md 3.r18).
    PageTopology = "internal.page_topology", [onward(1, 9, 0)], None, "V I";
    /// The services of Consul's page have a datacenter and say what leads to them. The release is not known.
    PageSummaries = "internal.page_summaries", [onward(1, 22, 0)], None, "V N";
    /// `internal/service-virtual-ip` exists. The release is not known.
    ServiceVirtualIp = "internal.service_virtual_ip", [onward(1, 22, 0)], None, "V N";
    /// The keyring is refused as all else is; before, with 500. The release is not known (acl.md 13).
    AclKeyringRefused403 = "acl.keyring_refused_403", [onward(1, 22, 0)], None, "V N";
    /// The agent deregisters services with its own token, not with theirs (acl.md 11.4). The release is not known.
    AclAgentDeregisters = "acl.agent_deregisters", [onward(1, 22, 0)], None, "V N";

    // DNS.

    /// The server of DNS that later releases have: names of the domain asked for, NXDOMAIN for addresses that nobody has, sizes
    /// with EDNS (cluster.md 6.25, 6.27, 6.28, 6.32, 6.34, 6.38).
    DnsServer = "dns.server", [onward(1, 19, 0)], None, "V N D";
    /// Services of the mesh have a name below `virtual`; in 1.14.0 at the latest (cluster.md 6.23).
    DnsVirtual = "dns.virtual", [onward(1, 14, 0)], None, "V N D";

    // The command line, logs and ports.

    /// Configuration keys that 1.8.7 refuses are known.
    CliLaterKeys = "cli.later_keys", [onward(1, 9, 0)], None, "V I";
    /// `http_config` has four time-outs (2.1.md 7.r1).
    CliHttpTimeouts = "cli.http_timeout_keys", [onward(1, 22, 4)], None, "C D";
    /// `limits.grpc_max_conns_per_client` is known (2.1.md 7.r2).
    CliGrpcLimit = "cli.grpc_limit_key", [onward(2, 0, 3)], None, "C I";
    /// `feature_gates` and curves of TLS are known (2.1.md 7.r4, 7.r5).
    CliTwoOne = "cli.keys_of_2_1", [onward(2, 1, 0)], None, "C D";
    /// What an agent prints at its start has one line for each sort of encryption.
    CliBannerLong = "cli.banner", [onward(1, 12, 0)], None, "N I";
    /// `Consul agent running!` is a line of the log; before, `==> Consul agent running!` outside of it.
    LogRunningLine = "log.running_line", [onward(1, 11, 0)], None, "N H";
    /// The line of an HTTP listener is `Starting server: ...`; before, `Started HTTP server: ...`.
    LogStartingServer = "log.starting_server", [onward(1, 9, 0)], None, "N H";
    /// Servers have a port for gRPC over TLS.
    PortGrpcTls = "port.grpc_tls", [onward(1, 14, 0)], None, "N D";
}

#[cfg(test)]
mod tests;
