//! Barriers: waiting for the moment that a test needs, instead of sleeping. Their patience is the machine's time.

use std::fmt;
use std::time::Duration;

use super::calls::Blocked;
use super::observe::in_words;
use super::{Engine, State};
use crate::clock::Patience;
use crate::history::{Filter, Record};
use crate::store::{Key, Query};

/// What clients are to be blocked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockedOn {
    /// Anything.
    Anything,
    /// A key or a tree of keys that starts with this prefix.
    Prefix(Key),
    /// A session by its id.
    Session(String),
    /// The instances or checks of a service by its name.
    Service(String),
}

impl BlockedOn {
    /// A key or a tree of keys that starts with `prefix`.
    pub fn prefix(prefix: impl AsRef<[u8]>) -> Self {
        Self::Prefix(Key::new(prefix))
    }

    fn matches(&self, query: &Query) -> bool {
        match (self, query) {
            (Self::Anything, _) => true,
            (Self::Prefix(prefix), Query::KvGet(key) | Query::KvList(key)) => {
                key.as_bytes().starts_with(prefix.as_bytes())
            }
            (Self::Session(id), Query::SessionInfo(read)) => read.eq_ignore_ascii_case(id),
            (
                Self::Service(name),
                Query::Service(read) | Query::ServiceHealth(read) | Query::ServiceChecks(read, _),
            ) => read == name,
            (Self::Prefix(_) | Self::Session(_) | Self::Service(_), _) => false,
        }
    }
}

impl fmt::Display for BlockedOn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => formatter.write_str("anything"),
            Self::Prefix(prefix) => write!(formatter, "keys under {prefix:?}"),
            Self::Session(id) => write!(formatter, "session {id}"),
            Self::Service(name) => write!(formatter, "service {name:?}"),
        }
    }
}

/// What was waited for did not come; with what there was instead.
#[derive(Clone, Debug)]
pub struct Unmet {
    /// What was waited for, in words.
    pub wanted: String,
    /// For how long.
    pub waited: Duration,
    /// The requests that were blocked at the end.
    pub blocked: Vec<Blocked>,
    /// The paths of the requests that were being worked on, or held by a fault that nothing ends.
    pub at_work: Vec<String>,
}

impl fmt::Display for Unmet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, waited, .. } = self;
        write!(formatter, "waited {waited:?} in vain for {wanted}; ")?;
        if self.blocked.is_empty() {
            formatter.write_str("nobody was blocked")?;
        } else {
            formatter.write_str("blocked were ")?;
        }
        for (place, blocked) in self.blocked.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(
                formatter,
                "{comma}request {} on {} past index {}",
                blocked.call.0,
                in_words(&blocked.query),
                blocked.min_index
            )?;
        }
        if !self.at_work.is_empty() {
            write!(formatter, "; not blocked were {}", self.at_work.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Unmet {}

impl Engine {
    /// The requests that are blocked now, oldest first.
    #[must_use]
    pub fn blocked(&self) -> Vec<Blocked> {
        self.with_state(|state, _| state.calls.blocked().collect())
    }

    /// Until at least `count` requests are blocked on something, for `patience` at the most. Returns them.
    ///
    /// # Errors
    /// What was blocked instead.
    pub fn wait_blocked(
        &self,
        on: &BlockedOn,
        count: usize,
        patience: Duration,
    ) -> Result<Vec<Blocked>, Unmet> {
        let wanted = format!("{count} requests blocked on {on}");
        self.wait_until(patience, wanted, |state| {
            let blocked = state.calls.blocked();
            let found: Vec<_> = blocked
                .filter(|blocked| on.matches(&blocked.query))
                .collect();
            (found.len() >= count).then_some(found)
        })
    }

    /// Until the history has a record that is meant, for `patience` at the most. One that it already has counts.
    ///
    /// # Errors
    /// What was blocked meanwhile.
    pub fn wait_for(&self, filter: &Filter, patience: Duration) -> Result<Record, Unmet> {
        let wanted = format!("a record of the history that meets {filter}");
        self.wait_until(patience, wanted, |state| {
            let mut records = state.history.after(filter.is_after());
            records.find(|record| filter.matches(record)).cloned()
        })
    }

    /// Until no request is being worked on: all are answered, blocked, or held by a fault.
    ///
    /// # Errors
    /// What was still being worked on.
    pub fn wait_idle(&self, patience: Duration) -> Result<(), Unmet> {
        self.wait_until(patience, "every request to rest".to_owned(), |state| {
            state.calls.at_work().is_empty().then_some(())
        })
    }

    /// How many requests have come and are not answered.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.lock().calls.all_stand().0
    }

    /// Ends all waits of this kind: the server stops.
    pub fn close(&self) {
        self.lock().closed = true;
        self.happened.notify_all();
    }

    fn wait_until<T>(
        &self,
        duration: Duration,
        wanted: String,
        mut met: impl FnMut(&State) -> Option<T>,
    ) -> Result<T, Unmet> {
        let patience = Patience::of(duration);
        // What is due by now is part of what there is.
        self.with_state(|_, _| ());
        let mut state = self.lock();
        loop {
            if let Some(found) = met(&state) {
                return Ok(found);
            }
            let left = patience.left();
            if left.is_zero() || state.closed {
                return Err(Unmet {
                    wanted,
                    waited: duration,
                    blocked: state.calls.blocked().collect(),
                    at_work: state.calls.at_work(),
                });
            }
            let _ = self.happened.wait_for(&mut state, left);
        }
    }
}
