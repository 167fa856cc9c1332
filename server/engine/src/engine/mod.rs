//! The one owner of store, clock, chance and waiters: every request ends here.
//!
//! State has one door, `Engine::mutate`: whatever changes the store, a test's controls included, takes the lock,
//! applies what is due, then its change; the index is fixed, the lock is dropped, and the waiters whose reads were
//! touched are woken. Nothing copies the store, changes the copy, and puts it back: concurrent writes would be lost. A
//! read is answered from the store under the lock, or, when it may be large, from a snapshot outside it.
//!
//! An observed engine keeps a history, and knows of every request whether it is blocked.

mod agents;
mod cause;
mod joined;
mod mutate;
mod observe;
mod replica;
mod runs;
mod time;
mod waiter;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{RwLock, RwLockWriteGuard};

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::history::History;
use crate::host::Host;
use crate::metrics::{Measured, Metrics, MetricsSettings};
use crate::sync::{Event, yield_once};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{
    Command, Index, PreparedQueryId, Read, ReadResult, SessionId, Store, TxnError, TxnOperation,
    TxnOutcome, VersionRules,
};

use joined::Joined;

pub use agents::Contact;
pub use cause::Cause;
pub use mutate::Checkpoint;
pub use mutate::Generation;
pub use mutate::State;
pub use observe::barrier;
pub use observe::{Blocked, BlockedOn, Explanation, Held, OpenCall, Unmet, WhyUnmet};
pub use replica::Lag;
pub use runs::RunOrder;
pub use time::{Advance, Advanced};
pub use waiter::{Found, Waiter, WakeReason};

/// One Consul's state, and everything that happens to it, as one of its agents sees it.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    /// The number of the agent whose view reads have; `None` for the leader's.
    view: Option<usize>,
}

/// What the views of an engine share.
#[derive(Debug)]
pub struct Shared {
    state: RwLock<State>,
    clock: Arc<Clock>,
    /// Whether a history is kept and requests are followed.
    observed: bool,
    /// Notified when anything happened, for barriers in this process. Only if the engine is observed.
    happened: Event,
    /// What is counted and measured.
    metrics: Metrics,
    /// Whether a call moves the clock: one advance begins when the one before has ended.
    is_advancing: AtomicBool,
    /// Notified when an advance has ended.
    advanced: Event,
    /// Notified when a leader is lost or found, or an agent is.
    cluster_changed: Arc<Event>,
    /// The engines of joined datacenters; unset for one alone.
    joined: OnceLock<Joined>,
    /// Whether anybody has looked at the state.
    is_used: AtomicBool,
}

impl Deref for Engine {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Engine {
    /// Returns an engine over an empty store whose first command gets the index after `applied`. It is not observed.
    #[must_use]
    pub fn new(rules: VersionRules, applied: Index, clock: Clock, entropy: Entropy) -> Self {
        Self::over(Store::new(rules, applied), clock, entropy, History::off())
    }

    /// Returns an engine over a store, observed if the history is on. Several engines may share a clock.
    #[must_use]
    pub fn over(
        store: Store,
        clock: impl Into<Arc<Clock>>,
        entropy: Entropy,
        history: History,
    ) -> Self {
        let cluster_changed = Arc::<Event>::default();
        let shared = Shared {
            observed: history.is_on(),
            state: RwLock::new(State::new(
                store,
                entropy,
                history,
                Arc::clone(&cluster_changed),
            )),
            clock: clock.into(),
            happened: Event::default(),
            metrics: Metrics::default(),
            is_advancing: AtomicBool::new(false),
            advanced: Event::default(),
            cluster_changed,
            joined: OnceLock::new(),
            is_used: AtomicBool::new(false),
        };
        Self {
            shared: Arc::new(shared),
            view: None,
        }
    }

    /// Counts and measures with these settings.
    #[must_use]
    pub fn with_metrics(mut self, settings: MetricsSettings) -> Self {
        let shared = Arc::get_mut(&mut self.shared);
        shared.expect("a new engine has no other views").metrics = Metrics::new(settings);
        self
    }

    /// Returns what is counted and measured.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the clock of this engine.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the clock, for an engine that shares it.
    #[must_use]
    pub fn shared_clock(&self) -> Arc<Clock> {
        Arc::clone(&self.clock)
    }

    /// Returns what the server runs in.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        self.clock.host()
    }

    /// Returns whether anybody has looked at the state.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    fn note_use(&self) {
        // Written once: reads of many threads do not wait for each other.
        if !self.is_used() {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.note_use();
        between_steps();
        self.state.write()
    }

    /// Wakes the barriers after something happened.
    fn announce(&self) {
        if self.observed {
            self.happened.notify();
        }
    }

    /// Applies a command now.
    ///
    /// # Errors
    /// The command is refused as a whole. It has changed nothing but the index of the last entry.
    pub fn apply<C: Command>(&self, command: C) -> Result<C::Reply, C::Refused> {
        let call = self.current_call();
        self.mutate(|mutation| {
            if let Some(call) = call {
                mutation.is_caused_by(call);
            }
            mutation.apply(command)
        })
    }

