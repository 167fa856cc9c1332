//! Lock-delays: when a session is invalidated, its keys cannot be acquired for a while (kv.md 8, session.md
//! 3.3).

use std::time::Duration;

use crate::kv::key::Key;
use crate::ordered::{OrderedMap, OrderedSet};
use crate::timestamp::Timestamp;

/// The longest lock-delay in effect. A longer one is stored and shown as given (session.md 1.2).
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// The keys under a lock-delay, with its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockDelays {
    pub(crate) by_key: OrderedMap<Key, Timestamp>,
    pub(crate) by_end: OrderedSet<(Timestamp, Key)>,
}

impl LockDelays {
    /// Starts a lock-delay of `key`, given in nanoseconds. Zero, a negative one, and one at the end of time
    /// have no effect.
    pub(crate) fn start(&mut self, now: Timestamp, key: &Key, lock_delay_ns: i64) {
        let Ok(nanoseconds @ 1..) = u64::try_from(lock_delay_ns) else {
            return;
        };
        let end = now.plus(Duration::from_nanos(nanoseconds).min(LONGEST));
        self.end(key);
        if end == now {
            return;
        }
        self.by_key.insert(key.clone(), end);
        self.by_end.insert((end, key.clone()));
    }

    /// Returns the rest of the lock-delay of `key`.
    pub(crate) fn left(&self, now: Timestamp, key: &Key) -> Option<Duration> {
        let end = self.by_key.get(key)?;
        (*end > now).then(|| end.since(now))
    }

    /// Returns the next lock-delay to end.
    pub(crate) fn next_end(&self) -> Option<&(Timestamp, Key)> {
        self.by_end.first()
    }

    /// Ends the lock-delay of `key`.
    pub(crate) fn end(&mut self, key: &Key) {
        if let Some(end) = self.by_key.remove(key) {
            self.by_end.remove(&(end, key.clone()));
        }
    }
}
