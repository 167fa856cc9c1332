//! What cases with a catalog node of their own share: registering and deregistering what is on it.

use serde_json::{Value, json};

use crate::case::trial::Trial;

/// Registers a check of a node in this status, or writes it again.
#[track_caller]
pub(in crate::cases) fn check(t: &Trial, node: &str, id: &str, status: &str) {
    register(
        t,
        node,
        &json!({"Check": {"CheckID": id, "Name": id, "Status": status}}),
    );
}

/// Registers a service of a node with one check of its own, or writes both again.
#[track_caller]
pub(in crate::cases) fn service_check(
    t: &Trial,
    node: &str,
    service: &str,
    id: &str,
    status: &str,
) {
    let check = json!({"CheckID": id, "Name": id, "Status": status, "ServiceID": service});
    register(
        t,
        node,
        &json!({"Service": {"ID": service, "Service": service}, "Check": check}),
    );
}

/// Registers a node with these further fields.
#[track_caller]
pub(in crate::cases) fn register(t: &Trial, node: &str, fields: &Value) {
    t.register(&registration(node, fields));
}

/// The body that registers a node with these further fields.
pub(in crate::cases) fn registration(node: &str, fields: &Value) -> Value {
    let mut body = json!({"Node": node, "Address": "127.0.0.1"});
    if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
        body.extend(fields.clone());
    }
    body
}

/// `catalog/deregister` of a node or of what these further fields name on it.
#[track_caller]
pub(in crate::cases) fn deregister(t: &Trial, node: &str, fields: &Value) {
    let mut body = json!({"Node": node});
    if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
        body.extend(fields.clone());
    }
    t.api_put("/v1/catalog/deregister", body.to_string())
        .is(200, "true");
}
