//! The kinds of entries, and the fields of each in the order in which they are shown.

/// Returns the table of a kind: its fields between those that all kinds have.
macro_rules! fields {
    ($($field:expr),* $(,)?) => {
        &[
            $($field,)*
            $crate::entry::kinds::common::META,
            $crate::entry::kinds::common::HASH,
            $crate::entry::kinds::common::CREATE_INDEX,
            $crate::entry::kinds::common::MODIFY_INDEX,
            $crate::entry::kinds::common::RAFT_INDEX,
        ]
    };
}

mod api_gateway;
mod chain;
mod common;
mod gateway;
mod mesh;

pub(super) use chain::{OVERRIDES, ROUTE, SPLIT, SUBSET};
pub(super) use mesh::PERMISSION;

use super::field::Field;
use super::field::Shape::Ignored;
use crate::version::Behaviour::{
    ConfigApiGateways, ConfigCertificateFiles, ConfigJwtProviders, ConfigLate, ConfigPartitions,
    ConfigSamenessGroups, ConfigTransparentProxies, IntentionEntries,
};
use crate::version::{Behaviour, Version};

/// A kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The releases with it; `None` for all.
    since: Option<Behaviour>,
    /// The name of its only entry; `None` if it has many.
    pub(super) only_name: Option<&'static str>,
    pub(super) fields: &'static [Field],
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

    /// Whether entries show their names. The name of others is ignored in bodies, too.
    pub(super) fn shows_name(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.name == "Name" && !matches!(field.shape, Ignored))
    }
}

const fn kind(name: &'static str, fields: &'static [Field]) -> Kind {
    Kind {
        name,
        since: None,
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
    kind("service-defaults", chain::SERVICE_DEFAULTS),
    only("global", kind("proxy-defaults", chain::PROXY_DEFAULTS)),
    kind("service-router", chain::ROUTER),
    kind("service-splitter", chain::SPLITTER),
    kind("service-resolver", chain::RESOLVER),
    kind("ingress-gateway", gateway::INGRESS),
    kind("terminating-gateway", gateway::TERMINATING),
    kind("service-intentions", mesh::INTENTIONS).since(IntentionEntries),
    only(
        "mesh",
        kind("mesh", mesh::MESH).since(ConfigTransparentProxies),
    ),
    only(
        "default",
        kind("exported-services", mesh::EXPORTED).since(ConfigPartitions),
    ),
    kind("sameness-group", mesh::SAMENESS_GROUP).since(ConfigSamenessGroups),
    kind("api-gateway", api_gateway::API_GATEWAY).since(ConfigApiGateways),
    kind("bound-api-gateway", api_gateway::BOUND_API_GATEWAY).since(ConfigApiGateways),
    kind("http-route", api_gateway::HTTP_ROUTE).since(ConfigApiGateways),
    kind("tcp-route", api_gateway::TCP_ROUTE).since(ConfigApiGateways),
    kind("inline-certificate", api_gateway::INLINE_CERTIFICATE).since(ConfigApiGateways),
    kind("file-system-certificate", api_gateway::FILE_CERTIFICATE).since(ConfigCertificateFiles),
    kind("jwt-provider", mesh::JWT_PROVIDER).since(ConfigJwtProviders),
];
