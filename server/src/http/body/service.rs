//! A service instance in bodies: of the agent, of the catalog and of transactions.

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
    /// The service as it was given; `None` where Consul's handler dies of an upstream that is null.
    pub(crate) fn into_given(self) -> Option<NewService> {
        Some(NewService {
            weights: self.weights.map(Weights::from).unwrap_or_default(),
            proxy: self.proxy.into_proxy()?,
            connect_native: self.connect.native,
            ..self.service
        })
    }

    /// The service with what holds where the body says nothing, as the catalog and transactions keep it.
    pub(crate) fn into_service(self) -> Option<NewService> {
        let mut service = self.into_given()?;
        if service.id.is_empty() {
            service.id.clone_from(&service.name);
        }
        service.weights = service.weights.valid();
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
