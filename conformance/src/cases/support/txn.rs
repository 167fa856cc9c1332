//! What cases with a transaction share: writing operations and reading answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::case::trial::Trial;
use crate::runner::verdict::fail;
use crate::wire::answer::Answer;
use crate::wire::entry::Entry;

/// One KV operation as JSON.
#[derive(Debug, Clone)]
pub(in crate::cases) struct Op(Value);

/// An operation with a verb and a key, and nothing else.
pub(in crate::cases) fn op(verb: &str, key: &str) -> Op {
    Op(json!({"KV": {"Verb": verb, "Key": key}}))
}

/// Sets a key to a value.
pub(in crate::cases) fn set(key: &str, value: &str) -> Op {
    op("set", key).value(value)
}

/// Reads a key.
pub(in crate::cases) fn get(key: &str) -> Op {
    op("get", key)
}

impl Op {
    /// With this value.
    pub(in crate::cases) fn value(self, value: &str) -> Self {
        self.field("Value", STANDARD.encode(value))
    }

    /// With these flags.
    pub(in crate::cases) fn flags(self, flags: u64) -> Self {
        self.field("Flags", flags)
    }

    /// With this index, for `cas`, `delete-cas` and `check-index`.
    pub(in crate::cases) fn index(self, index: u64) -> Self {
        self.field("Index", index)
    }

    /// With this session, for `lock`, `unlock` and `check-session`.
    pub(in crate::cases) fn session(self, session: &str) -> Self {
        self.field("Session", session)
    }

    fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0["KV"][name] = value.into();
        self
    }
}

/// Sends a transaction of these operations.
pub(in crate::cases) fn txn(t: &Trial, operations: impl IntoIterator<Item = Op>) -> Answer {
    let operations = operations.into_iter().map(|op| op.0).collect();
    t.txn(&Value::Array(operations))
}

/// The entries that a transaction that went through has brought, all of them keys.
#[track_caller]
pub(in crate::cases) fn results(answer: Answer) -> Vec<Entry> {
    let json = answer
        .status_is(200)
        .field_is("/Errors", Value::Null)
        .json();
    let entry = |result: &Value| match result.get("KV").map(Entry::read) {
        Some(Ok(entry)) => entry,
        Some(Err(why)) => fail(why),
        None => fail(format!("a result without KV: {result}")),
    };
    match json.get("Results").and_then(Value::as_array) {
        Some(results) => results.iter().map(entry).collect(),
        None => fail(format!("no list of results: {json}")),
    }
}

/// The one entry that a transaction that went through has brought.
#[track_caller]
pub(in crate::cases) fn result(answer: Answer) -> Entry {
    match <[Entry; 1]>::try_from(results(answer)) {
        Ok([entry]) => entry,
        Err(entries) => fail(format!(
            "expected one result, but there are {}: {entries:?}",
            entries.len()
        )),
    }
}

/// The transaction was refused because of exactly these operations, with these texts.
#[track_caller]
pub(in crate::cases) fn refused(answer: Answer, expected: &[(usize, &str)]) {
    let json = answer
        .status_is(409)
        .field_is("/Results", Value::Null)
        .json();
    let errors = json.get("Errors").cloned().unwrap_or_default();
    let expected: Value = expected
        .iter()
        .map(|(operation, text)| json!({"OpIndex": operation, "What": text}))
        .collect();
    if errors != expected {
        fail(format!(
            "expected the errors {expected}, but they are {errors}"
        ));
    }
}
