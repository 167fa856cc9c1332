//! Points in time as plain data, the only form of time in the store.

#[cfg(feature = "dump")]
use crate::image::value::text;
use std::time::Duration;

/// A point on a server's clock, in nanoseconds since that clock's epoch.
///
/// It is passed in, never read from a machine clock. Clocks show no time before their epoch, but a state from
/// another server may have earlier times.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Deserialize,
    serde::Serialize,
)]
pub struct Timestamp(#[serde(with = "text")] i64);

impl Timestamp {
    /// The epoch of every clock.
    pub const ZERO: Self = Self(0);

    /// The end of time, 292 years after the epoch. A clock that reaches it stands still, and deadlines at the
    /// end of time never come due.
    pub const END: Self = Self(i64::MAX);

    /// Creates the timestamp `nanoseconds` after the epoch, at most the end of time.
    #[must_use]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        if nanoseconds > i64::MAX.unsigned_abs() {
            Self(i64::MAX)
        } else {
            Self(nanoseconds.cast_signed())
        }
    }

    /// Returns the nanoseconds since the epoch; 0 before it.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0.unsigned_abs() }
    }

    /// Creates the timestamp this many nanoseconds after the epoch; negative for before.
    #[must_use]
    pub const fn from_offset(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Returns the nanoseconds since the epoch; negative before it.
    #[must_use]
    pub const fn offset(self) -> i64 {
        self.0
    }

    /// Returns this point plus `duration`, at most the end of time.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let nanoseconds = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }

    /// Returns the duration since `earlier`; zero if this point is before it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let nanoseconds = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }

    /// Returns this point moved by the distance between `from` and `to`. The end of time stays.
    #[must_use]
    pub fn carried(self, from: Self, to: Self) -> Self {
        if self == Self::END {
            return self;
        }
        Self(self.0.saturating_add(to.0.saturating_sub(from.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_before_the_epoch_is_as_old_as_it_is() {
        let now = Timestamp::from_nanos(5);
        let began = Timestamp::from_nanos(100).carried(Timestamp::from_nanos(140), now);
        assert_eq!(began.offset(), -35);
        assert_eq!(now.since(began), Duration::from_nanos(40));
        assert_eq!((began.as_nanos(), began.since(now)), (0, Duration::ZERO));
        assert_eq!(began.plus(Duration::from_nanos(35)), Timestamp::ZERO);
    }

    #[test]
    fn time_has_ends() {
        let far = Timestamp::from_nanos(u64::MAX);
        assert_eq!(far.plus(Duration::MAX), far);
        let first = Timestamp::from_offset(i64::MIN);
        assert_eq!(far.since(first), Duration::from_nanos(u64::MAX));
        assert_eq!(far.carried(first, far), far);
        assert_eq!(far, Timestamp::END);
        let never = Timestamp::END.carried(Timestamp::END, Timestamp::ZERO);
        assert_eq!(never, Timestamp::END);
    }
}
