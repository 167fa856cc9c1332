//! What happens, as it happens: the history as a stream of server-sent events, beside the clock.
//!
//! A stream keeps nothing of its own: it reads on in the history, whose capacity bounds what a slow reader can miss, and
//! tells what that was.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use futures_util::future::{Either, select};
use futures_util::stream;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::clock::Clock;
use super::history::RecordNumber;
use super::records::{Count, RecordJson, of_kinds};
use crate::control::Controls;
use crate::control::http::call::{Input, Name, Output, Parameters, Refused, Schemas, calls};
use proconsul_engine::clock::Patience;
use proconsul_engine::history::{Filter, Kind};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The media type of server-sent events.
const EVENTS: &str = "text/event-stream";
/// The most records that are sent at once.
const BATCH: usize = 1024;
/// How long a stream rests after it has looked for records, in the machine's time: what happens meanwhile is sent at once,
/// and a busy server is not slowed down. A reader who looks on sees no difference.
const REST: Duration = Duration::from_millis(100);
/// How long it rests after it has passed many records, wanted or not: to wake up costs as much as to send some fifty.
const LONG_REST: Duration = Duration::from_millis(250);
/// How many records are many: a person does not follow these.
const MANY: u64 = 20;
/// How long it rests after it has left records out: more come than its reader wants, and to send many of them would slow
/// down the server for nothing.
const LONGEST_REST: Duration = Duration::from_millis(500);
/// How often a stream tells the time when it has nothing else to tell, in the machine's time.
const HEARTBEAT: Duration = Duration::from_secs(1);

calls! {
    /// The history as server-sent events, while it is written: `begin` first, then a `record` for each record that is
    /// wanted; `missed` where such are gone that the reader has not got; `clock` after records and every second. The id
    /// of an event is the number of the last record that the stream has passed, wanted or not: a client that comes back
    /// with it as `Last-Event-ID` goes on behind that record.
    GET "/events" events;
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Only records of this kind. May be repeated. What is left out costs the server next to nothing.
    #[serde(default)]
    kind: Vec<Name<Kind>>,
    /// Begins after the record with this number; with what happens from now on if it is left out.
    after: Option<RecordNumber>,
    /// Begins behind all but the last so many records, of any kind. At most one of `after` and `last` is given.
    last: Option<Count>,
    /// How many wanted records the reader may be behind: when there are more, the older ones are left out, and `missed`
    /// says how many. All that the history keeps if it is left out.
    behind: Option<Count>,
    /// Whether the stream goes on when all records have been sent: `true`, which is the default, or `false`.
    follow: Option<Flag>,
}

/// Yes or no.
#[derive(JsonSchema)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let error = |_| D::Error::custom(format!("expected true or false, not {text:?}"));
        text.parse().map(Self).map_err(error)
    }
}

/// Where a stream begins, and how far its reader may fall behind.
struct Place {
    wanted: Wanted,
    /// The record that the client has got last, of a stream that it resumes.
    resumed: Option<u64>,
}

impl FromRequest<Controls> for Place {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        let resumed = resumed(request.headers())?;
        let Parameters(wanted) = Parameters::<Wanted>::from_request(request, control).await?;
        if wanted.after.is_some() && wanted.last.is_some() {
            return Err(Refused::input("expected at most one of after and last"));
        }
        Ok(Self { wanted, resumed })
    }
}

fn resumed(headers: &HeaderMap) -> Result<Option<u64>, Refused> {
    let Some(value) = headers.get(LAST_EVENT_ID) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(value.as_bytes());
    let number = text.parse().map_err(|_| {
        Refused::input(format!(
            "Last-Event-ID is the number of a record, not {text:?}"
        ))
    });
    number.map(Some)
}

impl Input for Place {
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>) {
        Parameters::<Wanted>::describe(schemas, operation);
        let header = json!({
            "name": "Last-Event-ID",
            "in": "header",
            "required": false,
            "description": "The id of the last event that the client has got. It counts before `after` and `last`.",
            "schema": { "type": "integer", "minimum": 0 },
        });
        if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
            parameters.push(header);
        }
    }
}

/// What is sent.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Event")]
#[serde(untagged)]
enum Sent {
    /// Which server this is, and which records it has.
    Begin(Begin),
    /// What the reader cannot get any more.
    Missed(Missed),
    /// What happened.
    Record(Box<RecordJson>),
    /// What time it is.
    Clock(Clock),
}

/// The data of `begin`.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Begin {
    /// The seed of the server. A reader that meets another one has come to another server.
    seed: u64,
    /// The number of the first record that the history has.
    first: u64,
    /// The number of the last record; 0 before the first.
    last: u64,
    /// The number of the record behind which this stream begins.
    after: u64,
}

/// The data of `missed`: records that the reader does not get.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Missed {
    /// How many: the wanted ones that were left out, and all that the history has dropped, since nothing is known of
    /// their kinds any more.
    records: u64,
    /// The number from which on the reader gets all that it wants.
    next: u64,
}

