//! What is not emulated, and says so; and what Consul itself says where ACLs are disabled.

use crate::http::failure::Failure;
use crate::http::failure::query::PlainFailure;
use crate::http::reply::Reply;
use crate::http::request::Request;

impl Failure {
    /// Whether this is the answer to what is not emulated.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Failure::Plain(PlainFailure::NotEmulated { .. }))
    }
}

/// Everything below `/v1/acl/`: ACLs are disabled.
pub(crate) fn acl() -> Result<Reply, Failure> {
    Err(Failure::Plain(PlainFailure::AclDisabled))
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
