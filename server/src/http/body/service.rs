//! A service instance in the bodies of the catalog and of transactions.

use super::definition::ConnectBody;
use super::proxy::ProxyBody;
use crate::go::json::decode::go_struct;
use crate::go::json::kinds::Int;
use crate::store::{NewService, ServiceAddress, Weights};

/// A service instance as it is decoded, whichever of Go's types the body has.
#[derive(Default)]
pub(crate) struct ServiceBody {
    pub(crate) service: NewService,
    pub(crate) weights: Option<WeightsBody>,
    pub(crate) proxy: ProxyBody,
    pub(crate) connect: ConnectBody,
    pub(crate) peer_name: String,
    pub(crate) modify_index: u64,
}

impl ServiceBody {
    /// The service; `None` where Consul's handler dies of an upstream that is null.
    pub(crate) fn into_service(self) -> Option<NewService> {
        let mut service = self.service;
        if service.id.is_empty() {
            service.id.clone_from(&service.name);
        }
        service.weights = self.weights.map(Weights::from).unwrap_or_default().valid();
        service.proxy = self.proxy.into_proxy()?;
        service.connect_native = self.connect.native;
        Some(service)
    }
}

go_struct! {
    /// An address of a service.
    pub(crate) AddressFields as "structs.ServiceAddress" for address: ServiceAddress {
        "Address": String => address.address,
        "Port": Int => address.port,
    }
}

go_struct! {
    /// The weights of a service. Unlike those of [`Weights`], they are 0 where nothing is given.
    pub(crate) struct WeightsBody as "structs.Weights" {
        "Passing": Int => passing,
        "Warning": Int => warning,
    }
}

impl From<WeightsBody> for Weights {
    fn from(body: WeightsBody) -> Self {
        Self {
            passing: body.passing,
            warning: body.warning,
        }
    }
}
