//! A point in time, as plain data: the only form in which time reaches the store.

use std::time::Duration;

/// A point on a server's clock, in nanoseconds since that clock's epoch.
///
/// Plain data: it cannot be read off a machine clock here, only be passed in (design rule 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The epoch of every clock.
    pub const ZERO: Self = Self(0);

    /// The timestamp `nanoseconds` after the epoch.
    #[must_use]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This point plus `duration`; the far end of time where that does not fit.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }

    /// How long after `earlier` this point lies; zero when it lies before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
