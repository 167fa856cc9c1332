//! A service as a transaction's body has it: in the client's types, all of which have names (kv.md 7.5). Consul copies no
//! more of it than what [`ServiceBody::into_service`] takes, but minds the kinds of all (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::go::json::decode::{Field, Object, field};
use crate::go::json::kinds::Any;
use crate::http::api::txn::proxy_body::{ConnectBody, ProxyBody};
use crate::store::{Labels, NewService, ServiceAddress, Weights};
use crate::version::Behaviour;

/// A service instance.
#[derive(Default)]
pub(crate) struct ServiceBody {
    pub(crate) id: String,
    service: String,
    tags: Option<Vec<String>>,
    address: String,
    tagged_addresses: Option<BTreeMap<String, AddressBody>>,
    meta: Option<Labels>,
    port: i64,
    weights: WeightsBody,
    enable_tag_override: bool,
    pub(crate) modify_index: u64,
    ignored: Ignored,
}

/// What is taken and means nothing here.
#[derive(Default)]
struct Ignored {
    kind: String,
    content_hash: String,
    namespace: String,
    create_index: u64,
    proxy: Option<Box<ProxyBody>>,
    connect: Option<Box<ConnectBody>>,
    later: [Any; 4],
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = "api.AgentService";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let ignored = &mut self.ignored;
        let [ports, locality, socket, peer] = &mut ignored.later;
        vec![
            field("Kind", &mut ignored.kind).of_type("api.ServiceKind"),
            field("ID", &mut self.id),
            field("Service", &mut self.service),
            field("Tags", &mut self.tags),
            field("Meta", &mut self.meta),
            field("Port", &mut self.port).of_type("int"),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("Weights", &mut self.weights),
            field("EnableTagOverride", &mut self.enable_tag_override),
            field("ContentHash", &mut ignored.content_hash),
            field("Proxy", &mut ignored.proxy),
            field("Connect", &mut ignored.connect),
            field("Namespace", &mut ignored.namespace),
            field("CreateIndex", &mut ignored.create_index),
            field("ModifyIndex", &mut self.modify_index),
            field("Locality", locality).since(Behaviour::JsonLocality),
            field("SocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("Ports", ports).since(Behaviour::JsonServicePorts),
            field("PeerName", peer).since(Behaviour::JsonNodeServicePeerName),
        ]
    }
}

impl ServiceBody {
    /// The service, as far as Consul copies it.
    pub(crate) fn into_service(self) -> NewService {
        let address = |(tag, body): (String, AddressBody)| (tag, body.0);
        let addresses = self.tagged_addresses;
        NewService {
            id: if self.id.is_empty() {
                self.service.clone()
            } else {
                self.id
            },
            name: self.service,
            tags: self.tags,
            address: self.address,
            meta: self.meta,
            port: self.port,
            weights: Weights::from(self.weights).valid(),
            enable_tag_override: self.enable_tag_override,
            tagged_addresses: addresses
                .map(|addresses| addresses.into_iter().map(address).collect()),
            ..NewService::default()
        }
    }
}

/// An address of a service.
#[derive(Default)]
pub(crate) struct AddressBody(ServiceAddress);

impl Object for AddressBody {
    const GO_TYPE: &'static str = "api.ServiceAddress";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Address", &mut self.0.address),
            field("Port", &mut self.0.port).of_type("int"),
        ]
    }
}

/// The weights of a service.
#[derive(Default)]
pub(crate) struct WeightsBody {
    passing: i64,
    warning: i64,
}

impl From<WeightsBody> for Weights {
    fn from(body: WeightsBody) -> Self {
        Self {
            passing: body.passing,
            warning: body.warning,
        }
    }
}

impl Object for WeightsBody {
    const GO_TYPE: &'static str = "api.AgentWeights";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Passing", &mut self.passing).of_type("int"),
            field("Warning", &mut self.warning).of_type("int"),
        ]
    }
}
