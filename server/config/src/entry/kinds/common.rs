//! Fields that several kinds have.

use crate::entry::field::Shape::{Flag, Ignored, Int, List, Nanos, Struct, Text, Uint};
use crate::entry::field::{Field, LABELS, TEXTS, always, set};
use proconsul_version::Behaviour::{
    ConfigCertificateFiles, ConfigLate, ConfigTransparentProxies, ConfigTwo, ConfigTwoOne,
};

pub(super) const KIND: Field = always("Kind", Text);
pub(super) const NAME: Field = always("Name", Text);
pub(super) const META: Field = set("Meta", LABELS);
/// What a read shows beside the fields, and what is ignored when it is sent back.
pub(super) const CREATE_INDEX: Field = set("CreateIndex", Ignored);
pub(super) const MODIFY_INDEX: Field = set("ModifyIndex", Ignored);
pub(super) const RAFT_INDEX: Field = set("RaftIndex", Ignored);
pub(super) const HASH: Field = set("Hash", Ignored).since(ConfigLate);
pub(super) const MESH_GATEWAY: Field = always("MeshGateway", Struct(&[set("Mode", Text)]));
pub(super) const PASSIVE_CHECK: Field = set(
    "PassiveHealthCheck",
    Struct(&[
        set("Interval", Nanos),
        set("MaxFailures", Uint),
        set("EnforcingConsecutive5xx", Uint),
        set("EnforcingConsecutiveGatewayFailure", Uint).since(ConfigTwo),
        set("Consecutive5xx", Uint).since(ConfigTwo),
        set("ConsecutiveGatewayFailure", Uint).since(ConfigTwo),
        set("MaxEjectionPercent", Uint),
        set("BaseEjectionTime", Nanos),
    ]),
);

pub(super) const MATCHER: &[Field] = &[
    always("Name", Text),
    set("Present", Flag),
    set("Exact", Text),
    set("Prefix", Text),
    set("Suffix", Text),
    set("Contains", Text).since(ConfigCertificateFiles),
    set("IgnoreCase", Flag).since(ConfigCertificateFiles),
    set("Regex", Text),
    set("Invert", Flag),
];
pub(super) const HEADER_CHANGES: Field = set(
    "RequestHeaders",
    Struct(&[set("Add", LABELS), set("Set", LABELS), set("Remove", TEXTS)]),
)
.since(ConfigTransparentProxies);
pub(super) const RESPONSE_CHANGES: Field = HEADER_CHANGES.named("ResponseHeaders");

pub(super) const LIMITS: Field = set(
    "Limits",
    Struct(&[
        set("MaxConnections", Int),
        set("MaxPendingRequests", Int),
        set("MaxConcurrentRequests", Int),
        PASSIVE_CHECK.since(ConfigTwoOne),
    ]),
);

/// The providers whose JSON Web Tokens a caller may show.
pub(super) const PROVIDERS: &[Field] = &[set(
    "Providers",
    List(&Struct(&[
        set("Name", Text),
        set(
            "VerifyClaims",
            List(&Struct(&[set("Path", TEXTS), set("Value", Text)])),
        ),
    ])),
)];
pub(super) const TOKENS: Field = set("JWT", Struct(PROVIDERS));
