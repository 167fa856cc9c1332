//! A point in time, as plain data: the only form in which time reaches the store.

#[cfg(feature = "serde")]
use crate::image::value::text;
use std::time::Duration;

/// A point on a server's clock, in nanoseconds since that clock's epoch.
///
/// Plain data: it cannot be read off a machine clock here, only be passed in (design rule 1). No clock shows a time
/// before its epoch, but a state that was brought from another server may have begun there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Timestamp(#[cfg_attr(feature = "serde", serde(with = "text"))] i64);

impl Timestamp {
    /// The epoch of every clock.
    pub const ZERO: Self = Self(0);

    /// The end of time, 292 years after the epoch of the clock. What would happen then or later never does: a clock that
    /// has come to its end stands still, and nothing can be due after it.
    pub const END: Self = Self(i64::MAX);

    /// The timestamp `nanoseconds` after the epoch; the far end of time where that does not fit.
    #[must_use]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        if nanoseconds > i64::MAX.unsigned_abs() {
            Self(i64::MAX)
        } else {
            Self(nanoseconds.cast_signed())
        }
    }

    /// Nanoseconds since the epoch; 0 before it.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0.unsigned_abs() }
    }

    /// The timestamp this many nanoseconds after the epoch, or before it.
    #[must_use]
    pub const fn from_offset(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the epoch; negative before it.
    #[must_use]
    pub const fn offset(self) -> i64 {
        self.0
    }

    /// This point plus `duration`; the far end of time where that does not fit.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let nanoseconds = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }

    /// How long after `earlier` this point lies; zero when it lies before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let nanoseconds = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }

    /// The point that lies to `to` as this one lies to `from`. The end of time stays where it is.
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
