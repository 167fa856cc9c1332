//! The kinds of entries, and the fields of each in the order in which they are shown.

use super::field::Shape::{
    Any, Flag, Ignored, Int, Kept, List, Map, Nanos, Struct, Text, Time, Uint, Weight,
};
use super::field::{Field, LABELS, TEXTS, always, set};
use crate::version::{Behaviour, Version};

/// A kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The first release with it.
    pub(super) since: Version,
    /// The name of its only entry; `None` if it has many.
    pub(super) only_name: Option<&'static str>,
    pub(super) fields: &'static [Field],
}

impl Kind {
    /// Whether an entry with another name than the only one is refused. Earlier releases take it for that one.
    pub(super) fn checks_name(&self, version: Version) -> bool {
        version.has(Behaviour::ConfigLate)
    }

    /// Whether entries show their names. The name of others is ignored in bodies, too.
    pub(super) fn shows_name(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.name == "Name" && !matches!(field.shape, Ignored))
    }
}

const fn kind(name: &'static str, minor: u16, fields: &'static [Field]) -> Kind {
    Kind {
        name,
        since: Version::new(1, minor, 0),
        only_name: None,
        fields,
    }
}

const fn only(name: &'static str, kind: Kind) -> Kind {
    Kind {
        only_name: Some(name),
        ..kind
    }
}

/// All kinds.
pub(super) const KINDS: &[Kind] = &[
    kind("service-defaults", 5, SERVICE_DEFAULTS),
    only("global", kind("proxy-defaults", 5, PROXY_DEFAULTS)),
    kind("service-router", 6, ROUTER),
    kind("service-splitter", 6, SPLITTER),
    kind("service-resolver", 6, RESOLVER),
    kind("ingress-gateway", 8, INGRESS),
    kind("terminating-gateway", 8, TERMINATING),
    kind("service-intentions", 9, INTENTIONS),
    only("mesh", kind("mesh", 10, MESH)),
    only("default", kind("exported-services", 11, EXPORTED)),
    kind("sameness-group", 16, SAMENESS_GROUP),
    kind("api-gateway", 15, API_GATEWAY),
    kind("bound-api-gateway", 15, BOUND_API_GATEWAY),
    kind("http-route", 15, HTTP_ROUTE),
    kind("tcp-route", 15, TCP_ROUTE),
    kind("inline-certificate", 15, INLINE_CERTIFICATE),
    kind("file-system-certificate", 20, FILE_CERTIFICATE),
    kind("jwt-provider", 17, JWT_PROVIDER),
];

const KIND: Field = always("Kind", Text);
const NAME: Field = always("Name", Text);
const META: Field = set("Meta", LABELS);
/// What a read shows beside the fields, and what is ignored when it is sent back.
const CREATE_INDEX: Field = set("CreateIndex", Ignored);
const MODIFY_INDEX: Field = set("ModifyIndex", Ignored);
const RAFT_INDEX: Field = set("RaftIndex", Ignored);
const HASH: Field = set("Hash", Ignored).since(22);
const STATUS: Field = always("Status", Struct(&[set("Conditions", List(&Kept))]));

/// Returns the table of a kind: its fields between those that all kinds have.
macro_rules! fields {
    ($($field:expr),* $(,)?) => {
        &[$($field,)* META, HASH, CREATE_INDEX, MODIFY_INDEX, RAFT_INDEX]
    };
}

const MESH_GATEWAY: Field = always("MeshGateway", Struct(&[set("Mode", Text)]));
const TRANSPARENT_PROXY: Field = always(
    "TransparentProxy",
    Struct(&[
        set("OutboundListenerPort", Int),
        set("DialedDirectly", Flag),
    ]),
)
.since(10);
const EXPOSE: Field = always(
    "Expose",
    Struct(&[
        set("Checks", Flag),
        set(
            "Paths",
            List(&Struct(&[
                set("ListenerPort", Int),
                set("Path", Text),
                set("LocalPathPort", Int),
                set("Protocol", Text),
                always("ParsedFromCheck", Flag).left_out_since(22),
            ])),
        ),
    ]),
);
const EXTENSIONS: Field = set(
    "EnvoyExtensions",
    List(&Struct(&[
        always("Name", Text),
        always("Required", Flag),
        always("Arguments", Any),
        always("ConsulVersion", Text),
        always("EnvoyVersion", Text),
    ])),
)
.since(15);

