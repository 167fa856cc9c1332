//! Barriers: waiting for a moment instead of sleeping.

use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{Done, RecordJson, Waiting, about};
use crate::control::Controls;
use crate::control::http::call::{JsonBody, Name, Nothing, Refused, Span, calls};
use proconsul_engine::history::{Filter, Kind};
use proconsul_engine::{BlockedOn, Unmet};

const UNMET: &str = "It did not come in time; the sentence says what was blocked instead.";

calls! {
    /// The blocking queries that wait now, and the requests that faults hold: where the clock stands still, they wait until
    /// it is moved.
    GET "/blocked" blocked;
    /// Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything.
    POST "/wait/blocked" wait_blocked, example { "prefix": "job", "count": 0, "timeout": "1s" }, refuses 409 UNMET;
    /// Waits until the history has such a record; one that is there already counts.
    POST "/wait/event" wait_event, example { "kind": "key-written", "key": "job", "after": 0, "timeout": "1s" }, refuses 409 UNMET;
    /// Waits until every request is answered, blocked, or held by a fault.
    POST "/wait/idle" wait_idle, example { "timeout": "1s" }, refuses 409 UNMET;
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForBlocked {
    /// Requests that are blocked on keys under this prefix. At most one of prefix, session and service is given; with
    /// none of them every blocked request counts.
    prefix: Option<String>,
    /// Requests that are blocked on this session.
    session: Option<String>,
    /// Requests that are blocked on the instances or checks of this service.
    service: Option<String>,
    /// How many requests have to be blocked, at least.
    count: usize,
    /// How long to wait in the machine's time: a duration such as `20s` or `250ms`.
    timeout: Span,
}

impl ForBlocked {
    fn on(self) -> Result<BlockedOn, Refused> {
        match (self.prefix, self.session, self.service) {
            (None, None, None) => Ok(BlockedOn::Anything),
            (Some(prefix), None, None) => Ok(BlockedOn::prefix(prefix)),
            (None, Some(session), None) => Ok(BlockedOn::Session(session)),
            (None, None, Some(service)) => Ok(BlockedOn::Service(service)),
            _ => Err(Refused::input(
                "expected at most one of prefix, session and service",
            )),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForEvent {
    /// Of this kind.
    kind: Option<Name<Kind>>,
    /// About this key.
    key: Option<String>,
    /// About this session.
    session: Option<String>,
    /// After the record with this number.
    after: Option<u64>,
    /// How long to wait in the machine's time: a duration such as `20s` or `250ms`.
    timeout: Span,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForIdle {
    /// How long to wait in the machine's time: a duration such as `20s` or `250ms`.
    timeout: Span,
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn unmet(unmet: Unmet) -> Refused {
    Refused::unmet(unmet.to_string())
}

async fn blocked(control: Controls, _: Nothing) -> Result<Waiting, Refused> {
    Ok(Waiting::of(&control, &control.blocked()))
}

async fn wait_blocked(
    control: Controls,
    JsonBody(wait): JsonBody<ForBlocked>,
) -> Result<Waiting, Refused> {
    let (count, Span(patience)) = (wait.count, wait.timeout);
    let on = wait.on()?;
    let found = control.wait_blocked_async(&on, count, patience).await;
    Ok(Waiting::of(&control, &found.map_err(unmet)?))
}

async fn wait_event(
    control: Controls,
    JsonBody(wait): JsonBody<ForEvent>,
) -> Result<RecordJson, Refused> {
    let filter = about(Filter::all(), wait.key, wait.session);
    let filter = filter.after(wait.after.unwrap_or(0));
    let filter = match wait.kind {
        Some(kind) => filter.or(kind.0),
        None => filter,
    };
    let Span(patience) = wait.timeout;
    let found = control.wait_for_async(&filter, patience).await;
    Ok(RecordJson::from(&found.map_err(unmet)?))
}

async fn wait_idle(control: Controls, JsonBody(wait): JsonBody<ForIdle>) -> Result<Done, Refused> {
    let Span(patience) = wait.timeout;
    let idle = control.wait_idle_async(patience).await;
    idle.map_err(unmet)?;
    Ok(Done {})
}
