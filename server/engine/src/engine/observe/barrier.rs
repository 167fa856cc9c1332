//! Barriers: waiting for the moment that a test needs, instead of sleeping. Their patience is the machine's time.

use std::fmt;
use std::time::Duration;

use super::calls::{Blocked, Held};
use crate::clock::Patience;
use crate::engine::{Engine, State, between_steps};
use crate::history::{CallId, Filter, History, Record};
use crate::sync::either;
use proconsul_store::{Key, Subject};

/// What clients are to be blocked on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

    fn matches(&self, read: &Subject) -> bool {
        match (self, read) {
            (Self::Anything, _) => true,
            (Self::Prefix(prefix), Subject::Key(key) | Subject::Prefix(key)) => {
                key.as_bytes().starts_with(prefix.as_bytes())
            }
            (Self::Session(id), Subject::Session(read)) => read.eq_ignore_ascii_case(id),
            (Self::Service(service), Subject::Service { name, .. }) => name == service,
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

/// A wait that was not met, and what there was instead.
///
/// Its `Debug` form is the sentence of its `Display` form: that is what a test prints that returns it with `?` or
/// unwraps it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Unmet {
    /// What was waited for, in words.
    pub wanted: String,
    /// Why the wait ended.
    pub why: WhyUnmet,
    /// The requests that were blocked at the end.
    pub blocked: Vec<Blocked>,
    /// The requests that faults held at the end.
    pub held: Vec<Held>,
    /// The paths of the requests that were being worked on.
    pub at_work: Vec<String>,
}

/// Why a wait ended before it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyUnmet {
    /// The caller's time limit was over.
    TimedOut(Duration),
    /// The server stopped.
    ServerStopped,
    /// The wait never began: the calling thread runs all tasks of a tokio current-thread runtime, so the awaited client
    /// could not go on. Names the `async` method to use instead.
    BlocksItsRuntime(&'static str),
}

impl fmt::Display for Unmet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, why, .. } = self;
        match why {
            WhyUnmet::TimedOut(patience) => {
                write!(
                    formatter,
                    "timed out after {patience:?} waiting for {wanted}; "
                )?;
            }
            WhyUnmet::ServerStopped => {
                write!(formatter, "the server stopped while waiting for {wanted}; ")?;
            }
            WhyUnmet::BlocksItsRuntime(twin) => {
                return write!(
                    formatter,
                    "cannot wait for {wanted} on the thread of a current-thread runtime: no task would go on \
                     meanwhile, use `{twin}(..).await`"
                );
            }
        }
        self.write_what_there_was(formatter)
    }
}

