//! The clock: how late it is, and letting time pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::records::{Done, RecordJson, at_ms, millis, records};
use crate::control::Controls;
use crate::control::http::aside;
use crate::control::http::call::{JsonBody, Nothing, Refused, Span, calls};
use proconsul_engine::clock::Rate;
use proconsul_engine::history;
use proconsul_store::Deadline;
use proconsul_store::timestamp::Timestamp;

calls! {
    /// The time, the rate, and when something next happens by itself.
    GET "/clock" clock;
    /// What will happen by itself, and when. Blocked requests, whose waits end, are in `GET /blocked`.
    GET "/clock/due" due;
    /// Moves the clock on through every deadline, and returns what that caused when all who were woken have been
    /// answered.
    POST "/clock/advance" advance, example { "by": "20s" };
    /// Moves the clock to the next deadline; does nothing when nothing is ever due.
    POST "/clock/advance-to-next" advance_to_next;
    /// Lets time pass as if the server's process had been stopped: what was due happens late, all at once.
    POST "/clock/jump" jump, example { "by": "1s" };
    /// Stops the clock: nothing happens by itself, and a request that a fault holds for a time waits until the clock is moved
    /// (`held` of `GET /blocked`).
    POST "/clock/freeze" freeze;
    /// Lets the clock run as the machine's does.
    POST "/clock/resume" resume;
    /// Lets the clock run at a multiple of the machine's time.
    POST "/clock/rate" rate, example { "rate": 0 };
    /// Lets the clock jump to the next deadline whenever at least so many requests are open and all of them are
    /// blocked.
    POST "/clock/auto" auto, example { "clients": 64 };
    /// Ends the jumps of the clock.
    DELETE "/clock/auto" no_auto;
}

/// The clock of a server.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct Clock {
    /// The time, in milliseconds since the clock began.
    now_ms: u64,
    /// How fast the clock runs; 0 stands still, 1 is the machine's time.
    rate: f64,
    /// How long it is until something happens by itself, in milliseconds; null for never.
    next_deadline_in_ms: Option<u64>,
}

/// What happened while time passed.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Caused {
    /// The time, in milliseconds since the clock began.
    now_ms: u64,
    /// What the time that passed has caused, in order.
    caused: Vec<RecordJson>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct By {
    /// How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
    by: Span,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AtRate {
    /// How fast the clock is to run: 0 stands still, 1 is the machine's time; else from 0.001 to 1000000.
    rate: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clients {
    /// How many requests have to be open, at least 1: one for each program that waits.
    clients: usize,
}

impl Clock {
    pub(super) fn of(control: &Controls) -> Self {
        Self {
            now_ms: at_ms(control.now()),
            rate: control.rate().factor(),
            next_deadline_in_ms: control.next_deadline().map(millis),
        }
    }
}

/// What will happen by itself.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct AllDue {
    /// The time, in milliseconds since the clock began.
    now_ms: u64,
    /// What will happen, the next thing first.
    due: Vec<Due>,
}

/// Something that will happen by itself.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Due {
    /// When, in milliseconds since the clock began.
    at_ms: u64,
    /// What will happen, in words.
    text: String,
    /// The key whose lock-delay ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The session that expires unless it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl From<(Timestamp, Deadline)> for Due {
    fn from((at, deadline): (Timestamp, Deadline)) -> Self {
        let (key, session) = match &deadline {
            Deadline::EndLockDelay(key) => (Some(key.to_string()), None),
            Deadline::Lapse(session) => (None, Some(session.to_string())),
            _ => (None, None),
        };
        Self {
            at_ms: at_ms(at),
            text: deadline.to_string(),
            key,
            session,
        }
    }
}

fn shown(control: &Controls) -> Result<Clock, Refused> {
    Ok(Clock::of(control))
}

fn caused(control: &Controls, caused: &[history::Record]) -> Result<Caused, Refused> {
    Ok(Caused {
        now_ms: at_ms(control.now()),
        caused: records(caused),
    })
}

async fn clock(control: Controls, _: Nothing) -> Result<Clock, Refused> {
    shown(&control)
}

async fn due(control: Controls, _: Nothing) -> Result<AllDue, Refused> {
    aside(&control, move |control| AllDue {
        now_ms: at_ms(control.now()),
        due: control.due().into_iter().map(Due::from).collect(),
    })
    .await
}

async fn advance(control: Controls, JsonBody(By { by }): JsonBody<By>) -> Result<Caused, Refused> {
    let records = control.advance_async(by.0).await;
    caused(&control, &records)
}

async fn advance_to_next(control: Controls, _: Nothing) -> Result<Caused, Refused> {
    let records = control.advance_to_next_async().await;
    caused(&control, &records)
}

async fn jump(control: Controls, JsonBody(By { by }): JsonBody<By>) -> Result<Caused, Refused> {
    let records = control.jump_async(by.0).await;
    caused(&control, &records)
}

async fn freeze(control: Controls, _: Nothing) -> Result<Clock, Refused> {
    control.freeze();
    shown(&control)
}

async fn resume(control: Controls, _: Nothing) -> Result<Clock, Refused> {
    control.resume();
    shown(&control)
}

async fn rate(
    control: Controls,
    JsonBody(AtRate { rate }): JsonBody<AtRate>,
) -> Result<Clock, Refused> {
    control.set_rate(Rate::new(rate).map_err(|error| Refused::input(error.to_string()))?);
    shown(&control)
}

async fn auto(
    control: Controls,
    JsonBody(Clients { clients }): JsonBody<Clients>,
) -> Result<Done, Refused> {
    if clients == 0 {
        return Err(Refused::input("expected at least one client"));
    }
    control.auto_advance(clients);
    Ok(Done {})
}

async fn no_auto(control: Controls, _: Nothing) -> Result<Done, Refused> {
    control.stop_auto_advance();
    Ok(Done {})
}
