//! What the cases about policies, roles and tokens share.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A server that allows nothing without a token, and knows one that may do everything.
pub(in crate::cases) const SETTINGS: &str = r#"{"acl": {"enabled": true, "default_policy": "deny",
    "tokens": {"master": "11111111-1111-4111-8111-111111111111"}}}"#;
/// The token that may do everything.
pub(in crate::cases) const ROOT: &str = "11111111-1111-4111-8111-111111111111";

/// A case on a server with ACLs.
pub(in crate::cases) const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: SETTINGS,
    ..Case::SHOULD
};

/// An id that nothing has.
pub(in crate::cases) const NOBODY: &str = "99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee";
/// The policy that allows everything.
pub(in crate::cases) const GLOBAL: &str = "00000000-0000-0000-0000-000000000001";
/// The anonymous token.
pub(in crate::cases) const ANONYMOUS: &str = "00000000-0000-0000-0000-000000000002";
/// The text about an id that is not a UUID.
pub(in crate::cases) const NO_UUID: &str = "index error: UUID must be 36 characters";

/// Asks with a token.
pub(in crate::cases) fn with(t: &Trial, token: &str, request: &Request) -> Answer {
    t.send(&request.clone().header("X-Consul-Token", token))
}

/// Reads as the token that may do everything.
pub(in crate::cases) fn get(t: &Trial, path: &str) -> Answer {
    with(t, ROOT, &Request::get(&format!("/v1/acl/{path}")))
}

/// Writes as the token that may do everything.
pub(in crate::cases) fn put(t: &Trial, path: &str, body: &str) -> Answer {
    with(t, ROOT, &Request::put(&format!("/v1/acl/{path}"), body))
}

/// Deletes as the token that may do everything.
pub(in crate::cases) fn delete(t: &Trial, path: &str) -> Answer {
    with(t, ROOT, &Request::delete(&format!("/v1/acl/{path}")))
}

/// Waits until a young server knows its ACLs.
pub(in crate::cases) fn ready(t: &Trial) {
    let known = || {
        let leader = t.api_get("/v1/status/leader").text();
        let known = get(t, &format!("token/{ANONYMOUS}")).status() == 200;
        (known && leader.len() > 2).then_some(())
    };
    // A real leader may write the anonymous token once more in between, which moves its index.
    t.before(|| t.eventually("ACLs are known", Duration::from_secs(10), known));
}

/// A text of the answer.
pub(in crate::cases) fn text(answer: &Answer, pointer: &str) -> String {
    let json = answer.json();
    let text = json.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Creates a policy of this name without rules, and returns its id.
pub(in crate::cases) fn policy(t: &Trial, name: &str) -> String {
    let made = put(t, "policy", &json!({ "Name": name }).to_string()).status_is(200);
    text(&made, "/ID")
}

/// Creates a token, and returns its AccessorID and its SecretID.
pub(in crate::cases) fn token(t: &Trial, body: &Value) -> (String, String) {
    let made = put(t, "token", &body.to_string()).status_is(200);
    (text(&made, "/AccessorID"), text(&made, "/SecretID"))
}

/// Requires that each body is refused with its text.
pub(in crate::cases) fn refuses(t: &Trial, path: &str, status: u16, rows: &[(&str, &str)]) {
    for (body, expected) in rows {
        put(t, path, body).is(status, expected);
    }
}

/// The names of the members of an object, in their order.
pub(in crate::cases) fn names(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let object = json.as_object().cloned().unwrap_or_default();
    object.into_iter().map(|(name, _)| name).collect()
}

/// Creates a token that these rules allow something, and returns its AccessorID and its SecretID.
pub(in crate::cases) fn granted(t: &Trial, name: &str, rules: &str) -> (String, String) {
    put(
        t,
        "policy",
        &json!({"Name": name, "Rules": rules}).to_string(),
    )
    .status_is(200);
    token(t, &json!({"Policies": [{"Name": name}]}))
}

/// The nodes that a list shows, under the name of their field.
pub(in crate::cases) fn shown(answer: &Answer, field: &str) -> Vec<String> {
    let rows = answer.clone().status_is(200).list();
    let names = rows.iter().map(|row| row.pointer(field));
    names
        .map(|name| name.and_then(Value::as_str).unwrap_or_default().to_owned())
        .collect()
}
