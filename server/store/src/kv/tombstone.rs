//! Tombstones of deleted keys. They keep the index of a prefix from going back at a delete (kv.md 4.2).

use std::time::Duration;

use crate::Index;
use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::ordered::{OrderedMap, Summary};
use crate::timestamp::Timestamp;

/// The shortest life of a tombstone (kv.md 4.3). Consul has no option for it.
const LIFETIME: Duration = Duration::from_secs(15 * 60);
/// Tombstones are reaped at multiples of this, so they may live this much longer.
const GRANULARITY: Duration = Duration::from_secs(30);

impl Summary<Index> for Index {
    fn of(index: &Index) -> Self {
        *index
    }
}

/// The tombstones, with the times of their reaping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    /// The index of the delete, by key or prefix.
    pub(crate) by_key: OrderedMap<Key, Index, Index>,
    /// The newest index to reap, by time.
    pub(crate) reaps: OrderedMap<Timestamp, Index>,
    /// The index of the last tombstone set. Reaping does not lower it.
    pub(crate) newest: Index,
    /// The origin of the multiples: the clock's epoch, or another time in a loaded state.
    pub(crate) counted_from: Timestamp,
}

impl Tombstones {
    /// Sets the tombstone of a key or a deleted prefix.
    pub(crate) fn set(&mut self, now: Timestamp, key: Key, index: Index) {
        self.by_key.insert(key, index);
        self.newest = index;
        self.reaps.insert(self.reap_time(now), index);
    }

    /// Returns the index of the newest delete at or under `prefix`.
    pub(crate) fn newest_under(&self, prefix: &[u8]) -> Option<Index> {
        let end = after_prefix(prefix);
        self.by_key
            .summary::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
    }

    /// Returns the index of the last tombstone set.
    pub(crate) fn newest(&self) -> Index {
        self.newest
    }

    /// Returns the time and the index of the next reaping.
    pub(crate) fn next_reap(&self) -> Option<(Timestamp, Index)> {
        let (at, index) = self.reaps.first_key_value()?;
        Some((*at, *index))
    }

    /// Replaces every index by `low` of it.
    pub(crate) fn lower(&mut self, low: impl Fn(Index) -> Index) {
        self.newest = low(self.newest);
        let by_key = self.by_key.iter();
        self.by_key = by_key
            .map(|(key, index)| (key.clone(), low(*index)))
            .collect();
        let reaps = self.reaps.iter();
        self.reaps = reaps.map(|(at, index)| (*at, low(*index))).collect();
    }

    /// Removes the tombstones up to `up_to`. This wakes no waiter (kv.md 4.3).
    pub(crate) fn reap(&mut self, up_to: Index) {
        let by_key = self.by_key.iter();
        self.by_key = by_key
            .filter(|(_, index)| **index > up_to)
            .map(|(key, index)| (key.clone(), *index))
            .collect();
        let reaps = self.reaps.iter();
        self.reaps = reaps
            .filter(|(_, index)| **index > up_to)
            .map(|(at, index)| (*at, *index))
            .collect();
    }

    /// Returns the end of a new tombstone's life, rounded up to the next multiple.
    fn reap_time(&self, now: Timestamp) -> Timestamp {
        let step = GRANULARITY.as_nanos();
        let expiry = now.plus(LIFETIME).since(self.counted_from).as_nanos();
        let boundary = expiry.div_ceil(step) * step;
        let boundary = u64::try_from(boundary).unwrap_or(u64::MAX);
        self.counted_from.plus(Duration::from_nanos(boundary))
    }
}
