//! What discovery chains are made of: services, proxies, routers, splitters, resolvers.

use super::common::{
    HEADER_CHANGES, KIND, LIMITS, MATCHER, MESH_GATEWAY, NAME, PASSIVE_CHECK, RESPONSE_CHANGES,
};
use crate::entry::field::Shape::{
    Any, Flag, Int, List, Map, Nanos, Struct, Text, Time, Uint, Weight,
};
use crate::entry::field::{Field, TEXTS, always, set};
use proconsul_version::Behaviour::{
    ConfigApiGateways, ConfigDestinations, ConfigJwtProviders, ConfigLate, ConfigLoadBalancers,
    ConfigPartitions, ConfigPeers, ConfigSamenessGroups, ConfigTransparentProxies,
    ConfigValidClusters,
};

const TRANSPARENT_PROXY: Field = always(
    "TransparentProxy",
    Struct(&[
        set("OutboundListenerPort", Int),
        set("DialedDirectly", Flag),
    ]),
)
.since(ConfigTransparentProxies);
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
                always("ParsedFromCheck", Flag).left_out_since(ConfigLate),
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
.since(ConfigApiGateways);

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

pub(super) const SERVICE_DEFAULTS: &[Field] = fields![
    KIND,
    NAME,
    always("Protocol", Text),
    set("Mode", Text).since(ConfigTransparentProxies),
    TRANSPARENT_PROXY,
    set("MutualTLSMode", Text).since(ConfigSamenessGroups),
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
    .since(ConfigTransparentProxies),
    set(
        "Destination",
        Struct(&[set("Addresses", TEXTS), set("Port", Int)])
    )
    .since(ConfigDestinations),
    set("MaxInboundConnections", Int).since(ConfigDestinations),
    set("LocalConnectTimeoutMs", Int).since(ConfigDestinations),
    set("LocalRequestTimeoutMs", Int).since(ConfigDestinations),
    set("BalanceInboundConnections", Text).since(ConfigPeers),
    set(
        "RateLimits",
        Struct(&[always(
            "InstanceLevel",
            Struct(&[
                always("RequestsPerSecond", Int),
                always("RequestsMaxBurst", Int),
                always(
                    "Routes",
                    List(&Struct(&[
                        always("PathExact", Text),
                        always("PathPrefix", Text),
                        always("PathRegex", Text),
                        always("RequestsPerSecond", Int),
                        always("RequestsMaxBurst", Int),
                    ]))
                ),
            ])
        )])
    )
    .since(ConfigJwtProviders),
    EXTENSIONS;
    last set("MaxRequestHeadersKB", Int).since(ConfigLate)
];

pub(super) const PROXY_DEFAULTS: &[Field] = fields![
    KIND,
    NAME,
    always("Config", Any),
    set("Mode", Text).since(ConfigTransparentProxies),
    TRANSPARENT_PROXY,
    set("MutualTLSMode", Text).since(ConfigSamenessGroups),
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
    .since(ConfigApiGateways),
    EXTENSIONS,
    set(
        "FailoverPolicy",
        Struct(&[set("Mode", Text), set("Regions", TEXTS)])
    )
    .since(ConfigSamenessGroups),
    set("PrioritizeByLocality", Struct(&[set("Mode", Text)])).since(ConfigSamenessGroups),
];

const QUERY_MATCHER: &[Field] = &[
    always("Name", Text),
    set("Present", Flag),
    set("Exact", Text),
    set("Regex", Text),
];
pub(super) const ROUTER: &[Field] = fields![KIND, NAME, always("Routes", List(&Struct(ROUTE)))];
pub(in super::super) const ROUTE: &[Field] = &[
    set(
        "Match",
        Struct(&[set(
            "HTTP",
            Struct(&[
                set("PathExact", Text),
                set("PathPrefix", Text),
                set("PathRegex", Text),
                set("CaseInsensitive", Flag).since(ConfigValidClusters),
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
            set("IdleTimeout", Time).since(ConfigApiGateways),
            set("Service", Text),
            set("ServiceSubset", Text),
            set("Namespace", Text),
            set("Partition", Text).since(ConfigPartitions),
            set("PrefixRewrite", Text),
            set("NumRetries", Uint),
            set("RetryOnConnectFailure", Flag),
            set("RetryOn", TEXTS).since(ConfigApiGateways),
            set("RetryOnStatusCodes", List(&Uint)),
            HEADER_CHANGES,
            RESPONSE_CHANGES,
        ]),
    ),
];

/// What a request for a discovery chain may set.
pub(in super::super) const OVERRIDES: &[Field] = &[
    MESH_GATEWAY.named("OverrideMeshGateway"),
    set("OverrideProtocol", Text),
    set("OverrideConnectTimeout", Time),
];

pub(super) const SPLITTER: &[Field] = fields![KIND, NAME, always("Splits", List(&Struct(SPLIT)))];
pub(in super::super) const SPLIT: &[Field] = &[
    always("Weight", Weight),
    set("Service", Text),
    set("ServiceSubset", Text),
    set("Namespace", Text),
    set("Partition", Text).since(ConfigPartitions),
    HEADER_CHANGES,
    RESPONSE_CHANGES,
];

pub(super) const RESOLVER: &[Field] = fields![
    set("ConnectTimeout", Time),
    set("RequestTimeout", Time).since(ConfigSamenessGroups),
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
            set("Partition", Text).since(ConfigPartitions),
            set("Datacenter", Text),
            set("Peer", Text).since(ConfigPeers),
            set("SamenessGroup", Text).since(ConfigSamenessGroups),
        ])
    ),
    set("Failover", Map(&Struct(FAILOVER))),
    set("LoadBalancer", Struct(BALANCER)).since(ConfigLoadBalancers),
    set("PrioritizeByLocality", Struct(&[set("Mode", Text)])).since(ConfigSamenessGroups),
];
pub(in super::super) const SUBSET: &[Field] = &[set("Filter", Text), set("OnlyPassing", Flag)];
/// How one of the instances is chosen.
pub(in super::super) const BALANCER: &[Field] = &[
    set("Policy", Text),
    set(
        "RingHashConfig",
        Struct(&[set("MinimumRingSize", Int), set("MaximumRingSize", Int)]),
    ),
    set("LeastRequestConfig", Struct(&[set("ChoiceCount", Uint)])),
    set(
        "HashPolicies",
        List(&Struct(&[
            set("Field", Text),
            set("FieldValue", Text),
            set(
                "CookieConfig",
                Struct(&[set("Session", Flag), set("TTL", Nanos), set("Path", Text)]),
            ),
            set("SourceIP", Flag),
            set("Terminal", Flag),
        ])),
    ),
];
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
    .since(ConfigPeers),
    set(
        "Policy",
        Struct(&[set("Mode", Text), set("Regions", TEXTS)]),
    )
    .since(ConfigSamenessGroups),
    set("SamenessGroup", Text).since(ConfigSamenessGroups),
];
