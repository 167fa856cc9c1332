//! The keys of a deleted tree.

use std::fmt;
use std::sync::Arc;

use crate::Index;
use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::kv::row::KvRow;
use crate::ordered::OrderedMap;

/// The keys of a deleted tree, however many, as they lay in the table.
#[derive(Clone, PartialEq, Eq)]
pub struct DeletedKeys(pub(super) OrderedMap<Key, Arc<KvRow>, Index>);

impl DeletedKeys {
    /// Returns the keys in byte order.
    pub fn iter(&self) -> impl Iterator<Item = &Key> {
        self.0.keys()
    }

    /// Whether there are more than so many keys.
    #[must_use]
    pub fn are_more_than(&self, count: usize) -> bool {
        self.len() > count
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a key is one of them.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }

    /// Whether one of them starts with `prefix`.
    pub(crate) fn any_under(&self, prefix: &[u8]) -> bool {
        let end = after_prefix(prefix);
        let mut rows = self
            .0
            .range::<_, [u8]>(prefix_bounds(prefix, end.as_deref()));
        rows.next().is_some()
    }
}

impl fmt::Debug for DeletedKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
impl FromIterator<Key> for DeletedKeys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let row = Arc::new(KvRow::default());
        let rows = keys.into_iter().map(|key| (key, Arc::clone(&row)));
        Self(rows.collect())
    }
}
