//! Observing: the history, and the state of every request.

pub mod barrier;
pub(super) mod calls;
#[cfg(feature = "dump")]
mod image;
mod inspect;

use std::cell::Cell;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::mutate::State;
use crate::clock::Rate;
use crate::history::{CallId, Filter, Happened, History, Interval, Record, Unsafe, WokenBy};
use crate::sync::Next;
use calls::{Parked, WakeDelay, WakeSignal};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Index, Key, Subject};

pub use barrier::{BlockedOn, Unmet, WhyUnmet};
pub use calls::{Blocked, Held};
pub use inspect::Explanation;

/// How many records are looked at, and copied if they are wanted, while the state is locked.
const READ_AT_ONCE: usize = 256;

thread_local! {
    /// The request that this thread works on. It reaches the history past handlers and commands, which know nothing of it.
    static CALL: Cell<Option<CallId>> = const { Cell::new(None) };
}

/// Puts back the request that a thread worked on before. Dropped also when a part of a request panics.
struct Before(Option<CallId>);

impl Drop for Before {
    fn drop(&mut self) {
        CALL.set(self.0);
    }
}

/// An open request. Dropping it says that its answer has been written, or never will be.
#[derive(Debug)]
#[must_use = "a request that is dropped is over"]
pub struct OpenCall {
    engine: Arc<Engine>,
    id: CallId,
    answered: bool,
    /// The same request in another datacenter, where it is open as long.
    there: Option<Box<OpenCall>>,
}

impl OpenCall {
    /// Makes one of a request here and in another datacenter.
    #[must_use]
    pub fn both(here: Option<Self>, there: Option<Self>) -> Option<Self> {
        let Some(mut here) = here else { return there };
        here.there = there.map(Box::new);
        Some(here)
    }

    /// Returns the number of the request.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Records the answer: its status, or `None` if the connection ended without one. The fault that hit the request is
    /// noted already.
    pub fn answered(&mut self, status: Option<u16>) {
        self.answered = true;
        self.engine
            .with_state(|state, now| state.answer_call(now, self.id, status));
    }
}

/// What [`Engine::read_on`] finds.
#[derive(Debug)]
pub struct ReadOn {
    /// How many records the reader does not get: those that were left out, and those that the history has dropped,
    /// wanted or not.
    pub missed: u64,
    pub records: Vec<Record>,
    /// The number of the last record that was looked at.
    pub passed: u64,
}

/// A request that is held. Dropping it lets the request go on.
#[derive(Debug)]
#[must_use = "dropping it lets the request go on"]
pub struct Holding<'a> {
    engine: &'a Engine,
    call: CallId,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.engine.lock().calls.release(self.call);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // In one step: whoever sees the record finds the request closed.
        self.engine.with_state(|state, now| {
            if !self.answered {
                state.answer_call(now, self.id, None);
            }
            state.calls.end(self.id);
        });
        self.engine.consider_auto_advance();
    }
}

