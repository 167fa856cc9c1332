//! Nodes, service instances and checks, as registered and as stored (session.md 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::service::proxy::Proxy;
#[cfg(feature = "dump")]
use crate::image::value::{text, unset};
use crate::{Index, meta};

/// Strings by name.
pub type Labels = BTreeMap<String, String>;

/// A node as registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewNode {
    /// The name; compared without regard to case.
    pub node: String,
    /// The node id; empty if unset.
    pub id: String,
    /// The address.
    pub address: String,
    /// The datacenter.
    pub datacenter: String,
    /// The tagged addresses; `None` is shown as `null`.
    pub tagged_addresses: Option<Labels>,
    /// The meta data; `None` is shown as `null`.
    pub meta: Option<Labels>,
    /// Where the node is.
    #[serde(default, skip_serializing_if = "unset")]
    pub locality: Option<Locality>,
}

/// Where a node or a service instance is.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Locality {
    /// The region.
    pub region: String,
    /// The zone of the region; empty if unset.
    #[serde(skip_serializing_if = "unset")]
    pub zone: String,
}

/// A node's row.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRow {
    /// The registration.
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

/// The DNS weights of a service instance. They are stored and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The weight while passing.
    pub passing: i64,
    /// The weight while in warning.
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
    /// The largest weight of DNS.
    pub const LARGEST: i64 = 65_535;

    /// Returns these weights if both are valid, else the default (seen on 1.8.7 in the catalog and in
    /// transactions).
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
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewService {
    /// The id, unique on its node.
    pub id: String,
    /// The name of the service.
    pub name: String,
    /// The tags, in the order given. `None` is shown as `null` by transactions, and differs from an empty list
    /// (seen on 1.8.7).
    pub tags: Option<Vec<String>>,
    /// The address; empty for the node's.
    pub address: String,
    /// The meta data; `None` is shown as `null`.
    pub meta: Option<Labels>,
    /// The port; 0 if unset.
    pub port: i64,
    /// The named ports of a service with several, which has no other port (1.22.md B4.2p). `None` differs from an empty
    /// list where the catalog shows them.
    #[serde(default, skip_serializing_if = "unset")]
    pub ports: Option<Vec<ServicePort>>,
    /// The path of its Unix socket; empty if unset.
    #[serde(default, skip_serializing_if = "unset")]
    pub socket_path: String,
    /// The DNS weights.
    pub weights: Weights,
    /// Whether tags in the catalog override the agent's.
    pub enable_tag_override: bool,
    /// The kind of a proxy or gateway; empty for an ordinary service.
    pub kind: String,
    /// The settings of a proxy or gateway.
    #[serde(default, skip_serializing_if = "unset")]
    pub proxy: Arc<Proxy>,
    /// Whether the service supports Connect natively.
    #[serde(default, skip_serializing_if = "unset")]
    pub connect_native: bool,
    /// The tagged addresses; `None` if unset.
    pub tagged_addresses: Option<BTreeMap<String, ServiceAddress>>,
    /// Where the instance is.
    #[serde(default, skip_serializing_if = "unset")]
    pub locality: Option<Locality>,
}

impl NewService {
    /// Returns the port, or the default one of several.
    #[must_use]
    pub fn main_port(&self) -> i64 {
        let default = self.ports().iter().find(|port| port.default);
        default.map_or(self.port, |port| port.port)
    }

    /// Returns the named ports of a service with several.
    #[must_use]
    pub fn ports(&self) -> &[ServicePort] {
        self.ports.as_deref().unwrap_or_default()
    }

    /// Returns the tags; an empty list if unset.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        self.tags.as_deref().unwrap_or_default()
    }

    /// Whether the address is that of all interfaces, which Consul refuses. It looks for these spellings alone
    /// (session.md 4.2).
    #[must_use]
    pub fn address_is_unspecified(&self) -> bool {
        matches!(self.address.as_str(), "0.0.0.0" | "::" | "[::]")
    }
}

