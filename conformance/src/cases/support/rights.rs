//! What the cases about the rights that transactions and sessions need share.

use std::time::Duration;

use serde_json::json;

use crate::case::trial::Trial;
use crate::cases::support::acl::{self, ROOT, text, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A token that no server knows.
pub(in crate::cases) const UNKNOWN: &str = "22222222-2222-4222-8222-222222222222";

/// Waits until a young server takes writes. Unlike [`acl::ready`] it shows no index, which may move meanwhile.
pub(in crate::cases) fn ready(t: &Trial) {
    t.eventually("there is a leader", Duration::from_secs(10), || {
        let leader = t.api_get("/v1/status/leader").text();
        (leader.len() > 2).then_some(())
    });
}

/// The read of a key.
pub(in crate::cases) fn get_key(path: &str) -> Request {
    Request::get(&format!("/v1/kv/{path}"))
}

/// Writes a key as the token that may do everything.
pub(in crate::cases) fn put(t: &Trial, key: &str, value: &'static str) {
    let put = Request::put(&format!("/v1/kv/{key}"), value);
    with(t, ROOT, &put).is(200, "true");
}

/// Sends a transaction with a token.
pub(in crate::cases) fn txn(t: &Trial, token: &str, body: &str) -> Answer {
    with(t, token, &Request::put("/v1/txn", body))
}

/// Registers a node.
pub(in crate::cases) fn register(t: &Trial, node: &str) {
    ready(t);
    let body = json!({"Node": node, "Address": "127.0.0.1"}).to_string();
    with(t, ROOT, &Request::put("/v1/catalog/register", body)).is(200, "true");
}

/// Returns the secret of a new token with these rules.
pub(in crate::cases) fn allowed(t: &Trial, rules: &str) -> String {
    ready(t);
    let body = json!({"Name": format!("rules-{}", rules.len()), "Rules": rules}).to_string();
    let policy = text(&acl::put(t, "policy", &body).status_is(200), "/ID");
    acl::token(t, &json!({"Policies": [{"ID": policy}]})).1
}
