//! `/v1/event/`: user events (session.md 4.6, 1.22.md B4.6).

use super::errors::Failure;
use super::errors_query::PlainFailure;
use super::reply::Reply;
use super::request::Request;
use super::wire_query::Event;
use crate::blocking;
use crate::go::regexp::Regexp;
use crate::store::{Command, EventRow, NewEvent, Query, Rows, ServiceRow};
use crate::version::Behaviour;

/// The largest payload since 1.22.
const LARGEST_PAYLOAD: u64 = 300;
/// The most that is sent around for an event.
const LARGEST_MESSAGE: usize = 512;
/// What an event takes beside name, payload and filters while few events have been fired (measured on 1.8.7).
const MESSAGE_OVERHEAD: usize = 96;
/// What a filter takes beside its text.
const FILTER_OVERHEAD: usize = 4;
/// What stands before the name of an event when it is sent around.
const NAME_PREFIX: usize = "consul:event:".len();
/// From this length on it takes more bytes to say how long a text is.
const LONG_TEXT: usize = 32;
/// The service that Consul's servers are, which no agent knows of.
const CONSUL: &str = "consul";

/// Fires an event. The answer shows it without its place among the others.
pub(crate) async fn fire(mut request: Request) -> Result<Reply, Failure> {
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::Missing("name"));
    }
    if request.has(Behaviour::EventLimit) {
        match request.content_length() {
            None => return Err(Failure::Plain(PlainFailure::EventEmpty)),
            Some(length) if length > LARGEST_PAYLOAD => {
                return Err(Failure::Plain(PlainFailure::EventPayload(length)));
            }
            Some(_) => {}
        }
    }
    request.check_datacenter()?;
    let payload = request.read_whole().await;
    if let Some(failure) = payload.failure {
        return Err(Failure::BodyUnreadable(failure));
    }
    let parameter = |name: &str| String::from_utf8_lossy(request.query.get(name)).into_owned();
    let mut event = NewEvent {
        id: request.context.engine.new_id(),
        name,
        payload: payload.bytes.to_vec().into(),
        node_filter: parameter("node"),
        service_filter: parameter("service"),
        tag_filter: parameter("tag"),
        concerns_agent: true,
    };
    let filters = Filters::new(&event).map_err(Failure::Plain)?;
    event.concerns_agent = filters.concern_agent(&request);
    if message_length(&event) > LARGEST_MESSAGE {
        return Err(Failure::Plain(PlainFailure::EventTooLarge));
    }
    let command = Command::Fire(Box::new(event.clone()));
    let applied = request.context.engine.apply(command);
    applied.expect("an event is never refused");
    let row = EventRow {
        event,
        logical_time: 0,
    };
    Ok(Reply::json(&request, &Event::new(&row)))
}

fn message_length(event: &NewEvent) -> usize {
    let filters = [&event.node_filter, &event.service_filter, &event.tag_filter];
    let filters = filters.into_iter().filter(|filter| !filter.is_empty());
    let text = |text: &str| text.len() + usize::from(text.len() >= LONG_TEXT);
    let filters: usize = filters.map(|filter| text(filter) + FILTER_OVERHEAD).sum();
    let prefixed = NAME_PREFIX + event.name.len();
    let name = text(&event.name) + event.name.len() + 2 * usize::from(prefixed >= LONG_TEXT);
    MESSAGE_OVERHEAD + name + event.payload.len() + filters
}

/// Whom an event is for.
struct Filters {
    node: Regexp,
    service: Option<Regexp>,
    tag: Regexp,
}

impl Filters {
    fn new(event: &NewEvent) -> Result<Self, PlainFailure> {
        let compile = |which, pattern: &str| {
            let regexp = Regexp::new(pattern.as_bytes());
            regexp.map_err(|error| PlainFailure::EventFilter(which, error.to_string()))
        };
        if event.service_filter.is_empty() && !event.tag_filter.is_empty() {
            return Err(PlainFailure::EventTagAlone);
        }
        let service = compile("service", &event.service_filter)?;
        Ok(Self {
            node: compile("node", &event.node_filter)?,
            service: Some(service).filter(|_| !event.service_filter.is_empty()),
            tag: compile("tag", &event.tag_filter)?,
        })
    }

    /// Whether the agent is one of those: by its name, and by a service on it that fits both other filters.
    fn concern_agent(&self, request: &Request) -> bool {
        let node = &request.context.config.node_name;
        if !self.node.matches(node) {
            return false;
        }
        let Some(service) = &self.service else {
            return true;
        };
        let answer = request.context.engine.query(&Query::Node(node.clone()));
        let Ok(Rows::Node(Some((_, services)))) = answer.map(|answer| answer.rows) else {
            return false;
        };
        let fits = |row: &ServiceRow| {
            let tags = &row.service.tags;
            let tags_fit = self.tag.matches("") || tags.iter().any(|tag| self.tag.matches(tag));
            row.service.id != CONSUL && service.matches(&row.service.name) && tags_fit
        };
        services.iter().any(|row| fits(row))
    }
}

/// The events that were kept, oldest first, with the index that is made from the id of the last one.
pub(crate) async fn list(request: &Request) -> Result<Reply, Failure> {
    let wait = request.wait_options()?;
    let name = String::from_utf8_lossy(request.query.get("name")).into_owned();
    let query = Query::Events(Some(name).filter(|name| !name.is_empty()));
    let answer = blocking::answer(&request.context.engine, &query, wait).await;
    let answer = answer.expect("reads of events are never refused");
    let Rows::Events(rows) = &answer.rows else {
        unreachable!("events are answered with events");
    };
    let events: Vec<Event<'_>> = rows.iter().map(|row| Event::new(row)).collect();
    Ok(Reply::json(request, &events).with_bare_index(answer.index))
}
