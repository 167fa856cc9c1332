//! Prepared queries that DNS executes.

use crate::Context;
use proconsul_store::Instance;

/// What a query found.
pub(crate) struct Found {
    /// The service.
    pub(crate) service: String,
    /// How long the answer may be kept; empty where the query does not say.
    pub(crate) dns_ttl: String,
}

/// Executes the query that serves a name; `None` if there is none. `sees` says whether an instance may be found.
#[cfg(feature = "queries")]
pub(crate) fn found_by_name(
    context: &Context,
    name: String,
    sees: impl Fn(&Instance) -> bool,
) -> Option<(Found, Vec<Instance>)> {
    use super::{execution, template};
    use proconsul_store::PreparedQueryFor;

    let read = PreparedQueryFor(name);
    let row = context.engine.read(&read).ok()?.rows;
    let search = template::rendered(&row.query, &read.0, context.config.version).ok()?;
    let near = search.near.as_bytes();
    let mut see = |rows: &mut Vec<Instance>| rows.retain(&sees);
    let mut rows = execution::found(context, &search, near, &mut see);
    for there in execution::fallbacks(context, &search) {
        if let (true, Some(Ok(server))) = (rows.is_empty(), there.server_for(context)) {
            rows = execution::found(&server, &search, b"", &mut see);
        }
    }
    let dns_ttl = row.query.dns_ttl.clone();
    Some((
        Found {
            service: search.service,
            dns_ttl,
        },
        rows,
    ))
}

/// Finds nothing: this build has no prepared queries.
#[cfg(not(feature = "queries"))]
pub(crate) fn found_by_name(
    _: &Context,
    _: String,
    _: impl Fn(&Instance) -> bool,
) -> Option<(Found, Vec<Instance>)> {
    None
}
