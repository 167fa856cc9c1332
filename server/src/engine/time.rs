//! Time travel: the clock moves through every deadline on the way, and those whom it wakes are answered first.

use std::sync::Arc;
use std::time::Duration;

use super::calls::Told;
use super::{Engine, wake};
use crate::clock::{Patience, Rate};
use crate::history::{Filter, Happened, Record, WokenBy};
use crate::timestamp::Timestamp;

/// How long an advance waits for those whom it woke, in the machine's time. A client that does not read its answer
/// must not hold up a test for ever.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// How long an advance waits for the checks that it let run. Whoever they ask may never answer.
const RUN_WITHIN: Duration = Duration::from_millis(500);

impl Engine {
    /// Moves the clock on by `duration`, through every deadline on the way in its order: each is applied at its
    /// own time, and those who wait for what it touches are told, and answered before the clock goes on.
    /// Returns what it caused.
    pub fn advance(&self, duration: Duration) -> Vec<Record> {
        let before = self.last_record();
        let target = self.clock.now().plus(duration);
        while let Some(deadline) = self.next_deadline()
            && deadline <= target
        {
            self.step_to(deadline);
        }
        self.clock.advance_to(target);
        self.deadlines.notify_one();
        self.settle();
        self.history(&Filter::all().after(before))
    }

    /// Moves the clock to the next deadline, if there is one, and returns what that caused.
    pub fn advance_to_next(&self) -> Vec<Record> {
        match self.next_deadline() {
            Some(deadline) => self.advance(deadline.since(self.clock.now())),
            None => Vec::new(),
        }
    }

    /// The next point in time at which something happens by itself: a TTL, a lock-delay, a tombstone, a wait, a
    /// request that a fault holds.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.with_state(|state, _| {
            let calls = state.calls.next_deadline();
            state.store.next_deadline().into_iter().chain(calls).min()
        })
    }

    /// Lets `duration` pass as if the server had been stopped meanwhile: what was due on the way happens now, late.
    pub fn jump(&self, duration: Duration) -> Vec<Record> {
        let before = self.last_record();
        let mut woken = Vec::new();
        {
            let mut state = self.lock();
            let now = self.clock.now().plus(duration);
            let text = format!("the clock jumps by {duration:?}");
            state.record(now, Happened::Control { action: text });
            self.clock.advance_to(now);
            while let Some((_, command)) = state.store.due(now) {
                state.apply(now, command, &mut woken);
            }
        }
        wake(&woken);
        self.expire(self.clock.now());
        self.announce();
        self.deadlines.notify_one();
        self.settle();
        self.history(&Filter::all().after(before))
    }

    /// Sets how fast the clock runs.
    pub fn set_rate(&self, rate: Rate) {
        self.clock.set_rate(rate);
        self.deadlines.notify_one();
    }

    /// Lets the clock jump to the next deadline whenever at least `clients` requests are open and all of them are
    /// blocked; none switches that off.
    pub fn jump_with(&self, clients: Option<usize>) {
        self.lock().jumps_with = clients;
        self.deadlines.notify_one();
    }

    /// Jumps if it is time to. Whether it did.
    pub(super) fn jump_if_all_stand(&self) -> bool {
        let ready = {
            let state = self.lock();
            let (open, all_stand) = state.calls.all_stand();
            state
                .jumps_with
                .is_some_and(|clients| all_stand && open >= clients.max(1))
        };
        let Some(deadline) = self.next_deadline().filter(|_| ready) else {
            return false;
        };
        self.expire(deadline);
        self.clock.advance_to(deadline);
        self.with_state(|_, _| ());
        true
    }

    /// After a request stands: it may be the last one that did not.
    pub(super) fn stands(&self) {
        if self.lock().jumps_with.is_some() {
            self.deadlines.notify_one();
        }
    }

    fn step_to(&self, deadline: Timestamp) {
        // Marked before the clock moves: who sleeps until the deadline may wake at once.
        self.expire(deadline);
        self.clock.advance_to(deadline);
        self.with_state(|_, _| ());
        self.settle();
    }

    /// Lets those go on whose time is up at `now`.
    fn expire(&self, now: Timestamp) {
        let mut told: Vec<Arc<Told>> = Vec::new();
        {
            let mut state = self.lock();
            for (call, waiter, timed_out) in state.calls.expire(now) {
                let by = if timed_out {
                    WokenBy::Timeout
                } else {
                    told.push(waiter);
                    WokenBy::Change
                };
                state.record(now, Happened::Woken { call, by });
            }
        }
        wake(&told);
    }

    /// Tells those whose wake was put off until now.
    pub(super) fn tell_delayed(&self) {
        let now = self.clock.now();
        if self.lock().calls.next_delayed().is_some_and(|at| at <= now) {
            self.expire(now);
        }
    }

    /// Until everybody who was woken has been answered, or waits again; and until the checks that were run have
    /// a result, unless who they ask takes its time.
    fn settle(&self) {
        let patience = Patience::of(ANSWERED_WITHIN);
        let for_runs = Patience::of(RUN_WITHIN);
        let mut state = self.lock();
        while !state.closed {
            let left = if state.calls.any_woken() {
                patience.left()
            } else if self.observed && state.runs_open > 0 {
                for_runs.left()
            } else {
                return;
            };
            if self.happened.wait_for(&mut state, left).timed_out() {
                return;
            }
        }
    }
}
