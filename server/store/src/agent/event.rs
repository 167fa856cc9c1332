//! User events. The agent keeps the last of them, in order (session.md 4.6).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use crate::Index;
use crate::command::Command;
use crate::command::effects::Touched;
use crate::read::{Answer, News, Read, ReadResult, Subject, Watch};
use crate::{Change, Store};

/// The number of events kept.
pub(crate) const KEPT: usize = 256;

/// A new event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The id, made by the caller.
    pub id: [u8; 16],
    /// The name: any bytes (seen on 1.8.7).
    pub name: Box<[u8]>,
    /// The payload; empty if unset.
    pub payload: Box<[u8]>,
    /// A regular expression for the nodes it is for; empty for all.
    pub node_filter: String,
    /// A regular expression for the services whose nodes it is for; empty for all.
    pub service_filter: String,
    /// A regular expression for the tags of these services; empty for all.
    pub tag_filter: String,
    /// Whether it is for this agent. Other events are not kept.
    pub concerns_agent: bool,
}

/// A kept event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The event as fired.
    pub event: NewEvent,
    /// Its number among all events, kept or not.
    pub logical_time: u64,
}

impl EventRow {
    /// Returns the index of a list that ends with this event: the exclusive or of the halves of its id. So the
    /// indexes of events have no order.
    #[must_use]
    pub fn index(&self) -> Index {
        let id = u128::from_be_bytes(self.event.id);
        let [high, low] = [id >> 64, id & u128::from(u64::MAX)];
        Index(u64::try_from(high ^ low).expect("half an id is a half"))
    }
}

/// The kept events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) rows: Arc<VecDeque<Arc<EventRow>>>,
    /// The number of events fired.
    pub(crate) fired: u64,
}

/// Reads the kept events, or those with this name, oldest first.
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
        // Consul's Lamport clock of events starts at 1.
        events.fired += 1;
        if !self.concerns_agent {
            return Ok(());
        }
        let row = EventRow {
            event: self,
            logical_time: events.fired + 1,
        };
        let rows = Arc::make_mut(&mut events.rows);
        rows.push_back(Arc::new(row));
        if rows.len() > KEPT {
            rows.pop_front();
        }
        change.effects.touched.push(Touched::Event);
        Ok(())
    }
}
