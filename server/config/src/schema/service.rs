//! Services.

use std::sync::Arc;

use super::field::{At, Field, GoType, Place, Shape, Table, field};
use super::kind::Group;
use super::kind::seen;
use super::look::{Look, On, Surface};
use super::show::Within;
use super::value::{Put, Shown};
use crate::document::tree::Tree;
use proconsul_filter::{Match, Predicate};
use proconsul_gocompat::json::context::DecodeContext;
use proconsul_gocompat::json::decode::Decode as _;
use proconsul_gocompat::json::kinds::Int;
use proconsul_gocompat::json::value::Value;
use proconsul_store::{
    Instance, Locality, NewService, ServiceAddress, ServicePort, ServiceRow, Weights,
};
use proconsul_version::{Behaviour, Version};

// The agent and the catalog decode services as parts of larger types.
impl Shape for NewService {
    const SERVER: GoType = GoType::plain("structs.NodeService");
    const CLIENT: GoType = GoType::plain("api.AgentService");
}

const ADDRESS: Field<NewService> = field!(NewService, "Address", address);
const TAGGED_ADDRESSES: Field<NewService> = field!(NewService, "TaggedAddresses", tagged_addresses)
    .or_snake("tagged_addresses")
    .omitempty();
const WEIGHTS: Field<NewService> = field!(NewService, "Weights", weights);
const LOCALITY: Field<NewService> = field!(NewService, "Locality", locality)
    .since(Behaviour::JsonLocality)
    .omitempty_if(|look| look.surface != Surface::Instances)
    .unselected();

impl Table for NewService {
    const FILTERED: On = On::AGENT;
    const FIELDS: &'static [Field<Self>] = &[
        field!(NewService, "Kind", kind)
            .of_type(Some("structs.ServiceKind"), Some("api.ServiceKind"))
            .dropped_by_txn()
            .omitempty_if(|look| look.surface != Surface::Instances),
        field!(NewService, "ID", id),
        field!(NewService, "Service", name).on(SERVICE_NAMED),
        field!(NewService, "Name", name).on(On::ALL.but(SERVICE_NAMED)),
        field!(NewService, "Tags", tags).filled_if(|look| look.fills_tags()),
        ADDRESS.shown_on(On::NODES.and(On::INSTANCES)),
        TAGGED_ADDRESSES.shown_on(On::NODES.and(On::INSTANCES)),
        WEIGHTS.shown_on(On::INSTANCES),
        field!(NewService, "Meta", meta)
            .filled_if(|look| matches!(look.surface, Surface::Agent | Surface::Instances)),
        Field::new("Port", "ServicePort", &MainPort).omitempty_if(|look| {
            look.surface.on() == On::NODES && look.has(Behaviour::JsonNodeServiceMode)
        }),
        field!(NewService, "Ports", ports)
            .of_type(Some("structs.ServicePorts"), None)
            .since(Behaviour::JsonServicePorts)
            .omitempty_if(|look| look.surface != Surface::Instances),
        ADDRESS.on(On::AGENT),
        field!(NewService, "SocketPath", socket_path)
            .since(Behaviour::JsonCatalogServiceSocketPath)
            .omitempty_if(|look| look.surface != Surface::Instances),
        TAGGED_ADDRESSES.on(On::AGENT),
        WEIGHTS.on(On::NODES.and(On::AGENT)),
        field!(NewService, "EnableTagOverride", enable_tag_override)
            .or_snake("enable_tag_override"),
        LOCALITY.shown_on(On::NODES),
        Field::shown("ContentHash", |_, look, put| {
            let hash = look.agent.content_hash;
            put(hash.map_or(Shown::Null, Shown::Text));
        })
        .on(On::AGENT)
        .shown_if(|_, look| look.agent.content_hash.is_some()),
        Field::new(
            "Proxy",
            "ServiceProxy",
            &At::<NewService, _> {
                get: |service| &*service.proxy,
                place: |service| Arc::make_mut(&mut service.proxy),
            },
        )
        .on(On::ANSWERS.and(On::FILES).and(On::CLIENT))
        .dropped_by_txn()
        .shown_if(|service, look| !look.is_agent() || has_proxy(service)),
        // In bodies, the definition of a sidecar stands beside it.
        Field::new(
            "Connect",
            "ServiceConnect",
            &Group {
                server: GoType::plain(""),
                client: GoType::plain(""),
                fields: &[field!(NewService, "Native", connect_native).omitempty()],
            },
        )
        .on(On::ANSWERS.and(On::FILES))
        .omitempty_if(|look| look.is_agent()),
        Field::shown("Datacenter", |_, look, put| {
            put(Shown::Text(look.agent.datacenter));
        })
        .on(On::AGENT)
        .since(Behaviour::JsonAgentServiceDatacenter),
        LOCALITY.on(On::AGENT.and(On::INSTANCES)),
    ];
}

/// The surfaces where the name of a service is called so.
const SERVICE_NAMED: On = On::CATALOG_BODY
    .and(On::TXN_BODY)
    .and(On::NODES)
    .and(On::AGENT);

