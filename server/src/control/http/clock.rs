//! The clock: how late it is, and letting time pass.

use axum::Json;
use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Body, Call, Nothing, Refused, Span, call};
use super::records::{Done, Record, at_ms, millis, records};
use crate::clock::Rate;
use crate::control::Control;
use crate::history;

type Answer<T> = Result<Json<T>, Refused>;

pub(super) fn calls() -> Vec<Call> {
    let mut calls = time_calls();
    calls.extend(rate_calls());
    calls
}

fn time_calls() -> Vec<Call> {
    vec![
        call(
            Method::GET,
            "/clock",
            "clock",
            "The time, the rate, and when something next happens by itself.",
            clock,
        ),
        call(
            Method::POST,
            "/clock/advance",
            "advance",
            "Moves the clock on through every deadline, and returns what that caused when all who were woken have been \
             answered.",
            advance,
        )
        .example(json!({ "by": "20s" })),
        call(
            Method::POST,
            "/clock/advance-to-next",
            "advanceToNext",
            "Moves the clock to the next deadline; does nothing when nothing is ever due.",
            advance_to_next,
        ),
        call(
            Method::POST,
            "/clock/jump",
            "jump",
            "Lets time pass as if the server's process had been stopped: what was due happens late, all at once.",
            jump,
        )
        .example(json!({ "by": "1s" })),
    ]
}

fn rate_calls() -> Vec<Call> {
    vec![
        call(
            Method::POST,
            "/clock/freeze",
            "freeze",
            "Stops the clock: nothing happens by itself.",
            freeze,
        ),
        call(
            Method::POST,
            "/clock/resume",
            "resume",
            "Lets the clock run as the machine's does.",
            resume,
        ),
        call(
            Method::POST,
            "/clock/rate",
            "rate",
            "Lets the clock run at a multiple of the machine's time.",
            rate,
        )
        .example(json!({ "rate": 0 })),
        call(
            Method::POST,
            "/clock/auto",
            "auto",
            "Lets the clock jump to the next deadline whenever at least so many requests are open and all of them are \
             blocked.",
            auto,
        )
        .example(json!({ "clients": 64 })),
        call(
            Method::DELETE,
            "/clock/auto",
            "noAuto",
            "Ends the jumps of the clock.",
            no_auto,
        ),
    ]
}

/// The clock of a server.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Clock {
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
    caused: Vec<Record>,
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

fn shown(control: &Control) -> Answer<Clock> {
    Ok(Json(Clock {
        now_ms: at_ms(control.now()),
        rate: control.rate().factor(),
        next_deadline_in_ms: control.next_deadline().map(millis),
    }))
}

fn caused(control: &Control, caused: &[history::Record]) -> Answer<Caused> {
    Ok(Json(Caused {
        now_ms: at_ms(control.now()),
        caused: records(caused),
    }))
}

async fn clock(control: Control, _: Nothing) -> Answer<Clock> {
    shown(&control)
}

async fn advance(control: Control, Body(By { by }): Body<By>) -> Answer<Caused> {
    let records = control.advance_async(by.0).await;
    caused(&control, &records)
}

async fn advance_to_next(control: Control, _: Nothing) -> Answer<Caused> {
    let records = control.advance_to_next_async().await;
    caused(&control, &records)
}

async fn jump(control: Control, Body(By { by }): Body<By>) -> Answer<Caused> {
    let records = control.jump_async(by.0).await;
    caused(&control, &records)
}

async fn freeze(control: Control, _: Nothing) -> Answer<Clock> {
    control.freeze();
    shown(&control)
}

async fn resume(control: Control, _: Nothing) -> Answer<Clock> {
    control.resume();
    shown(&control)
}

async fn rate(control: Control, Body(AtRate { rate }): Body<AtRate>) -> Answer<Clock> {
    control.set_rate(Rate::new(rate).map_err(Refused::input)?);
    shown(&control)
}

async fn auto(control: Control, Body(Clients { clients }): Body<Clients>) -> Answer<Done> {
    if clients == 0 {
        return Err(Refused::input("expected at least one client"));
    }
    control.auto_advance(clients);
    Ok(Json(Done {}))
}

async fn no_auto(control: Control, _: Nothing) -> Answer<Done> {
    control.stop_auto_advance();
    Ok(Json(Done {}))
}
