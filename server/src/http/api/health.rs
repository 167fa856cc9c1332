//! `/v1/health/`: checks (session.md 4.5).

use std::sync::Arc;

use crate::http::api::catalog::{NOTHING, instances, read, read_options, reply, service_name};
use crate::http::body::wire::{Check, HealthEntry};
use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::selection::{filter, node_meta, sort_nearest};
use crate::http::request::{ReadOptions, Request};
use crate::http::route::{GET, Handler::AtOnce, Route, route, waits};
use crate::store::{CheckRow, Index, Instance, Query, Rows};
use crate::version::Behaviour;

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/health/node/", GET, waits!(&node)),
    route("/v1/health/checks/", GET, waits!(&service_checks)),
    route("/v1/health/service/", GET, waits!(&service)),
    route("/v1/health/connect/", GET, waits!(&connect)),
    route("/v1/health/ingress/", GET, AtOnce(ingress)),
    route("/v1/health/state/", GET, waits!(&state)),
];

failures! {
    /// `?passing` is not a boolean.
    invalid_passing() => 400, "Invalid value for ?passing";
}

/// The checks of a node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    checks(request, "node name", Query::NodeChecks).await
}

/// The checks with a status; `any` means all.
pub(crate) async fn state(request: &Request) -> Result<Reply, Failure> {
    let query = |state| Query::ChecksInState(state, node_meta(request));
    checks(request, "check state", query).await
}

/// The checks of a service's instances.
pub(crate) async fn service_checks(request: &Request) -> Result<Reply, Failure> {
    let query = |service| Query::ServiceChecks(service, node_meta(request));
    checks(request, "service name", query).await
}

/// The instances of a service, each with its node and the checks of both.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, Query::ServiceHealth).await
}

/// The proxies of a service, and its instances that need none.
pub(crate) async fn connect(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, Query::ConnectHealth).await
}

async fn shown_instances(request: &Request, query: fn(String) -> Query) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let query = query(service_name(request)?);
    let only_passing = only_passing(request)?;
    let (answer, filter) = match read(request, query, options, HealthEntry::FILTER).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let version = request.context.config.version;
    let rows = instances(request, &answer, &filter).into_iter();
    let rows = rows.filter(|row| !only_passing || is_passing(row));
    let entries: Vec<_> = rows.map(|row| HealthEntry::new(row, version)).collect();
    let reply = reply(request, &entries, &answer, options);
    Ok(if is_streamed(request, options) {
        reply.streamed()
    } else {
        reply
    })
}

/// Whether Consul answers a read from a stream of changes (1.22.md B4.5). Only its header shows it.
fn is_streamed(request: &Request, options: ReadOptions) -> bool {
    request.has(Behaviour::HealthStreaming)
        && request.context.config.use_streaming_backend
        && options.wait.is_some()
        && request.query.get("near").is_empty()
        && !request.query.has("merge-central-config")
}

/// The ingress gateways of a service: there are none, and never were.
pub(crate) fn ingress(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    service_name(request)?;
    only_passing(request)?;
    let checked = request.check_datacenter();
    match checked.and_then(|()| filter(request, HealthEntry::FILTER)) {
        Ok(_) => Ok(Reply::json(request, &NOTHING)
            .with_index(request, Index(1))
            .with_consistency(options.consistency)),
        Err(failure) => Ok(Reply::failed_read(&request.context, &failure)),
    }
}

/// Whether every check of an instance and its node passes.
fn is_passing(instance: &Instance) -> bool {
    let mut checks = instance.checks.iter();
    checks.all(|row| row.check.status == "passing")
}

/// `passing` without a value means yes; with one it is a boolean of Go.
fn only_passing(request: &Request) -> Result<bool, Failure> {
    match request.query.first("passing") {
        None => Ok(false),
        Some(b"" | b"1" | b"t" | b"T" | b"TRUE" | b"true" | b"True") => Ok(true),
        Some(b"0" | b"f" | b"F" | b"FALSE" | b"false" | b"False") => Ok(false),
        Some(_) => Err(invalid_passing()),
    }
}

async fn checks(
    request: &Request,
    what: &'static str,
    query: impl Fn(String) -> Query,
) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::missing(what));
    }
    let (answer, filter) = match read(request, query(name), options, Check::FILTER).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Checks(rows) = &answer.rows else {
        unreachable!("checks are answered with checks");
    };
    let version = request.context.config.version;
    let mut rows: Vec<&Arc<CheckRow>> = rows.iter().filter(|row| filter.keeps(row)).collect();
    sort_nearest(request, &mut rows, |row| &row.node);
    let checks: Vec<Check<'_>> = rows.iter().map(|row| Check::new(row, version)).collect();
    Ok(reply(request, &checks, &answer, options))
}
