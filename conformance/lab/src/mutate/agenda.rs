//! What is due when, where time only passes as the suite says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Done once to a scene `S`, at its time.
pub(super) type Act<S> = Box<dyn FnOnce(&Arc<S>) + Send>;

/// Acts in the order of their times.
pub(super) struct Agenda<S>(Mutex<State<S>>);

struct State<S> {
    /// What has passed since the server was wrapped.
    now: Duration,
    due: Vec<(Duration, Act<S>)>,
}

impl<S> Default for Agenda<S> {
    fn default() -> Self {
        Self(Mutex::new(State {
            now: Duration::ZERO,
            due: Vec::new(),
        }))
    }
}

impl<S> Agenda<S> {
    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agenda's time.
    pub(super) fn now(&self) -> Duration {
        self.state().now
    }

    /// Moves the agenda's time on to `end`, and returns by how much.
    pub(super) fn pass_to(&self, end: Duration) -> Duration {
        let mut state = self.state();
        let rest = end.saturating_sub(state.now);
        state.now = end;
        rest
    }

    /// Puts an act off until `delay` has passed.
    pub(super) fn put_off(&self, delay: Duration, act: Act<S>) {
        let mut state = self.state();
        let time = state.now + delay;
        let place = state.due.partition_point(|(other, _)| *other <= time);
        state.due.insert(place, (time, act));
    }

    /// The next act that is due until `end`, and how long until then; the agenda's time is that of the act afterwards.
    pub(super) fn next(&self, end: Duration) -> Option<(Duration, Act<S>)> {
        let mut state = self.state();
        let time = state.due.first().map(|(time, _)| *time)?;
        if time > end {
            return None;
        }
        let (_, act) = state.due.remove(0);
        let step = time.saturating_sub(state.now);
        state.now += step;
        Some((step, act))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_due_in_the_order_of_their_times() {
        let agenda = Agenda::<()>::default();
        let seconds = Duration::from_secs;
        let nothing = || -> Act<()> { Box::new(|_| {}) };
        agenda.put_off(seconds(5), nothing());
        agenda.put_off(seconds(2), nothing());
        let next = |end| agenda.next(seconds(end)).map(|(step, _)| step);
        assert_eq!(next(1), None);
        assert_eq!(next(9), Some(seconds(2)));
        // From the time of the act before.
        agenda.put_off(seconds(1), nothing());
        assert_eq!(next(9), Some(seconds(1)));
        assert_eq!(next(9), Some(seconds(2)));
        assert_eq!(next(9), None);
    }
}
