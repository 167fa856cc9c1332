//! Waiters: requests that wait for a change of what they read.

use std::sync::Arc;

use super::mutate::Generation;
use super::observe::calls::{Parked, WakeSignal};
use super::{Engine, between_steps};
use crate::history::{CallId, WokenBy};
use crate::sync::either;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::watch::WaiterId;
use proconsul_store::{Answer, Index, Read, ReadResult, ReadSet, Subject};

/// A request that waits until something it read is touched. Dropping it removes the registration.
#[derive(Debug)]
#[must_use = "a waiter that is dropped waits for nothing"]
pub struct Waiter<'a> {
    engine: &'a Engine,
    id: WaiterId,
    told: Arc<WakeSignal>,
    since: Generation,
    reads: ReadSet,
    until: Timestamp,
    /// The wait as the controls show it, if the engine is observed.
    shown: Option<(CallId, Subject, Index)>,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// Something was touched: the next look may be the answer.
    LookAgain,
    /// The next look is the answer, whatever it finds.
    AnswerNow,
    /// The time is up.
    TimedOut,
}

/// What a waiter finds when it looks.
#[derive(Debug)]
pub enum Found<T> {
    /// What there is.
    Now(T),
    /// What there was when the restore of a snapshot superseded it, which ends the wait; `None` if the waiter was not
    /// registered then, and nothing is known that is newer than its latest look.
    Before(Option<T>),
}

impl Engine {
    /// The era of the state.
    #[must_use]
    pub fn era(&self) -> Generation {
        self.state.read().era()
    }

    /// Returns a waiter of the current request, not yet registered, whose time is up at `until`. It waits for `read` to
    /// pass `min_index`, and is answered from a stream or not. `since` is the era of its first look: if the whole state is
    /// exchanged before the waiter is registered, the waiter is answered as if it had been registered.
    pub fn waiter(
        &self,
        is_streamed: bool,
        read: &impl Read,
        min_index: Index,
        until: Timestamp,
        since: Generation,
    ) -> Waiter<'_> {
        self.waiter_of(is_streamed, &|| read.subject(), min_index, until, since)
    }

    fn waiter_of(
        &self,
        is_streamed: bool,
        subject: &dyn Fn() -> Subject,
        min_index: Index,
        until: Timestamp,
        since: Generation,
    ) -> Waiter<'_> {
        self.metrics.begin_wait();
        let call = self.current_call();
        Waiter {
            engine: self,
            since,
            id: self.state.write().waiters_of(self.view).admit(),
            told: Arc::new(WakeSignal::new(call, is_streamed)),
            reads: Vec::new(),
            until,
            shown: call.map(|call| (call, subject(), min_index)),
        }
    }
}

impl Waiter<'_> {
    /// Registers the waiter for touches of `reads`, in place of its earlier read set. Returns whether it was registered
    /// for these already: only then nothing can have been missed since the read that gave `reads`.
    pub fn waits_for(&mut self, reads: &ReadSet) -> bool {
        if self.reads == *reads {
            return true;
        }
        let mut state = self.engine.lock();
        let waiters = state.waiters_of(self.engine.view);
        waiters.deregister(self.id, &self.reads);
        waiters.register(self.id, &self.told, reads);
        let replaced = state.era().replaced;
        if replaced != self.since.replaced {
            self.since.replaced = replaced;
            self.told.mark_pending();
            self.told.mark_at_once();
            self.told.tell();
        }
        drop(state);
        self.reads.clone_from(reads);
        false
    }

    /// Looks.
    ///
    /// # Errors
    /// The read is refused.
    pub fn look<R: Read>(&self, read: &R) -> Result<Found<Answer<R::Rows>>, R::Refused> {
        let (era, now) = self.engine.read_in_era(read);
        if self.told.is_streamed || era.superseded == self.since.superseded {
            return now.map(Found::Now);
        }
        let before: Option<ReadResult<R>> = self.told.before().map(|store| read.look(store));
        before.transpose().map(Found::Before)
    }

    /// Waits until something of its read set was touched since the last call, or its time is up.
    pub async fn wait(&self) -> WakeReason {
        between_steps();
        self.park();
        let told = async {
            self.told.notified().await;
            true
        };
        let over = async {
            self.engine.clock().sleep_until(self.until).await;
            false
        };
        let in_time = either(told, over).await;
        if !in_time {
            self.time_is_up();
            return WakeReason::TimedOut;
        }
        if self.shown.is_some() {
            self.told.take_pending();
        }
        if self.told.is_at_once() {
            WakeReason::AnswerNow
        } else {
            WakeReason::LookAgain
        }
    }

    /// Shows the request as blocked, unless it can go on already.
    fn park(&self) {
        let Some((call, read, min_index)) = &self.shown else {
            return;
        };
        let parked = Parked {
            read: read.clone(),
            min_index: *min_index,
            until: self.until,
            told: Arc::clone(&self.told),
            delayed_to: None,
        };
        let is_blocked = self.engine.with_state(|state, now| {
            if self.told.take_pending() || now >= self.until {
                return false;
            }
            state.block(now, *call, parked);
            true
        });
        if is_blocked {
            self.engine.consider_auto_advance();
        }
    }

    fn time_is_up(&self) {
        if let Some((call, _, _)) = &self.shown {
            self.engine
                .with_state(|state, now| state.wake_call(now, None, *call, WokenBy::Timeout));
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.engine.metrics.end_wait();
        if !self.reads.is_empty() {
            let mut state = self.engine.lock();
            let waiters = state.waiters_of(self.engine.view);
            waiters.deregister(self.id, &self.reads);
        }
    }
}
