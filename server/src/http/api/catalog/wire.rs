//! The JSON of nodes, services and checks (session.md 4.5, 1.22.md B4.5).

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::go::duration;
use crate::http::body::proxy_wire::{Connect, Proxy};
use crate::store::{
    CheckDefinition, CheckRow, Headers, Instance, Labels, NewService, NodeRow, ServiceRow,
};
use crate::version::{Behaviour, Version};

/// `{}`.
pub(crate) static NO_LABELS: Labels = Labels::new();

/// A node.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Node<'a> {
    #[serde(rename = "ID")]
    id: &'a str,
    node: &'a str,
    address: &'a str,
    datacenter: &'a str,
    tagged_addresses: Option<&'a Labels>,
    meta: Option<&'a Labels>,
    create_index: u64,
    modify_index: u64,
}

impl<'a> Node<'a> {
    pub(crate) fn new(row: &'a NodeRow) -> Self {
        let node = &row.node;
        Self {
            id: &node.id,
            node: &node.node,
            address: &node.address,
            datacenter: &node.datacenter,
            tagged_addresses: node.tagged_addresses.as_ref(),
            meta: node.meta.as_ref(),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}

/// A service instance as part of its node.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct NodeService<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'a str,
    #[serde(rename = "ID")]
    id: &'a str,
    service: &'a str,
    tags: Option<&'a [String]>,
    address: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tagged_addresses: Option<BTreeMap<&'a str, Address<'a>>>,
    meta: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<i64>,
    weights: Weights,
    enable_tag_override: bool,
    proxy: Proxy<'a>,
    connect: Connect,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_name: Option<&'static str>,
    create_index: u64,
    modify_index: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Weights {
    passing: i64,
    warning: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Address<'a> {
    address: &'a str,
    port: i64,
}

impl Weights {
    pub(crate) fn new(service: &NewService) -> Self {
        Self {
            passing: service.weights.passing,
            warning: service.weights.warning,
        }
    }
}

pub(crate) fn addresses(service: &NewService) -> Option<BTreeMap<&str, Address<'_>>> {
    let addresses = service.tagged_addresses.as_ref()?;
    if addresses.is_empty() {
        // Go's encoder leaves out an empty map as it does none (seen on 1.8.7).
        return None;
    }
    let address = addresses.iter().map(|(tag, address)| {
        let shown = Address {
            address: &address.address,
            port: address.port,
        };
        (tag.as_str(), shown)
    });
    Some(address.collect())
}

impl<'a> NodeService<'a> {
    pub(crate) fn new(row: &'a ServiceRow, version: Version) -> Self {
        let service = &row.service;
        let has_mode = version.has(Behaviour::JsonNodeServiceMode);
        Self {
            kind: &service.kind,
            id: &service.id,
            service: &service.name,
            tags: Some(service.tags()),
            address: &service.address,
            tagged_addresses: addresses(service),
            meta: service.meta.as_ref(),
            port: (service.port != 0 || !has_mode).then_some(service.port),
            weights: Weights::new(service),
            enable_tag_override: service.enable_tag_override,
            proxy: Proxy::new(service, version),
            connect: Connect::new(service),
            peer_name: version
                .has(Behaviour::JsonNodeServicePeerName)
                .then_some(""),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }

    /// The same as a transaction shows it: no tags are `null` (kv.md 7.5), an empty list is one (seen on 1.8.7).
    pub(crate) fn in_txn(row: &'a ServiceRow, version: Version) -> Self {
        Self {
            tags: row.service.tags.as_deref(),
            ..Self::new(row, version)
        }
    }
}

impl<'a> Check<'a> {
    /// The same as a transaction shows it: no tags are `null` (kv.md 7.5), an empty list is one (seen on 1.8.7).
    pub(crate) fn in_txn(row: &'a CheckRow, version: Version) -> Self {
        Self {
            service_tags: row.service_tags.as_deref(),
            ..Self::new(row, version)
        }
    }
}

/// A node with its services, by their ids.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct NodeWithServices<'a> {
    pub(crate) node: Node<'a>,
    pub(crate) services: BTreeMap<&'a str, NodeService<'a>>,
}

/// A node with the list of its services.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct NodeServiceList<'a> {
    pub(crate) node: Option<Node<'a>>,
    pub(crate) services: Option<Vec<NodeService<'a>>>,
}

/// The names of services, each with the tags of all its instances.
pub(crate) struct ServiceTags<'a>(pub(crate) BTreeMap<&'a str, Vec<&'a str>>);

impl Serialize for ServiceTags<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, tags) in &self.0 {
            map.serialize_entry(name, tags)?;
        }
        map.end()
    }
}

/// A check.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Check<'a> {
    node: &'a str,
    #[serde(rename = "CheckID")]
    check_id: &'a str,
    name: &'a str,
    status: &'a str,
    notes: &'a str,
    output: &'a str,
    #[serde(rename = "ServiceID")]
    service_id: &'a str,
    service_name: &'a str,
    service_tags: Option<&'a [String]>,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposed_port: Option<u16>,
    definition: Definition<'a>,
    create_index: u64,
    modify_index: u64,
}

