//! Endpoints of Consul that are not emulated, which answer 501.

use http::Method;

use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::version::Behaviour;

routes! {
    "/v1/agent/connect/" [] => at_once(endpoint);
    "/v1/connect/intentions/" [] => at_once(endpoint);
    "/v1/coordinate/update" [] => at_once(endpoint);
    "/v1/discovery-chain/" [] asks service:read on path => at_once(discovery_chain);
    "/v1/agent/monitor" [] => at_once(endpoint);
    "/v1/internal/" [] => at_once(endpoint);
    "/v1/operator/" [] asks operator => at_once(endpoint);
    "/v1/operator/keyring" [] asks keyring => at_once(keyring);
    "/v1/snapshot" [] asks acl:write => at_once(endpoint);
}

failures! {
    /// Consul answers this request, and this server does not emulate it.
    not_emulated(method: &Method, path: &str) => 501 NotEmulated,
        format!("{method} {path} is not emulated by proconsul");
    /// The token may not read the keyring (acl.md 2.11).
    reading_keyring_denied() => 500, "Reading keyring denied by ACLs";
    /// The token may not change the keyring.
    modifying_keyring_denied() => 500, "Modifying keyring denied due to ACLs";
}

/// Answers an endpoint that is not emulated, first of all to those who may not call it.
pub(crate) fn endpoint(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    Err(not_emulated(&request.method, &request.path_text()))
}

/// Answers as [`endpoint`] does, with the headers of a read on a refusal.
fn discovery_chain(request: &Request) -> Result<Reply, Failure> {
    request.authorize_read()?;
    endpoint(request)
}

/// Answers as [`endpoint`] does, with words of its own for a refusal.
fn keyring(request: &Request) -> Result<Reply, Failure> {
    if !request.has(Behaviour::AclKeyringRefused403) {
        request.rights()?;
        request.authorize().map_err(|_| match request.method {
            Method::GET => reading_keyring_denied(),
            _ => modifying_keyring_denied(),
        })?;
    }
    endpoint(request)
}
