//! `/v1/event/`: user events (session.md 4.6, 1.22.md B4.6).

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;

use crate::auth::rights::Rights;
use crate::failure::{Failure, FailureKind, failures};
use crate::reply::Reply;
use crate::reply::table::table;
use crate::request::Request;
use crate::route::routes;
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking;
use proconsul_gocompat::json::encode::{Base64, Text};
use proconsul_gocompat::regexp::Regexp;
use proconsul_store::{Answer, EventList, EventRow, Index, NewEvent, NodeInfo, ServiceRow};
use proconsul_version::Behaviour;

routes! {
    "/v1/event/fire/" [PUT] => waits(fire);
    "/v1/event/list" [GET] => waits(&list);
}

/// The largest payload since 1.22.
const LARGEST_PAYLOAD: u64 = 300;
/// The largest gossip message of an event.
const LARGEST_MESSAGE: usize = 512;
/// The bytes of a message beside name, payload and filters while few events have been fired (measured on 1.8.7).
const MESSAGE_OVERHEAD: usize = 96;
/// The bytes of a filter beside its text.
const FILTER_OVERHEAD: usize = 4;
/// The prefix of the name of an event in its message.
const NAME_PREFIX: usize = "consul:event:".len();
/// From this length on, the length of a text takes one more byte.
const LONG_TEXT: usize = 32;
/// The service of Consul's servers, which no agent has registered.
const CONSUL: &str = "consul";

// Consul's handler writes the errors of firing itself (1.22.md A1.2).
failures! {
    /// A filter of an event is not a regular expression; `words` is Go's text.
    invalid_event_filter(which: &str, words: &str) => 500 Direct, format!("Invalid {which} filter: {words}");
    /// The event has a filter for tags but none for services.
    tag_without_service() => 500 Direct, "Cannot provide tag filter without service filter";
    /// The event is larger than a gossip message.
    event_too_large() => 500 DirectOfServer, "1 error occurred:\n\t* error broadcasting event to segment \"\": \
        user event exceeds configured limit of 512 bytes before encoding\n\n";
    /// The payload is too large (since 1.22).
    payload_too_large(length: u64) => 413, format!(
        "Event payload too large, received {length} bytes, max size: 300 bytes. \
         User events should be kept small for efficient gossip propagation."
    );
    /// The payload has an unknown length (since 1.22).
    missing_payload() => 400, "Event payload size must be greater than zero";
}

table! {
    /// An event (session.md 4.6).
    Event of row: EventRow {
        "ID" => json(uuid::Uuid::from_bytes(row.event.id).hyphenated().to_string()),
        "Name" => json(Text(&row.event.name)),
        "Payload" => json(Base64(&row.event.payload)),
        "NodeFilter" => json(row.event.node_filter),
        "ServiceFilter" => json(row.event.service_filter),
        "TagFilter" => json(row.event.tag_filter),
        "Version" => json(1),
        "LTime" => json(row.logical_time),
    }
}

/// Fires an event. The answer shows it without its logical time.
pub(crate) async fn fire(mut request: Request) -> Result<Reply, Failure> {
    let name: Box<[u8]> = request.rest.as_slice().into();
    if name.is_empty() {
        return Err(Failure::missing("name"));
    }
    if request.has(Behaviour::EventLimit) {
        match request.content_length() {
            None => return Err(missing_payload()),
            Some(length) if length > LARGEST_PAYLOAD => {
                return Err(payload_too_large(length));
            }
            Some(_) => {}
        }
    }
    let datacenter = request.check_datacenter();
    datacenter.map_err(|failure| failure.of_kind(FailureKind::DirectOfServer))?;
    let payload = request.read_whole().await;
    if let Some(failure) = payload.failure {
        return Err(Failure::unreadable_body(&failure));
    }
    let filters = Filters::new(&request)?;
    // Filters that are not UTF-8 have been refused.
    let parameter = |name: &str| String::from_utf8_lossy(request.query.get(name)).into_owned();
    let event = NewEvent {
        id: request.context.engine.new_id(),
        name,
        payload: payload.bytes.to_vec().into(),
        node_filter: parameter("node"),
        service_filter: parameter("service"),
        tag_filter: parameter("tag"),
        concerns_agent: filters.concern_agent(&request),
    };
    may_fire(&request, &event.name)?;
    if message_length(&event) > LARGEST_MESSAGE {
        return Err(event_too_large());
    }
    let Ok(()) = request.context.engine.apply(event.clone());
    let row = EventRow {
        event,
        logical_time: 0,
    };
    Ok(Reply::json(&request, &Event::new(&row, request.version())))
}

