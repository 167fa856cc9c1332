//! Endpoints of Consul that are not emulated, which answer 501.

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::routes;
use proconsul_version::Behaviour;

routes! {
    "/v1/agent/connect/authorize" [POST] => at_once(endpoint);
    "/v1/agent/connect/ca/leaf/" [GET] => at_once(endpoint);
    "/v1/internal/federation-state/" [] => at_once(endpoint);
    "/v1/internal/federation-states" [] => at_once(endpoint);
    "/v1/internal/federation-states/mesh-gateways" [] => at_once(endpoint);
    "/v1/internal/ui/catalog-overview" [] => at_once(endpoint), since Behaviour::PageTopology;
    "/v1/internal/ui/exported-services" [] => at_once(endpoint), since Behaviour::PageTopology;
    "/v1/internal/ui/gateway-intentions/" [] => at_once(endpoint), since Behaviour::PageTopology;
    "/v1/internal/ui/metrics-proxy/" [] => at_once(endpoint), since Behaviour::PageTopology;
    "/v1/internal/ui/service-topology/" [] => at_once(endpoint), since Behaviour::PageTopology;
}

/// Answers an endpoint that is not emulated. A caller without the right is refused first.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    request.not_answered("is not emulated by proconsul")
}