/// Whether a service is a proxy or a gateway.
fn has_proxy(service: &NewService) -> bool {
    matches!(
        service.kind.as_str(),
        "connect-proxy" | "mesh-gateway" | "terminating-gateway" | "ingress-gateway"
    )
}

/// The port of a service. Answers show the default one of several in its place; those with nodes only if they are asked to.
struct MainPort;

impl Place<NewService> for MainPort {
    fn decode(&self, row: &mut NewService, value: Value<'_>, _: bool, context: &mut DecodeContext) {
        Int::decode(&mut row.port, value, context);
    }

    fn read(&self, row: &mut NewService, tree: &Tree) {
        row.port = super::read::number(tree);
    }

    fn is_empty(&self, row: &NewService, look: &Look<'_>) -> bool {
        port(row, look) == 0
    }

    fn show(&self, row: &NewService, look: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Int(port(row, look)));
    }

    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<NewService>, String> {
        let test = <i64 as super::kind::Kind>::test(claim, names, version)?;
        Ok(Box::new(move |row| test(&row.main_port())))
    }
}

/// Returns the port that a service shows.
fn port(service: &NewService, look: &Look<'_>) -> i64 {
    if look.surface.on() == On::NODES && !look.shows_default_port {
        service.port
    } else {
        service.main_port()
    }
}

impl Shape for ServicePort {
    const SERVER: GoType = GoType::plain("structs.ServicePort");
    const CLIENT: GoType = Self::SERVER;
}

impl Table for ServicePort {
    const FIELDS: &'static [Field<Self>] = &[
        field!(ServicePort, "Name", name),
        field!(ServicePort, "Port", port),
        field!(ServicePort, "Default", default),
    ];
}

impl Shape for Locality {
    const SERVER: GoType = GoType::plain("structs.Locality");
    const CLIENT: GoType = Self::SERVER;
}

impl Table for Locality {
    const FIELDS: &'static [Field<Self>] = &[
        field!(Locality, "Region", region),
        field!(Locality, "Zone", zone),
    ];
}

impl Shape for ServiceAddress {
    const SERVER: GoType = GoType::plain("structs.ServiceAddress");
    const CLIENT: GoType = GoType::plain("api.ServiceAddress");
}

impl Table for ServiceAddress {
    const FIELDS: &'static [Field<Self>] = &[
        field!(ServiceAddress, "Address", address),
        field!(ServiceAddress, "Port", port),
    ];
}

/// Weights that a body or a file does not give. Those that it gives are 0 where one is missing, unlike the default.
const UNGIVEN: Weights = Weights {
    passing: i64::MIN,
    warning: i64::MIN,
};

impl Shape for Weights {
    const SERVER: GoType = GoType::plain("structs.Weights");
    const CLIENT: GoType = GoType::plain("api.AgentWeights");

    fn begin(&mut self) {
        if *self == UNGIVEN {
            (self.passing, self.warning) = (0, 0);
        }
    }

    fn take_null(&mut self) {
        *self = UNGIVEN;
    }
}

impl Table for Weights {
    const FIELDS: &'static [Field<Self>] = &[
        field!(Weights, "Passing", passing),
        field!(Weights, "Warning", warning),
    ];
}

/// Returns the place of a service that is decoded.
pub fn ungiven_service() -> NewService {
    NewService {
        weights: UNGIVEN,
        ..NewService::default()
    }
}

/// Returns weights, or the default if none are given.
pub fn given_weights(weights: Weights) -> Weights {
    match weights {
        UNGIVEN => Weights::default(),
        given => given,
    }
}

/// A service as a part of its node.
impl Table for ServiceRow {
    const FIELDS: &'static [Field<Self>] = &[
        Field::flat(&Within::<ServiceRow, NewService> {
            get: |row| &row.service,
            prefixed: false,
        }),
        Field::shown("PeerName", |_, _, put| put(Shown::Text("")))
            .since(Behaviour::JsonNodeServicePeerName),
        seen!(ServiceRow, "CreateIndex", |row| &row.create_index.0).unselected(),
        seen!(ServiceRow, "ModifyIndex", |row| &row.modify_index.0).unselected(),
    ];
}

/// A service with its node in one object.
impl Table for Instance {
    const FILTERED: On = On::INSTANCES;
    const FIELDS: &'static [Field<Self>] = &[
        seen!(Instance, "ID", |row| &row.node.node.id),
        seen!(Instance, "Node", |row| &row.node.node.node, |row| &row
            .service
            .node),
        seen!(Instance, "Address", |row| &row.node.node.address),
        seen!(Instance, "Datacenter", |row| &row.node.node.datacenter),
        seen!(Instance, "TaggedAddresses", |row| &row
            .node
            .node
            .tagged_addresses),
        seen!(Instance, "NodeMeta", |row| &row.node.node.meta),
        Field::flat(&Within::<Instance, NewService> {
            get: |row| &row.service.service,
            prefixed: true,
        }),
        seen!(Instance, "CreateIndex", |row| &row.service.create_index.0).unselected(),
        seen!(Instance, "ModifyIndex", |row| &row.service.modify_index.0).unselected(),
    ];
}
