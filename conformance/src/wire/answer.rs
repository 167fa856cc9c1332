//! What a target answered, with assertions that read like the claim.

use std::time::Duration;

use serde_json::Value;

use crate::runner::verdict::fail;
use crate::wire::entry::Entry;
use crate::wire::json::squeezed;
use crate::wire::{Outcome, Reply};

/// The answer to one request. Assertions end the case as failed, getters that need a reply do so too.
#[derive(Debug, Clone)]
pub struct Answer {
    /// `PUT /v1/kv/a?cas=0`: which answer a failure speaks of.
    request: String,
    outcome: Outcome,
    took: Duration,
    /// The target prints JSON over many lines, so white space between tokens says nothing.
    pretty: bool,
}

impl Answer {
    pub(crate) fn new(request: String, outcome: Outcome, took: Duration, pretty: bool) -> Self {
        Self {
            request,
            outcome,
            took,
            pretty,
        }
    }

    /// What became of the request, reply or not.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Real time between sending and the end of the answer.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The reply; without one the case fails.
    #[track_caller]
    #[must_use]
    pub fn reply(&self) -> &Reply {
        match &self.outcome {
            Outcome::Reply(reply) => reply,
            Outcome::Closed => self.wrong("the connection was closed without an answer"),
            Outcome::Broken { why, .. } => self.wrong(&format!("broken answer: {why}")),
            Outcome::Silent { .. } => self.wrong("no whole answer in time"),
            Outcome::Unreachable(why) => self.wrong(&format!("no connection: {why}")),
        }
    }

    /// The status.
    #[track_caller]
    #[must_use]
    pub fn status(&self) -> u16 {
        self.reply().status
    }

