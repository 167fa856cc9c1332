//! Discovery chains: to which instances the entries lead a request for a service (operator.md 5).
//!
//! A chain is compiled from the entries when it is asked for, and before an entry changes, to see whether it still can be.

mod check;
mod resolve;
mod split;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Store;
use crate::catalog::work::looked_at;
use crate::config;
use crate::config::value::ConfigValue;
use crate::config::{ConfigPlace, ConfigTable};
use crate::read::{Answer, Read, ReadResult, Subject};

pub(crate) use check::check;

/// Which chain is asked for.
#[derive(Clone, Debug, Default)]
pub struct ChainRequest {
    /// The service.
    pub service: String,
    /// The datacenter in which the chain is used.
    pub own_datacenter: String,
    /// The datacenter for which it is compiled.
    pub datacenter: String,
    /// What is set in place of the entries.
    pub overrides: ChainOverrides,
}

/// What is set in place of the entries. Empty and 0 set nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainOverrides {
    /// The protocol.
    pub protocol: String,
    /// The mode of mesh gateways.
    pub mesh_gateway: String,
    /// The timeout of connections, in nanoseconds.
    pub connect_timeout_ns: i64,
}

/// A compiled chain.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// The protocol.
    pub protocol: String,
    /// The id of the first node.
    pub start: String,
    /// The nodes, by id.
    pub nodes: BTreeMap<String, ChainNode>,
    /// The targets, by id.
    pub targets: BTreeMap<String, ChainTarget>,
    /// Those overrides that changed something.
    pub applied: ChainOverrides,
    /// Whether no entry leads elsewhere.
    pub is_default: bool,
    /// Where entries were looked for.
    pub(crate) looked_up: BTreeSet<ConfigPlace>,
}

/// A node of a chain.
#[derive(Clone, Debug)]
pub enum ChainNode {
    /// Chooses by the request.
    Router {
        /// The name.
        name: String,
        /// The routes: what the entry says, and the id of the next node.
        routes: Vec<(ConfigValue, String)>,
    },
    /// Chooses by weight.
    Splitter {
        /// The name.
        name: String,
        /// The splits.
        splits: Vec<ChainSplit>,
    },
    /// Names instances.
    Resolver {
        /// The timeout of connections, in nanoseconds.
        connect_timeout_ns: i64,
        /// The timeout of requests, in nanoseconds; 0 for none.
        request_timeout_ns: i64,
        /// How one of the instances is chosen, if the entry says so.
        load_balancer: Option<ConfigValue>,
        /// Whether no entry says anything.
        is_default: bool,
        /// The id of the target.
        target: String,
        /// The ids of the targets to try after it.
        failover: Vec<String>,
    },
}

/// A split of a splitter.
#[derive(Clone, Debug)]
pub struct ChainSplit {
    /// The weight, in hundredths.
    pub weight: i64,
    /// What the entry says.
    pub definition: ConfigValue,
    /// The id of the next node.
    pub next: String,
}

/// Instances of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainTarget {
    /// The service.
    pub service: String,
    /// The subset of its instances; empty for all.
    pub subset: String,
    /// The namespace.
    pub namespace: String,
    /// The datacenter; empty for a service of a peer.
    pub datacenter: String,
    /// The peer; empty for a service of this cluster.
    pub peer: String,
    /// The mode of mesh gateways; empty if unset.
    pub mesh_gateway: String,
    /// What the entry says of the subset.
    pub definition: Option<ConfigValue>,
    /// The name for TLS if the service is outside of the mesh; empty otherwise.
    pub external_sni: String,
    /// The timeout of connections, in nanoseconds.
    pub connect_timeout_ns: i64,
    /// Whether instances are dialed at their own addresses.
    pub dialed_directly: bool,
}

/// Why entries make no chain or gateway, in Consul's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError(pub(crate) String);

impl fmt::Display for ChainError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ChainError {}

/// The kind and name of the entry of all proxies.
pub(crate) const PROXIES: (&str, &str) = ("proxy-defaults", "global");
/// The namespace of all that names no other.
const NAMESPACE: &str = "default";

