//! The views of servers: what each has applied of the log, for reads with `?stale` (cluster.md 1.3 to 1.5, 1.14).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::observe::calls::WakeSignal;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::watch::Registry;
use proconsul_store::{Store, Touched};

/// The time between two messages of the leader to a follower that has nothing to do.
const BEAT: Duration = Duration::from_millis(100);
/// The time that an entry takes at least until the message that lets a follower apply it.
const APPLIED_AFTER: Duration = Duration::from_millis(25);
/// How much later the messages to one follower come than those to the follower before it, in milliseconds.
const BEAT_OFFSET: usize = 37;

/// How far a follower lags behind the leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lag {
    /// As a real one does: it applies an entry with the next message of the leader, which comes with the next entry, or
    /// after 25 to 125 ms (cluster.md 1.4).
    #[default]
    NextMessage,
    /// It applies each entry after this time on the server's clock.
    Time(Duration),
    /// It applies an entry when this many newer ones are there.
    Entries(usize),
    /// It applies nothing.
    Hold,
}

/// Whom a server reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is the leader.
    Leads,
    /// Its leader.
    Follows,
    /// No leader.
    Nobody,
}

/// What one server has applied.
#[derive(Debug)]
pub(super) struct Replica {
    store: Store,
    pub(super) waiters: Registry<Arc<WakeSignal>>,
    queue: VecDeque<Arrival>,
    lag: Lag,
    /// When the lag was set.
    lags_since: Timestamp,
    /// Whether entries have passed that it did not get.
    has_missed: bool,
    /// When in each [`BEAT`] the leader's message comes.
    beat_offset: Duration,
}

/// A state that a server is to reach.
#[derive(Debug)]
struct Arrival {
    /// When; the end of time if only newer entries bring it.
    due: Timestamp,
    store: Store,
    /// What has changed; `None` for anything.
    touched: Option<Vec<Touched>>,
    /// The number of the last record before the change.
    noted: u64,
}

impl Replica {
    pub(super) fn new(store: Store, number: usize) -> Self {
        Self {
            store,
            waiters: Registry::default(),
            queue: VecDeque::new(),
            lag: Lag::default(),
            lags_since: Timestamp::ZERO,
            has_missed: false,
            beat_offset: Duration::from_millis((BEAT_OFFSET * number % 100) as u64),
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns when it next applies something.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let due = self.queue.front()?.due;
        (due < Timestamp::END).then_some(due)
    }

    /// Returns the time since the last message of the leader at `now`.
    fn since_beat(&self, now: Timestamp) -> Duration {
        let passed = now.since(Timestamp::ZERO).as_nanos() + BEAT.as_nanos();
        let since = (passed - self.beat_offset.as_nanos()) % BEAT.as_nanos();
        Duration::from_nanos(u64::try_from(since).unwrap_or_default())
    }

    /// Returns the time of the message that lets it apply an entry of `at`.
    fn applies_at(&self, at: Timestamp) -> Timestamp {
        let earliest = at.plus(APPLIED_AFTER);
        earliest.plus(BEAT - self.since_beat(earliest))
    }

    /// Sets how far it lags. What it lags behind no longer, it applies with the leader's next message.
    pub(super) fn set_lag(&mut self, now: Timestamp, lag: Lag, store: &Store, noted: u64) {
        self.lag = lag;
        self.lags_since = now;
        let is_behind = self.has_missed || !self.queue.is_empty();
        if lag == Lag::Hold {
            self.has_missed = is_behind;
            self.queue.clear();
        } else if is_behind {
            self.catch_up(self.applies_at(now), store, noted);
        }
    }

    /// Returns how long ago it heard of its leader.
    pub(super) fn last_contact(&self, now: Timestamp) -> Duration {
        let behind = match self.lag {
            Lag::NextMessage | Lag::Entries(_) => Duration::ZERO,
            Lag::Time(lag) => lag,
            Lag::Hold => now.since(self.lags_since),
        };
        behind + self.since_beat(now)
    }

    /// Follows what a command of `at` has changed in `store`. `touched` is `None` for a change without an entry.
    pub(super) fn follow(
        &mut self,
        at: Timestamp,
        reach: Reach,
        store: &Store,
        noted: u64,
        touched: Option<&[Touched]>,
    ) {
        let may_catch_up = self.has_missed && self.lag != Lag::Hold;
        match reach {
            Reach::Nobody => {
                // The message that would let it apply what it has does not come.
                self.has_missed = true;
                self.queue.clear();
            }
            Reach::Leads if !self.queue.is_empty() || self.has_missed => {
                self.catch_up(at, store, noted);
            }
            Reach::Follows if may_catch_up => self.catch_up(self.applies_at(at), store, noted),
            Reach::Leads | Reach::Follows => {
                if let Some(touched) = touched {
                    self.enter(at, reach == Reach::Leads, store, noted, touched);
                }
            }
        }
    }

    /// Takes over a state that has been exchanged as a whole. Returns all who wait here.
    pub(super) fn exchange(&mut self, store: &Store) -> Vec<Arc<WakeSignal>> {
        self.store = store.clone();
        self.queue.clear();
        self.waiters.all()
    }

    /// Takes an entry. A leader applies it at once.
    fn enter(
        &mut self,
        at: Timestamp,
        leads: bool,
        store: &Store,
        noted: u64,
        touched: &[Touched],
    ) {
        let (due, newer) = match self.lag {
            _ if leads => (at, 0),
            Lag::NextMessage => (self.applies_at(at), 1),
            Lag::Time(lag) => (at.plus(lag), usize::MAX),
            Lag::Entries(newer) => (Timestamp::END, newer),
            Lag::Hold => {
                self.has_missed = true;
                return;
            }
        };
        self.queue.push_back(Arrival {
            due,
            store: store.clone(),
            touched: Some(touched.to_vec()),
            noted,
        });
        self.carry_along(at, newer);
    }

    /// Makes the entries due that have more than `newer` behind them.
    fn carry_along(&mut self, at: Timestamp, newer: usize) {
        let carried = self.queue.len().saturating_sub(newer);
        for arrival in self.queue.iter_mut().take(carried) {
            arrival.due = arrival.due.min(at);
        }
    }

    /// Makes it reach this state at `at`, whatever it has missed.
    fn catch_up(&mut self, at: Timestamp, store: &Store, noted: u64) {
        self.has_missed = false;
        self.queue.clear();
        self.queue.push_back(Arrival {
            due: at,
            store: store.clone(),
            touched: None,
            noted,
        });
    }

    /// Applies what is due at `now`. Returns the number of the last record before the change, and the waiters that it
    /// concerns.
    pub(super) fn apply(&mut self, now: Timestamp) -> Option<(u64, Vec<Arc<WakeSignal>>)> {
        self.queue.front().filter(|arrival| arrival.due <= now)?;
        let next = self.queue.pop_front()?;
        self.store = next.store;
        let concerned = match next.touched {
            Some(touched) => self.waiters.concerned(&touched),
            None => self.waiters.all(),
        };
        Some((next.noted, concerned))
    }
}
