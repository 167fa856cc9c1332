//! What is shown of records, blocked requests, rules and keys, as JSON.

use serde_json::{Map, Value, json};

use crate::engine::{Blocked, Explanation};
use crate::faults::Installed;
use crate::history::{Happened, Record};
use crate::timestamp::Timestamp;

/// Milliseconds since the server's clock began.
pub(super) fn at_ms(at: Timestamp) -> u64 {
    at.as_nanos() / 1_000_000
}

/// A record: `number`, `at_ms`, `index`, `kind`, `text`, and what it is about.
pub(super) fn record(record: &Record) -> Value {
    let mut object = Map::new();
    object.insert("number".into(), record.number.into());
    object.insert("at_ms".into(), at_ms(record.at).into());
    object.insert("index".into(), record.index.0.into());
    object.insert("kind".into(), record.what.kind().name().into());
    object.insert("text".into(), record.what.to_string().into());
    if let Some(key) = record.what.key() {
        object.insert("key".into(), key.to_string().into());
    }
    if let Some(session) = record.what.session() {
        object.insert("session".into(), session.into());
    }
    object.extend(details(&record.what));
    Value::Object(object)
}

pub(super) fn records<'a>(list: impl IntoIterator<Item = &'a Record>) -> Value {
    list.into_iter().map(record).collect()
}

/// What a record says beside its key and its session.
fn details(what: &Happened) -> Map<String, Value> {
    let object = match what {
        Happened::Request {
            call,
            client,
            method,
            target,
        } => json!({"request": call.0, "client": client, "method": method, "target": target}),
        Happened::Answer {
            call,
            status,
            fault,
        } => json!({"request": call.0, "status": status, "fault": fault}),
        Happened::Blocked {
            call, min_index, ..
        } => json!({"request": call.0, "min_index": min_index.0}),
        Happened::Woken { call, by } => json!({"request": call.0, "cause": by.to_string()}),
        Happened::AcquireRefused { reason, .. } => json!({"cause": reason.to_string()}),
        Happened::Released { cause, .. } => json!({"cause": cause.to_string()}),
        Happened::SessionEnded { cause, .. } => json!({"cause": cause.to_string()}),
        Happened::SessionRefused { reason, .. } => json!({"cause": reason}),
        Happened::LockDelayBegan { lasts, .. } => json!({"lasts_ms": millis(*lasts)}),
        Happened::SessionCreated {
            name, node, ttl, ..
        } => json!({"name": name, "node": node, "ttl_ms": millis(*ttl)}),
        _ => json!({}),
    };
    match object {
        Value::Object(details) => details,
        _ => unreachable!("details are an object"),
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A blocked request.
pub(super) fn blocked(blocked: &Blocked) -> Value {
    json!({
        "request": blocked.call.0,
        "client": blocked.client,
        "target": blocked.target,
        "read": crate::engine::in_words(&blocked.query),
        "min_index": blocked.min_index.0,
        "until_ms": at_ms(blocked.until),
    })
}

/// A rule.
pub(super) fn rule(installed: &Installed) -> Value {
    json!({
        "id": installed.id.0,
        "effect": installed.rule.in_words(),
        "hits": installed.hits,
    })
}

/// Who holds a key.
pub(super) fn explanation(explanation: &Explanation) -> Value {
    json!({
        "key": explanation.key.to_string(),
        "exists": explanation.exists,
        "holder": explanation.holder,
        "held_since_ms": explanation.held_since.map(at_ms),
        "lapses_in_ms": explanation.lapses_in.map(millis),
        "lock_index": explanation.lock_index,
        "lock_delay_left_ms": explanation.lock_delay_left.map(millis),
        "waiting": explanation.waiting.iter().map(blocked).collect::<Value>(),
        "last": explanation.last,
        "text": explanation.to_string(),
    })
}
