//! The clock of the contenders, which the test moves together with the server's.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use proconsul_client::{Clock, Sleep};
use tokio::sync::oneshot;

/// Stands still until it is moved, and knows who sleeps until when.
#[derive(Clone, Default)]
pub(crate) struct DrivenClock(Arc<Mutex<State>>);

/// Calls of the client, and nothing else here, give up after this or more.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Default)]
struct State {
    now: Duration,
    /// By the end of the sleep, then in the order in which they began.
    sleepers: BTreeMap<(Duration, u64), oneshot::Sender<()>>,
    begun: u64,
    /// How many calls are not over.
    calls: usize,
}

/// Takes a sleeper that is not awaited any more off the list.
struct Sleeper {
    clock: DrivenClock,
    at: (Duration, u64),
    is_call: bool,
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let mut state = self.clock.0.lock();
        state.sleepers.remove(&self.at);
        state.calls -= usize::from(self.is_call);
    }
}

impl DrivenClock {
    /// Moves on, and wakes whose sleep is over.
    pub(crate) fn advance(&self, by: Duration) {
        let mut state = self.0.lock();
        state.now += by;
        let now = state.now;
        let later = state.sleepers.split_off(&(now, u64::MAX));
        let over = std::mem::replace(&mut state.sleepers, later);
        drop(state);
        for sleeper in over.into_values() {
            // Nobody awaits it any more.
            let _ = sleeper.send(());
        }
    }

    /// How long it is to the end of the first sleep.
    pub(crate) fn to_next(&self) -> Option<Duration> {
        let state = self.0.lock();
        let ((until, _), _) = state.sleepers.first_key_value()?;
        Some(until.saturating_sub(state.now))
    }

    /// How many calls wait for their answers.
    pub(crate) fn calls(&self) -> usize {
        self.0.lock().calls
    }

    /// How many sleeps have begun: a sign that somebody did something.
    pub(crate) fn begun(&self) -> u64 {
        self.0.lock().begun
    }
}

impl Clock for DrivenClock {
    fn now(&self) -> Duration {
        self.0.lock().now
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let (sender, over) = oneshot::channel();
        let mut state = self.0.lock();
        state.begun += 1;
        let is_call = duration >= TIMEOUT;
        state.calls += usize::from(is_call);
        let at = (state.now + duration, state.begun);
        if duration.is_zero() {
            let _ = sender.send(());
        } else {
            state.sleepers.insert(at, sender);
        }
        drop(state);
        let sleeper = Sleeper {
            clock: self.clone(),
            at,
            is_call,
        };
        Box::pin(async move {
            let _sleeper = sleeper;
            let _ = over.await;
        })
    }
}

impl fmt::Debug for DrivenClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DrivenClock").field(&self.now()).finish()
    }
}
