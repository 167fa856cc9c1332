//! What cases with a configuration entry share: writing, reading and deleting it.

use serde_json::Value;

use crate::case::trial::Trial;
use crate::wire::Request;
use crate::wire::answer::Answer;

pub(in crate::cases) const PATH: &str = "/v1/config";

/// Writes an entry.
#[track_caller]
pub(in crate::cases) fn write(t: &Trial, entry: &Value) -> Answer {
    t.api_put(PATH, entry.to_string())
}

/// Writes an entry, which succeeds.
#[track_caller]
pub(in crate::cases) fn set(t: &Trial, entry: &Value) {
    write(t, entry).is(200, "true");
}

pub(in crate::cases) fn read(t: &Trial, place: &str) -> Answer {
    t.api_get(&format!("{PATH}/{place}"))
}

pub(in crate::cases) fn remove(t: &Trial, place: &str) -> Answer {
    t.send(&Request::delete(&format!("{PATH}/{place}")))
}

/// An entry as it is read, without its indexes and, since late 2025, its hash.
#[track_caller]
pub(in crate::cases) fn shown(answer: &Answer) -> Value {
    let mut entry = answer.json();
    if let Value::Object(members) = &mut entry {
        for name in ["Hash", "CreateIndex", "ModifyIndex"] {
            members.remove(name);
        }
    }
    entry
}
