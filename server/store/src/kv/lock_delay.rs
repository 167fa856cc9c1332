//! Lock-delay: after a session was invalidated, the keys that it held cannot be acquired for a while
//! (kv.md 8, session.md 3.3).

use std::time::Duration;

use imbl::{OrdMap, OrdSet};

use crate::kv::key::Key;
use crate::timestamp::Timestamp;

/// A longer lock-delay is stored and shown as given, and acts as this one (session.md 1.2).
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// The keys that cannot be acquired, and until when.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockDelays {
    pub(crate) by_key: OrdMap<Key, Timestamp>,
    pub(crate) by_end: OrdSet<(Timestamp, Key)>,
}

impl LockDelays {
    /// Guards `key` for a session's lock-delay, in nanoseconds; none or a negative one guards nothing, nor does one that
    /// begins at the end of time.
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

    /// How long `key` cannot be acquired yet.
    pub(crate) fn left(&self, now: Timestamp, key: &Key) -> Option<Duration> {
        let end = self.by_key.get(key)?;
        (*end > now).then(|| end.since(now))
    }

    /// The next guard that ends.
    pub(crate) fn next_end(&self) -> Option<&(Timestamp, Key)> {
        self.by_end.get_min()
    }

    /// Lifts the guard of `key`.
    pub(crate) fn end(&mut self, key: &Key) {
        if let Some(end) = self.by_key.remove(key) {
            self.by_end.remove(&(end, key.clone()));
        }
    }
}
