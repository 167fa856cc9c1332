//! A service as a transaction's body has it: in the client's types, all of which have names (kv.md 7.5). Consul copies no
//! more of it than what has a place here, but minds the kinds of all (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::go::json::decode::go_struct;
use crate::go::json::kinds::{Any, Int};
use crate::http::api::txn::proxy_body::{ConnectBody, ProxyBody};
use crate::http::body::service::{ServiceBody, WeightsBody};
use crate::store::{Labels, ServiceAddress};
use crate::version::Behaviour;

go_struct! {
    /// A service instance.
    pub(crate) ServiceFields as "api.AgentService" for body: ServiceBody {
        "Kind" is "api.ServiceKind": String,
        "ID": String => body.service.id,
        "Service": String => body.service.name,
        "Tags": Option<Vec<String>> => body.service.tags,
        "Meta": Option<Labels> => body.service.meta,
        "Port": Int => body.service.port,
        "Address": String => body.service.address,
        "TaggedAddresses":
            Option<BTreeMap<String, AddressFields>> => body.service.tagged_addresses,
        "Weights": WeightsFields => *body.weights.get_or_insert_default(),
        "EnableTagOverride": bool => body.service.enable_tag_override,
        "ContentHash": String,
        "Proxy": Option<ProxyBody>,
        "Connect": Option<ConnectBody>,
        "Namespace": String,
        "CreateIndex": u64,
        "ModifyIndex": u64 => body.modify_index,
        "Locality" since Behaviour::JsonLocality: Any,
        "SocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "Ports" since Behaviour::JsonServicePorts: Any,
        "PeerName" since Behaviour::JsonNodeServicePeerName: Any,
    }
}

go_struct! {
    /// An address of a service.
    pub(crate) AddressFields as "api.ServiceAddress" for address: ServiceAddress {
        "Address": String => address.address,
        "Port": Int => address.port,
    }
}

go_struct! {
    /// The weights of a service.
    pub(crate) WeightsFields as "api.AgentWeights" for weights: WeightsBody {
        "Passing": Int => weights.passing,
        "Warning": Int => weights.warning,
    }
}
