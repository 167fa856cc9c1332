//! Consul's indexes.

use std::fmt;

/// A raft index: the number of a log entry, and the create, modify and table indexes that stem from it.
///
/// The lock index of a key is not one of these: it counts acquisitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Index(pub u64);

impl Index {
    /// No entry yet. Consul never sends it: a read reports it as 1 (kv.md 4.2).
    pub const ZERO: Self = Self(0);

    /// The index as a read reports it: never 0.
    #[must_use]
    pub fn reported(self) -> Self {
        Self(self.0.max(1))
    }
}

impl fmt::Display for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
