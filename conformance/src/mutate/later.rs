//! What a mutant does later, in the target's time.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::proxy::Scene;
use crate::time::{Clock, pause};

/// What was sent before time passes has come through the proxy after so long.
const ON_ITS_WAY: Duration = Duration::from_millis(25);

/// Done once, at its time.
pub(super) type Act = Box<dyn FnOnce(&Arc<Scene>) + Send>;

/// What is due when, where time only passes as the suite says: acts in the order of their times.
#[derive(Default)]
pub(super) struct Agenda(Mutex<State>);

#[derive(Default)]
struct State {
    /// What has passed since the server was wrapped.
    now: Duration,
    due: Vec<(Duration, Act)>,
}

impl Agenda {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an act off until `delay` has passed.
    pub(super) fn put_off(&self, delay: Duration, act: Act) {
        let mut state = self.state();
        let time = state.now + delay;
        let place = state.due.partition_point(|(other, _)| *other <= time);
        state.due.insert(place, (time, act));
    }

    /// The next act that is due until `end`, and how long until then; the agenda's time is that of the act afterwards.
    fn next(&self, end: Duration) -> Option<(Duration, Act)> {
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

/// The clock of a target behind a proxy: on the way it stops at whatever the mutant has put off.
pub(super) struct Stopping {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) scene: Arc<Scene>,
}

impl fmt::Debug for Stopping {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stopping({:?})", self.clock)
    }
}

impl Clock for Stopping {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        if !self.clock.is_virtual() {
            return self.clock.pass(duration);
        }
        pause(ON_ITS_WAY);
        let agenda = &self.scene.agenda;
        let end = agenda.state().now + duration;
        while let Some((step, act)) = agenda.next(end) {
            self.clock.pass(step)?;
            act(&self.scene);
        }
        let rest = end.saturating_sub(agenda.state().now);
        agenda.state().now = end;
        self.clock.pass(rest)
    }

    fn is_virtual(&self) -> bool {
        self.clock.is_virtual()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_due_in_the_order_of_their_times() {
        let agenda = Agenda::default();
        let seconds = Duration::from_secs;
        let nothing = || -> Act { Box::new(|_| {}) };
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
