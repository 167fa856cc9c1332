//! Endpoints of Consul that are not emulated, which answer 501.

use http::Method;

#[cfg(not(feature = "snapshots"))]
use crate::http::auth::route_rights::ask;
use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;
#[cfg(not(feature = "snapshots"))]
use crate::http::route::{Handler, Route};
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

/// What a server without the feature `snapshots` does not emulate either.
#[cfg(not(feature = "snapshots"))]
pub(crate) const SNAPSHOT: &[Route] = &[Route::new(
    "/v1/snapshot",
    &[Method::GET, Method::PUT],
    Handler::AtOnce(endpoint),
)
.asking(ask!(acl:write))];

failures! {
    /// Consul answers this request, and this server does not emulate it.
    not_emulated(method: &Method, path: &str) => 501 NotEmulated,
        format!("{method} {path} is not emulated by proconsul");
}

/// Answers an endpoint that is not emulated. A caller without the right is refused first.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    Err(not_emulated(&request.method, &request.path_text()))
}
