//! The JSON that only the catalog's answers have (session.md 4.5, 1.22.md B4.5).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::http::body::wire::{
    Address, Connect, NO_LABELS, Node, NodeService, Port, Proxy, Weights, locality,
};
use crate::http::reply::table::{Look, table};
use proconsul_store::{Instance, ServicePort};
use proconsul_version::Behaviour;

/// A node with its services by id.
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

table! {
    /// A service instance with its node, as `catalog/service` shows it. Missing metadata is an empty object here, and
    /// `null` in other reads (seen on 1.8.7).
    pub(crate) CatalogService of instance: Instance, look: Look {
        "ID" => text(instance.node.node.id),
        "Node" => text(instance.node.node.node) as instance.service.node,
        "Address" => text(instance.node.node.address),
        "Datacenter" => text(instance.node.node.datacenter),
        "TaggedAddresses" => labels(instance.node.node.tagged_addresses),
        "NodeMeta" => labels(instance.node.node.meta),
        "ServiceKind" => text(instance.service.service.kind),
        "ServiceID" => text(instance.service.service.id),
        "ServiceName" => text(instance.service.service.name),
        "ServiceTags" => texts(instance.service.service.tags()),
        "ServiceAddress" => text(instance.service.service.address),
        "ServiceTaggedAddresses", omitempty =>
            keyed(Address, instance.service.service.tagged_addresses),
        "ServiceWeights" => within(Weights, instance.service.service.weights),
        "ServiceMeta" => labels(instance.service.service.meta)
            as instance.service.service.meta.as_ref().unwrap_or(&NO_LABELS),
        "ServicePort" => number(instance.service.service.main_port()),
        "ServicePorts" since Behaviour::JsonServicePorts =>
            each(Port, instance.service.service.ports().iter())
            as ports(instance.service.service.ports.as_deref(), look),
        "ServiceSocketPath" since Behaviour::JsonCatalogServiceSocketPath =>
            text(instance.service.service.socket_path),
        "ServiceEnableTagOverride" => flag(instance.service.service.enable_tag_override),
        "ServiceProxy" => within(Proxy, *instance.service.service.proxy),
        "ServiceConnect" => within(Connect, instance.service.service),
        "ServiceLocality" if look.has(Behaviour::JsonLocality) =>
            json(locality(instance.service.service.locality.as_ref())),
        "CreateIndex" => json(instance.service.create_index.0),
        "ModifyIndex" => json(instance.service.modify_index.0),
    }
}

/// Returns the ports of a service; `None` for no list, which is shown as `null`.
fn ports(ports: Option<&[ServicePort]>, look: Look) -> Option<Vec<Port<'_>>> {
    let shown = ports?.iter().map(|port| Port::new(port, look));
    Some(shown.collect())
}
