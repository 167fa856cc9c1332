//! Endpoints of Consul that are not emulated: they say so with 501.

use crate::http::failure::Failure;
use crate::http::failure::query::PlainFailure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{ANY, Handler::AtOnce, Route, route};

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/agent/connect/", ANY, AtOnce(endpoint)),
    route("/v1/connect/intentions/", ANY, AtOnce(endpoint)),
    route("/v1/coordinate/update", ANY, AtOnce(endpoint)),
    route("/v1/discovery-chain/", ANY, AtOnce(endpoint)),
    route("/v1/agent/monitor", ANY, AtOnce(endpoint)),
    route("/v1/internal/", ANY, AtOnce(endpoint)),
    route("/v1/operator/", ANY, AtOnce(endpoint)),
    route("/v1/snapshot", ANY, AtOnce(endpoint)),
];

impl Failure {
    /// Whether this is the answer to what is not emulated.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Failure::Plain(PlainFailure::NotEmulated { .. }))
    }
}

/// An endpoint of Consul that is not emulated.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    Err(failure(request))
}

/// The answer to what is not emulated of an endpoint that is.
pub(crate) fn failure(request: &Request) -> Failure {
    let (method, path) = (request.method.to_string(), request.path_text());
    Failure::Plain(PlainFailure::NotEmulated { method, path })
}
