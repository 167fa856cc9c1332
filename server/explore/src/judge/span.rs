//! Moments and spans of a run.

/// A moment in nanoseconds of the server's clock.
pub(super) type At = u64;

/// An interval of time; `to` is the end of the run for what has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: At,
    pub(super) to: At,
}

impl Span {
    pub(super) fn contains(self, at: At) -> bool {
        (self.from..self.to).contains(&at)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}