const LIMITS: Field = set(
    "Limits",
    Struct(&[
        set("MaxConnections", Int),
        set("MaxPendingRequests", Int),
        set("MaxConcurrentRequests", Int),
    ]),
);
const PASSIVE_CHECK: Field = set(
    "PassiveHealthCheck",
    Struct(&[
        set("Interval", Nanos),
        set("MaxFailures", Uint),
        set("EnforcingConsecutive5xx", Uint),
        set("MaxEjectionPercent", Uint),
        set("BaseEjectionTime", Nanos),
    ]),
);
const UPSTREAM: &[Field] = &[
    set("Name", Text),
    always("Peer", Text),
    set("EnvoyListenerJSON", Text),
    set("EnvoyClusterJSON", Text),
    set("Protocol", Text),
    set("ConnectTimeoutMs", Int),
    LIMITS,
    PASSIVE_CHECK,
    MESH_GATEWAY,
    set("BalanceOutboundConnections", Text),
];

const SERVICE_DEFAULTS: &[Field] = fields![
    KIND,
    NAME,
    always("Protocol", Text),
    set("Mode", Text).since(10),
    TRANSPARENT_PROXY,
    set("MutualTLSMode", Text).since(16),
    MESH_GATEWAY,
    EXPOSE,
    set("ExternalSNI", Text),
    set(
        "UpstreamConfig",
        Struct(&[
            set("Overrides", List(&Struct(UPSTREAM))),
            set("Defaults", Struct(UPSTREAM)),
        ])
    )
    .since(10),
    set(
        "Destination",
        Struct(&[set("Addresses", TEXTS), set("Port", Int)])
    )
    .since(13),
    set("MaxInboundConnections", Int).since(13),
    set("LocalConnectTimeoutMs", Int).since(13),
    set("LocalRequestTimeoutMs", Int).since(13),
    set("BalanceInboundConnections", Text).since(14),
    set("RateLimits", Kept).since(17),
    EXTENSIONS,
];

const PROXY_DEFAULTS: &[Field] = fields![
    KIND,
    NAME,
    always("Config", Any),
    set("Mode", Text).since(10),
    TRANSPARENT_PROXY,
    set("MutualTLSMode", Text).since(16),
    MESH_GATEWAY,
    EXPOSE,
    always(
        "AccessLogs",
        Struct(&[
            set("Enabled", Flag),
            set("DisableListenerLogs", Flag),
            set("Type", Text),
            set("Path", Text),
            set("JSONFormat", Text),
            set("TextFormat", Text),
        ])
    )
    .since(15),
    EXTENSIONS,
    set(
        "FailoverPolicy",
        Struct(&[set("Mode", Text), set("Regions", TEXTS)])
    )
    .since(16),
    set("PrioritizeByLocality", Struct(&[set("Mode", Text)])).since(16),
];

const MATCHER: &[Field] = &[
    always("Name", Text),
    set("Present", Flag),
    set("Exact", Text),
    set("Prefix", Text),
    set("Suffix", Text),
    set("Contains", Text).since(20),
    set("IgnoreCase", Flag).since(20),
    set("Regex", Text),
    set("Invert", Flag),
];
const QUERY_MATCHER: &[Field] = &[
    always("Name", Text),
    set("Present", Flag),
    set("Exact", Text),
    set("Regex", Text),
];
const HEADER_CHANGES: Field = set(
    "RequestHeaders",
    Struct(&[set("Add", LABELS), set("Set", LABELS), set("Remove", TEXTS)]),
)
.since(10);
const RESPONSE_CHANGES: Field = HEADER_CHANGES.named("ResponseHeaders");

const ROUTER: &[Field] = fields![KIND, NAME, always("Routes", List(&Struct(ROUTE)))];
pub(super) const ROUTE: &[Field] = &[
    set(
        "Match",
        Struct(&[set(
            "HTTP",
            Struct(&[
                set("PathExact", Text),
                set("PathPrefix", Text),
                set("PathRegex", Text),
                set("CaseInsensitive", Flag).since(18),
                set("Header", List(&Struct(MATCHER))),
                set("QueryParam", List(&Struct(QUERY_MATCHER))),
                set("Methods", TEXTS),
            ]),
        )]),
    ),
    set(
        "Destination",
        Struct(&[
            set("RequestTimeout", Time),
            set("IdleTimeout", Time).since(15),
            set("Service", Text),
            set("ServiceSubset", Text),
            set("Namespace", Text),
            set("Partition", Text).since(11),
            set("PrefixRewrite", Text),
            set("NumRetries", Uint),
            set("RetryOnConnectFailure", Flag),
            set("RetryOnStatusCodes", List(&Uint)),
            set("RetryOn", TEXTS).since(15),
            HEADER_CHANGES,
            RESPONSE_CHANGES,
        ]),
    ),
];

