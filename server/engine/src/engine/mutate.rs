//! The one door to the state: [`Engine::mutate`]. The store is private to this file.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::observe::calls::{Calls, WakeDelay, WakeSignal};
use super::replica::Replica;
use super::runs::RunOrder;
use super::{Engine, between_steps};
use crate::aside;
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::history::{CallId, Happened, History, WokenBy};
use crate::metrics::{Measured, Metrics};
use crate::sync::{Event, Signal};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::watch::Registry;
use proconsul_store::{Command, Effects, LogEntry, Store};

/// All that an engine keeps, under its lock.
#[derive(Debug)]
pub struct State {
    /// Changed by a [`Mutation`] alone.
    store: Store,
    era: Generation,
    pub(super) entropy: Entropy,
    pub(super) waiters: Registry<Arc<WakeSignal>>,
    /// The views of the agents; none of a lone one.
    pub(super) replicas: Vec<Replica>,
    pub(super) history: History,
    pub(super) calls: Calls,
    pub(super) wake_delays: Vec<WakeDelay>,
    pub(super) checkpoints: BTreeMap<String, Checkpoint>,
    /// The clock jumps whenever at least this many requests are open and all of them are blocked; `None` for never.
    pub(super) auto_advance: Option<usize>,
    /// Whether the server has stopped, which ends all waits.
    pub(super) closed: bool,
    /// Orders to start and stop runs of checks, for [`Engine::next_run`].
    pub(super) runs: VecDeque<RunOrder>,
    /// The number of runs that are ordered or under way.
    pub(super) runs_open: usize,
    /// Set when there is an order.
    pub(super) runs_due: Arc<Signal>,
}

/// A state, and the time at which it was kept.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub(super) at: Timestamp,
    pub(super) store: Store,
}

/// How often the state was exchanged as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    /// By a rollback, a load, a restart, a lowering of indexes: who waits is answered with the new state.
    pub(super) replaced: u64,
    /// By the restore of a snapshot: who waits is answered with the state of before.
    pub(super) superseded: u64,
}

/// A change under way: the state, at one moment, under the lock.
pub(super) struct Mutation<'a> {
    state: &'a mut State,
    clock: &'a Clock,
    metrics: &'a Metrics,
    now: Timestamp,
    /// The number of the record that the change follows from.
    cause: Option<u64>,
    /// The waiters to wake after the lock is dropped.
    woken: Vec<Arc<WakeSignal>>,
    /// Whether a wake was delayed, which makes a new deadline.
    has_put_off: bool,
}

