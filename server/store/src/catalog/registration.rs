//! What the catalog holds: nodes, service instances and checks, as registered and as stored (session.md 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Index;
use crate::catalog::proxy::Proxy;
#[cfg(feature = "serde")]
use crate::image::value::{text, unset};

/// Named strings, in the order of their names.
pub type Labels = BTreeMap<String, String>;

/// A node as registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewNode {
    /// The name; compared without regard to case.
    pub node: String,
    /// The node id; empty for nodes that have none.
    pub id: String,
    /// The address.
    pub address: String,
    /// The datacenter.
    pub datacenter: String,
    /// The tagged addresses; none is JSON's `null`.
    pub tagged_addresses: Option<Labels>,
    /// The meta data; none is JSON's `null`.
    pub meta: Option<Labels>,
}

/// A node's row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NodeRow {
    /// As registered.
    pub node: NewNode,
    /// The index of the first registration.
    pub create_index: Index,
    /// The index of the last change of the row.
    pub modify_index: Index,
}

impl NodeRow {
    /// Whether the node has all this meta data.
    #[must_use]
    pub fn has_meta(&self, wanted: &Labels) -> bool {
        let own = self.node.meta.as_ref();
        let mut wanted = wanted.iter();
        wanted.all(|(name, value)| own.and_then(|own| own.get(name)) == Some(value))
    }
}

/// The weights of a service instance in DNS answers; kept and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Weights {
    /// While passing.
    pub passing: i64,
    /// While in warning.
    pub warning: i64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            passing: 1,
            warning: 1,
        }
    }
}

impl Weights {
    /// The largest weight that DNS can carry.
    pub const LARGEST: i64 = 65_535;

    /// These, if both could be; else those of a service that has none (seen on 1.8.7 in the catalog and in transactions).
    #[must_use]
    pub fn valid(self) -> Self {
        let possible = self.passing > 0 && self.warning >= 0;
        if possible && self.passing.max(self.warning) <= Self::LARGEST {
            self
        } else {
            Self::default()
        }
    }
}

/// A service instance as registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewService {
    /// The id, unique on its node.
    pub id: String,
    /// The name of the service.
    pub name: String,
    /// The tags, in the order given; none is JSON's `null` in a transaction's answer, and another row than one with an
    /// empty list (seen on 1.8.7).
    pub tags: Option<Vec<String>>,
    /// The address; empty for the node's.
    pub address: String,
    /// The meta data; none is JSON's `null`.
    pub meta: Option<Labels>,
    /// The port; 0 for none.
    pub port: i64,
    /// The DNS weights.
    pub weights: Weights,
    /// Whether others may change the tags; kept and shown.
    pub enable_tag_override: bool,
    /// The kind of a proxy or gateway; empty for a service of its own.
    pub kind: String,
    /// What a proxy or gateway is set up with.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub proxy: Arc<Proxy>,
    /// Whether the service speaks Connect by itself.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub connect_native: bool,
    /// Addresses by their tag; none where none were given.
    pub tagged_addresses: Option<BTreeMap<String, ServiceAddress>>,
}

impl NewService {
    /// The tags as a list, which is empty where none were given.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        self.tags.as_deref().unwrap_or_default()
    }
}

/// An address of a service instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ServiceAddress {
    /// The host.
    pub address: String,
    /// The port.
    pub port: i64,
}

/// A service instance's row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ServiceRow {
    /// The node, spelled as registered.
    pub node: String,
    /// As registered.
    pub service: NewService,
    /// The index of the first registration.
    pub create_index: Index,
    /// The index of the last change of the row.
    pub modify_index: Index,
}

/// A check as registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewCheck {
    /// The id, unique on its node; compared without regard to case when sessions are bound to it.
    pub check_id: String,
    /// The name.
    pub name: String,
    /// The status. Consul takes any string; only `critical` ends sessions.
    pub status: String,
    /// Notes for people.
    pub notes: String,
    /// What the check last said.
    pub output: String,
    /// The service instance on the same node that this is a check of; empty for a check of the node.
    pub service_id: String,
    /// The name of a service that a check of the node is said to be of, which need not exist. A check of a service has
    /// its service's.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub named_service: String,
    /// The tags that such a check came with.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub named_tags: Option<Vec<String>>,
    /// The kind of check: `ttl`, `http` and so on; empty if none.
    pub kind: String,
    /// How often it is run, as Consul shows it since 1.10.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub interval: String,
    /// How long a run may take, as Consul shows it since 1.10.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub timeout: String,
    /// How the check is run by whoever runs it. The catalog runs nothing.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub definition: HealthCheckDefinition,
}

/// Headers of a request, by their names as given.
pub type Headers = BTreeMap<String, Option<Vec<String>>>;

/// How a check is run: kept and shown. Empty and zero fields were not given; negative durations are kept as they are
/// (seen on 1.8.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HealthCheckDefinition {
    /// The nanoseconds between two runs.
    #[cfg_attr(feature = "serde", serde(rename = "interval", with = "text"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub interval_ns: i64,
    /// How many nanoseconds a run may take.
    #[cfg_attr(feature = "serde", serde(rename = "timeout", with = "text"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub timeout_ns: i64,
    /// After how many nanoseconds in a critical state the service is deregistered.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "deregister_critical_service_after", with = "text")
    )]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub deregister_critical_service_after_ns: i64,
    /// The URL that is asked.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub http: String,
    /// Whether certificates are believed without looking.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub tls_skip_verify: bool,
    /// The headers of the request; no list of values is JSON's `null`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub header: Headers,
    /// The method of the request.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub method: String,
    /// The body of the request.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub body: String,
    /// The address that is connected to.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub tcp: String,
    /// How many nanoseconds a status lasts that a client reports.
    #[cfg_attr(feature = "serde", serde(rename = "ttl", with = "text"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub ttl_ns: i64,
    /// The command that is run.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub script_args: Vec<String>,
    /// The name of the sessions that a check of type `session` follows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub session_name: String,
}

/// A check's row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CheckRow {
    /// The node, spelled as registered.
    pub node: String,
    /// As registered.
    pub check: NewCheck,
    /// The name of the service instance's service; for a check of the node [`NewCheck::named_service`].
    pub service_name: String,
    /// The tags of the service instance, or [`NewCheck::named_tags`], as [`NewService::tags`] has them.
    pub service_tags: Option<Vec<String>>,
    /// The index of the first registration.
    pub create_index: Index,
    /// The index of the last change of the row.
    pub modify_index: Index,
}

impl CheckRow {
    /// The tags of the service instance as a list, which is empty where none were given.
    #[must_use]
    pub fn service_tags(&self) -> &[String] {
        self.service_tags.as_deref().unwrap_or_default()
    }
}

/// What to put into the catalog, all or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The node. Its row is replaced as a whole.
    pub node: NewNode,
    /// Leave the node's row alone if it exists.
    pub skip_node_update: bool,
    /// A service instance on it.
    pub service: Option<NewService>,
    /// Checks of it or of its services.
    pub checks: Vec<NewCheck>,
}

/// What to take out of the catalog. Names are compared without regard to case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deregistration {
    /// A node, with all its services, checks and sessions.
    Node(String),
    /// A service instance, with its checks.
    Service {
        /// The node.
        node: String,
        /// The service id.
        id: String,
    },
    /// A check.
    Check {
        /// The node.
        node: String,
        /// The check id.
        id: String,
    },
}
