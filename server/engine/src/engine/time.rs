//! Time travel: the clock moves through every deadline on the way, and waits at each for the waiters that it wakes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::cause::Cause;
use super::{Engine, State, between_steps};
use crate::clock::{Patience, Rate};
use crate::history::{Filter, Record};
use crate::sync::{either, yield_once};
use proconsul_store::timestamp::Timestamp;

/// How long an advance waits without progress for the waiters that it woke, in the machine's time, for all its deadlines
/// together. A client that does not read its answer must not hold up a test for ever.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// How long an advance waits without progress for the checks that it let run, for all its deadlines together. Their targets may
/// never answer.
const RUN_WITHIN: Duration = Duration::from_millis(500);

/// The number of new deadlines at which an advance stops, beside those that exist when it begins and what follows from
/// each of them (a session that lapses leaves a lock-delay). Periodic checks and clients that wait in a loop make new
/// ones for as long as the clock moves: a century of them would take days.
const STOPS: usize = 10_000;

/// How the clock is to be moved.
#[derive(Clone, Copy, Debug)]
pub enum Advance {
    /// By this duration, through every deadline on the way in its order: each is applied at its own time, and the
    /// waiters that it wakes are answered before the clock goes on. After 10,000 new deadlines the clock goes the
    /// rest of the way at once: what is due still happens in its order and at its own time, but waiters are answered,
    /// and checks run, at the end.
    By(Duration),
    /// To the next deadline, if there is one.
    ToNext,
    /// By this duration at once, as if the server had been stopped meanwhile: what was due on the way happens late.
    Late(Duration),
}

/// What moving the clock came to.
#[derive(Debug)]
pub struct Advanced {
    /// What it caused.
    pub caused: Vec<Record>,
    /// What it timed out waiting for, in words.
    pub in_vain: Option<&'static str>,
}

/// How much longer an advance waits, for all its deadlines together: waiting that ends well costs nothing of it.
struct Settling {
    for_answers: Duration,
    for_runs: Duration,
    in_vain: Option<&'static str>,
}

/// What an advance waits for.
#[derive(Clone, Copy, Debug)]
enum Unsettled {
    Answers,
    Runs,
}

impl Default for Settling {
    fn default() -> Self {
        Self {
            for_answers: ANSWERED_WITHIN,
            for_runs: RUN_WITHIN,
            in_vain: None,
        }
    }
}

impl Settling {
    /// Stops waiting for these for the rest of the advance.
    fn give_up(&mut self, whom: Unsettled) {
        let (left, words) = match whom {
            Unsettled::Answers => (&mut self.for_answers, "clients that read their answers"),
            Unsettled::Runs => (&mut self.for_runs, "checks that it let run"),
        };
        *left = Duration::ZERO;
        self.in_vain = Some(words);
    }
}

/// The right to move the clock. Dropping it lets the next one move it.
struct Advancing(Engine);

impl Drop for Advancing {
    fn drop(&mut self) {
        self.0.is_advancing.store(false, Ordering::Release);
        self.0.advanced.notify();
        // The clock jumps by itself only while no call moves it.
        self.0.clock.changed.set();
    }
}

impl Engine {
    /// Returns whether a call is moving the clock.
    #[must_use]
    pub fn is_advancing(&self) -> bool {
        self.timekeeper().is_advancing.load(Ordering::Acquire)
    }

    /// Waits until no other call moves the clock.
    async fn may_advance(&self) -> Advancing {
        let first = self.timekeeper();
        loop {
            // Armed before the look, or an end in between would be missed.
            let advanced = first.advanced.next();
            if !first.is_advancing.swap(true, Ordering::AcqRel) {
                break;
            }
            advanced.await;
        }
        Advancing(first)
    }

    /// Moves the clock, and returns what that caused here. Ends early when the engine is closed. Dropping the future leaves
    /// the clock at the deadline that it has reached. Joined engines move along.
    pub async fn advance(&self, advance: Advance) -> Vec<Record> {
        self.advance_and_settle(advance).await.caused
    }

