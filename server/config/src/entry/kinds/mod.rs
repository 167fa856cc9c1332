//! The kinds of entries, and the fields of each in the order in which they are shown.

/// Returns the table of a kind: its fields before those that all kinds have, and those that are shown behind them.
macro_rules! fields {
    ($($field:expr),* $(,)? $(; behind $last:expr)? $(; last $behind_indexes:expr)?) => {
        &[
            $($field,)*
            $crate::entry::kinds::common::META,
            $($last,)?
            $crate::entry::kinds::common::HASH,
            $crate::entry::kinds::common::CREATE_INDEX,
            $crate::entry::kinds::common::MODIFY_INDEX,
            $crate::entry::kinds::common::RAFT_INDEX,
            $($behind_indexes,)?
        ]
    };
}

mod api_gateway;
mod chain;
mod common;
mod gateway;
mod mesh;

pub(super) use chain::{BALANCER, OVERRIDES, ROUTE, SPLIT, SUBSET};
pub(super) use mesh::PERMISSION;

use super::field::Field;
use proconsul_version::Behaviour::{
    ConfigApiGateways, ConfigCertificateFiles, ConfigJwtProviders, ConfigLate, ConfigPartitions,
    ConfigSamenessGroups, ConfigTransparentProxies, ConfigTwoOne, IntentionEntries,
};
use proconsul_version::{Behaviour, Version};

/// A kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The releases with it; `None` for all.
    since: Option<Behaviour>,
    /// The name of its only entry; `None` if it has many.
    pub(super) only_name: Option<&'static str>,
    pub(super) fields: &'static [Field],
    /// What of its entries a Consul of late 2025 may refuse that is taken here.
    unchecked: Unchecked,
}

/// What of the entries of a kind is not checked as far as Consul checks it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unchecked {
    /// Nothing that is known.
    Nothing,
    /// The fields with these names, wherever they stand.
    Fields(&'static [&'static str]),
    /// Something in any of them.
    Some,
    /// Everything but the names and types of fields.
    All,
}

impl Kind {
    /// Returns the kind, known to the releases with this behaviour.
    const fn since(self, behaviour: Behaviour) -> Self {
        Self {
            since: Some(behaviour),
            ..self
        }
    }

    /// Whether a release knows the kind.
    pub(super) fn is_known(&self, version: Version) -> bool {
        self.since.is_none_or(|behaviour| version.has(behaviour))
    }

    /// Whether an entry with another name than the only one is refused. Earlier releases take it for that one.
    pub(super) fn checks_name(&self, version: Version) -> bool {
        version.has(ConfigLate)
    }

    /// Returns the kind with another answer to what is unchecked.
    const fn unchecked(self, unchecked: Unchecked) -> Self {
        Self { unchecked, ..self }
    }

    /// What of an entry a release may refuse that is taken here. The checks of 1.8 are all known, and those of late 2025
    /// in part; those of other releases were never asked for.
    pub(super) fn is_unchecked_in(&self, version: Version) -> Unchecked {
        match (
            version.has(ConfigLate),
            version.has(Behaviour::ConfigLoadBalancers),
        ) {
            (true, _) if version.has(Behaviour::ConfigTwo) => Unchecked::Some,
            (true, _) => self.unchecked,
            (false, true) => Unchecked::Some,
            (false, false) => Unchecked::Nothing,
        }
    }

    /// Whether an entry without a name is refused though there is only one name.
    pub(super) fn needs_its_name(&self) -> bool {
        self.name == "exported-services"
    }

    /// Whether entries show their names. The name of others is ignored in bodies, too.
    pub(super) fn shows_name(&self) -> bool {
        self.fields.iter().any(|field| field.name == "Name")
    }
}

const fn kind(name: &'static str, fields: &'static [Field]) -> Kind {
    Kind {
        name,
        since: None,
        only_name: None,
        fields,
        unchecked: Unchecked::Nothing,
    }
}

const fn only(name: &'static str, kind: Kind) -> Kind {
    Kind {
        only_name: Some(name),
        ..kind
    }
}

/// All kinds. The table in `docs/src/compatibility.md` says of each what is unchecked.
pub(super) const KINDS: &[Kind] = &[
    kind("service-defaults", chain::SERVICE_DEFAULTS).unchecked(Unchecked::Fields(&[
        "Destination",
        "EnvoyExtensions",
        "UpstreamConfig",
    ])),
    only("global", kind("proxy-defaults", chain::PROXY_DEFAULTS))
        .unchecked(Unchecked::Fields(&["EnvoyExtensions"])),
    kind("service-router", chain::ROUTER),
    kind("service-splitter", chain::SPLITTER),
    kind("service-resolver", chain::RESOLVER).unchecked(Unchecked::Fields(&["HashPolicies"])),
    kind("ingress-gateway", gateway::INGRESS)
        .unchecked(Unchecked::Fields(&["CipherSuites", "SDS"])),
    kind("terminating-gateway", gateway::TERMINATING),
    kind("service-intentions", mesh::INTENTIONS)
        .since(IntentionEntries)
        .unchecked(Unchecked::Fields(&["JWT"])),
    only("mesh", kind("mesh", mesh::MESH))
        .since(ConfigTransparentProxies)
        .unchecked(Unchecked::Fields(&[
            "CipherSuites",
            "HeadersWithUnderscoresAction",
        ])),
    only("default", kind("exported-services", mesh::EXPORTED)).since(ConfigPartitions),
    kind("sameness-group", mesh::SAMENESS_GROUP).since(ConfigSamenessGroups),
    kind("api-gateway", api_gateway::API_GATEWAY)
        .since(ConfigApiGateways)
        .unchecked(Unchecked::Some),
    kind("bound-api-gateway", api_gateway::BOUND_API_GATEWAY).since(ConfigApiGateways),
    kind("http-route", api_gateway::HTTP_ROUTE)
        .since(ConfigApiGateways)
        .unchecked(Unchecked::Some),
    kind("tcp-route", api_gateway::TCP_ROUTE)
        .since(ConfigApiGateways)
        .unchecked(Unchecked::Some),
    kind("inline-certificate", api_gateway::INLINE_CERTIFICATE)
        .since(ConfigApiGateways)
        .unchecked(Unchecked::Some),
    kind("file-system-certificate", api_gateway::FILE_CERTIFICATE)
        .since(ConfigCertificateFiles)
        .unchecked(Unchecked::All),
    // Only to be refused.
    kind("inference-gateway", mesh::INFERENCE_GATEWAY).since(ConfigTwoOne),
    kind("jwt-provider", mesh::JWT_PROVIDER)
        .since(ConfigJwtProviders)
        .unchecked(Unchecked::Some),
];