impl Unmet {
    fn write_what_there_was(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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
                blocked.call.0, blocked.read, blocked.min_index
            )?;
        }
        for held in &self.held {
            write!(formatter, "; a fault holds {held}")?;
        }
        if !self.at_work.is_empty() {
            write!(formatter, "; not blocked were {}", self.at_work.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Unmet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Unmet {}

/// What to wait for: in words, and how to see whether it is there.
pub struct Barrier<F> {
    wanted: String,
    met: F,
}

/// At least `count` requests are blocked on something.
pub fn blocked(
    on: &BlockedOn,
    count: usize,
) -> Barrier<impl FnMut(&State) -> Option<Vec<Blocked>>> {
    let wanted = format!("{count} requests blocked on {on}");
    let met = move |state: &State| {
        let is_meant = |call, read: &Subject| on.matches(read) && state.calls.is_up_to_date(call);
        let parked = state.calls.parked();
        let found = parked.filter(|(call, parked)| is_meant(*call, &parked.read));
        let all = || {
            let blocked = state.calls.blocked();
            blocked.filter(|blocked| is_meant(blocked.call, &blocked.read))
        };
        (found.count() >= count).then(|| all().collect())
    };
    Barrier { wanted, met }
}

/// The history has a record that `filter` means. One that it already has counts.
pub fn recorded(filter: &Filter) -> Barrier<impl FnMut(&State) -> Option<Record>> {
    let wanted = format!("a record of the history that meets {filter}");
    let mut unseen = Unseen::after(filter.is_after());
    let met = move |state: &State| {
        let mut records = unseen.of(&state.history);
        records.find(|record| filter.matches(record)).cloned()
    };
    Barrier { wanted, met }
}

/// No request is being worked on: all are answered, blocked, or held by a fault.
pub fn idle() -> Barrier<impl FnMut(&State) -> Option<()>> {
    Barrier {
        wanted: "every request to rest".to_owned(),
        met: |state: &State| state.calls.at_work().is_empty().then_some(()),
    }
}

/// The records that a wait has not seen: it looks at each once, however much happens meanwhile.
pub(crate) struct Unseen {
    last_seen: u64,
}

impl Unseen {
    pub(crate) fn after(number: u64) -> Self {
        Self { last_seen: number }
    }

    /// Returns the records that are new since the last call. They count as seen, whether they are looked at or not.
    pub(crate) fn of<'a>(
        &mut self,
        history: &'a History,
    ) -> impl Iterator<Item = &'a Record> + use<'a> {
        let records = history.after(self.last_seen);
        self.last_seen = self.last_seen.max(history.last());
        records
    }
}

impl Engine {
    /// Returns the blocked requests, oldest first.
    #[must_use]
    pub fn blocked(&self) -> Vec<Blocked> {
        self.with_state(|state, _| state.calls.blocked().collect())
    }

    /// Returns the requests that faults hold, oldest first.
    #[must_use]
    pub fn held(&self) -> Vec<Held> {
        self.with_state(|state, _| state.calls.held().collect())
    }

    /// Returns the number of open requests.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.lock().calls.all_blocked().0
    }

    /// Ends all barriers and advances, because the server stops, and joined ones with it.
    pub fn close(&self) {
        for engine in self.joined() {
            engine.lock().closed = true;
            engine.happened.notify();
        }
    }

    /// Lets a fault change something as soon as this request blocks. Barriers take the request for a blocked one only
    /// when that is done.
    pub async fn change_when_blocked(&self, call: CallId, change: impl FnOnce()) {
        self.lock().calls.set_to_change(call, true);
        loop {
            let happened = self.happened.next();
            if self.lock().calls.is_ripe(call) {
                break;
            }
            happened.await;
        }
        change();
        self.lock().calls.set_to_change(call, false);
        self.announce();
        self.consider_auto_advance();
    }

    /// Waits until the server stops.
    pub async fn closed(&self) {
        loop {
            let happened = self.happened.next();
            if self.is_closed() {
                return;
            }
            happened.await;
        }
    }

    /// Returns whether the server has stopped.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Returns the error of a wait that would wait for itself; `twin` is the method to use.
    pub fn blocks_its_runtime<T>(&self, barrier: Barrier<T>, twin: &'static str) -> Unmet {
        self.lock()
            .unmet(barrier.wanted, WhyUnmet::BlocksItsRuntime(twin))
    }

    /// Waits for a barrier, and returns what meets it.
    ///
    /// # Errors
    /// Nothing met it within `duration`, or the engine was closed; says what was blocked instead.
    pub async fn wait_until<T>(
        &self,
        Barrier { wanted, mut met }: Barrier<impl FnMut(&State) -> Option<T>>,
        duration: Duration,
    ) -> Result<T, Unmet> {
        let patience = Patience::new(self.host(), duration);
        let mut over = patience.over();
        // Apply what is due by now.
        self.with_state(|_, _| ());
        loop {
            // Armed before the look, or a change in between would be missed.
            let happened = self.happened.next();
            {
                let state = self.lock();
                if let Some(found) = met(&state) {
                    return Ok(found);
                }
                if state.closed {
                    return Err(state.unmet(wanted, WhyUnmet::ServerStopped));
                }
                if patience.left().is_zero() {
                    return Err(state.unmet(wanted, WhyUnmet::TimedOut(duration)));
                }
            }
            between_steps();
            either(happened, &mut over).await;
        }
    }
}

impl State {
    fn unmet(&self, wanted: String, why: WhyUnmet) -> Unmet {
        Unmet {
            wanted,
            why,
            blocked: self.calls.blocked().collect(),
            held: self.calls.held().collect(),
            at_work: self.calls.at_work(),
        }
    }
}