    /// Moves the clock as [`Engine::advance`] does, and says what it has timed out waiting for.
    pub async fn advance_and_settle(&self, advance: Advance) -> Advanced {
        let _advancing = self.may_advance().await;
        let before = self.last_record();
        let mut settling = Settling::default();
        match advance {
            Advance::By(duration) => {
                let target = self.clock.now().plus(duration);
                self.advance_to(target, &mut settling).await;
            }
            Advance::ToNext => {
                if let Some(deadline) = self.next_deadline() {
                    self.advance_to(deadline, &mut settling).await;
                }
            }
            Advance::Late(duration) => {
                self.jump_by(duration);
                self.settle(&mut settling).await;
            }
        }
        Advanced {
            caused: self.history(&Filter::all().after(before)),
            in_vain: settling.in_vain,
        }
    }

    async fn advance_to(&self, target: Timestamp, settling: &mut Settling) {
        for _ in 0..self.stops() {
            if self.is_closed() {
                return;
            }
            if !self.advance_to_deadline_by(target) {
                break;
            }
            self.settle(settling).await;
            // Other tasks go on, and a dropped future is noticed.
            yield_once().await;
        }
        for engine in self.joined() {
            engine.mutate(|mutation| mutation.advance_to(target));
        }
        self.clock.changed.set();
        self.settle(settling).await;
    }

    /// Returns the maximal number of stops of an advance.
    fn stops(&self) -> usize {
        let engines = self.joined();
        let deadlines = engines
            .iter()
            .map(|engine| engine.with_store(|store, _| store.deadlines()));
        STOPS.saturating_add(2 * deadlines.sum::<usize>())
    }

    /// Moves the clock on to the next deadline, if that comes before `target` or then. Returns whether it does.
    fn advance_to_deadline_by(&self, target: Timestamp) -> bool {
        self.advance_all(|state, of_others| {
            let next = state.next_deadline().into_iter().chain(of_others).min();
            next.filter(|deadline| *deadline <= target)
        })
    }

    /// Moves the clock on to a deadline that `choose` picks, for all joined engines. It is told this engine's state, and the
    /// next deadline of the others. Returns whether it picks one.
    fn advance_all(
        &self,
        choose: impl FnOnce(&mut State, Option<Timestamp>) -> Option<Timestamp>,
    ) -> bool {
        let others = self.others();
        let next = |engine: &Engine| engine.with_state(|state, _| state.next_deadline());
        let of_others = others.iter().filter_map(next).min();
        let deadline = self.mutate(|mutation| {
            let deadline = choose(mutation.state(), of_others)?;
            mutation.advance_to_deadline(deadline);
            Some(deadline)
        });
        let Some(deadline) = deadline else {
            return false;
        };
        for engine in others {
            engine.mutate(|mutation| mutation.advance_to_deadline(deadline));
        }
        true
    }

    fn jump_by(&self, duration: Duration) {
        let target = self.clock.now().plus(duration);
        for engine in self.joined() {
            let text = format!("the clock jumps by {duration:?}");
            engine.mutate(|mutation| mutation.jump_to(target, text));
        }
        self.clock.changed.set();
    }

