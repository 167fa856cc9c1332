//! `/v1/config/`: configuration entries. There are none, and none can be made; harnesses read and delete them.

use http::Method;
use serde_json::{Value, json};

use crate::http::api::absent;
use crate::http::failure::Failure;
use crate::http::failure::query::PlainFailure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{Handler::AtOnce, PUT, Route, route};
use crate::store::Index;
use crate::version::Version;

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/config", PUT, AtOnce(apply)),
    route(
        "/v1/config/",
        &[Method::GET, Method::DELETE],
        AtOnce(entries),
    ),
];

/// The kinds of entries, and the release that brought each.
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

/// `PUT /v1/config`: an entry cannot be made.
pub(crate) fn apply(request: &Request) -> Result<Reply, Failure> {
    Err(absent::failure(request))
}

/// The entries of a kind, or the one of a kind and name.
pub(crate) fn entries(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let path = request.rest_text();
    let (kind, name) = path.split_once('/').unwrap_or((&path, ""));
    let version = request.context.config.version;
    let known = KINDS
        .iter()
        .any(|(known, since)| *known == kind && version >= *since);
    let plain = |failure| Err(Failure::Plain(failure));
    if request.method == Method::DELETE {
        return match (known, name) {
            (_, "") => plain(PlainFailure::ConfigNameMissing),
            (false, _) => plain(PlainFailure::ConfigKindToDelete(kind.to_owned())),
            (true, _) => Ok(Reply::json(request, &json!({}))),
        };
    }
    request.read_options()?;
    if let Err(failure) = request.check_datacenter() {
        return Ok(Reply::failed_read(&request.context, &failure));
    }
    if !known && !kind.is_empty() {
        return plain(PlainFailure::ConfigKind(kind.to_owned()));
    }
    if name.is_empty() {
        let none: [Value; 0] = [];
        return Ok(Reply::json(request, &none).with_index(request, Index(1)));
    }
    let missing = PlainFailure::ConfigEntryMissing {
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    Ok(Reply::failure(&Failure::Plain(missing), version).with_index(request, Index(1)))
}
