//! The pages about the service mesh.

#[cfg(feature = "mesh")]
mod chain;
#[cfg(feature = "mesh")]
mod config_entry;
#[cfg(feature = "mesh")]
mod connect;
#[cfg(feature = "mesh")]
mod gateway;
#[cfg(feature = "mesh")]
mod intention;
#[cfg(feature = "mesh")]
mod peering;
#[cfg(feature = "mesh")]
mod virtual_ip;

use crate::route::routes;
use proconsul_version::Behaviour;

routes! {
    feature "mesh";
    "/v1/discovery-chain/" [GET POST] asks service:read on path => waits(chain::chain);
    "/v1/config" [PUT] => waits(config_entry::apply);
    "/v1/config/" [GET DELETE] => waits(&config_entry::entries);
    "/v1/connect/ca/roots" [GET] => waits(&connect::roots);
    "/v1/agent/connect/ca/roots" [GET] => waits(&connect::agent_roots);
    "/v1/connect/ca/configuration" [GET PUT] asks operator:write => at_once(connect::configuration);
    "/v1/catalog/gateway-services/" [GET] asks service on path => waits(&gateway::gateway_services);
    "/v1/connect/intentions" [GET POST] => waits(intention::intentions);
    "/v1/connect/intentions/" [GET PUT DELETE] => waits(intention::with_id);
    "/v1/connect/intentions/check" [GET] => at_once(intention::check);
    "/v1/connect/intentions/exact" [GET PUT DELETE] => waits(intention::exact);
    "/v1/connect/intentions/match" [GET] => waits(&intention::matching);
    "/v1/peerings" [GET] asks peering => waits(&peering::peerings), since Behaviour::Peering;
    "/v1/peering/token" [POST] asks peering => waits(peering::token), since Behaviour::Peering;
    "/v1/peering/establish" [POST] asks peering => waits(peering::establish), since Behaviour::Peering;
    "/v1/peering/" [GET DELETE] asks peering => waits(&peering::peering), since Behaviour::Peering;
    "/v1/exported-services" [GET] asks mesh => waits(&peering::exported_services), since Behaviour::ExportedServices;
    "/v1/imported-services" [GET] asks mesh => waits(&peering::peerings), since Behaviour::ImportedServices;
    "/v1/internal/service-virtual-ip" [PUT] asks mesh:write => waits(virtual_ip::assign), since Behaviour::ServiceVirtualIp;
}
