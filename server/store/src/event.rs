//! User events: messages that are kept in the order in which they were fired, the last few of them (session.md 4.6).

use std::sync::Arc;

use imbl::Vector;

use super::effects::Touched;
use super::index::Index;
use super::query::{Answer, Rows, Watch};
use super::{Change, Store};

/// How many events are kept.
pub(super) const KEPT: usize = 256;

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
pub(super) struct Events {
    pub(super) rows: Vector<Arc<EventRow>>,
    /// How many were fired.
    pub(super) fired: u64,
}

impl Store {
    /// The events with a name, or all, oldest first.
    pub(super) fn events(&self, name: Option<&[u8]>) -> Answer {
        let rows = self.events.rows.iter();
        let rows = rows.filter(|row| name.is_none_or(|name| *row.event.name == *name));
        let rows: Vec<Arc<EventRow>> = rows.map(Arc::clone).collect();
        let index = rows.last().map(|row| row.index());
        Answer {
            index: index.unwrap_or_default().reported(),
            rows: Rows::Events(rows),
            reads: vec![Watch::Events],
            waits_for_existence: false,
        }
    }
}

impl Change<'_> {
    /// Fires an event. Not a raft entry.
    pub(super) fn fire(&mut self, event: NewEvent) {
        let events = &mut self.store.events;
        // Consul's clock of events has begun when the first one comes.
        events.fired += 1;
        if !event.concerns_agent {
            return;
        }
        let logical_time = events.fired + 1;
        let row = EventRow {
            event,
            logical_time,
        };
        events.rows.push_back(Arc::new(row));
        if events.rows.len() > KEPT {
            events.rows.pop_front();
        }
        self.effects.touched.push(Touched::Event);
    }
}
