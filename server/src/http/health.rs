//! `/v1/health/`: checks (session.md 4.5).

use super::catalog::{read, read_options, reply};
use super::errors::Failure;
use super::reply::Reply;
use super::request::Request;
use super::wire_catalog::Check;
use crate::store::{Query, Rows};

/// The checks of a node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    checks(request, "node name", Query::NodeChecks).await
}

/// The checks with a status; `any` means all.
pub(crate) async fn state(request: &Request) -> Result<Reply, Failure> {
    checks(request, "check state", Query::ChecksInState).await
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
