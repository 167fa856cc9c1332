//! `/v1/health/`: checks (session.md 4.5).

use super::catalog::{has_tags, read, read_options, reply, service_name};
use super::errors::Failure;
use super::reply::Reply;
use super::request::Request;
use super::wire_catalog::{Check, HealthEntry};
use crate::store::{Instance, Query, Rows};

/// The checks of a node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    checks(request, "node name", Query::NodeChecks).await
}

/// The checks with a status; `any` means all.
pub(crate) async fn state(request: &Request) -> Result<Reply, Failure> {
    checks(request, "check state", Query::ChecksInState).await
}

/// The checks of a service's instances.
pub(crate) async fn service_checks(request: &Request) -> Result<Reply, Failure> {
    checks(request, "service name", Query::ServiceChecks).await
}

/// The instances of a service, each with its node and the checks of both.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = service_name(request)?;
    let only_passing = only_passing(request)?;
    let answer = match read(request, Query::Service(name), options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Instances(rows) = &answer.rows else {
        unreachable!("a service is answered with its instances");
    };
    let version = request.context.config.version;
    let rows = rows.iter().filter(|row| has_tags(request, row));
    let rows = rows.filter(|row| !only_passing || is_passing(row));
    let entries: Vec<_> = rows.map(|row| HealthEntry::new(row, version)).collect();
    Ok(reply(request, &entries, &answer, options))
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
        Some(_) => Err(Failure::Passing),
    }
}

async fn checks(
    request: &Request,
    what: &'static str,
    query: fn(String) -> Query,
) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::Missing(what));
    }
    let answer = match read(request, query(name), options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Checks(rows) = &answer.rows else {
        unreachable!("checks are answered with checks");
    };
    let version = request.context.config.version;
    let checks: Vec<Check<'_>> = rows.iter().map(|row| Check::new(row, version)).collect();
    Ok(reply(request, &checks, &answer, options))
}