impl<'a> Check<'a> {
    pub(crate) fn new(row: &'a CheckRow, version: Version) -> Self {
        let check = &row.check;
        let has_interval = version.has(Behaviour::JsonCheckInterval);
        Self {
            node: &row.node,
            check_id: &check.check_id,
            name: &check.name,
            status: &check.status,
            notes: &check.notes,
            output: &check.output,
            service_id: &check.service_id,
            service_name: &row.service_name,
            service_tags: Some(row.service_tags()),
            r#type: &check.kind,
            interval: has_interval.then_some(check.interval.as_str()),
            timeout: has_interval.then_some(check.timeout.as_str()),
            exposed_port: version.has(Behaviour::JsonCheckExposedPort).then_some(0),
            definition: Definition::new(&check.definition),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}

/// How a check is run: what was given, durations as Go prints them and the TTL as a number (session.md 4.2).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Definition<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deregister_critical_service_after: Option<String>,
    #[serde(rename = "HTTP", skip_serializing_if = "str::is_empty")]
    http: &'a str,
    #[serde(rename = "TLSSkipVerify", skip_serializing_if = "std::ops::Not::not")]
    tls_skip_verify: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    header: &'a Headers,
    #[serde(skip_serializing_if = "str::is_empty")]
    method: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    body: &'a str,
    #[serde(rename = "TCP", skip_serializing_if = "str::is_empty")]
    tcp: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    script_args: &'a [String],
    #[serde(rename = "TTL", skip_serializing_if = "Option::is_none")]
    ttl: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    session_name: &'a str,
}

impl<'a> Definition<'a> {
    fn new(definition: &'a CheckDefinition) -> Self {
        let text = |nanoseconds: i64| (nanoseconds != 0).then(|| duration::format(nanoseconds));
        Self {
            interval: text(definition.interval_ns),
            timeout: text(definition.timeout_ns),
            deregister_critical_service_after: text(
                definition.deregister_critical_service_after_ns,
            ),
            http: &definition.http,
            tls_skip_verify: definition.tls_skip_verify,
            header: &definition.header,
            method: &definition.method,
            body: &definition.body,
            tcp: &definition.tcp,
            script_args: &definition.script_args,
            ttl: Some(definition.ttl_ns).filter(|ttl| *ttl != 0),
            session_name: &definition.session_name,
        }
    }
}

/// A service instance with its node, as `catalog/service` shows it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CatalogService<'a> {
    #[serde(rename = "ID")]
    id: &'a str,
    node: &'a str,
    address: &'a str,
    datacenter: &'a str,
    tagged_addresses: Option<&'a Labels>,
    node_meta: Option<&'a Labels>,
    service_kind: &'a str,
    #[serde(rename = "ServiceID")]
    service_id: &'a str,
    service_name: &'a str,
    service_tags: &'a [String],
    service_address: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tagged_addresses: Option<BTreeMap<&'a str, Address<'a>>>,
    service_weights: Weights,
    service_meta: &'a Labels,
    service_port: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_ports: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_socket_path: Option<&'static str>,
    service_enable_tag_override: bool,
    service_proxy: Proxy<'a>,
    service_connect: Connect,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_locality: Option<()>,
    create_index: u64,
    modify_index: u64,
}

impl<'a> CatalogService<'a> {
    pub(crate) fn new(instance: &'a Instance, version: Version) -> Self {
        let (node, service) = (&instance.node.node, &instance.service.service);
        let null_since = |behaviour| version.has(behaviour).then_some(());
        Self {
            id: &node.id,
            node: &instance.service.node,
            address: &node.address,
            datacenter: &node.datacenter,
            tagged_addresses: node.tagged_addresses.as_ref(),
            node_meta: node.meta.as_ref(),
            service_kind: &service.kind,
            service_id: &service.id,
            service_name: &service.name,
            service_tags: service.tags(),
            service_address: &service.address,
            service_tagged_addresses: addresses(service),
            service_weights: Weights::new(service),
            // Where the other reads show `null`, this one shows none (seen on 1.8.7).
            service_meta: service.meta.as_ref().unwrap_or(&NO_LABELS),
            service_port: service.port,
            service_ports: null_since(Behaviour::JsonCatalogServicePorts),
            service_socket_path: version
                .has(Behaviour::JsonCatalogServiceSocketPath)
                .then_some(""),
            service_enable_tag_override: service.enable_tag_override,
            service_proxy: Proxy::new(service, version),
            service_connect: Connect::new(service),
            service_locality: null_since(Behaviour::JsonCatalogServiceLocality),
            create_index: instance.service.create_index.0,
            modify_index: instance.service.modify_index.0,
        }
    }
}

/// A service instance with its node and all checks, as `health/service` shows it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HealthEntry<'a> {
    node: Node<'a>,
    service: NodeService<'a>,
    checks: Option<Vec<Check<'a>>>,
}

impl<'a> HealthEntry<'a> {
    /// The same as a prepared query shows it: tags as a transaction has them, and no checks are `null`.
    pub(crate) fn in_query(instance: &'a Instance, version: Version) -> Self {
        let checks = instance.checks.iter();
        let checks = checks.map(|row| Check::in_txn(row, version));
        Self {
            node: Node::new(&instance.node),
            service: NodeService::in_txn(&instance.service, version),
            checks: (!instance.checks.is_empty()).then(|| checks.collect()),
        }
    }
}

impl<'a> HealthEntry<'a> {
    pub(crate) fn new(instance: &'a Instance, version: Version) -> Self {
        let checks = instance.checks.iter();
        Self {
            node: Node::new(&instance.node),
            service: NodeService::new(&instance.service, version),
            checks: Some(checks.map(|row| Check::new(row, version)).collect()),
        }
    }
}
