//! The keys of a deleted tree.

use std::fmt;
use std::sync::Arc;

use crate::Index;
use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::kv::row::KvRow;
use crate::ordered::OrderedMap;

/// The keys of a deleted tree, however many, as they lay in the table.
#[derive(Clone, PartialEq, Eq)]
pub struct DeletedKeys {
    /// What the keys start with.
    pub prefix: Key,
    pub(super) rows: OrderedMap<Key, Arc<KvRow>, Index>,
    /// Those of the keys that sessions held, in byte order.
    pub held: Vec<Key>,
}

impl DeletedKeys {
    /// Returns the keys in byte order.
    pub fn iter(&self) -> impl Iterator<Item = &Key> {
        self.rows.keys()
    }

    /// Returns the number of keys. There is at least one.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a tree without keys is not deleted"
    )]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether a key is one of them.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.rows.contains_key(key)
    }

    /// Whether one of them starts with `prefix`.
    pub(crate) fn any_under(&self, prefix: &[u8]) -> bool {
        let end = after_prefix(prefix);
        let mut rows = self
            .rows
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
        Self {
            prefix: Key::new(""),
            rows: rows.collect(),
            held: Vec::new(),
        }
    }
}