/// What a request for a discovery chain may set.
pub(super) const OVERRIDES: &[Field] = &[
    MESH_GATEWAY.named("OverrideMeshGateway"),
    set("OverrideProtocol", Text),
    set("OverrideConnectTimeout", Time),
];

const SPLITTER: &[Field] = fields![KIND, NAME, always("Splits", List(&Struct(SPLIT)))];
pub(super) const SPLIT: &[Field] = &[
    always("Weight", Weight),
    set("Service", Text),
    set("ServiceSubset", Text),
    set("Namespace", Text),
    set("Partition", Text).since(11),
    HEADER_CHANGES,
    RESPONSE_CHANGES,
];

const RESOLVER: &[Field] = fields![
    set("ConnectTimeout", Time),
    set("RequestTimeout", Time).since(16),
    KIND,
    NAME,
    set("DefaultSubset", Text),
    set("Subsets", Map(&Struct(SUBSET))),
    set(
        "Redirect",
        Struct(&[
            set("Service", Text),
            set("ServiceSubset", Text),
            set("Namespace", Text),
            set("Partition", Text).since(11),
            set("Datacenter", Text),
            set("Peer", Text).since(14),
            set("SamenessGroup", Text).since(16),
        ])
    ),
    set("Failover", Map(&Struct(FAILOVER))),
    set(
        "LoadBalancer",
        Struct(&[
            set("Policy", Text),
            set(
                "RingHashConfig",
                Struct(&[set("MinimumRingSize", Int), set("MaximumRingSize", Int)])
            ),
            set("LeastRequestConfig", Struct(&[set("ChoiceCount", Uint)])),
            set("HashPolicies", List(&Kept)),
        ])
    )
    .since(9),
    set("PrioritizeByLocality", Struct(&[set("Mode", Text)])).since(16),
];
pub(super) const SUBSET: &[Field] = &[set("Filter", Text), set("OnlyPassing", Flag)];
const FAILOVER: &[Field] = &[
    set("Service", Text),
    set("ServiceSubset", Text),
    set("Namespace", Text),
    set("Datacenters", TEXTS),
    set(
        "Targets",
        List(&Struct(&[
            set("Service", Text),
            set("ServiceSubset", Text),
            set("Partition", Text),
            set("Namespace", Text),
            set("Datacenter", Text),
            set("Peer", Text),
        ])),
    )
    .since(14),
    set(
        "Policy",
        Struct(&[set("Mode", Text), set("Regions", TEXTS)]),
    )
    .since(16),
    set("SamenessGroup", Text).since(16),
];

const GATEWAY_TLS: &[Field] = &[
    always("Enabled", Flag),
    set("SDS", Kept).since(10),
    set("TLSMinVersion", Text).since(11),
    set("TLSMaxVersion", Text).since(11),
    set("CipherSuites", TEXTS).since(11),
];
const DEFAULT_LIMITS: Field = set(
    "Defaults",
    Struct(&[
        always("MaxConnections", Int),
        always("MaxPendingRequests", Int),
        always("MaxConcurrentRequests", Int),
        PASSIVE_CHECK,
    ]),
)
.since(14);
const INGRESS: &[Field] = fields![
    KIND,
    NAME,
    always("TLS", Struct(GATEWAY_TLS)),
    always(
        "Listeners",
        List(&Struct(&[
            always("Port", Int),
            always("Protocol", Text),
            set("TLS", Struct(GATEWAY_TLS)).since(10),
            always(
                "Services",
                List(&Struct(&[
                    always("Name", Text),
                    always("Hosts", TEXTS),
                    set("TLS", Kept).since(10),
                    HEADER_CHANGES,
                    RESPONSE_CHANGES,
                    set("MaxConnections", Int).since(14),
                    set("MaxPendingRequests", Int).since(14),
                    set("MaxConcurrentRequests", Int).since(14),
                ]))
            ),
        ]))
    ),
    DEFAULT_LIMITS,
];
const TERMINATING: &[Field] = fields![
    KIND,
    NAME,
    always(
        "Services",
        List(&Struct(&[
            set("Name", Text),
            set("CAFile", Text),
            set("CertFile", Text),
            set("KeyFile", Text),
            set("SNI", Text),
            set("DisableAutoHostRewrite", Flag).since(17),
        ]))
    ),
];