impl Sent {
    /// Appends it as an event, whose data is one line: JSON escapes line breaks. All events of a batch share a buffer.
    /// Those of axum's `Sse` allocate some ten times each, which made the records of a write dearer than the write.
    fn write(&self, passed: u64, to: &mut Vec<u8>) {
        let name: &[u8] = match self {
            Self::Begin(_) => b"begin",
            Self::Missed(_) => b"missed",
            Self::Record(_) => b"record",
            Self::Clock(_) => b"clock",
        };
        to.extend_from_slice(b"event: ");
        to.extend_from_slice(name);
        to.extend_from_slice(b"\nid: ");
        to.extend_from_slice(itoa::Buffer::new().format(passed).as_bytes());
        to.extend_from_slice(b"\ndata: ");
        serde_json::to_writer(&mut *to, self).expect("an event can be written");
        to.extend_from_slice(b"\n\n");
    }
}

/// A stream, before it is sent.
struct Stream {
    control: Controls,
    filter: Filter,
    /// The number of the last record that was sent, missed, or not wanted.
    passed: u64,
    behind: u64,
    follows: bool,
    /// Events that are to be sent.
    ready: Vec<u8>,
    rest: Patience,
    /// How long it is until the time is told again.
    beat: Patience,
    is_over: bool,
}

impl Stream {
    fn new(control: Controls, place: Place) -> Self {
        let (first, last) = control.engine().record_numbers();
        let Place { wanted, resumed } = place;
        let after = wanted.after.map(|number| number.0);
        let of_last = wanted.last.map(|count| {
            // Records that are gone are none of the last ones.
            last.saturating_sub(count.0).max(first - 1)
        });
        // A number that is not reached yet is of another server, whose records are not these.
        let resumed = resumed.map(|number| if number > last { 0 } else { number });
        let after = resumed.or(after).or(of_last).unwrap_or(last);
        let begin = Begin {
            seed: control.seed(),
            first,
            last,
            after,
        };
        let mut ready = Vec::new();
        Sent::Begin(begin).write(after, &mut ready);
        Sent::Clock(Clock::of(&control)).write(after, &mut ready);
        Self {
            filter: of_kinds(&wanted.kind),
            passed: after,
            behind: wanted.behind.map_or(u64::MAX, |count| count.0),
            follows: wanted.follow.is_none_or(|flag| flag.0),
            ready,
            rest: Patience::new(control.engine().host(), Duration::ZERO),
            beat: Patience::new(control.engine().host(), HEARTBEAT),
            is_over: false,
            control,
        }
    }

    /// Returns the next events; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Vec<u8>> {
        while self.ready.is_empty() && !self.is_over {
            self.fill().await;
        }
        let ready = std::mem::take(&mut self.ready);
        (!ready.is_empty()).then_some(ready)
    }

    /// Waits for records or for the next heartbeat. What it finds may be nothing that is wanted.
    async fn fill(&mut self) {
        self.rest.over().await;
        let engine = self.control.engine();
        // A timer that nothing waits for would wake its thread for nothing.
        if self.follows && engine.last_record() <= self.passed {
            let recorded = pin!(engine.recorded_after(self.passed));
            let beat = pin!(self.beat.over());
            if let Either::Left(_) = select(recorded, beat).await {
                self.is_over = engine.is_closed();
            }
        }
        let found = engine.read_on(self.passed, &self.filter, self.behind, BATCH);
        if found.missed > 0 {
            let first = found.records.first();
            let next = first.map_or(found.passed + 1, |record| record.number);
            let records = found.missed;
            Sent::Missed(Missed { records, next }).write(next - 1, &mut self.ready);
        }
        for record in &found.records {
            let sent = Sent::Record(Box::new(RecordJson::from(record)));
            sent.write(record.number, &mut self.ready);
        }
        let has_passed_many = found.passed - self.passed >= MANY;
        self.passed = found.passed;
        self.is_over |= !self.follows && found.records.len() < BATCH;
        if !self.ready.is_empty() || self.is_over || self.beat.left().is_zero() {
            self.beat = Patience::new(self.control.engine().host(), HEARTBEAT);
            Sent::Clock(Clock::of(&self.control)).write(self.passed, &mut self.ready);
        }
        let rest = if !self.follows {
            Duration::ZERO
        } else if found.missed > 0 {
            LONGEST_REST
        } else if has_passed_many {
            LONG_REST
        } else {
            REST
        };
        self.rest = Patience::new(self.control.engine().host(), rest);
    }
}

impl Output for Stream {
    fn into_answer(self) -> Response {
        let batches = stream::unfold(self, async |mut stream| {
            let batch = stream.next().await?;
            Some((Ok::<_, Infallible>(batch), stream))
        });
        let headers = [(CONTENT_TYPE, EVENTS), (CACHE_CONTROL, "no-cache")];
        (headers, Body::from_stream(batches)).into_response()
    }

    fn contents(schemas: &mut Schemas) -> Value {
        json!({ EVENTS: { "schema": schemas.given::<Sent>() } })
    }
}

async fn events(control: Controls, place: Place) -> Result<Stream, Refused> {
    Ok(Stream::new(control, place))
}
