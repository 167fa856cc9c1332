//! Ingress and terminating gateways.

use super::common::{HEADER_CHANGES, KIND, NAME, PASSIVE_CHECK, RESPONSE_CHANGES};
use crate::entry::field::Shape::{Flag, Int, List, Struct, Text};
use crate::entry::field::{Field, TEXTS, always, set};
use proconsul_version::Behaviour::{
    ConfigJwtProviders, ConfigPartitions, ConfigPeers, ConfigTransparentProxies,
};

/// Certificates that a proxy fetches.
pub(super) const SDS: Field = set(
    "SDS",
    Struct(&[set("ClusterName", Text), set("CertResource", Text)]),
);
pub(super) const GATEWAY_TLS: &[Field] = &[
    always("Enabled", Flag),
    SDS.since(ConfigTransparentProxies),
    set("TLSMinVersion", Text).since(ConfigPartitions),
    set("TLSMaxVersion", Text).since(ConfigPartitions),
    set("CipherSuites", TEXTS).since(ConfigPartitions),
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
.since(ConfigPeers);
pub(super) const INGRESS: &[Field] = fields![
    KIND,
    NAME,
    always("TLS", Struct(GATEWAY_TLS)),
    always(
        "Listeners",
        List(&Struct(&[
            always("Port", Int),
            always("Protocol", Text),
            set("TLS", Struct(GATEWAY_TLS)).since(ConfigTransparentProxies),
            always(
                "Services",
                List(&Struct(&[
                    always("Name", Text),
                    always("Hosts", TEXTS),
                    set("TLS", Struct(&[SDS])).since(ConfigTransparentProxies),
                    HEADER_CHANGES,
                    RESPONSE_CHANGES,
                    set("MaxConnections", Int).since(ConfigPeers),
                    set("MaxPendingRequests", Int).since(ConfigPeers),
                    set("MaxConcurrentRequests", Int).since(ConfigPeers),
                    PASSIVE_CHECK.since(ConfigPeers),
                ]))
            ),
        ]))
    ),
    DEFAULT_LIMITS,
];
pub(super) const TERMINATING: &[Field] = fields![
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
            set("DisableAutoHostRewrite", Flag).since(ConfigJwtProviders),
        ]))
    ),
];