/// A chain under compilation.
struct Compiler<'a> {
    table: &'a ConfigTable,
    request: &'a ChainRequest,
    /// Whether this is late 2025 ([`crate::VersionRules::config_late`]).
    is_late: bool,
    /// Whether routers and splitters are left out.
    is_plain: bool,
    chain: Chain,
}

/// Compiles a chain.
pub(crate) fn compile(
    table: &ConfigTable,
    request: &ChainRequest,
    is_late: bool,
) -> Result<Chain, ChainError> {
    let assembled = |is_plain| {
        let mut compiler = Compiler {
            table,
            request,
            is_late,
            is_plain,
            chain: Chain {
                looked_up: BTreeSet::from([config::place(PROXIES.0, PROXIES.1)]),
                ..Chain::default()
            },
        };
        compiler.chain.start = compiler.route()?;
        compiler.flatten_splitters()?;
        Ok(compiler)
    };
    let mut compiler = assembled(false)?;
    let asked = &request.overrides.protocol;
    if !asked.is_empty() && *asked != compiler.chain.protocol {
        if !has_requests(asked) {
            let looked_up = compiler.chain.looked_up;
            compiler = assembled(true)?;
            compiler.chain.looked_up.extend(looked_up);
        }
        compiler.chain.protocol.clone_from(asked);
        compiler.chain.applied.protocol.clone_from(asked);
    }
    compiler.finish()
}

/// Returns the protocol of a service. One whose own entry names no protocol has TCP, whatever that of all proxies says
/// (operator.md 4.2.r13b).
pub(crate) fn protocol_of(table: &ConfigTable, service: &str) -> String {
    if let Some(own) = table.body("service-defaults", service) {
        let own = own.text("Protocol");
        return if own.is_empty() { "tcp" } else { own }.to_lowercase();
    }
    let proxies = table.body(PROXIES.0, PROXIES.1);
    let config = proxies.and_then(|body| match body.get("Config") {
        Some(ConfigValue::Text(config)) => text_member(config, "protocol"),
        _ => None,
    });
    match config {
        Some(protocol) if !protocol.is_empty() => protocol.to_lowercase(),
        _ => "tcp".to_owned(),
    }
}

/// Returns the member of a JSON object that is a text.
fn text_member(object: &str, name: &str) -> Option<String> {
    use proconsul_gocompat::json::document::document;
    use proconsul_gocompat::json::value::ValueKind;

    let document = document(object.as_bytes()).ok()?;
    let mut members = document.value().members();
    let (_, member) = members.find(|(member, _)| member == name)?;
    match member.kind() {
        ValueKind::String(text) => Some(text.into_owned()),
        _ => None,
    }
}

/// Whether a protocol has requests, which can be looked at one by one.
pub(crate) fn has_requests(protocol: &str) -> bool {
    matches!(protocol, "http" | "http2" | "grpc")
}