impl Engine {
    /// Changes the state: the one way to do it. Takes the lock, reads the clock, applies what is due, lets `change` do
    /// its work, drops the lock, and wakes the waiters that it concerns.
    pub(super) fn mutate<T>(&self, change: impl FnOnce(&mut Mutation<'_>) -> T) -> T {
        let (mut change, mut result) = (Some(change), None);
        self.mutate_once(&mut |mutation| result = change.take().map(|change| change(mutation)));
        result.expect("it is called")
    }

    /// Does what [`Engine::mutate`] does. It is compiled once, and not for each change.
    fn mutate_once(&self, change: &mut dyn FnMut(&mut Mutation<'_>)) {
        let woken = {
            let mut state = self.lock();
            let deadline = state.next_due();
            let agents = state.store.cluster().changes();
            let mut mutation = Mutation {
                now: self.clock.now(),
                cause: None,
                clock: &self.clock,
                metrics: &self.metrics,
                state: &mut state,
                woken: Vec::new(),
                has_put_off: false,
            };
            if deadline.is_some_and(|due| due <= mutation.now) {
                mutation.apply_due();
            }
            change(&mut mutation);
            mutation.apply_arrivals(mutation.now);
            let (woken, put_off) = (mutation.woken, mutation.has_put_off);
            if put_off || state.next_due() != deadline {
                self.clock.changed.set();
            }
            if state.store.cluster().changes() != agents {
                self.cluster_changed.notify();
            }
            woken
        };
        for told in &woken {
            // A waiter that is woken twice looks once.
            between_steps();
            told.tell();
        }
        self.announce();
    }
}

impl State {
    /// Queues the runs that a command has ordered or stopped.
    fn take_runs(&mut self, effects: &Effects) {
        if effects.runs.is_empty() && effects.runs_unwanted.is_empty() {
            return;
        }
        self.runs_open += effects.runs.len();
        let stops = effects.runs_unwanted.iter().copied().map(RunOrder::Stop);
        self.runs.extend(stops);
        let starts = effects.runs.iter().cloned().map(RunOrder::Start);
        self.runs.extend(starts);
        self.runs_due.set();
    }

    pub(super) fn new(
        store: Store,
        entropy: Entropy,
        history: History,
        cluster_changed: Arc<Event>,
    ) -> Self {
        Self {
            store,
            era: Generation::default(),
            entropy,
            waiters: Registry::default(),
            replicas: Vec::new(),
            history,
            calls: Calls::new(cluster_changed),
            wake_delays: Vec::new(),
            checkpoints: BTreeMap::new(),
            auto_advance: None,
            closed: false,
            runs: VecDeque::new(),
            runs_open: 0,
            runs_due: Arc::default(),
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn era(&self) -> Generation {
        self.era
    }

    /// Returns the state that the agent with this number sees, or the leader for `None`.
    pub(super) fn seen_by(&self, view: Option<usize>) -> &Store {
        let replica = view.and_then(|number| self.replicas.get(number));
        replica.map_or(&self.store, Replica::store)
    }

    /// Returns those who wait for changes of what the agent with this number sees.
    pub(super) fn waiters_of(&mut self, view: Option<usize>) -> &mut Registry<Arc<WakeSignal>> {
        match view.and_then(|number| self.replicas.get_mut(number)) {
            Some(replica) => &mut replica.waiters,
            None => &mut self.waiters,
        }
    }

    /// Returns the views of the agents, and the state that they follow.
    pub(super) fn replicas(&mut self) -> (&mut [Replica], &Store) {
        (&mut self.replicas, &self.store)
    }

    /// Returns when each agent next applies something.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = Timestamp> {
        self.replicas.iter().filter_map(Replica::next_due)
    }

    /// Returns when the state next changes by itself, or what an agent sees of it.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.arrivals().chain(self.store.next_deadline()).min()
    }

    /// Returns the next point in time at which something happens by itself.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let calls = self.calls.next_deadline();
        // A wait that would end after the end of time is no deadline: such requests wait again and again.
        let calls = calls.filter(|at| *at < Timestamp::END);
        self.next_due().into_iter().chain(calls).min()
    }
}

impl Mutation<'_> {
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the state. The store in it can be read only.
    pub(super) fn state(&mut self) -> &mut State {
        self.state
    }

    pub(super) fn store(&self) -> &Store {
        &self.state.store
    }

    /// Applies a command now.
    ///
    /// # Errors
    /// The command is refused as a whole.
    pub(super) fn apply<C: Command>(&mut self, command: C) -> Result<C::Reply, C::Refused> {
        self.apply_at(self.now, self.cause, command)
    }

    /// Lets what is done from now on follow from a request.
    pub(super) fn is_caused_by(&mut self, call: CallId) {
        self.cause = self.state.calls.record_of(call);
    }

    /// Records something that is not a command, and follows from a request or from nothing.
    pub(super) fn record_of(&mut self, call: Option<CallId>, what: Happened) {
        let cause = call.and_then(|call| self.state.calls.record_of(call));
        self.state.record(self.now, cause, what);
    }

    /// Records what a test does, before it is done. What is done from now on follows from it.
    pub(super) fn note(&mut self, action: impl Into<String>) {
        let action = action.into();
        self.record_of(None, Happened::Control { action });
        self.cause = self.state.last_record();
    }

    /// Changes the store as no command can. Blocked requests are answered with the new state, whose index may be lower
    /// than the client's.
    pub(super) fn replace(&mut self, change: impl FnOnce(&mut Store, Timestamp)) {
        self.exchange(change);
        self.state.era.replaced += 1;
        let mut everybody = self.state.waiters.all();
        everybody.extend(self.exchange_replicas());
        self.answer(everybody);
    }

    /// Changes the store as [`Mutation::replace`] does. Blocked requests are answered with the state of before, whenever
    /// they get to look; those that are answered from a stream wait on, for news of the new state.
    #[cfg(feature = "dump")]
    pub(super) fn supersede(&mut self, change: impl FnOnce(&mut Store, Timestamp)) {
        let before = Arc::new(self.state.store.clone());
        self.exchange(change);
        self.state.era.superseded += 1;
        let mut everybody = self.state.waiters.all();
        everybody.extend(self.exchange_replicas());
        for told in everybody {
            told.supersede(&before);
            self.wake(told);
        }
    }

