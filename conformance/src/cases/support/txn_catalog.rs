//! What cases with a transaction on the catalog share: operations on nodes, services and checks, and what is shown of them.

use serde_json::{Value, json};

use crate::case::trial::Trial;
use crate::cases::support::txn::refused;
use crate::wire::answer::Answer;

/// An operation on a node with these fields.
pub(in crate::cases) fn node_op(verb: &str, fields: &Value) -> Value {
    json!({"Node": {"Verb": verb, "Node": fields}})
}

/// An operation on a service of a node.
pub(in crate::cases) fn service_op(verb: &str, node: &str, fields: &Value) -> Value {
    json!({"Service": {"Verb": verb, "Node": node, "Service": fields}})
}

/// An operation on a check with these fields.
pub(in crate::cases) fn check_op(verb: &str, fields: &Value) -> Value {
    json!({"Check": {"Verb": verb, "Check": fields}})
}

/// Sends a transaction of this operation alone.
pub(in crate::cases) fn one(t: &Trial, operation: &Value) -> Answer {
    t.txn(&json!([operation]))
}

/// The operation is refused with this text.
#[track_caller]
pub(in crate::cases) fn fails(t: &Trial, operation: &Value, text: &str) {
    refused(one(t, operation), &[(0, text)]);
}

/// The operation goes through and shows nothing.
#[track_caller]
pub(in crate::cases) fn shows_nothing(t: &Trial, operation: &Value) {
    one(t, operation)
        .status_is(200)
        .field_is("/Results", json!([]))
        .field_is("/Errors", Value::Null);
}

/// The operation goes through, and this is what it shows of its kind.
#[track_caller]
pub(in crate::cases) fn shown(t: &Trial, operation: &Value, kind: &str) -> Value {
    let answer = one(t, operation).status_is(200).json();
    let results = answer["Results"].as_array().cloned().unwrap_or_default();
    t.same("the number of results", results.len(), 1);
    results[0][kind].clone()
}

/// An id for a node of this name, which no other case's node has.
pub(in crate::cases) fn id_of_node(node: &str) -> String {
    let tail: String = node
        .bytes()
        .rev()
        .filter(u8::is_ascii_hexdigit)
        .map(char::from)
        .take(12)
        .collect();
    format!("cccccccc-0000-4000-8000-{tail:0>12}").to_lowercase()
}