    /// Answers a read now.
    ///
    /// # Errors
    /// The read is refused.
    pub fn read<R: Read>(&self, read: &R) -> ReadResult<R> {
        self.read_in_era(read).1
    }

    /// Answers a read now, and says in which era.
    pub(crate) fn read_in_era<R: Read>(&self, read: &R) -> (Generation, ReadResult<R>) {
        if R::IS_SMALL {
            self.look(|state, _| (state.era(), read.look(state.seen_by(self.view))))
        } else {
            let (era, store) =
                self.look(|state, _| (state.era(), state.seen_by(self.view).clone()));
            (era, read.look(&store))
        }
    }

    /// Returns how many rows a read goes through at most; 0 for a small one.
    pub fn rows_for<R: Read>(&self, read: &R) -> usize {
        if R::IS_SMALL {
            return 0;
        }
        self.with_store(|store, _| read.rows(store))
    }

    /// Checks the operations of a transaction as it is done before anything runs.
    ///
    /// # Errors
    /// The operations that fail so.
    pub fn pre_check_transaction(&self, operations: &[TxnOperation]) -> Result<(), Vec<TxnError>> {
        self.with_store(|store, now| store.pre_check(now, operations))
    }

    /// Runs a transaction that only reads.
    ///
    /// # Errors
    /// The operations that failed.
    pub fn read_transaction(&self, operations: Vec<TxnOperation>) -> TxnOutcome {
        let (store, now) = self.with_store(|store, now| (store.clone(), now));
        let outcome = store.read_transaction(now, operations);
        let took = self.clock.now().since(now);
        self.metrics.add(now, Measured::ReadTransaction, took);
        outcome
    }

    /// Returns the store as it is now. This copies nothing.
    #[must_use]
    pub fn snapshot(&self) -> Store {
        self.with_store(|store, _| store.clone())
    }

    /// Looks at the store, after applying everything that is due. Reads that come at the same time do not wait for each
    /// other, unless something is due.
    fn with_store<T>(&self, look: impl FnOnce(&Store, Timestamp) -> T) -> T {
        self.look(|state, now| look(state.seen_by(self.view), now))
    }

    /// Looks at the state as [`Engine::with_store`] does.
    fn look<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> T {
        let (mut look, mut result) = (Some(look), None);
        self.look_once(&mut |state, now| result = look.take().map(|look| look(state, now)));
        result.expect("it is called")
    }

    /// Does what [`Engine::look`] does. It is compiled once, and not for each read.
    fn look_once(&self, look: &mut dyn FnMut(&State, Timestamp)) {
        self.note_use();
        between_steps();
        let mut read_at = None;
        let mut look = |state: &State, now| {
            read_at = self.view.map(|_| state.seen_by(self.view).applied());
            look(state, now);
        };
        let is_due = {
            let state = self.state.read();
            let now = self.clock.now();
            let is_due = state.next_due().is_some_and(|due| due <= now);
            if !is_due {
                look(&state, now);
            }
            is_due
        };
        if is_due {
            self.with_state(|state, now| look(state, now));
        }
        if let Some(applied) = read_at {
            self.reads_at(applied);
        }
    }

    /// Looks at the state, after applying everything that is due.
    fn with_state<T>(&self, look: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        self.mutate(|mutation| {
            let now = mutation.now();
            look(mutation.state(), now)
        })
    }

    /// Draws a new session id.
    #[must_use]
    pub fn new_session_id(&self) -> SessionId {
        SessionId::from_bytes(self.state.write().entropy.id())
    }

    /// Draws the id of a new prepared query.
    #[must_use]
    pub fn new_prepared_query_id(&self) -> PreparedQueryId {
        PreparedQueryId::from_bytes(self.new_id())
    }

    /// Draws a random id.
    #[must_use]
    pub fn new_id(&self) -> [u8; 16] {
        self.state.write().entropy.id()
    }

    /// Puts a slice into a random order.
    pub fn shuffle<T>(&self, things: &mut [T]) {
        self.state.write().entropy.shuffle(things);
    }

    /// Draws a random duration below `limit`, such as Consul adds to a wait.
    #[must_use]
    pub fn jitter(&self, limit: Duration) -> Duration {
        self.state.write().entropy.below(limit)
    }

    /// Applies what is due, when it is due, for ever, and wakes those who sleep on the clock. Requests do not depend on it,
    /// since each applies what is due first; waiters do. Of joined engines the first does it for all.
    pub async fn run(&self) {
        loop {
            let engines = self.joined();
            let jumped = self.auto_advance_if_all_blocked();
            let deadlines = engines.iter().filter_map(|engine| {
                engine.tell_delayed();
                engine.with_state(|state, _| {
                    let delayed = state.calls.next_delayed();
                    state.next_due().into_iter().chain(delayed).min()
                })
            });
            let deadline = deadlines.min();
            drop(engines);
            self.clock.fire();
            if jumped {
                yield_once().await;
            } else {
                self.clock.sleep_until_timer(deadline).await;
            }
        }
    }
}

/// A point at which another thread may interleave. Tests run every order of these.
#[cfg(not(test))]
fn between_steps() {}

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::between_steps;