    fn exchange(&mut self, change: impl FnOnce(&mut Store, Timestamp)) {
        let before = self.state.store.clone();
        change(&mut self.state.store, self.now);
        aside::free(self.clock.host(), before.rows(), before);
        self.state.history.forget_delays();
        self.state.store.run_checks_again(self.now);
        self.apply_due();
    }

    /// Makes the next look of these waiters their answer.
    pub(super) fn answer(&mut self, waiters: Vec<Arc<WakeSignal>>) {
        for told in waiters {
            told.mark_at_once();
            self.wake(told);
        }
    }

    /// Lets a waiter look, though nothing that it reads was touched.
    fn wake(&mut self, told: Arc<WakeSignal>) {
        told.mark_pending();
        if let Some(call) = told.call {
            self.state
                .wake_call(self.now, self.cause, call, WokenBy::Control);
        }
        self.woken.push(told);
    }

    /// Moves the clock on to a deadline, lets the requests go on whose time is up then, and applies what is due.
    pub(super) fn advance_to_deadline(&mut self, deadline: Timestamp) {
        // The time of a request may have been up for a moment: a clock that runs is past it before it is noticed.
        let deadline = deadline.max(self.now);
        self.clock.advance_to(deadline);
        self.expire(deadline);
        self.now = self.clock.now();
        self.apply_due();
    }

    /// Moves the clock on to `target` in one go. What is due on the way happens in its order, each at its own time;
    /// requests go on at the end.
    pub(super) fn advance_to(&mut self, target: Timestamp) {
        self.clock.advance_to(target);
        self.now = self.clock.now();
        self.apply_due();
        self.expire(self.now);
    }

    /// Moves the clock on to `target` as if the server had been stopped meanwhile: what is due on the way happens at
    /// its end. `action` is the text for the history.
    pub(super) fn jump_to(&mut self, target: Timestamp, action: String) {
        self.clock.advance_to(target);
        self.now = self.clock.now();
        self.note(action);
        while let Some((_, due)) = self.state.store.due(self.now) {
            let Ok(()) = self.apply_at(self.now, self.cause, due);
        }
        self.expire(self.now);
    }

    /// Lets the requests go on whose time is up at `at`.
    pub(super) fn expire(&mut self, at: Timestamp) {
        for (call, told, timed_out) in self.state.calls.expire(at) {
            let by = if timed_out {
                WokenBy::Timeout
            } else {
                self.woken.push(told);
                WokenBy::Change
            };
            self.state.record(at, None, Happened::Woken { call, by });
        }
    }

    fn apply_due(&mut self) {
        while let Some((at, due)) = self.state.store.due(self.now) {
            self.apply_arrivals(at);
            let Ok(()) = self.apply_at(at, None, due);
        }
        self.apply_arrivals(self.now);
    }

    /// Applies a command that follows from the record with the number `cause`.
    fn apply_at<C: Command>(
        &mut self,
        at: Timestamp,
        cause: Option<u64>,
        command: C,
    ) -> Result<C::Reply, C::Refused> {
        let state = &mut *self.state;
        let (entry, before) = (command.entry(), state.store.applied());
        let applied = state.store.apply(at, command);
        let noted = state.history.last();
        state
            .history
            .note(at, cause, &applied.effects, &state.store);
        if let Some(index) = applied.effects.index {
            self.count_entries(entry, index.0 - before.0);
        }
        let concerned = self.state.waiters.concerned(&applied.effects.touched);
        self.wake_concerned(at, noted, concerned);
        self.replicate(at, noted, &applied.effects);
        self.state.take_runs(&applied.effects);
        aside::free(self.clock.host(), applied.effects.rows(), applied.effects);
        applied.result
    }

    /// Counts the entries that a command has made.
    fn count_entries(&self, kind: Option<LogEntry>, count: u64) {
        let took = self.clock.now().since(self.now);
        let first = kind.map_or(Measured::OtherEntry, Measured::Entry);
        self.metrics.add(self.now, first, took);
        for _ in 1..count {
            self.metrics.add(self.now, Measured::OtherEntry, took);
        }
    }

    /// Wakes waiters whose reads were touched. The records of that are those after the one with the number `noted`.
    pub(super) fn wake_concerned(
        &mut self,
        at: Timestamp,
        noted: u64,
        concerned: Vec<Arc<WakeSignal>>,
    ) {
        for told in concerned {
            told.mark_pending();
            if self.state.may_wake(at, noted, &told) {
                self.woken.push(told);
            } else {
                self.has_put_off = true;
            }
        }
    }
}