impl Engine {
    /// Returns whether a history is kept and requests are followed.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.observed
    }

    /// Notes that a request has arrived; `None` if the engine is not observed.
    pub fn begin_call(
        self: &Arc<Self>,
        client: Option<IpAddr>,
        method: &str,
        target: &str,
    ) -> Option<OpenCall> {
        self.begin_call_at(None, client, method, target)
    }

    /// Notes that a request has arrived at the agent with this number, where there are several.
    pub fn begin_call_at(
        self: &Arc<Self>,
        agent: Option<usize>,
        client: Option<IpAddr>,
        method: &str,
        target: &str,
    ) -> Option<OpenCall> {
        if !self.observed {
            return None;
        }
        let id = self.with_state(|state, now| {
            let record = state.history.last() + 1;
            let id = state.calls.begin(client, target, now, record);
            let what = Happened::Request {
                call: id,
                client,
                method: method.to_owned(),
                target: target.to_owned(),
                agent,
            };
            state.record(now, None, what);
            id
        });
        Some(OpenCall {
            engine: Arc::clone(self),
            id,
            answered: false,
            there: None,
        })
    }

    /// Passes the current request on to the agent with this number of another datacenter, whose engine this is; `from` is
    /// that of the datacenter to which it came.
    pub fn begin_call_of(
        self: &Arc<Self>,
        from: &Engine,
        agent: usize,
        client: Option<IpAddr>,
        method: &str,
    ) -> Option<OpenCall> {
        let call = from.current_call()?;
        let target = from.lock().calls.target_of(call).map(str::to_owned)?;
        let passed_on = self.begin_call_at(Some(agent), client, method, &target)?;
        self.lock().calls.pass_on(passed_on.id);
        Some(passed_on)
    }

    /// Notes that the current request knows all changes of the cluster before `changes`. After the next one it counts as being
    /// worked on until this is called again.
    pub fn looks_at(&self, changes: &Next<'_>) {
        if let Some(call) = self.current_call() {
            let seen = Some(changes.seen());
            let before = self.lock().calls.looked_at(call, seen);
            if before.is_some() && before != seen {
                self.announce();
                self.consider_auto_advance();
            }
        }
    }

    /// Holds the current request for a duration on the engine's clock, whatever happens to the cluster; for `None`, until the
    /// future is dropped.
    pub async fn hold(&self, duration: Option<Duration>) {
        if let Some(call) = self.current_call() {
            self.lock().calls.looked_at(call, None);
        }
        self.hold_as(|now| duration.map(|duration| now.plus(duration)))
            .await;
    }

    /// Holds the current request, which looks at changes of the cluster, up to a time, also one that is over; for `None`, until the
    /// future is dropped.
    pub async fn hold_until(&self, until: Option<Timestamp>) {
        self.hold_as(|_| until).await;
    }

    async fn hold_as(&self, until: impl FnOnce(Timestamp) -> Option<Timestamp>) {
        let call = self.current_call();
        let is_frozen = self.clock.rate() == Rate::FROZEN;
        let until = self.with_state(|state, now| {
            let until = until(now);
            if let Some(call) = call {
                let lasts = until.map(|until| until.since(now));
                state.hold(now, call, lasts, is_frozen);
            }
            until
        });
        self.consider_auto_advance();
        let _holding = call.map(|call| Holding { engine: self, call });
        match until {
            Some(until) => self.clock.sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    /// How long ago the current request was first blocked or held. A request that is being worked on takes no time, however far
    /// the clock is moved meanwhile. `None` if requests are not followed, and it may have taken any time.
    #[must_use]
    pub fn waited(&self) -> Option<Duration> {
        let call = self.current_call()?;
        self.with_state(|state, now| {
            let since = state.calls.waits_since(call);
            Some(since.map_or(Duration::ZERO, |since| now.since(since)))
        })
    }

    /// Shows the current request as held for as long as the guard lives.
    pub fn stand_still(&self) -> Option<Holding<'_>> {
        let call = self.current_call()?;
        self.with_state(|state, now| state.calls.hold(call, now, None));
        self.announce();
        self.consider_auto_advance();
        Some(Holding { engine: self, call })
    }

    /// Shows the current request as blocked again, if it was before it was held, and nothing has woken it since.
    pub fn block_again(&self) {
        if let Some(call) = self.current_call() {
            self.lock().calls.block_again(call);
            self.announce();
            self.consider_auto_advance();
        }
    }

    /// Notes which fault has hit the current request, for the record of its answer.
    pub fn fault_hit(&self, fault: &str) {
        if let Some(call) = self.current_call() {
            self.lock().calls.note_fault(call, fault);
        }
    }

    /// Notes that the current request reads the state of a server that has applied the log up to this entry.
    pub fn reads_at(&self, applied: Index) {
        if let Some(call) = self.current_call() {
            let mut state = self.lock();
            let last = state.history.last_at(applied);
            state.calls.note_read(call, last);
        }
    }

    /// Runs a part of a request: what it changes follows from the request. A request that is not observed pays nothing.
    pub fn of_call<T>(call: Option<CallId>, part: impl FnOnce() -> T) -> T {
        let _before = call.map(|call| Before(CALL.replace(Some(call))));
        part()
    }

    /// Runs a future as a part of a request: what it changes follows from the request.
    pub async fn in_call<T>(call: Option<CallId>, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|task| Self::of_call(call, || work.as_mut().poll(task))).await
    }

    /// Returns the request of which this is a part.
    pub(crate) fn call_of_this() -> Option<CallId> {
        CALL.get()
    }

    /// Returns the request of which this is a part; `None` if it is not observed.
    #[must_use]
    pub fn current_call(&self) -> Option<CallId> {
        self.observed.then(Self::call_of_this).flatten()
    }

    /// Records something that is not a command. It follows from the current request, if there is one.
    pub fn record(&self, what: Happened) {
        let call = self.current_call();
        self.mutate(|mutation| mutation.record_of(call, what));
    }

    /// Returns the records that match `filter`, oldest first.
    #[must_use]
    pub fn history(&self, filter: &Filter) -> Vec<Record> {
        let last = self.last_record();
        let mut found = Vec::new();
        let mut passed = filter.is_after();
        // Piece by piece: nobody waits for the whole history to be read.
        while passed < last {
            found.reserve(READ_AT_ONCE);
            passed = self
                .with_state(|state, _| state.history.matching(filter, passed, last, &mut found));
        }
        found
    }

    /// Waits until the history has records after the one with the number `after`, or may have; or until the server
    /// stops.
    pub async fn recorded_after(&self, after: u64) {
        loop {
            let happened = self.happened.next();
            let is_there = {
                let state = self.lock();
                state.closed || state.history.last() > after
            };
            if is_there {
                return;
            }
            happened.await;
        }
    }

    /// Reads on in the history: the oldest records after the one with the number `after` that `filter` means, at most
    /// `limit`. Where more than `behind` are there, the older ones of them are left out.
    pub fn read_on(&self, after: u64, filter: &Filter, behind: u64, limit: usize) -> ReadOn {
        let state = self.lock();
        let (first, last) = state.history.numbers();
        let gone = (first - 1).saturating_sub(after);
        let after = after + gone;
        let wanted = || state.history.after(after).filter(|one| filter.matches(one));
        // Where even all of them are few enough, they need not be counted.
        let left_out = if last.saturating_sub(after) <= behind {
            0
        } else {
            wanted().count().saturating_sub(usize_of(behind))
        };
        let records: Vec<Record> = wanted().skip(left_out).take(limit).cloned().collect();
        let full = records.last().filter(|_| records.len() == limit);
        ReadOn {
            missed: gone + left_out as u64,
            passed: full.map_or(last.max(after), |record| record.number),
            records,
        }
    }

    /// Returns the numbers of the first and the last record that the history has; the first is one more than the last
    /// in an empty history.
    pub fn record_numbers(&self) -> (u64, u64) {
        self.with_state(|state, _| state.history.numbers())
    }

    /// Returns the number of old records that the history has dropped because it was full.
    #[must_use]
    pub fn lost_records(&self) -> u64 {
        self.lock().history.lost()
    }

    /// Forgets the history so far.
    pub fn clear_history(&self) {
        self.lock().history.clear();
    }

    /// Returns the number of the last record.
    #[must_use]
    pub fn last_record(&self) -> u64 {
        self.with_state(|state, _| state.history.last())
    }

    /// Returns the violations of a lock's safety; see [`Unsafe`].
    #[must_use]
    pub fn lock_violations(&self, key: &Key, beliefs: &[Interval]) -> Vec<Unsafe> {
        self.with_state(|state, _| state.history.violations(key, beliefs))
    }

    /// Delays wakes of reads under `prefix` by `by`: the next `times` ones, or all for `None`. Further changes
    /// meanwhile come with the same wake.
    pub fn delay_wakes(&self, prefix: &[u8], by: Duration, times: Option<u64>) {
        self.lock().wake_delays.push(WakeDelay {
            prefix: prefix.to_vec(),
            by,
            left: times,
        });
    }

    /// Ends all delays of [`Engine::delay_wakes`], except those of wakes that are under way.
    pub fn clear_wake_delays(&self) {
        self.lock().wake_delays.clear();
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl History {
    /// The numbers of the first and the last record; the first is one more than the last where there are none.
    fn numbers(&self) -> (u64, u64) {
        let first = self.after(0).next();
        (
            first.map_or(self.last() + 1, |record| record.number),
            self.last(),
        )
    }

    /// Reads some of the records after the one with the number `after`, up to the one with the number `last`. Adds those that
    /// `filter` means to `found`, and returns the number of the last one that it has looked at.
    fn matching(&self, filter: &Filter, after: u64, last: u64, found: &mut Vec<Record>) -> u64 {
        let mut passed = last;
        for (place, record) in self.after(after).enumerate() {
            if record.number > last {
                break;
            }
            if place == READ_AT_ONCE {
                return passed;
            }
            if filter.matches(record) {
                found.push(record.clone());
            }
            passed = record.number;
        }
        last
    }

    fn violations(&self, key: &Key, beliefs: &[Interval]) -> Vec<Unsafe> {
        crate::history::violations(self.after(0), key, beliefs)
    }
}

impl State {
    /// Records what happened. What happens to a request follows from its arrival, if from nothing else.
    pub(crate) fn record(&mut self, at: Timestamp, cause: Option<u64>, what: Happened) {
        let index = self.store().applied();
        let arrival = || self.calls.record_of(what.call()?);
        self.history.push(at, index, cause.or_else(arrival), what);
    }

    /// The number of the last record; `None` where nothing is recorded.
    pub(crate) fn last_record(&self) -> Option<u64> {
        self.history.is_on().then(|| self.history.last())
    }

    fn answer_call(&mut self, now: Timestamp, call: CallId, status: Option<u16>) {
        let fault = self.calls.take_fault(call);
        let what = Happened::Answer {
            call,
            status,
            fault,
            read_at: self.calls.read_at(call),
        };
        self.record(now, None, what);
    }

    /// Marks a request as held from now on for this long. In one step with its record: whoever sees that finds it held.
    fn hold(&mut self, now: Timestamp, call: CallId, lasts: Option<Duration>, is_frozen: bool) {
        self.calls
            .hold(call, now, lasts.map(|lasts| now.plus(lasts)));
        if lasts == Some(Duration::ZERO) {
            return;
        }
        let fault = self.calls.fault_of(call).unwrap_or_default().to_owned();
        let what = Happened::Held {
            call,
            fault,
            lasts,
            is_frozen,
        };
        self.record(now, None, what);
    }

    pub(crate) fn block(&mut self, now: Timestamp, call: CallId, parked: Parked) {
        let what = Happened::Blocked {
            call,
            read: parked.read.to_string(),
            min_index: parked.min_index,
        };
        self.calls.park(call, now, parked);
        self.record(now, None, what);
    }

    /// Marks a request as able to go on, if it was blocked.
    pub(crate) fn wake_call(
        &mut self,
        now: Timestamp,
        cause: Option<u64>,
        call: CallId,
        by: WokenBy,
    ) {
        if self.calls.wake(call) {
            self.record(now, cause, Happened::Woken { call, by });
        }
    }

    /// Returns whether a waiter whose read was touched is woken now; otherwise its wake is delayed. What touched it are
    /// the records after the one with the number `noted`.
    pub(crate) fn may_wake(&mut self, now: Timestamp, noted: u64, told: &WakeSignal) -> bool {
        let Some(call) = told.call else { return true };
        if self.calls.is_delayed(call) {
            return false;
        }
        if let Some(by) = self.delay_of(call)
            && self.calls.delay(call, now.plus(by))
        {
            return false;
        }
        let cause = self.change_for(call, noted);
        self.wake_call(now, cause, call, WokenBy::Change);
        true
    }

    /// The number of the record of the change, after `noted`, that a blocked request waits for: of its key, if it reads
    /// one and the change is among the first of many.
    fn change_for(&self, call: CallId, noted: u64) -> Option<u64> {
        const LOOKED_AT: usize = 64;
        let changes = || self.history.after(noted);
        let read = self.calls.read_of(call)?;
        let is_read = |change: &&Record| match (read, &change.what) {
            (Subject::Key(read), what) => what.is_about(read),
            (Subject::Prefix(read), Happened::KeyTreeDeleted { prefix, .. }) => {
                let (read, prefix) = (read.as_bytes(), prefix.as_bytes());
                prefix.starts_with(read) || read.starts_with(prefix)
            }
            (Subject::Prefix(read), what) => {
                let key = what.key();
                key.is_some_and(|key| key.as_bytes().starts_with(read.as_bytes()))
            }
            _ => false,
        };
        let found = changes().take(LOOKED_AT).find(is_read);
        found
            .or_else(|| changes().next())
            .map(|record| record.number)
    }

    fn delay_of(&mut self, call: CallId) -> Option<Duration> {
        if self.wake_delays.is_empty() {
            return None;
        }
        let (_, parked) = self.calls.parked().find(|(id, _)| *id == call)?;
        let prefix = parked.read.key()?.as_bytes().to_vec();
        let delays = &mut self.wake_delays;
        let place = delays
            .iter()
            .position(|delay| prefix.starts_with(&delay.prefix) && delay.left != Some(0))?;
        let delay = &mut delays[place];
        if let Some(left) = delay.left.as_mut() {
            *left -= 1;
        }
        Some(delay.by)
    }
}
