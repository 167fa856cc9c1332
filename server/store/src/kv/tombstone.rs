//! The memory of deleted keys: it keeps the index of a prefix from sliding back at a delete (kv.md 4.2).

use std::time::Duration;

use imbl::OrdMap;

use crate::Index;
use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::timestamp::Timestamp;

/// How long a tombstone lives at least (kv.md 4.3). Not configurable in any Consul.
const LIFETIME: Duration = Duration::from_secs(15 * 60);
/// Reaping happens at multiples of this, so a tombstone can live this much longer.
const GRANULARITY: Duration = Duration::from_secs(30);

/// All tombstones, and when they go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    /// Key or deleted prefix -> index of the delete.
    pub(crate) by_key: OrdMap<Key, Index>,
    /// When to reap -> the newest index to reap then.
    pub(crate) reaps: OrdMap<Timestamp, Index>,
    /// The index of the last tombstone ever set. Reaping does not lower it.
    pub(crate) newest: Index,
    /// Where the multiples are counted from: the clock's epoch, but for a state that comes from another time.
    pub(crate) counted_from: Timestamp,
}

impl Tombstones {
    /// Remembers that `key`, or everything under it, was deleted at `index`.
    pub(crate) fn set(&mut self, now: Timestamp, key: Key, index: Index) {
        self.by_key.insert(key, index);
        self.newest = index;
        self.reaps.insert(self.reap_time(now), index);
    }

    /// The newest delete at or under `prefix`.
    pub(crate) fn newest_under(&self, prefix: &[u8]) -> Option<Index> {
        let end = after_prefix(prefix);
        self.by_key
            .range::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
            .map(|(_, index)| *index)
            .max()
    }

    /// The index of the last tombstone ever set.
    pub(crate) fn newest(&self) -> Index {
        self.newest
    }

    /// The next reap: when, and up to which index.
    pub(crate) fn next_reap(&self) -> Option<(Timestamp, Index)> {
        self.reaps.get_min().copied()
    }

    /// Maps every index, as far as tombstones have one.
    pub(crate) fn lower(&mut self, low: impl Fn(Index) -> Index) {
        self.newest = low(self.newest);
        let by_key = self.by_key.iter();
        self.by_key = by_key
            .map(|(key, index)| (key.clone(), low(*index)))
            .collect();
        let reaps = self.reaps.iter();
        self.reaps = reaps.map(|(at, index)| (*at, low(*index))).collect();
    }

    /// Forgets all tombstones up to `up_to`. Nobody is woken by it (kv.md 4.3).
    pub(crate) fn reap(&mut self, up_to: Index) {
        self.by_key = std::mem::take(&mut self.by_key)
            .into_iter()
            .filter(|(_, index)| *index > up_to)
            .collect();
        self.reaps = std::mem::take(&mut self.reaps)
            .into_iter()
            .filter(|(_, index)| *index > up_to)
            .collect();
    }

    /// The end of a tombstone's life, rounded up to the next boundary.
    fn reap_time(&self, now: Timestamp) -> Timestamp {
        let step = GRANULARITY.as_nanos();
        let expiry = now.plus(LIFETIME).since(self.counted_from).as_nanos();
        let boundary = expiry.div_ceil(step) * step;
        let boundary = u64::try_from(boundary).unwrap_or(u64::MAX);
        self.counted_from.plus(Duration::from_nanos(boundary))
    }
}
