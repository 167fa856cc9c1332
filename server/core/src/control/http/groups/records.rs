//! Records of the history and requests that wait, as answers show them.

use std::fmt::Write;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::control::Controls;
use crate::control::http::call::{Name, Nouns};
use proconsul_engine;
use proconsul_engine::history::{self, CallId, Filter, Happened, Kind, TokenNamed};
use proconsul_store::timestamp::Timestamp;

/// Something that happened. Which fields a record has beyond the first five depends on its kind.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Record", deny_unknown_fields)]
pub(super) struct RecordJson {
    /// The record's place in the history, counted from 1.
    pub(super) number: u64,
    /// When it happened, in milliseconds of the server's clock.
    at_ms: u64,
    /// The index of the state after it.
    index: u64,
    /// What kind of record this is.
    kind: Name<Kind>,
    /// All of it in one line.
    text: String,
    /// The number of the record that it follows from: of a request, of the end of a session, of a control. It is left out
    /// where the clock, or the test's own program, did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    caused_by: Option<u64>,
    /// The key that the record is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// What the deleted keys start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// How many keys were deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<usize>,
    /// The session that the record is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The number of the request, of the kinds `request`, `answer`, `blocked`, `woken`, `held`, `access-denied`,
    /// `token-unknown` and `rows-removed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<u64>,
    /// The address that a request came from; null for one through a Unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<Option<String>>,
    /// The number of the agent that a request came to, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<usize>,
    /// A request's method.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// A request's path and parameters, as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The status of an answer, or the code of one of DNS: 0 NOERROR, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED; null when none was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Option<u16>>,
    /// The fault that hit a request, in words; null when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Option<String>>,
    /// The index that a blocking query waits to be passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_index: Option<u64>,
    /// Why: of a wake, a refusal, a release, or the end of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// How long a lock-delay lasts, or a request is held, in milliseconds of the server's clock; left out for a request that
    /// is held until its client gives up.
    #[serde(skip_serializing_if = "Option::is_none")]
    lasts_ms: Option<u64>,
    /// The name of a session that was created, or of what a token lacks a permission on.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The node of a session that was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// The AccessorID of the token that was refused, or from whose answer rows were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// The description of that token.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_description: Option<String>,
    /// What the token lacks, such as `key:write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<String>,
    /// How many rows were removed from an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<usize>,
    /// The program that said what it believes.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Whether that program believes that it holds the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
    /// The TTL of a session that was created, in milliseconds; 0 for a session without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
}

impl From<&history::Record> for RecordJson {
    fn from(record: &history::Record) -> Self {
        // Room for most of them at once.
        let mut text = String::with_capacity(128);
        write!(text, "{}", record.what).expect("a text takes everything");
        let mut shown = Self {
            number: record.number,
            at_ms: at_ms(record.at),
            index: record.index.0,
            kind: Name(record.what.kind()),
            text,
            caused_by: record.cause,
            key: record.what.key().map(ToString::to_string),
            prefix: None,
            keys: None,
            session: record.what.session().map(str::to_owned),
            request: None,
            client: None,
            agent: None,
            method: None,
            target: None,
            status: None,
            fault: None,
            min_index: None,
            cause: None,
            lasts_ms: None,
            name: None,
            node: None,
            token: None,
            token_description: None,
            permission: None,
            rows: None,
            program: None,
            holds: None,
            ttl_ms: None,
        };
        shown.add_details(&record.what);
        shown
    }
}

impl RecordJson {
    /// Adds what only records of this kind say.
    fn add_details(&mut self, what: &Happened) {
        match what {
            Happened::Request {
                call,
                client,
                method,
                target,
                agent,
            } => {
                self.agent = *agent;
                self.request = Some(call.0);
                self.client = Some(client.map(|client| client.to_string()));
                self.method = Some(method.clone());
                self.target = Some(target.clone());
            }
            Happened::Answer {
                call,
                status,
                fault,
                read_at: _,
            } => {
                self.request = Some(call.0);
                self.status = Some(*status);
                self.fault = Some(fault.clone());
            }
            Happened::Blocked {
                call, min_index, ..
            } => {
                self.request = Some(call.0);
                self.min_index = Some(min_index.0);
            }
            Happened::Woken { call, by } => {
                self.request = Some(call.0);
                self.cause = Some(by.to_string());
            }
            Happened::Held {
                call, fault, lasts, ..
            } => {
                self.request = Some(call.0);
                self.fault = Some(Some(fault.clone()));
                self.lasts_ms = lasts.map(millis);
            }
            Happened::KeyTreeDeleted { prefix, keys } => {
                self.prefix = Some(prefix.to_string());
                self.keys = Some(*keys);
            }
            Happened::AcquireRefused { reason, .. } => self.cause = Some(reason.to_string()),
            Happened::Released { cause, .. } => self.cause = Some(cause.to_string()),
            Happened::SessionEnded { cause, .. } => self.cause = Some(cause.to_string()),
            Happened::SessionRefused { reason, .. } => self.cause = Some(reason.clone()),
            Happened::LockDelayBegan { lasts, .. } => self.lasts_ms = Some(millis(*lasts)),
            Happened::SessionCreated {
                name, node, ttl, ..
            } => self.add_session(name, node, *ttl),
            Happened::Belief { program, holds, .. } => self.add_belief(program, *holds),
            Happened::AccessDenied { .. }
            | Happened::TokenUnknown { .. }
            | Happened::RowsRemoved { .. } => self.add_acl(what),
            Happened::KeyWritten { .. }
            | Happened::KeyDeleted { .. }
            | Happened::WriteRefused { .. }
            | Happened::Acquired { .. }
            | Happened::ReleaseRefused { .. }
            | Happened::LockDelayEnded { .. }
            | Happened::SessionRenewed { .. }
            | Happened::CatalogChanged { .. }
            | Happened::TombstonesReaped { .. }
            | Happened::Control { .. } => {}
        }
    }
}

