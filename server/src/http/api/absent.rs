//! Endpoints of Consul that are not emulated: they say so with 501.

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
    /// Consul does what the request asks for, and this server does not.
    not_emulated(method: &Method, path: &str) => 501 NotEmulated,
        format!("{method} {path} is not emulated by proconsul");
}

/// An endpoint of Consul that is not emulated.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    Err(failure(request))
}

/// The answer to what is not emulated of an endpoint that is.
pub(crate) fn failure(request: &Request) -> Failure {
    not_emulated(&request.method, &request.path_text())
}
