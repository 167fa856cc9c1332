//! User events: messages that are kept in the order in which they were fired, the last few of them (session.md 4.6).

use std::convert::Infallible;
use std::sync::Arc;

use imbl::Vector;

use crate::Index;
use crate::command::Command;
use crate::command::effects::Touched;
use crate::read::{Answer, News, Read, ReadResult, Subject, Watch};
use crate::{Change, Store};

/// How many events are kept.
pub(crate) const KEPT: usize = 256;

/// An event as it is fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The id, made by the caller.
    pub id: [u8; 16],
    /// The name: any bytes (seen on 1.8.7).
    pub name: Box<[u8]>,
    /// The payload; empty for none.
    pub payload: Box<[u8]>,
    /// Which nodes it is for: a regular expression, or empty for all.
    pub node_filter: String,
    /// Which services' nodes it is for: a regular expression, or empty for all.
    pub service_filter: String,
    /// With which tags: a regular expression, or empty for all.
    pub tag_filter: String,
    /// Whether the agent is one of those that it is for: who is not, keeps nothing of it.
    pub concerns_agent: bool,
}

/// An event that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// As it was fired.
    pub event: NewEvent,
    /// Its place among all events, also those that were not kept.
    pub logical_time: u64,
}

impl EventRow {
    /// The index of lists that end with this event: both halves of its id, over each other. Later events have lower
    /// ones as often as higher ones.
    fn index(&self) -> Index {
        let id = u128::from_be_bytes(self.event.id);
        let [high, low] = [id >> 64, id & u128::from(u64::MAX)];
        Index(u64::try_from(high ^ low).expect("half an id is a half"))
    }
}

/// The events that are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) rows: Vector<Arc<EventRow>>,
    /// How many were fired.
    pub(crate) fired: u64,
}

/// Reads the events with a name, or all that are kept, oldest first.
#[derive(Clone, Debug)]
pub struct EventList(pub Option<Box<[u8]>>);

impl Read for EventList {
    type Rows = Vec<Arc<EventRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(match &self.0 {
            None => "all events".to_owned(),
            Some(name) => format!("events {:?}", String::from_utf8_lossy(name)),
        })
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store.events.rows.iter();
        let rows = rows.filter(|row| self.0.as_ref().is_none_or(|name| *name == row.event.name));
        let rows: Vec<Arc<EventRow>> = rows.map(Arc::clone).collect();
        let index = rows.last().map(|row| row.index()).unwrap_or_default();
        Ok(Answer {
            news: News::Other,
            ..Answer::new(index, rows, vec![Watch::Events])
        })
    }
}

/// Fires an event. Not a raft entry.
impl Command for NewEvent {
    type Reply = ();
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        let events = &mut change.store.events;
        // Consul's clock of events has begun when the first one comes.
        events.fired += 1;
        if !self.concerns_agent {
            return Ok(());
        }
        let row = EventRow {
            event: self,
            logical_time: events.fired + 1,
        };
        events.rows.push_back(Arc::new(row));
        if events.rows.len() > KEPT {
            events.rows.pop_front();
        }
        change.effects.touched.push(Touched::Event);
        Ok(())
    }
}
