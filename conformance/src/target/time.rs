//! Time as the suite sees it: the only file that reads the machine's clock or sleeps.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one file of the suite that may read machine time and sleep"
)]

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Lets time pass for a target: by waiting, or through the target's control plane.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns when `duration` has passed on the target.
    ///
    /// # Errors
    /// A sentence, when the target refused to advance its clock.
    fn pass(&self, duration: Duration) -> Result<(), String>;

    /// Whether time passes only for the target, so that real durations say nothing about it.
    fn is_virtual(&self) -> bool;
}

/// The clock of a target without a control plane: it really waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealClock;

impl Clock for RealClock {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        pause(duration);
        Ok(())
    }

    fn is_virtual(&self) -> bool {
        false
    }
}

/// How long something took.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A point in real time after which the suite gives up.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    started: Instant,
    bound: Duration,
}

impl Deadline {
    /// The deadline that ends `bound` from now.
    #[must_use]
    pub fn after(bound: Duration) -> Self {
        Self {
            started: Instant::now(),
            bound,
        }
    }

    /// What is left, `None` when the deadline has passed.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.bound
            .checked_sub(self.started.elapsed())
            .filter(|left| !left.is_zero())
    }
}

/// Really waits.
pub fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Waits until `is_over` or until the time is over, if there is a limit.
pub fn wait_until(is_over: impl Fn() -> bool, limit: Option<Duration>) {
    const LOOK: Duration = Duration::from_millis(50);
    let deadline = limit.map(Deadline::after);
    while !is_over() {
        match deadline.map(|deadline| deadline.left()) {
            None => pause(LOOK),
            Some(Some(left)) => pause(left.min(LOOK)),
            Some(None) => return,
        }
    }
}

/// Today's date in UTC as `2026-11-21`, for reports and recordings.
#[must_use]
pub fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    date_of(seconds / 86_400)
}

/// The Gregorian date of a number of days since 1970-01-01.
fn date_of(days: u64) -> String {
    // Years counted from March, in eras of 400 years, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_known_days() {
        assert_eq!(date_of(0), "1970-01-01");
        assert_eq!(date_of(11_016), "2000-02-29");
        assert_eq!(date_of(20_453), "2025-12-31");
        assert_eq!(date_of(20_454), "2026-01-01");
    }

    #[test]
    fn a_deadline_of_zero_has_passed() {
        assert!(Deadline::after(Duration::ZERO).left().is_none());
        assert!(Deadline::after(Duration::from_secs(60)).left().is_some());
    }
}