/// One of several ports of a service instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServicePort {
    /// The name, unique in its instance.
    pub name: String,
    /// The port.
    pub port: i64,
    /// Whether it is the one for clients that know of one port only.
    #[serde(default, skip_serializing_if = "unset")]
    pub default: bool,
}

/// An address of a service instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceAddress {
    /// The host.
    pub address: String,
    /// The port.
    pub port: i64,
}

/// A service instance's row.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceRow {
    /// The node, spelled as registered.
    pub node: String,
    /// The registration.
    pub service: NewService,
    /// The index of the first registration.
    pub create_index: Index,
    /// The index of the last change of the row.
    pub modify_index: Index,
}

/// A check as registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewCheck {
    /// The id, unique on its node; compared without regard to case when sessions are bound to it.
    pub check_id: String,
    /// The name.
    pub name: String,
    /// The status. Consul takes any string; only `critical` ends sessions.
    pub status: String,
    /// Notes for people.
    pub notes: String,
    /// The last output.
    pub output: String,
    /// The id of its service instance on the same node; empty for a check of the node.
    pub service_id: String,
    /// The service name given for a check. The service of a check of the node need not exist; a check of a service is kept
    /// without it, and only rights go by it (acl.md 6.7.r7).
    #[serde(default, skip_serializing_if = "unset")]
    pub named_service: String,
    /// The service tags given for a check of the node.
    #[serde(default, skip_serializing_if = "unset")]
    pub named_tags: Option<Vec<String>>,
    /// The kind of check, such as `ttl` or `http`; empty if unset.
    pub kind: String,
    /// The interval, as Consul shows it since 1.10.
    #[serde(default, skip_serializing_if = "unset")]
    pub interval: String,
    /// The timeout, as Consul shows it since 1.10.
    #[serde(default, skip_serializing_if = "unset")]
    pub timeout: String,
    /// The port of a proxy through which the check is made, as Consul shows it since 1.10; 0 if unset.
    #[serde(default, skip_serializing_if = "unset")]
    pub exposed_port: i64,
    /// How the check is run. The catalog only stores it.
    #[serde(default, skip_serializing_if = "unset")]
    pub definition: HealthCheckDefinition,
}

/// Request headers, by name as given; `None` is shown as `null`.
pub type Headers = BTreeMap<String, Option<Vec<String>>>;

/// How a check is run, for display. Unset fields are empty or zero; negative durations stay (seen on 1.8.7).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthCheckDefinition {
    /// The interval in nanoseconds.
    #[serde(rename = "interval", with = "text")]
    #[serde(skip_serializing_if = "unset")]
    pub interval_ns: i64,
    /// The timeout in nanoseconds.
    #[serde(rename = "timeout", with = "text")]
    #[serde(skip_serializing_if = "unset")]
    pub timeout_ns: i64,
    /// The time in nanoseconds after which a critical service is deregistered.
    #[serde(rename = "deregister_critical_service_after", with = "text")]
    #[serde(skip_serializing_if = "unset")]
    pub deregister_critical_service_after_ns: i64,
    /// The URL of an HTTP check.
    #[serde(skip_serializing_if = "unset")]
    pub http: String,
    /// Whether to skip the verification of TLS certificates.
    #[serde(skip_serializing_if = "unset")]
    pub tls_skip_verify: bool,
    /// The headers of the request. `None` differs from no headers, though neither is shown (seen on 1.8.7).
    #[serde(skip_serializing_if = "unset")]
    pub header: Option<Headers>,
    /// The method of the request.
    #[serde(skip_serializing_if = "unset")]
    pub method: String,
    /// The body of the request.
    #[serde(skip_serializing_if = "unset")]
    pub body: String,
    /// The address of a TCP check.
    #[serde(skip_serializing_if = "unset")]
    pub tcp: String,
    /// The TTL of a reported status in nanoseconds.
    #[serde(rename = "ttl", with = "text")]
    #[serde(skip_serializing_if = "unset")]
    pub ttl_ns: i64,
    /// The command of a script check.
    #[serde(skip_serializing_if = "unset")]
    pub script_args: Vec<String>,
    /// The session name of a check of type `session`.
    #[serde(skip_serializing_if = "unset")]
    pub session_name: String,
    /// The largest output in bytes.
    #[serde(skip_serializing_if = "unset")]
    pub output_max_size: u64,
    /// The server name of TLS.
    #[serde(skip_serializing_if = "unset")]
    pub tls_server_name: String,
    /// Whether an HTTP check does not follow redirects.
    #[serde(skip_serializing_if = "unset")]
    pub disable_redirects: bool,
    /// Whether a TCP check uses TLS.
    #[serde(skip_serializing_if = "unset")]
    pub tcp_use_tls: bool,
    /// The address of a UDP check.
    #[serde(skip_serializing_if = "unset")]
    pub udp: String,
    /// The address of an HTTP/2 ping check.
    #[serde(skip_serializing_if = "unset")]
    pub h2ping: String,
    /// Whether an HTTP/2 ping check uses TLS.
    #[serde(skip_serializing_if = "unset")]
    pub h2ping_use_tls: bool,
    /// The service of the operating system to look at.
    #[serde(skip_serializing_if = "unset")]
    pub os_service: String,
    /// The container that a script check runs in.
    #[serde(skip_serializing_if = "unset")]
    pub docker_container_id: String,
    /// The shell of a script check in a container.
    #[serde(skip_serializing_if = "unset")]
    pub shell: String,
    /// The address of a gRPC check.
    #[serde(skip_serializing_if = "unset")]
    pub grpc: String,
    /// Whether a gRPC check uses TLS.
    #[serde(skip_serializing_if = "unset")]
    pub grpc_use_tls: bool,
    /// The node that an alias check follows.
    #[serde(skip_serializing_if = "unset")]
    pub alias_node: String,
    /// The service that an alias check follows.
    #[serde(skip_serializing_if = "unset")]
    pub alias_service: String,
}

