//! The JSON of nodes, services and checks (session.md 4.5, 1.22.md B4.5).

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::store::{CheckRow, Labels, NodeRow, ServiceRow};
use crate::version::{Behaviour, Version};

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
    #[serde(rename = "ID")]
    id: &'a str,
    service: &'a str,
    tags: &'a [String],
    address: &'a str,
    meta: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<i64>,
    weights: Weights,
    enable_tag_override: bool,
    proxy: Proxy,
    connect: Empty,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_name: Option<&'static str>,
    create_index: u64,
    modify_index: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Weights {
    passing: i64,
    warning: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Proxy {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    mesh_gateway: Empty,
    expose: Empty,
}

/// `{}`.
#[derive(Serialize)]
struct Empty {}

impl<'a> NodeService<'a> {
    pub(crate) fn new(row: &'a ServiceRow, version: Version) -> Self {
        let service = &row.service;
        let has_mode = version.has(Behaviour::JsonNodeServiceMode);
        Self {
            id: &service.id,
            service: &service.name,
            tags: &service.tags,
            address: &service.address,
            meta: service.meta.as_ref(),
            port: (service.port != 0 || !has_mode).then_some(service.port),
            weights: Weights {
                passing: service.weights.passing,
                warning: service.weights.warning,
            },
            enable_tag_override: service.enable_tag_override,
            proxy: Proxy {
                mode: has_mode.then_some(""),
                mesh_gateway: Empty {},
                expose: Empty {},
            },
            connect: Empty {},
            peer_name: version
                .has(Behaviour::JsonNodeServicePeerName)
                .then_some(""),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
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
    service_tags: &'a [String],
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposed_port: Option<u16>,
    definition: Empty,
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
            service_tags: &row.service_tags,
            r#type: &check.kind,
            interval: has_interval.then_some(""),
            timeout: has_interval.then_some(""),
            exposed_port: version.has(Behaviour::JsonCheckExposedPort).then_some(0),
            definition: Empty {},
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}
