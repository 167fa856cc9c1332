//! The mesh as a whole: who may call whom, with which tokens, and what other partitions and peers see.

use super::common::{KIND, MATCHER, NAME, TOKENS};
use crate::entry::field::Shape::{Flag, Int, Kept, List, Nanos, Struct, Text};
use crate::entry::field::{Field, LABELS, TEXTS, always, set};
use proconsul_version::Behaviour::{
    ConfigCertificateFiles, ConfigPeers, ConfigSamenessGroups, ConfigTwoOne, ConfigValidClusters,
};

pub(in super::super) const PERMISSION: &[Field] = &[
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
    TOKENS,
];
pub(super) const INTENTIONS: &[Field] = fields![
    KIND,
    NAME,
    TOKENS.since(ConfigSamenessGroups),
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
    set("ECDHCurves", TEXTS).since(ConfigTwoOne),
];
pub(super) const MESH: &[Field] = fields![
    KIND,
    always(
        "TransparentProxy",
        Struct(&[always("MeshDestinationsOnly", Flag)])
    ),
    set("AllowEnablingPermissiveMutualTLS", Flag).since(ConfigSamenessGroups),
    set(
        "TLS",
        Struct(&[
            set("Incoming", Struct(TLS_VERSIONS)),
            set("Outgoing", Struct(TLS_VERSIONS)),
        ])
    ),
    set(
        "HTTP",
        Struct(&[
            always("SanitizeXForwardedClientCert", Flag),
            set(
                "Incoming",
                Struct(&[set(
                    "RequestNormalization",
                    Struct(&[
                        set("InsecureDisablePathNormalization", Flag),
                        set("MergeSlashes", Flag),
                        set("PathWithEscapedSlashesAction", Text),
                        set("HeadersWithUnderscoresAction", Text),
                    ])
                )])
            )
            .since(ConfigCertificateFiles),
        ])
    ),
    set("Peering", Struct(&[set("PeerThroughMeshGateways", Flag)])).since(ConfigPeers),
    set("ValidateClusters", Flag).since(ConfigValidClusters),
];
pub(super) const EXPORTED: &[Field] = fields![
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
pub(super) const INFERENCE_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always("Processor", Kept),
    set("Failover", Kept),
    set("RequestTimeout", Text),
    set("PII", Kept),
    set("Observability", Kept),
];
pub(super) const SAMENESS_GROUP: &[Field] = fields![
    KIND,
    NAME,
    set("DefaultForFailover", Flag),
    set("IncludeLocal", Flag),
    set(
        "Members",
        List(&Struct(&[set("Partition", Text), set("Peer", Text)]))
    ),
];
const RETRY_POLICY: &[Field] = &[
    set("NumRetries", Int),
    set(
        "RetryPolicyBackOff",
        Struct(&[set("BaseInterval", Nanos), set("MaxInterval", Nanos)]),
    ),
];
const CLUSTER: &[Field] = &[
    set("DiscoveryType", Text),
    set(
        "TLSCertificates",
        Struct(&[
            set(
                "CaCertificateProviderInstance",
                Struct(&[set("InstanceName", Text), set("CertificateName", Text)]),
            ),
            set(
                "TrustedCA",
                Struct(&[
                    set("Filename", Text),
                    set("EnvironmentVariable", Text),
                    set("InlineString", Text),
                    set("InlineBytes", Text),
                ]),
            ),
        ]),
    ),
    set("ConnectTimeout", Nanos),
];
pub(super) const JWT_PROVIDER: &[Field] = fields![
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
                    set("RetryPolicy", Struct(RETRY_POLICY)),
                    set("JWKSCluster", Struct(CLUSTER)),
                ])
            ),
        ])
    ),
    set("Issuer", Text),
    set("Audiences", TEXTS),
    set(
        "Locations",
        List(&Struct(&[
            set(
                "Header",
                Struct(&[
                    set("Name", Text),
                    set("ValuePrefix", Text),
                    set("Forward", Flag),
                ])
            ),
            set("QueryParam", Struct(&[set("Name", Text)])),
            set("Cookie", Struct(&[set("Name", Text)])),
        ]))
    ),
    set(
        "Forwarding",
        Struct(&[
            set("HeaderName", Text),
            set("PadForwardPayloadHeader", Flag),
        ])
    ),
    set("ClockSkewSeconds", Int),
    set("CacheConfig", Struct(&[always("Size", Int)])),
];
