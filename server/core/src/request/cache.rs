//! The agent's cache: what it has been asked for (session.md 4.5c).

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use proconsul_engine::Generation;
use proconsul_store::timestamp::Timestamp;

/// How long an entry is kept that is not asked for.
const KEPT_FOR: Duration = Duration::from_secs(72 * 60 * 60);
/// The most entries. Consul's cache has no such limit.
const ENTRIES: usize = 10_000;
/// The longest key of an entry in bytes.
const LONGEST_KEY: usize = 1024;

/// The cache of an agent.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<String, Entry>>);

/// A moment of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) era: Generation,
    pub(crate) now: Timestamp,
}

/// What an entry holds. Entries that follow the state hold nothing: they are read again.
pub(crate) type Value = Arc<dyn Any + Send + Sync>;

#[derive(Debug)]
struct Entry {
    fetched: Moment,
    used: Timestamp,
    value: Option<Value>,
}

/// An entry that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) age: Duration,
    pub(crate) value: Option<Value>,
}

impl Cache {
    /// Finds an entry. Entries of a state that was replaced since are gone.
    pub(crate) fn find(&self, key: &str, at: Moment) -> Option<Found> {
        let mut entries = self.0.lock();
        let entry = entries.get_mut(key)?;
        if entry.fetched.era != at.era || at.now.since(entry.used) > KEPT_FOR {
            entries.remove(key);
            return None;
        }
        entry.used = at.now;
        Some(Found {
            age: at.now.since(entry.fetched.now),
            value: entry.value.clone(),
        })
    }

    /// Keeps an entry. When there are too many, the one that was longest unused goes.
    pub(crate) fn keep(&self, key: String, at: Moment, value: Option<Value>) {
        if key.len() > LONGEST_KEY {
            return;
        }
        let mut entries = self.0.lock();
        if entries.len() >= ENTRIES && !entries.contains_key(&key) {
            let unused = entries.iter().min_by_key(|(key, entry)| (entry.used, *key));
            if let Some(key) = unused.map(|(key, _)| key.clone()) {
                entries.remove(&key);
            }
        }
        let entry = Entry {
            fetched: at,
            used: at.now,
            value,
        };
        entries.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment {
            era: Generation::default(),
            now: Timestamp::ZERO.plus(Duration::from_secs(seconds)),
        }
    }

    #[test]
    fn entries_go_three_days_after_they_were_used_last() {
        let cache = Cache::default();
        cache.keep("a".to_owned(), at(0), None);
        let day = 24 * 60 * 60;
        let age = |days: u64| {
            cache
                .find("a", at(days * day))
                .map(|found| found.age.as_secs())
        };
        assert_eq!(age(2), Some(2 * day));
        assert_eq!(age(5), Some(5 * day));
        assert_eq!(age(9), None);
    }

    #[test]
    fn the_cache_does_not_grow_beyond_its_limits() {
        let cache = Cache::default();
        cache.keep("a".repeat(LONGEST_KEY + 1), at(0), None);
        assert!(cache.0.lock().is_empty());
        for number in 0..ENTRIES + 10 {
            cache.keep(number.to_string(), at(number as u64), None);
        }
        assert_eq!(cache.0.lock().len(), ENTRIES);
        assert!(cache.find("9", at(ENTRIES as u64)).is_none());
        assert!(cache.find("10", at(ENTRIES as u64)).is_some());
    }
}
