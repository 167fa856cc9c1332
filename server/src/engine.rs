//! The one owner of store, clock, chance and waiters: every request ends here.
//!
//! A command takes the lock, applies first what is due, then the command; the index is fixed, the lock is
//! dropped, and those whose reads were touched are woken. A read is answered from the store under the lock,
//! or, when it may be large, from a snapshot outside it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::store::{
    Answer, Command, Effects, Index, Query, ReadSet, Refusal, Reply, Rules, SessionId, Store,
    TxnOperation, TxnOutcome,
};
use crate::timestamp::Timestamp;
use crate::watch::{Registry, WaiterId};

/// One Consul's state, and everything that happens to it.
#[derive(Debug)]
pub struct Engine {
    state: Mutex<State>,
    clock: Clock,
    /// Told when the next deadline may have changed, for [`Engine::run`].
    deadlines: Notify,
}

#[derive(Debug)]
struct State {
    store: Store,
    entropy: Entropy,
    waiters: Registry<Arc<Notify>>,
}

impl Engine {
    /// An engine over an empty store whose first command gets the index after `applied`.
    #[must_use]
    pub fn new(rules: Rules, applied: Index, clock: Clock, entropy: Entropy) -> Self {
        Self {
            state: Mutex::new(State {
                store: Store::new(rules, applied),
                entropy,
                waiters: Registry::default(),
            }),
            clock,
            deadlines: Notify::new(),
        }
    }

    /// The time that this engine goes by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        between_steps();
        self.state.lock()
    }

    /// Applies a command now.
    ///
    /// # Errors
    /// The command is refused as a whole; what it changed nevertheless is the index of the last entry.
    pub fn apply(&self, command: Command) -> Result<Reply, Refusal> {
        let mut woken = Vec::new();
        let result = {
            let mut state = self.lock();
            let now = self.clock.now();
            let before = state.store.next_deadline();
            state.apply_due(now, &mut woken);
            let applied = state.store.apply(now, command);
            state.note(&applied.effects, &mut woken);
            if state.store.next_deadline() != before {
                self.deadlines.notify_one();
            }
            applied.result
        };
        wake(&woken);
        result
    }

    /// Answers a read now.
    ///
    /// # Errors
    /// See [`Store::query`].
    pub fn query(&self, query: &Query) -> Result<Answer, Refusal> {
        if may_be_large(query) {
            return self.snapshot().query(query);
        }
        self.with_store(|store, _| store.query(query))
    }

    /// Runs a transaction that only reads.
    ///
    /// # Errors
    /// The operations that failed.
    pub fn read_transaction(&self, operations: &[TxnOperation]) -> TxnOutcome {
        let now = self.clock.now();
        self.snapshot().read_transaction(now, operations)
    }

    /// The store as it is now. Taking it copies nothing.
    #[must_use]
    pub fn snapshot(&self) -> Store {
        self.with_store(|store, _| store.clone())
    }

    fn with_store<T>(&self, look: impl FnOnce(&Store, Timestamp) -> T) -> T {
        let mut woken = Vec::new();
        let result = {
            let mut state = self.lock();
            let now = self.clock.now();
            state.apply_due(now, &mut woken);
            look(&state.store, now)
        };
        wake(&woken);
        result
    }

    /// Moves the clock on by `duration`, through every deadline on the way in its order: each is applied at its
    /// own time, and those who wait for what it touches are told.
    pub fn advance(&self, duration: Duration) {
        let target = self.clock.now().plus(duration);
        while let Some(deadline) = self.with_store(|store, _| store.next_deadline()) {
            if deadline > target {
                break;
            }
            self.clock.advance_to(deadline);
        }
        self.clock.advance_to(target);
    }

    /// A new session id.
    #[must_use]
    pub fn new_session_id(&self) -> SessionId {
        SessionId::from_bytes(self.state.lock().entropy.id())
    }

    /// A random duration below `limit`: what Consul adds to a wait.
    #[must_use]
    pub fn jitter(&self, limit: Duration) -> Duration {
        self.state.lock().entropy.below(limit)
    }

    /// A waiter that waits for nothing yet.
    pub fn waiter(&self) -> Waiter<'_> {
        Waiter {
            engine: self,
            id: self.state.lock().waiters.admit(),
            told: Arc::new(Notify::new()),
            reads: Vec::new(),
        }
    }

    /// Applies what is due, when it is due, for ever. Without it nothing is late for those who ask, since
    /// every request applies what is due first; but nobody who waits would be told.
    pub async fn run(&self) {
        loop {
            let deadline = self.with_store(|store, _| store.next_deadline());
            let changed = self.deadlines.notified();
            match deadline {
                Some(deadline) => tokio::select! {
                    () = self.clock.sleep_until(deadline) => {}
                    () = changed => {}
                },
                None => changed.await,
            }
        }
    }
}

impl State {
    fn apply_due(&mut self, now: Timestamp, woken: &mut Vec<Arc<Notify>>) {
        while let Some((deadline, command)) = self.store.due(now) {
            let applied = self.store.apply(deadline, command);
            self.note(&applied.effects, woken);
        }
    }

    fn note(&mut self, effects: &Effects, woken: &mut Vec<Arc<Notify>>) {
        woken.extend(self.waiters.concerned(&effects.touched));
    }
}

/// Tells waiters, after the lock was dropped. One told twice looks once.
fn wake(woken: &[Arc<Notify>]) {
    for told in woken {
        between_steps();
        told.notify_one();
    }
}

fn may_be_large(query: &Query) -> bool {
    match query {
        Query::KvGet(_) | Query::SessionInfo(_) => false,
        Query::KvList(_)
        | Query::SessionList
        | Query::SessionNode(_)
        | Query::Nodes
        | Query::Node(_)
        | Query::Services
        | Query::Service(_)
        | Query::ServiceChecks(_)
        | Query::NodeChecks(_)
        | Query::ChecksInState(_) => true,
    }
}

/// Someone who waits until what they read is touched. Dropping it takes the registration back.
#[derive(Debug)]
#[must_use = "a waiter that is dropped waits for nothing"]
pub struct Waiter<'a> {
    engine: &'a Engine,
    id: WaiterId,
    told: Arc<Notify>,
    reads: ReadSet,
}

impl Waiter<'_> {
    /// Waits from now on for a touch of `reads`, and of nothing else. Whether that is what it waited for
    /// already, so that nothing can have been missed since the read that gave `reads`.
    pub fn waits_for(&mut self, reads: &ReadSet) -> bool {
        if self.reads == *reads {
            return true;
        }
        let waiters = &mut self.engine.lock().waiters;
        waiters.deregister(self.id, &self.reads);
        waiters.register(self.id, &self.told, reads);
        self.reads.clone_from(reads);
        false
    }

    /// Until something that it waits for was touched since the last call.
    pub async fn told(&self) {
        between_steps();
        self.told.notified().await;
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if !self.reads.is_empty() {
            let waiters = &mut self.engine.lock().waiters;
            waiters.deregister(self.id, &self.reads);
        }
    }
}

/// A point at which another thread may come in. Tests run every order of these.
#[cfg(not(test))]
fn between_steps() {}

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::between_steps;