impl Compiler<'_> {
    /// Returns the router or splitter of this name, unless they are left out.
    fn advanced(&mut self, kind: &str, service: &str) -> Option<(String, ConfigValue)> {
        if self.is_plain {
            return None;
        }
        self.chain.looked_up.insert(config::place(kind, service));
        let row = self.table.row(kind, service)?;
        Some((row.entry.name.clone(), row.entry.body.clone()))
    }

    /// Returns the name of a node that stands for a service.
    fn name(&self, service: &str) -> String {
        if self.is_late {
            format!("{service}.{NAMESPACE}.default")
        } else {
            format!("{service}.{NAMESPACE}")
        }
    }

    /// Returns the instances of a service in the datacenter of the chain.
    fn target(&self, service: &str, subset: &str, namespace: &str) -> ChainTarget {
        let namespace = if namespace.is_empty() {
            NAMESPACE
        } else {
            namespace
        };
        ChainTarget {
            service: service.to_owned(),
            subset: subset.to_owned(),
            namespace: namespace.to_owned(),
            datacenter: self.request.datacenter.clone(),
            ..ChainTarget::default()
        }
    }

    /// Notes that the chain looks up the defaults of a service.
    fn note_defaults(&mut self, service: &str) {
        looked_at();
        let place = config::place("service-defaults", service);
        self.chain.looked_up.insert(place);
    }

    /// Notes the protocol of a service. That of the first one is the chain's, and the others must have it, too.
    fn note_protocol(&mut self, service: &str) -> Result<(), ChainError> {
        self.note_defaults(service);
        let chain = &mut self.chain;
        let protocol = protocol_of(self.table, service);
        if chain.protocol.is_empty() {
            chain.protocol = protocol;
            return Ok(());
        }
        if protocol == chain.protocol || !self.request.overrides.protocol.is_empty() {
            return Ok(());
        }
        Err(ChainError(format!(
            "discovery chain \"{}\" uses inconsistent protocols; service \"{service}\" has \"{protocol}\" which is not \"{}\"",
            self.request.service, chain.protocol
        )))
    }

    /// Adds the router of the service if it has one, else what comes after it. Returns the id of the first node.
    fn route(&mut self) -> Result<String, ChainError> {
        let service = self.request.service.clone();
        let Some((name, router)) = self.advanced("service-router", &service) else {
            return self.split_or_resolve(&service);
        };
        self.note_protocol(&name)?;
        let mut routes = Vec::new();
        for route in router.list("Routes") {
            let to = |name| {
                let destination = route.get("Destination");
                destination.map_or("", |destination| destination.text(name))
            };
            let asked = to("Service");
            let asked = if asked.is_empty() { &name } else { asked };
            let subset = to("ServiceSubset");
            let next = if subset.is_empty() {
                self.split_or_resolve(asked)?
            } else {
                let target = self.target(asked, subset, to("Namespace"));
                self.resolve(target)?
            };
            routes.push((route.clone(), next));
        }
        let rest = self.split_or_resolve(&name)?;
        routes.push((rest_of(&name), rest));
        let name = self.name(&name);
        let id = format!("router:{name}");
        let router = ChainNode::Router { name, routes };
        self.chain.nodes.insert(id.clone(), router);
        Ok(id)
    }

    /// Checks the whole chain.
    fn finish(mut self) -> Result<Chain, ChainError> {
        let chain = &mut self.chain;
        let resolves = |node: &ChainNode| matches!(node, ChainNode::Resolver { .. });
        if !has_requests(&chain.protocol) && !chain.nodes.values().all(resolves) {
            return Err(ChainError(format!(
                "discovery chain \"{}\" uses a protocol \"{}\" that does not permit advanced routing or splitting behavior",
                self.request.service, chain.protocol
            )));
        }
        chain.is_default = match &chain.nodes[&chain.start] {
            ChainNode::Resolver {
                is_default, target, ..
            } => {
                let target = &chain.targets[target];
                *is_default && target.service == self.request.service && target.peer.is_empty()
            }
            _ => false,
        };
        Ok(self.chain)
    }
}

/// Returns the route of all requests that no other route takes.
fn rest_of(service: &str) -> ConfigValue {
    let members = |members: Vec<(&str, ConfigValue)>| {
        let members = members.into_iter();
        ConfigValue::Members(
            members
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    };
    let text = |text: &str| ConfigValue::Text(text.to_owned());
    let path = members(vec![("PathPrefix", text("/"))]);
    let destination = vec![("Service", text(service)), ("Namespace", text(NAMESPACE))];
    members(vec![
        ("Match", members(vec![("HTTP", path)])),
        ("Destination", members(destination)),
    ])
}

impl Read for ChainRequest {
    type Rows = Chain;
    type Refused = ChainError;

    fn subject(&self) -> Subject {
        Subject::other(format!("the discovery chain of {:?}", self.service))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let table = &store.config;
        let chain = compile(table, self, store.rules.config_late)?;
        let places = chain.looked_up.iter();
        let reads = places.map(|(kind, name)| store.config_watch(kind, Some(name)));
        let reads = reads.collect();
        Ok(Answer::new(table.newest, chain, reads))
    }
}
