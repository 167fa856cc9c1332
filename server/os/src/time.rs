//! The machine's time: the only file that reads it or sleeps (design rule 1).

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one file that may read the machine's time and sleep"
)]

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment that [`elapsed`] counts from.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the time that has passed since this was called first in this process.
#[must_use]
pub fn elapsed() -> Duration {
    STARTED.elapsed()
}

/// Returns the machine's wall clock: the time since the Unix epoch, or zero on a machine whose clock is set to before it.
#[must_use]
pub fn wall_clock() -> Duration {
    since_epoch(SystemTime::now())
}

fn since_epoch(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Sleeps, in a task of a tokio runtime.
pub async fn delay(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Sleeps on any runtime or none, without holding a thread. The timer is not a runtime's, which may be disabled or paused.
pub async fn delay_anywhere(duration: Duration) {
    futures_timer::Delay::new(duration).await;
}

/// A moment of the clock of a tokio runtime, which a test may pause.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeInstant(tokio::time::Instant);

impl RuntimeInstant {
    /// Returns this moment.
    #[must_use]
    pub fn now() -> Self {
        Self(tokio::time::Instant::now())
    }

    /// Returns the time that has passed since.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns whether the clock of the current tokio runtime is paused. tokio does not tell, but its clock stands still.
#[must_use]
pub fn is_runtime_paused() -> bool {
    let (of_runtime, of_machine) = (RuntimeInstant::now(), Instant::now());
    while of_machine.elapsed() < Duration::from_micros(1) {}
    of_runtime.elapsed().is_zero()
}

/// Holds this thread for a duration.
pub fn hold_thread(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns a fresh seed from the operating system, for a run without a given seed.
///
/// It has 53 bits: JSON readers that keep numbers as doubles can then read it and send it back, and two of a million
/// servers share one with a probability of 1 in 18,000.
#[must_use]
pub fn machine_seed() -> u64 {
    // The keys of each state are the operating system's random bytes, or follow from them.
    RandomState::new().build_hasher().finish() >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_before_1970_stands_at_its_epoch() {
        let second = Duration::from_secs(1);
        assert_eq!(since_epoch(UNIX_EPOCH - second), Duration::ZERO);
        assert_eq!(since_epoch(UNIX_EPOCH + second), second);
    }

    #[test]
    fn fresh_seeds_differ_and_are_exact_as_doubles() {
        let seeds: std::collections::BTreeSet<u64> = (0..1000).map(|_| machine_seed()).collect();
        assert_eq!(seeds.len(), 1000);
        assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    }
}