    /// The body as it came.
    #[track_caller]
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.reply().body
    }

    /// The body as text, with invalid UTF-8 replaced.
    #[track_caller]
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.body()).into_owned()
    }

    /// The first header of that name (any spelling).
    #[track_caller]
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.reply().header(name)
    }

    /// The names of all headers in the order and spelling of the wire.
    #[track_caller]
    #[must_use]
    pub fn header_names(&self) -> Vec<&str> {
        let headers = &self.reply().headers;
        headers.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// `X-Consul-Index`; without one the case fails.
    #[track_caller]
    #[must_use]
    pub fn index(&self) -> u64 {
        match self.header("X-Consul-Index").map(str::parse) {
            Some(Ok(index)) => index,
            Some(Err(_)) => self.wrong("X-Consul-Index is not a number"),
            None => self.wrong("there is no X-Consul-Index"),
        }
    }

    /// The body as JSON; anything else fails the case.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(self.body()) {
            Ok(json) => json,
            Err(error) => self.wrong(&format!("the body is not JSON: {error}")),
        }
    }

    /// The one entry of a `200` list of length one.
    #[track_caller]
    #[must_use]
    pub fn entry(&self) -> Entry {
        let mut entries = self.entries();
        match (entries.pop(), entries.is_empty()) {
            (Some(entry), true) => entry,
            _ => self.wrong("expected a list of one entry"),
        }
    }

    /// The entries of a `200` list, in order.
    #[track_caller]
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.list()
            .iter()
            .map(Entry::read)
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| self.wrong(&error))
    }

    /// The texts of a `200` list, e.g. of `?keys`.
    #[track_caller]
    #[must_use]
    pub fn strings(&self) -> Vec<String> {
        let texts: Option<_> = self
            .list()
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect();
        texts.unwrap_or_else(|| self.wrong("expected a list of texts"))
    }

    /// The items of a `200` list.
    #[track_caller]
    #[must_use]
    pub fn list(&self) -> Vec<Value> {
        if self.status() != 200 {
            self.wrong("expected 200 with a list");
        }
        match self.json() {
            Value::Array(items) => items,
            _ => self.wrong("expected a list"),
        }
    }

    /// Status and body are these. JSON is compared token by token in order, and to the byte where the target prints compact JSON;
    /// every other text to the byte.
    #[track_caller]
    pub fn is(self, status: u16, body: &str) -> Self {
        let (expected, mut came) = (body.as_bytes(), self.body().to_vec());
        if self.pretty && serde_json::from_str::<Value>(body).is_ok() {
            came = squeezed(&came);
        }
        if self.status() != status || came != expected {
            self.wrong(&format!("expected {status} {body:?}"));
        }
        self
    }

    /// The status is this.
    #[track_caller]
    pub fn status_is(self, status: u16) -> Self {
        self.status_is_one_of(&[status])
    }

    /// The status is one of these.
    #[track_caller]
    pub fn status_is_one_of(self, statuses: &[u16]) -> Self {
        if !statuses.contains(&self.status()) {
            self.wrong(&format!("expected status {statuses:?}"));
        }
        self
    }

    /// The status is this and the body contains `text`.
    #[track_caller]
    pub fn says(self, status: u16, text: &str) -> Self {
        if self.status() != status || !self.text().contains(text) {
            self.wrong(&format!("expected {status} with {text:?} in the body"));
        }
        self
    }

    /// The body is exactly these bytes, pretty-printed or not.
    #[track_caller]
    pub fn body_is_exactly(self, bytes: impl AsRef<[u8]>) -> Self {
        if self.body() != bytes.as_ref() {
            let expected = String::from_utf8_lossy(bytes.as_ref()).into_owned();
            self.wrong(&format!("expected exactly the body {expected:?}"));
        }
        self
    }

    /// The value at a JSON pointer (`/0/Name`) is this; `Value::Null` also stands for one that is absent.
    #[track_caller]
    pub fn field_is(self, pointer: &str, expected: impl Into<Value>) -> Self {
        let (json, expected) = (self.json(), expected.into());
        let came = json.pointer(pointer).unwrap_or(&Value::Null);
        if *came != expected {
            self.wrong(&format!(
                "expected {pointer} to be {expected}, but it is {came}"
            ));
        }
        self
    }

    /// The header is there (any spelling of its name) with this value.
    #[track_caller]
    pub fn header_is(self, name: &str, value: &str) -> Self {
        if self.header(name) != Some(value) {
            self.wrong(&format!("expected the header {name}: {value}"));
        }
        self
    }

    /// The header is there, whatever its value.
    #[track_caller]
    pub fn has_header(self, name: &str) -> Self {
        if self.header(name).is_none() {
            self.wrong(&format!("expected a header {name}"));
        }
        self
    }

    /// The header is absent.
    #[track_caller]
    pub fn has_no_header(self, name: &str) -> Self {
        if self.header(name).is_some() {
            self.wrong(&format!("expected no header {name}"));
        }
        self
    }

    /// The headers are exactly these, in the order and spelling of the wire.
    #[track_caller]
    pub fn header_names_are(self, names: &[&str]) -> Self {
        if self.header_names() != names {
            self.wrong(&format!("expected exactly the headers {names:?}"));
        }
        self
    }

    /// The connection was closed without a byte.
    #[track_caller]
    pub fn is_closed(self) -> Self {
        if self.outcome != Outcome::Closed {
            self.wrong("expected the connection to close without an answer");
        }
        self
    }

    /// The answer took at least this long in real time (for claims about `wait`).
    #[track_caller]
    pub fn took_at_least(self, least: Duration) -> Self {
        if self.took < least {
            self.wrong(&format!("expected no answer before {least:?}"));
        }
        self
    }

    /// Fails the case; the message says what came.
    #[track_caller]
    fn wrong(&self, message: &str) -> ! {
        let came = match &self.outcome {
            Outcome::Reply(reply) => {
                let body = String::from_utf8_lossy(&reply.body);
                let shown: String = body.chars().take(300).collect();
                let dots = if shown.len() < body.len() { "…" } else { "" };
                format!("{} {shown:?}{dots}", reply.status)
            }
            Outcome::Closed => "nothing".to_owned(),
            other => format!("{other:?}").chars().take(300).collect(),
        };
        fail(format!(
            "{}: {message}; came {came} after {:.1?}",
            self.request, self.took
        ))
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
