//! The row of a key.

use std::sync::Arc;

use bytes::Bytes;

use crate::Index;
use crate::kv::key::Key;
use crate::ordered::Summary;

/// The row of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvRow {
    /// The value; an empty one is shown as `null`.
    pub value: Bytes,
    /// `None` for a key without any of it, so that a million of these take 30 MiB less.
    rare: Option<Box<Rare>>,
    /// The index of the write that created the key.
    pub create_index: Index,
    /// The index of the last write that changed the row.
    pub modify_index: Index,
}

/// What few keys have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rare {
    /// The flags of the last write.
    pub(crate) flags: u64,
    /// The number of acquires since the last plain write, which resets it (kv.md 2.5).
    pub(crate) lock_index: u64,
    /// The holder, spelled as in the acquire: comparisons are exact (kv.md 2.5).
    pub(crate) session: Option<Box<str>>,
}

/// A key with its row.
pub type Entry = (Key, Arc<KvRow>);

impl KvRow {
    /// Returns a row with this value and this of what few keys have.
    pub(crate) fn new(value: Bytes, rare: Rare, create_index: Index, modify_index: Index) -> Self {
        Self {
            value,
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
            create_index,
            modify_index,
        }
    }

    /// Returns the flags of the last write.
    #[must_use]
    pub fn flags(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.flags)
    }

    /// Returns the number of acquires since the last plain write, which resets it (kv.md 2.5).
    #[must_use]
    pub fn lock_index(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.lock_index)
    }

    /// Returns the holder, spelled as in the acquire: comparisons are exact (kv.md 2.5).
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.rare.as_ref()?.session.as_deref()
    }

    /// Returns what few keys have.
    #[cfg(feature = "dump")]
    pub(crate) fn into_rare(self) -> Rare {
        self.rare.map_or_else(Rare::default, |rare| *rare)
    }

    /// Whether replacing this row by `other` changes nothing (kv.md 2.3).
    pub(super) fn same_content(&self, other: &Self) -> bool {
        self.rare == other.rare && self.value == other.value
    }
}

impl Summary<Arc<KvRow>> for Index {
    fn of(row: &Arc<KvRow>) -> Self {
        row.modify_index
    }
}