/// Checks that the caller may fire the event. Consul's handler writes these errors itself, but later releases return
/// that of a denial (acl.md 2.6, 2.11.r6).
fn may_fire(request: &Request, name: &[u8]) -> Result<(), Failure> {
    let rights = request.rights().map_err(unknown_token)?;
    let name = String::from_utf8_lossy(name);
    let checked = rights.check_silently(Question::write(Resource::Event, &name));
    checked.map_err(|failure| match request.has(Behaviour::AclDeniedText) {
        true => failure.of_kind(FailureKind::OfServer),
        false => failure.of_kind(FailureKind::Direct),
    })
}

/// Returns the error of an unknown token, which is no 403 here.
fn unknown_token(mut failure: Failure) -> Failure {
    failure.status = StatusCode::INTERNAL_SERVER_ERROR;
    failure.of_kind(FailureKind::DirectOfServer)
}

fn message_length(event: &NewEvent) -> usize {
    let filters = [&event.node_filter, &event.service_filter, &event.tag_filter];
    let filters = filters.into_iter().filter(|filter| !filter.is_empty());
    let text = |text: &[u8]| text.len() + usize::from(text.len() >= LONG_TEXT);
    let filters = filters.map(|filter| text(filter.as_bytes()) + FILTER_OVERHEAD);
    let filters: usize = filters.sum();
    let prefixed = NAME_PREFIX + event.name.len();
    let name = text(&event.name) + event.name.len() + 2 * usize::from(prefixed >= LONG_TEXT);
    MESSAGE_OVERHEAD + name + event.payload.len() + filters
}

/// The filters of an event.
struct Filters {
    node: Regexp,
    service: Option<Regexp>,
    tag: Regexp,
}

impl Filters {
    fn new(request: &Request) -> Result<Self, Failure> {
        let compile = |which| {
            let regexp = Regexp::new(request.query.get(which));
            regexp.map_err(|error| invalid_event_filter(which, &error.to_string()))
        };
        let is_given = |which| !request.query.get(which).is_empty();
        if !is_given("service") && is_given("tag") {
            return Err(tag_without_service());
        }
        let node = compile("node")?;
        let service = compile("service")?;
        Ok(Self {
            node,
            service: Some(service).filter(|_| is_given("service")),
            tag: compile("tag")?,
        })
    }

    /// Whether the filters match the agent: its name, and a service on it with its tags.
    fn concern_agent(&self, request: &Request) -> bool {
        let node = &request.context.config.node_name;
        if !self.node.matches(node) {
            return false;
        }
        let Some(service) = &self.service else {
            return true;
        };
        let Ok(answer) = request.context.engine.read(&NodeInfo(node.clone()));
        let Some((_, services)) = answer.rows else {
            return false;
        };
        let fits = |row: &ServiceRow| {
            let tags = row.service.tags();
            let tags_fit = self.tag.matches("") || tags.iter().any(|tag| self.tag.matches(tag));
            row.service.id != CONSUL && service.matches(&row.service.name) && tags_fit
        };
        services.iter().any(|row| fits(row))
    }
}

/// Lists the recent events, oldest first. The index is derived from the id of the last one.
pub(crate) async fn list(request: &Request) -> Result<Reply, Failure> {
    let wait = request.wait_options()?;
    let name = request.query.get("name");
    let events = EventList((!name.is_empty()).then(|| name.into()));
    let mut rights = request.rights()?;
    let engine = &request.context.engine;
    let Ok(mut answer) = if request.context.acls.is_none() {
        blocking::answer(engine, &events, wait).await
    } else {
        // What the caller does not see does not wake it: the index is that of the last event that it sees.
        let known = wait.map(|wait| wait.min_index);
        let is_news = |answer: &Answer<Vec<Arc<EventRow>>>| {
            let seen = answer.rows.iter().rfind(|row| sees(&rights, row));
            Some(index_of(seen)) != known
        };
        blocking::answer_when(engine, &events, wait, is_news).await
    };
    if request.context.acls.is_some() {
        rights.retain(&mut answer.rows, |caller, row| {
            caller.may(Question::read(Resource::Event, &name_of(row)))
        });
        answer.index = index_of(answer.rows.last());
    }
    let rows = answer.rows.iter();
    let events: Vec<Event<'_>> = rows.map(|row| Event::new(row, request.version())).collect();
    let reply = Reply::json(request, &events).with_bare_index(answer.index);
    Ok(rights.told_to_all_in(reply))
}

fn name_of(row: &EventRow) -> Cow<'_, str> {
    String::from_utf8_lossy(&row.event.name)
}

fn sees(rights: &Rights, row: &EventRow) -> bool {
    rights.may(Question::read(Resource::Event, &name_of(row)))
}

/// Returns the index of a list whose last event is this one.
fn index_of(last: Option<&Arc<EventRow>>) -> Index {
    last.map_or(Index(1), |row| row.index())
}