pub(super) const PERMISSION: &[Field] = &[
    set("Action", Text),
    set(
        "HTTP",
        Struct(&[
            set("PathExact", Text),
            set("PathPrefix", Text),
            set("PathRegex", Text),
            set("Header", List(&Struct(MATCHER))),
            set("Methods", TEXTS),
        ]),
    ),
    set("JWT", Kept),
];
const INTENTIONS: &[Field] = fields![
    KIND,
    NAME,
    set("JWT", Kept).since(16),
    always("Sources", List(&Struct(SOURCE))),
];
const SOURCE: &[Field] = &[
    always("Name", Text),
    set("Action", Text),
    set("Permissions", List(&Struct(PERMISSION))),
    always("Precedence", Int),
    set("LegacyID", Text),
    always("Type", Text),
    set("Description", Text),
    set("LegacyMeta", LABELS),
    set("LegacyCreateTime", Text),
    set("LegacyUpdateTime", Text),
    set("Namespace", Text),
    set("Partition", Text),
    set("Peer", Text),
    set("SamenessGroup", Text),
];

const TLS_VERSIONS: &[Field] = &[
    set("TLSMinVersion", Text),
    set("TLSMaxVersion", Text),
    set("CipherSuites", TEXTS),
];
const MESH: &[Field] = fields![
    KIND,
    set("Name", Ignored),
    always(
        "TransparentProxy",
        Struct(&[always("MeshDestinationsOnly", Flag)])
    ),
    set("AllowEnablingPermissiveMutualTLS", Flag).since(16),
    set(
        "TLS",
        Struct(&[
            set("Incoming", Struct(TLS_VERSIONS)),
            set("Outgoing", Struct(TLS_VERSIONS)),
        ])
    ),
    set("HTTP", Kept),
    set("Peering", Struct(&[set("PeerThroughMeshGateways", Flag)])).since(14),
    set("ValidateClusters", Flag).since(18),
];
const EXPORTED: &[Field] = fields![
    KIND,
    NAME,
    set(
        "Services",
        List(&Struct(&[
            always("Name", Text),
            set("Namespace", Text),
            set(
                "Consumers",
                List(&Struct(&[
                    set("Partition", Text),
                    set("Peer", Text),
                    set("SamenessGroup", Text),
                ]))
            ),
        ]))
    ),
];
const SAMENESS_GROUP: &[Field] = fields![
    KIND,
    NAME,
    set("DefaultForFailover", Flag),
    set("IncludeLocal", Flag),
    set("Members", List(&Kept)),
];
const API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always(
        "Listeners",
        List(&Struct(&[
            always("Name", Text),
            always("Hostname", Text),
            always("Port", Int),
            always("Protocol", Text),
            always(
                "TLS",
                Struct(&[
                    always("Certificates", List(&Kept)),
                    set("MaxVersion", Text),
                    set("MinVersion", Text),
                    set("CipherSuites", TEXTS),
                ])
            ),
            set("Override", Kept),
            set("Default", Kept),
        ]))
    ),
    STATUS,
];
const BOUND_API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always("Listeners", List(&Kept)),
    set("Services", Kept),
];
const HTTP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    always("Parents", List(&Kept)),
    always("Rules", List(&Kept)),
    always("Hostnames", TEXTS),
    STATUS,
];
const TCP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    always("Parents", List(&Kept)),
    always("Services", List(&Kept)),
    STATUS,
];
const INLINE_CERTIFICATE: &[Field] = fields![
    KIND,
    NAME,
    always("Certificate", Text),
    always("PrivateKey", Text),
];
const FILE_CERTIFICATE: &[Field] = fields![
    KIND,
    NAME,
    always("Certificate", Text),
    always("PrivateKey", Text),
];
const JWT_PROVIDER: &[Field] = fields![
    KIND,
    NAME,
    set(
        "JSONWebKeySet",
        Struct(&[
            set("Local", Struct(&[set("JWKS", Text), set("Filename", Text)])),
            set(
                "Remote",
                Struct(&[
                    set("URI", Text),
                    set("RequestTimeoutMs", Int),
                    set("CacheDuration", Nanos),
                    set("FetchAsynchronously", Flag),
                    set("UseSNI", Flag),
                    set("RetryPolicy", Kept),
                    set("JWKSCluster", Kept),
                ])
            ),
        ])
    ),
    set("Issuer", Text),
    set("Audiences", TEXTS),
    set("Locations", List(&Kept)),
    set("Forwarding", Kept),
    set("ClockSkewSeconds", Int),
    set("CacheConfig", Struct(&[always("Size", Int)])),
];
