//! Selection and order of the rows of a read: `filter`, `node-meta`, `near` (session.md 4.5).

use crate::Context;
use crate::failure::{Failure, failures};
use crate::request::Request;
use proconsul_filter::{Expression, Fields, Filter};
use proconsul_gocompat::json::maps;
use proconsul_store::Labels;

/// The value of `near` that means the agent's own node.
const NEAR_AGENT: &str = "_agent";

failures! {
    /// `?filter` is not an expression, or names a field that the rows do not have.
    invalid_filter(error: &str) => 500,
        format!("Failed to create boolean expression evaluator: {error}");
    /// `?filter` names a field that the rows do not have, which is found out at a row.
    unfit_filter(error: &str) => 500, error;
}

/// Returns the filter for rows with these fields.
pub(crate) fn filter<T: 'static>(
    request: &Request,
    fields: &'static dyn Fields<T>,
) -> Result<Filter<T>, Failure> {
    filter_by(request, |text| Filter::new(text, fields, request.version()))
}

/// Returns the filter that `parse` makes of the text, which is that of the first `filter` of several.
pub(crate) fn filter_by<T>(
    request: &Request,
    parse: impl FnOnce(&[u8]) -> Result<Filter<T>, String>,
) -> Result<Filter<T>, Failure> {
    parse(request.query.get("filter")).map_err(|error| invalid_filter(&error))
}

/// Returns the rows that the filter keeps. That it does not fit them is found out where there is one.
pub(crate) fn filtered_late<T: 'static>(
    request: &Request,
    fields: &'static dyn Fields<T>,
    mut rows: Vec<T>,
) -> Result<Vec<T>, Failure> {
    let text = request.query.get("filter");
    if !text.is_empty() {
        Expression::parse(text).map_err(|error| invalid_filter(&error))?;
    }
    if !rows.is_empty() {
        let filter = Filter::new(text, fields, request.version());
        let filter = filter.map_err(|error| unfit_filter(&error))?;
        rows.retain(|row| filter.keeps(row));
    }
    Ok(rows)
}

/// Returns the required metadata of nodes, `node-meta=name:value`. The last value of a name counts.
pub(crate) fn node_meta(request: &Request) -> Labels {
    let pair = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        (name.to_owned(), value.to_owned())
    };
    maps::collect(request.query.all("node-meta").map(pair))
}

/// Moves the rows of the agent's node to the front if `near` names it. The distances of other nodes are unknown, as
/// they are to a Consul with a single agent.
pub(crate) fn sort_nearest<T>(request: &Request, rows: &mut Vec<T>, node: impl Fn(&T) -> &str) {
    if is_near_agent(&request.context, request.query.get("near")) {
        move_nearest(&request.context, rows, node);
    }
}

/// Moves the rows of the agent's node to the front.
pub(crate) fn move_nearest<T>(context: &Context, rows: &mut Vec<T>, node: impl Fn(&T) -> &str) {
    let own = &context.config.node_name;
    let is_near = |row: &T| node(row).eq_ignore_ascii_case(own);
    let (near, far): (Vec<T>, Vec<T>) = std::mem::take(rows).into_iter().partition(is_near);
    *rows = near;
    rows.extend(far);
}

/// Whether a value of `near` names the agent's node.
pub(crate) fn is_near_agent(context: &Context, near: &[u8]) -> bool {
    let own = context.config.node_name.as_bytes();
    near.eq_ignore_ascii_case(own) || near == NEAR_AGENT.as_bytes()
}
