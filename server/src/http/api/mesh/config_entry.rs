//! `/v1/config/`: configuration entries. There are none, and none can be created; test harnesses read and delete them.

use http::Method;
use serde_json::json;

use crate::acl::{Question, Resource};
use crate::http::api::absent;
use crate::http::api::catalog::NOTHING;
use crate::http::failure::{Failure, failures, quoted};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::store::Index;
use crate::version::{Behaviour, Version};

routes! {
    "/v1/config" [PUT] => at_once(apply);
    "/v1/config/" [GET DELETE] => at_once(entries);
}

/// The kinds of entries with their first releases.
const KINDS: &[(&str, Version)] = &[
    ("service-defaults", Version::new(1, 5, 0)),
    ("proxy-defaults", Version::new(1, 5, 0)),
    ("service-router", Version::new(1, 6, 0)),
    ("service-splitter", Version::new(1, 6, 0)),
    ("service-resolver", Version::new(1, 6, 0)),
    ("ingress-gateway", Version::new(1, 8, 0)),
    ("terminating-gateway", Version::new(1, 8, 0)),
    ("service-intentions", Version::new(1, 9, 0)),
    ("mesh", Version::new(1, 10, 0)),
    ("exported-services", Version::new(1, 11, 0)),
    ("api-gateway", Version::new(1, 15, 0)),
];

failures! {
    /// A read names an unknown kind.
    unknown_kind(kind: &str) => 500, format!("invalid config entry kind: {kind}");
    /// A deletion names an unknown kind.
    unknown_kind_to_delete(kind: &str) => 400, format!("invalid config entry kind: {kind}");
    /// A deletion lacks a name.
    missing_name() => 404, "Must provide both a kind and name to delete";
    /// The configuration entry does not exist.
    entry_not_found(kind: &str, name: &str, version: Version) => 404, format!(
        "Config entry not found for {} / {}", quoted(kind, version), quoted(name, version)
    );
}

/// Refuses to create an entry.
pub(crate) fn apply(request: &Request) -> Result<Reply, Failure> {
    absent::endpoint(request)
}

/// Reads the entries of a kind, or reads or deletes the one with a kind and name.
pub(crate) fn entries(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let path = request.rest_text();
    let (kind, name) = path.split_once('/').unwrap_or((&path, ""));
    let version = request.context.config.version;
    let known = KINDS
        .iter()
        .any(|(known, since)| *known == kind && version >= *since);
    if request.method == Method::DELETE {
        return match (known, name) {
            (_, "") => Err(missing_name()),
            (false, _) => Err(unknown_kind_to_delete(kind)),
            (true, _) => {
                request.rights()?.check(write_of(kind, name, version))?;
                Ok(Reply::json(request, &json!({})))
            }
        };
    }
    request.read_options()?;
    request.check_datacenter_of_read()?;
    let rights = request.rights()?;
    if !known && !kind.is_empty() {
        return Err(unknown_kind(kind));
    }
    if name.is_empty() {
        return Ok(Reply::json(request, &NOTHING).with_index(request, index(request)));
    }
    if is_of_service(kind) || is_of_gateway(kind) {
        rights.check(Question::read(Resource::Service, name))?;
    }
    let missing = entry_not_found(kind, name, version);
    Ok(Reply::failure(&missing, version).with_index(request, index(request)))
}

/// Whether entries of a kind are about the service of their name.
fn is_of_service(kind: &str) -> bool {
    kind.starts_with("service-")
}

/// Whether entries of a kind are about the gateway of their name.
fn is_of_gateway(kind: &str) -> bool {
    kind.ends_with("-gateway")
}

/// Returns what a change of an entry asks for. Those of gateways and of all services are the operator's, later the
/// mesh's (acl.md 7.r40, 7.r41).
fn write_of<'a>(kind: &str, name: &'a str, version: Version) -> Question<'a> {
    if is_of_service(kind) {
        Question::write(Resource::Service, name)
    } else if version.has(Behaviour::AclMeshRules) {
        Question::write(Resource::Mesh, "")
    } else {
        Question::write(Resource::Operator, "")
    }
}

/// Returns the index of all configuration entries. Later releases write to their table when they start (operator.md 3).
pub(crate) fn index(request: &Request) -> Index {
    if request.has(Behaviour::ConfigIndexOfStart) {
        Index(10)
    } else {
        Index(1)
    }
}
