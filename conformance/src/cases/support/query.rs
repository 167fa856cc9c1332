//! What cases with a prepared query share: making it.

use serde_json::Value;

use crate::case::trial::Trial;
use crate::wire::Request;
use crate::wire::answer::Answer;

/// `POST /v1/query`.
pub(in crate::cases) fn post(t: &Trial, body: &Value) -> Answer {
    t.send(&Request::new("POST", "/v1/query").body(body.to_string()))
}

/// Makes a query and gives its id.
#[track_caller]
pub(in crate::cases) fn make(t: &Trial, body: &Value) -> String {
    let made = post(t, body).status_is(200);
    let id = made.json()["ID"].as_str().unwrap_or_default().to_owned();
    made.is(200, &format!("{{\"ID\":\"{id}\"}}"));
    id
}