/// A check's row.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRow {
    /// The node, spelled as registered.
    pub node: String,
    /// The registration.
    pub check: NewCheck,
    /// The name of its service; for a check of the node [`NewCheck::named_service`].
    pub service_name: String,
    /// The tags of its service instance; for a check of the node [`NewCheck::named_tags`].
    pub service_tags: Option<Vec<String>>,
    /// The index of the first registration.
    pub create_index: Index,
    /// The index of the last change of the row.
    pub modify_index: Index,
}

impl CheckRow {
    /// Returns the tags of the service instance; an empty list if unset.
    #[must_use]
    pub fn service_tags(&self) -> &[String] {
        self.service_tags.as_deref().unwrap_or_default()
    }
}

/// A registration in the catalog, all or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The node. Its row is replaced as a whole.
    pub node: NewNode,
    /// Whether to keep an existing node's row.
    pub skip_node_update: bool,
    /// A service instance of the node.
    pub service: Option<NewService>,
    /// Checks of the node or of its services.
    pub checks: Vec<NewCheck>,
    /// What is wrong with the part behind these: they are tried before it is refused, and may be refused themselves.
    pub flaw: Option<RegistrationFlaw>,
}

/// Why a part of a registration cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistrationFlaw {
    /// The service has neither id nor name.
    ServiceWithoutId,
    /// The metadata of the service breaks Consul's limits.
    ServiceMeta {
        /// The node as named by the registration.
        node: String,
        /// The id of the service.
        service: String,
        /// Consul's text about it.
        why: String,
    },
    /// A check has neither id nor name.
    CheckWithoutId {
        /// The node as named by the registration.
        node: String,
    },
    /// A check names another node.
    CheckOfOtherNode {
        /// The node that the check names.
        named: String,
        /// The id of the check.
        check: String,
        /// The node as named by the registration.
        node: String,
    },
}

impl RegistrationFlaw {
    /// Returns the flaw of a service whose metadata breaks Consul's limits.
    pub fn of_meta(node: &str, service: &NewService) -> Option<Self> {
        let why = service.meta.as_ref().and_then(meta::flaw)?;
        Some(Self::ServiceMeta {
            node: node.to_owned(),
            service: service.id.clone(),
            why,
        })
    }
}

/// A deregistration from the catalog. The case of names does not matter.
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
