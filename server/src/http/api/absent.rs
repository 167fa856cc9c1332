//! Endpoints of Consul that are not emulated, which answer 501.

use http::Method;

use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;

routes! {
    "/v1/agent/connect/" [] => at_once(endpoint);
    "/v1/connect/intentions/" [] => at_once(endpoint);
    "/v1/coordinate/update" [] => at_once(endpoint);
    "/v1/discovery-chain/" [] => at_once(endpoint);
    "/v1/agent/monitor" [] => at_once(endpoint);
    "/v1/internal/" [] => at_once(endpoint);
    "/v1/operator/" [] => at_once(endpoint);
    "/v1/snapshot" [] => at_once(endpoint);
}

failures! {
    /// Consul answers this request, and this server does not emulate it.
    not_emulated(method: &Method, path: &str) => 501 NotEmulated,
        format!("{method} {path} is not emulated by proconsul");
}

/// Answers an endpoint that is not emulated.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    Err(failure(request))
}

/// Returns the failure of a request that is not emulated.
pub(crate) fn failure(request: &Request) -> Failure {
    not_emulated(&request.method, &request.path_text())
}