impl RecordJson {
    fn add_session(&mut self, name: &str, node: &str, ttl: Duration) {
        self.name = Some(name.to_owned());
        self.node = Some(node.to_owned());
        self.ttl_ms = Some(millis(ttl));
    }

    fn add_belief(&mut self, program: &str, holds: bool) {
        self.program = Some(program.to_owned());
        self.holds = Some(holds);
    }

    /// Adds what only records about rights say.
    fn add_acl(&mut self, what: &Happened) {
        match what {
            Happened::AccessDenied {
                call,
                token,
                resource,
                access,
                name,
                because,
                ..
            } => {
                self.add_token(*call, token);
                self.permission = Some(format!("{resource}:{access}"));
                self.name = Some(name.clone());
                self.cause = Some(because.clone());
            }
            Happened::TokenUnknown { call } => self.request = Some(call.0),
            Happened::RowsRemoved { call, token, rows } => {
                self.add_token(*call, token);
                self.rows = Some(*rows);
            }
            _ => {}
        }
    }

    fn add_token(&mut self, call: CallId, token: &TokenNamed) {
        self.request = Some(call.0);
        self.token = Some(token.accessor.clone());
        self.token_description = Some(token.description.clone());
    }
}

/// A number of records.
#[derive(JsonSchema)]
pub(super) struct Count(pub(super) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let error = |_| D::Error::custom(format!("expected a number of records, not {text:?}"));
        text.parse().map(Self).map_err(error)
    }
}

/// The records in order.
pub(super) fn records(list: &[history::Record]) -> Vec<RecordJson> {
    list.iter().map(RecordJson::from).collect()
}

/// The records of these kinds; all records where no kind is given.
pub(super) fn of_kinds(kinds: &[Name<Kind>]) -> Filter {
    let kinds = kinds.iter().map(|kind| kind.0);
    kinds.fold(Filter::all(), Filter::or)
}

/// Only records about this key and this session, where they are given.
pub(super) fn about(filter: Filter, key: Option<String>, session: Option<String>) -> Filter {
    let filter = match key {
        Some(key) => filter.key(key),
        None => filter,
    };
    match session {
        Some(session) => filter.session(session),
        None => filter,
    }
}

impl Nouns for Kind {
    const NOUN: &'static str = "kind";
    const SCHEMA: &'static str = "Kind";
    const DESCRIPTION: &'static str = "A kind of record.";
}

/// A request that waits for a change.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Blocked", deny_unknown_fields)]
pub(super) struct BlockedJson {
    /// The number of the request.
    request: u64,
    /// The address that it came from; null for one through a Unix socket.
    client: Option<String>,
    /// Its path and parameters, as sent.
    target: String,
    /// What it reads, in words.
    read: String,
    /// The index that it waits to be passed.
    min_index: u64,
    /// When it arrived, in milliseconds of the server's clock.
    since_ms: u64,
    /// The number of the record of its arrival.
    record: u64,
    /// When its wait ends, in milliseconds of the server's clock.
    until_ms: u64,
}

impl From<&proconsul_engine::Blocked> for BlockedJson {
    fn from(blocked: &proconsul_engine::Blocked) -> Self {
        Self {
            request: blocked.call.0,
            client: blocked.client.map(|client| client.to_string()),
            target: blocked.target.clone(),
            read: blocked.read.to_string(),
            min_index: blocked.min_index.0,
            since_ms: at_ms(blocked.since),
            record: blocked.record,
            until_ms: at_ms(blocked.until),
        }
    }
}

/// A request that a fault holds.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Held", deny_unknown_fields)]
struct HeldJson {
    /// The number of the request.
    request: u64,
    /// The address that it came from; null for one through a Unix socket.
    client: Option<String>,
    /// Its path and parameters, as sent.
    target: String,
    /// The fault, in words.
    fault: String,
    /// When it arrived, in milliseconds of the server's clock.
    since_ms: u64,
    /// The number of the record of its arrival.
    record: u64,
    /// When it goes on, in milliseconds of the server's clock; null if it is held until its client gives up.
    until_ms: Option<u64>,
}

impl From<&proconsul_engine::Held> for HeldJson {
    fn from(held: &proconsul_engine::Held) -> Self {
        Self {
            request: held.call.0,
            client: held.client.map(|client| client.to_string()),
            target: held.target.clone(),
            fault: held.fault.clone(),
            since_ms: at_ms(held.since),
            record: held.record,
            until_ms: held.until.map(at_ms),
        }
    }
}

/// Requests that wait.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct Waiting {
    /// The blocking queries, oldest first.
    blocked: Vec<BlockedJson>,
    /// The requests that faults hold, oldest first.
    held: Vec<HeldJson>,
}

impl Waiting {
    pub(super) fn of(control: &Controls, blocked: &[proconsul_engine::Blocked]) -> Self {
        Self {
            blocked: blocked.iter().map(BlockedJson::from).collect(),
            held: control.held().iter().map(HeldJson::from).collect(),
        }
    }
}

/// It was done; there is nothing to say.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct Done {}

/// The index of the state.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct AtIndex {
    /// The index of the last change, now.
    index: u64,
}

impl AtIndex {
    pub(super) fn of(control: &Controls) -> Self {
        Self {
            index: control.index().0,
        }
    }
}

/// Milliseconds of the server's clock.
pub(super) fn at_ms(at: Timestamp) -> u64 {
    at.as_nanos() / 1_000_000
}

/// The point in time that a call means.
pub(super) fn at(milliseconds: u64) -> Timestamp {
    Timestamp::ZERO.plus(Duration::from_millis(milliseconds))
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
