//! The mesh as a whole: who may call whom, with which tokens, and what other partitions and peers see.

use super::common::{KIND, MATCHER, NAME};
use crate::entry::field::Shape::{Flag, Ignored, Int, Kept, List, Nanos, Struct, Text};
use crate::entry::field::{Field, LABELS, TEXTS, always, set};
use crate::version::Behaviour::{ConfigPeers, ConfigSamenessGroups, ConfigValidClusters};

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
    set("JWT", Kept),
];
pub(super) const INTENTIONS: &[Field] = fields![
    KIND,
    NAME,
    set("JWT", Kept).since(ConfigSamenessGroups),
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
pub(super) const MESH: &[Field] = fields![
    KIND,
    set("Name", Ignored),
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
    set("HTTP", Kept),
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
pub(super) const SAMENESS_GROUP: &[Field] = fields![
    KIND,
    NAME,
    set("DefaultForFailover", Flag),
    set("IncludeLocal", Flag),
    set("Members", List(&Kept)),
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
