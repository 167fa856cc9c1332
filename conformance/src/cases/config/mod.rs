//! Configuration entries, and what is made of them: chains, gateways, intentions.

pub(in crate::cases) mod chain;
pub(in crate::cases) mod entries;
pub(in crate::cases) mod gateways;
pub(in crate::cases) mod intentions;
pub(in crate::cases) mod permissions;
pub(in crate::cases) mod refusals;
pub(in crate::cases) mod refused_since_1_22;
pub(in crate::cases) mod waiting;

use serde_json::Value;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    entries::CASES,
    refusals::CASES,
    refused_since_1_22::CASES,
    waiting::CASES,
    chain::CASES,
    gateways::CASES,
    intentions::CASES,
    permissions::CASES,
];

const PATH: &str = "/v1/config";

/// Writes an entry.
#[track_caller]
fn write(t: &Trial, entry: &Value) -> Answer {
    t.api_put(PATH, entry.to_string())
}

/// Writes an entry, which succeeds.
#[track_caller]
pub(in crate::cases) fn set(t: &Trial, entry: &Value) {
    write(t, entry).is(200, "true");
}

fn read(t: &Trial, place: &str) -> Answer {
    t.api_get(&format!("{PATH}/{place}"))
}

fn remove(t: &Trial, place: &str) -> Answer {
    t.send(&Request::delete(&format!("{PATH}/{place}")))
}

/// An entry as it is read, without its indexes and, since late 2025, its hash.
#[track_caller]
fn shown(answer: &Answer) -> Value {
    let mut entry = answer.json();
    if let Value::Object(members) = &mut entry {
        for name in ["Hash", "CreateIndex", "ModifyIndex"] {
            members.remove(name);
        }
    }
    entry
}