    /// Returns the next point in time at which something happens by itself: a TTL, a lock-delay, a tombstone, a wait,
    /// or a request that a fault holds.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let engines = self.joined();
        let next = |engine: &Engine| engine.with_state(|state, _| state.next_deadline());
        engines.iter().filter_map(next).min()
    }

    /// Returns what happens by itself next, and when.
    #[must_use]
    pub fn next_cause(&self) -> Option<(Timestamp, Cause)> {
        let engines = self.joined();
        let next = engines.iter().filter_map(Self::next_own_cause);
        next.min_by_key(|(at, _)| *at)
    }

    fn next_own_cause(&self) -> Option<(Timestamp, Cause)> {
        self.with_state(|state, _| {
            let of_state = state.store().due(Timestamp::END);
            let of_state = of_state.map(|(at, deadline)| (at, Cause::State(deadline)));
            let of_calls = state.calls.next_cause();
            // Stable: what the state does comes first.
            of_state
                .into_iter()
                .chain(state.arrivals().map(|at| (at, Cause::Applied)))
                .chain(of_calls)
                .min_by_key(|(at, _)| *at)
        })
    }

    /// Sets how fast the clock runs.
    pub fn set_rate(&self, rate: Rate) {
        self.clock.set_rate(rate);
        self.clock.changed.set();
    }

    /// Lets the clock jump to the next deadline whenever at least `clients` requests are open and all of them are
    /// blocked; `None` switches that off.
    pub fn auto_advance(&self, clients: Option<usize>) {
        self.lock().auto_advance = clients;
        self.clock.changed.set();
    }

    /// Lets the clock jump if it is time to. Returns whether it did.
    pub(super) fn auto_advance_if_all_blocked(&self) -> bool {
        // A call that moves the clock comes first.
        if self.is_advancing() {
            return false;
        }
        let of = |state: &State| (state.calls.all_blocked(), state.auto_advance);
        let others = self.others().into_iter();
        let others: Vec<_> = others
            .map(|engine| engine.with_state(|state, _| of(state)))
            .collect();
        self.advance_all(|state, of_others| {
            let mut all = others.iter().copied().chain([of(state)]);
            let clients = all.clone().find_map(|(_, clients)| clients)?;
            let open: usize = all.clone().map(|((open, _), _)| open).sum();
            let is_ready = all.all(|((_, blocked), _)| blocked) && open >= clients.max(1);
            let next = state.next_deadline().into_iter().chain(of_others).min();
            next.filter(|_| is_ready)
        })
    }

    /// Notes that a request is blocked or has ended: now all open requests may be blocked, and the clock may jump.
    pub(super) fn consider_auto_advance(&self) {
        let asks_for_it = |engine: &Engine| engine.lock().auto_advance.is_some();
        if asks_for_it(self) || self.others().iter().any(asks_for_it) {
            self.clock.changed.set();
        }
    }

    /// Wakes the waiters whose wake was delayed until now.
    pub(super) fn tell_delayed(&self) {
        self.mutate(|mutation| {
            let now = mutation.now();
            let next = mutation.state().calls.next_delayed();
            if next.is_some_and(|at| at <= now) {
                mutation.expire(now);
            }
        });
    }

    /// Waits until every woken request has been answered or is blocked again, and until the checks that were run have a
    /// result; each for a limited time. A request that one datacenter passes on to another is open in both until then.
    async fn settle(&self, settling: &mut Settling) {
        for engine in self.joined() {
            engine.settle_own(settling).await;
        }
    }

    async fn settle_own(&self, settling: &mut Settling) {
        let for_answers = Patience::new(self.host(), settling.for_answers);
        let for_runs = Patience::new(self.host(), settling.for_runs);
        let mut answers_over = for_answers.over();
        let mut runs_over = for_runs.over();
        loop {
            // Armed before the look, or a change in between would be missed.
            let happened = self.happened.next();
            let Some(unsettled) = self.unsettled(settling) else {
                return;
            };
            between_steps();
            let over = async {
                match unsettled {
                    Unsettled::Answers => answers_over.as_mut().await,
                    Unsettled::Runs => runs_over.as_mut().await,
                }
            };
            let happened = async {
                happened.await;
                true
            };
            let over = async {
                over.await;
                false
            };
            if !either(happened, over).await {
                settling.give_up(unsettled);
            }
        }
    }

    /// Returns what there is to wait for, unless the time for it is used up.
    fn unsettled(&self, settling: &Settling) -> Option<Unsettled> {
        let state = self.lock();
        if state.closed {
            None
        } else if state.calls.any_woken() && !settling.for_answers.is_zero() {
            Some(Unsettled::Answers)
        } else if self.observed && state.runs_open > 0 && !settling.for_runs.is_zero() {
            Some(Unsettled::Runs)
        } else {
            None
        }
    }
}
