//! The endpoints by area with what differs from Consul, from which the table of the book is made.

/// The endpoints of an area, those of one row with spaces between them, and what a reader has to know of them.
pub(crate) type Area = (&'static str, &'static [(&'static str, &'static str)]);

/// All areas. Each route is in one row of one of them.
pub(crate) const AREAS: &[Area] = &[
    (
        "Keys, sessions and transactions",
        &[
            ("/v1/kv/<key>", ""),
            (
                "/v1/session/create /v1/session/destroy/<id> /v1/session/renew/<id> /v1/session/info/<id> /v1/session/node/<node> /v1/session/list",
                "",
            ),
            ("/v1/txn", "all verbs of KV, Node, Service and Check"),
        ],
    ),
    (
        "Catalog and health",
        &[
            (
                "/v1/catalog/register /v1/catalog/deregister",
                "nodes, services and checks; the sidecar in `Connect` is not stored",
            ),
            (
                "/v1/catalog/datacenters /v1/catalog/nodes /v1/catalog/node/<node> /v1/catalog/services /v1/catalog/service/<service> /v1/catalog/node-services/<node>",
                "",
            ),
            (
                "/v1/catalog/connect/<service> /v1/health/connect/<service>",
                "",
            ),
            (
                "/v1/catalog/gateway-services/<gateway>",
                "from the entries of gateways; the index does not follow services that are removed",
            ),
            (
                "/v1/health/node/<node> /v1/health/checks/<service> /v1/health/service/<service> /v1/health/state/<state>",
                "",
            ),
            (
                "/v1/health/ingress/<service>",
                "from the entries of gateways",
            ),
        ],
    ),
    (
        "The agent",
        &[
            (
                "/v1/agent/self /v1/agent/members",
                "the agent itself; of the statistics, those that tools read",
            ),
            (
                "/v1/agent/service/register /v1/agent/service/deregister/<id> /v1/agent/service/maintenance/<id>",
                "with sidecars; `Ports`, `Locality` and `SocketPath` since the releases that have them",
            ),
            (
                "/v1/agent/check/register /v1/agent/check/deregister/<id>",
                "TTL, HTTP, TCP, UDP, gRPC, H2PING, alias and script checks are run, script checks only where `enable_script_checks` allows it. Docker checks are registered and keep their status; their output says so. OSService checks are rejected, as by a Consul on Linux. Checks over TLS need the feature `https-checks`, gRPC and H2PING checks the feature `http2-checks`; both are on by default",
            ),
            (
                "/v1/agent/check/pass/<id> /v1/agent/check/warn/<id> /v1/agent/check/fail/<id> /v1/agent/check/update/<id>",
                "",
            ),
            (
                "/v1/agent/services /v1/agent/service/<id> /v1/agent/checks",
                "the hash of a service's content differs from Consul's",
            ),
            (
                "/v1/agent/health/service/id/<id> /v1/agent/health/service/name/<service>",
                "",
            ),
            (
                "/v1/agent/monitor",
                "the lines that an agent logs; a server inside a test logs none",
            ),
            (
                "/v1/agent/maintenance /v1/agent/reload /v1/agent/leave",
                "a reload reads services and checks again, and nothing else; leaving stops the server, or of several agents that one",
            ),
            (
                "/v1/agent/join/<address> /v1/agent/force-leave/<node>",
                "nobody joins; an agent that is away can be made to leave",
            ),
            (
                "/v1/agent/metrics /v1/agent/metrics/stream",
                "requests, log entries, calls; the figures of Go's runtime are 0",
            ),
            ("/v1/agent/version", ""),
            ("/v1/agent/host", ""),
            ("/v1/agent/token/<name>", "disabled without ACLs"),
            (
                "/debug/pprof/<profile>",
                "there are no profiles of Go's runtime",
            ),
        ],
    ),
    (
        "ACLs",
        &[(
            "/v1/acl/<path> /v1/internal/acl/authorize",
            "disabled without ACLs; with them policies, roles, tokens that expire, templated policies, bootstrap and its reset, auth methods and binding rules, logins with JSON Web Tokens of static keys (RS, PS, ES256, ES384, EdDSA), and before 1.11 the legacy endpoints; no other logins",
        )],
    ),
    (
        "Prepared queries, events and coordinates",
        &[
            ("/v1/query /v1/query/<id>", "templates without arithmetic"),
            ("/v1/event/fire/<name> /v1/event/list", ""),
            (
                "/v1/coordinate/nodes /v1/coordinate/node/<node> /v1/coordinate/update /v1/coordinate/datacenters",
                "what updates say, at once; the agent measures nothing itself, and `?near` sorts by it only for `_agent`",
            ),
        ],
    ),
    (
        "Configuration entries and service mesh",
        &[
            (
                "/v1/config /v1/config/<kind>",
                "all kinds of each release are stored and shown; [the checks](#configuration-entries) differ from kind to kind, and so does `Hash` from Consul's; no proxy follows the entries, and no controller binds routes to API gateways",
            ),
            (
                "/v1/discovery-chain/<service>",
                "compiled from the entries; `AutoVirtualIPs` are `null`, and the failover policy of `proxy-defaults` is not shown",
            ),
            (
                "/v1/connect/intentions /v1/connect/intentions/<id> /v1/connect/intentions/match /v1/connect/intentions/check /v1/connect/intentions/exact",
                "stored, filtered, matched and checked; no proxy follows them",
            ),
            (
                "/v1/connect/ca/roots /v1/agent/connect/ca/roots /v1/connect/ca/configuration",
                "a root certificate whose key nobody has",
            ),
            (
                "/v1/peerings /v1/peering/<name> /v1/peering/token /v1/peering/establish /v1/exported-services",
                "there are no peers, and none can be made; what the entry exports is listed",
            ),
            (
                "/v1/imported-services",
                "since 1.22.3: no peer exports anything",
            ),
            (
                "/v1/internal/service-virtual-ip",
                "says whether the service has a virtual address; the addresses are not stored",
            ),
        ],
    ),
    (
        "The cluster",
        &[
            ("/v1/status/leader /v1/status/peers", ""),
            (
                "/v1/snapshot",
                "the whole state, for servers of the same release; `consul snapshot` and proconsul's own commands save, inspect and restore it; a real Consul's snapshot is rejected, and a real Consul rejects proconsul's",
            ),
            (
                "/v1/operator/raft/configuration /v1/operator/raft/peer /v1/operator/raft/transfer-leader",
                "no server joins or leaves; another one of [several](agents.md) may lead",
            ),
            (
                "/v1/operator/autopilot/configuration",
                "the settings are stored, without effect",
            ),
            (
                "/v1/operator/autopilot/health /v1/operator/autopilot/state",
                "health is always reported as healthy",
            ),
            (
                "/v1/operator/keyring",
                "returns the error of an agent without gossip encryption",
            ),
            ("/v1/operator/usage", ""),
            (
                "/v1/operator/utilization",
                "returns the error of the community edition",
            ),
        ],
    ),
    (
        "What Consul's own web UI reads",
        &[(
            "/v1/internal/ui/services /v1/internal/ui/nodes /v1/internal/ui/node/<node> /v1/internal/ui/gateway-services-nodes/<gateway>",
            "since 1.22 their form is known for services only",
        )],
    ),
    (
        "Not emulated",
        &[(
            "/v1/agent/connect/authorize /v1/agent/connect/ca/leaf/<service> /v1/internal/federation-state/<datacenter> /v1/internal/federation-states /v1/internal/federation-states/mesh-gateways /v1/internal/ui/catalog-overview /v1/internal/ui/exported-services /v1/internal/ui/gateway-intentions/<gateway> /v1/internal/ui/metrics-proxy/<path> /v1/internal/ui/service-topology/<service>",
            "",
        )],
    ),
];
