//! What of a read's rows is shown, and in which order: `filter`, `node-meta`, `near` (session.md 4.5).

use crate::filter::{Field, Filter};
use crate::http::failure::{Failure, failures};
use crate::http::request::Request;
use crate::store::Labels;

/// Stands for the agent's own node in `near`.
const NEAR_AGENT: &str = "_agent";

failures! {
    /// `?filter` is not an expression, or does not fit the rows of the endpoint; with what is wrong.
    invalid_filter(error: &str) => 500,
        format!("Failed to create boolean expression evaluator: {error}");
}

/// The filter of a request for rows with these fields; the first `filter` counts.
pub(crate) fn filter<T: 'static>(
    request: &Request,
    fields: &'static [Field<T>],
) -> Result<Filter<T>, Failure> {
    let filter = Filter::new(request.query.get("filter"), fields);
    filter.map_err(|error| invalid_filter(&error))
}

/// The meta data that a node must have: `node-meta=name:value`, of one name the last.
pub(crate) fn node_meta(request: &Request) -> Labels {
    let pair = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        (name.to_owned(), value.to_owned())
    };
    request.query.all("node-meta").map(pair).collect()
}

/// Puts the rows on the agent's node first if `near` asks for that: no other node's place in the network is known
/// here, nor to a Consul with a single agent.
pub(crate) fn sort_nearest<T>(request: &Request, rows: &mut [T], node: impl Fn(&T) -> &str) {
    let own = &request.context.config.node_name;
    if is_near_agent(request, request.query.get("near")) {
        rows.sort_by_key(|row| !node(row).eq_ignore_ascii_case(own));
    }
}

/// Whether a value of `near` means the agent's node.
pub(crate) fn is_near_agent(request: &Request, near: &[u8]) -> bool {
    let own = request.context.config.node_name.as_bytes();
    near.eq_ignore_ascii_case(own) || near == NEAR_AGENT.as_bytes()
}
