//! The keys: rows, the verbs that write them, and the indexes that reads report.

use std::sync::Arc;

use imbl::OrdMap;

use super::command::{AcquireRefused, Content, Refusal};
use super::effects::Touched;
use super::index::Index;
use super::key::{Key, after_prefix, prefix_bounds};
use super::query::{Answer, Entry, ReadSet, Rows, Watch};
use super::{Change, Store, radix};

/// What is stored under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvRow {
    /// The value; empty is Consul's `null`.
    pub value: Box<[u8]>,
    /// The flags that the last write gave.
    pub flags: u64,
    /// How often the key was acquired, as far as plain writes have not set it back to 0 (kv.md 2.5).
    pub lock_index: u64,
    /// The holder, spelled as in the acquire: later compares are exact (kv.md 2.5).
    pub session: Option<Box<str>>,
    /// The index of the write that made the key.
    pub create_index: Index,
    /// The index of the last write that changed the row.
    pub modify_index: Index,
}

impl KvRow {
    /// Whether writing `other` over this row would change nothing (kv.md 2.3).
    fn same_content(&self, other: &Self) -> bool {
        self.lock_index == other.lock_index
            && self.flags == other.flags
            && self.value == other.value
            && self.session == other.session
    }
}

/// The KV table.
#[derive(Clone, Debug, Default)]
pub(super) struct KvTable {
    pub(super) rows: OrdMap<Key, Arc<KvRow>>,
    /// The index of the last change of any row (`kvs.max` in kv.md 4.2).
    pub(super) newest: Index,
}

impl KvTable {
    pub(super) fn get(&self, key: &[u8]) -> Option<&Arc<KvRow>> {
        self.rows.get(key)
    }

    /// The rows whose keys start with `prefix`, in byte order.
    pub(super) fn under(&self, prefix: &[u8]) -> Vec<Entry> {
        if prefix.is_empty() {
            return self.rows.iter().map(owned).collect();
        }
        let end = after_prefix(prefix);
        self.rows
            .range::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
            .map(owned)
            .collect()
    }
}

fn owned((key, row): (&Key, &Arc<KvRow>)) -> Entry {
    (key.clone(), Arc::clone(row))
}

impl Store {
    /// `G` of kv.md 4.2: the index of a missing key and of an empty prefix that nothing is known about.
    pub(super) fn kv_newest(&self) -> Index {
        self.kv.newest.max(self.tombstones.newest())
    }

    /// Reads one key.
    pub(super) fn kv_get(&self, key: &Key) -> Answer {
        let Some(row) = self.kv.get(key.as_bytes()) else {
            return self.kv_missing(key);
        };
        Answer {
            index: row.modify_index.reported(),
            rows: Rows::Entry(Some((key.clone(), Arc::clone(row)))),
            reads: vec![Watch::Key(key.clone())],
            waits_for_existence: false,
        }
    }

    fn kv_missing(&self, key: &Key) -> Answer {
        let waits = self.rules.missing_keeps_blocking;
        let watch = if waits {
            // Writes of neighbours cannot end the wait: nobody needs to look.
            Watch::Key(key.clone())
        } else {
            let path = [key.as_bytes(), &[0]].concat();
            Watch::KeyPrefix(radix::watched_node(&self.kv.rows, &path))
        };
        Answer {
            index: self.kv_newest().reported(),
            rows: Rows::Entry(None),
            reads: vec![watch],
            waits_for_existence: waits,
        }
    }

    /// Reads all keys with a prefix; also what a listing of keys is made from (kv.md 1.4).
    pub(super) fn kv_list(&self, prefix: &Key) -> Answer {
        let entries = self.kv.under(prefix.as_bytes());
        Answer {
            index: self.prefix_index(prefix, &entries).reported(),
            reads: self.prefix_reads(prefix, entries.is_empty()),
            rows: Rows::Entries(entries),
            waits_for_existence: false,
        }
    }

    fn prefix_index(&self, prefix: &Key, entries: &[Entry]) -> Index {
        if prefix.is_empty() {
            return self.kv_newest();
        }
        let newest_row = entries.iter().map(|(_, row)| row.modify_index).max();
        newest_row
            .max(self.tombstones.newest_under(prefix.as_bytes()))
            .unwrap_or_else(|| self.kv_newest())
    }

    fn prefix_reads(&self, prefix: &Key, empty: bool) -> ReadSet {
        if !empty || prefix.is_empty() {
            return vec![Watch::KeyPrefix(prefix.clone())];
        }
        // A wait on an empty prefix may end early in every version (kv.md 5.4, 1.22.md A5).
        vec![Watch::KeyPrefix(radix::watched_node(
            &self.kv.rows,
            prefix.as_bytes(),
        ))]
    }
}

impl Change<'_> {
    /// Writes a key, whatever is there.
    pub(super) fn kv_set(&mut self, key: &Key, content: Content) {
        let session = self.holder(key).map(Box::from);
        // Only an acquire keeps or raises the lock index (kv.md trap 2).
        self.put(key, content, 0, session);
    }

    /// Writes a key if its modify index is `index`; 0 stands for a missing key. Whether it did.
    pub(super) fn kv_cas(&mut self, key: &Key, content: Content, index: Index) -> bool {
        let current = self.store.kv.get(key.as_bytes());
        if current.map_or(Index::ZERO, |row| row.modify_index) != index {
            return false;
        }
        self.kv_set(key, content);
        true
    }

    /// Makes `session` the holder of a key. Whether it is now.
    pub(super) fn kv_acquire(
        &mut self,
        key: &Key,
        content: Content,
        session: &str,
    ) -> Result<bool, Refusal> {
        if session.is_empty() {
            return Err(Refusal::MissingSession);
        }
        self.store.require_session(session)?;
        let lock_index = match self.store.kv.get(key.as_bytes()) {
            None => 1,
            Some(row) => match row.session.as_deref() {
                None => row.lock_index + 1,
                Some(holder) if holder == session => row.lock_index,
                Some(holder) => {
                    let refused = AcquireRefused::HeldBy(holder.into());
                    self.effects.acquire_refused = Some(refused);
                    return Ok(false);
                }
            },
        };
        self.put(key, content, lock_index, Some(session.into()));
        Ok(true)
    }

    /// Lets `session` give a key up. Whether it held it.
    pub(super) fn kv_release(
        &mut self,
        key: &Key,
        content: Content,
        session: &str,
    ) -> Result<bool, Refusal> {
        if session.is_empty() {
            return Err(Refusal::MissingSession);
        }
        let Some(row) = self.store.kv.get(key.as_bytes()) else {
            return Ok(false);
        };
        if row.session.as_deref() != Some(session) {
            return Ok(false);
        }
        let lock_index = row.lock_index;
        self.put(key, content, lock_index, None);
        Ok(true)
    }

    /// Deletes a key, if it is there.
    pub(super) fn kv_delete(&mut self, key: &Key) {
        if self.remove(key) {
            self.bury(key.clone());
        }
    }

    /// Deletes a key if its modify index is `index`; a missing key counts as deleted (kv.md trap 18).
    pub(super) fn kv_delete_cas(&mut self, key: &Key, index: Index) -> bool {
        match self.store.kv.get(key.as_bytes()) {
            None => true,
            Some(row) if row.modify_index != index => false,
            Some(_) => {
                self.kv_delete(key);
                true
            }
        }
    }

    /// Deletes every key that starts with `prefix`.
    pub(super) fn kv_delete_tree(&mut self, prefix: &Key) {
        let doomed = self.store.kv.under(prefix.as_bytes());
        if doomed.is_empty() {
            return;
        }
        for (key, _) in doomed {
            self.remove(&key);
        }
        // One tombstone for the whole tree, and none at all for the whole store (kv.md 3, 4.3).
        if !prefix.is_empty() {
            self.bury(prefix.clone());
        }
    }

    /// Stores a row unless it would change nothing.
    pub(super) fn put(
        &mut self,
        key: &Key,
        content: Content,
        lock_index: u64,
        session: Option<Box<str>>,
    ) {
        let current = self.store.kv.get(key.as_bytes());
        let row = KvRow {
            value: content.value,
            flags: content.flags,
            lock_index,
            session,
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
        };
        if current.is_some_and(|current| current.same_content(&row)) {
            return;
        }
        let before = current.and_then(|current| current.session.clone());
        self.holder_changed(key, before.as_deref(), row.session.as_deref());
        // A key that exists keeps its allocation: the map's own key goes back in.
        let key = self
            .store
            .kv
            .rows
            .get_key_value(key.as_bytes())
            .map_or_else(|| key.clone(), |(stored, _)| stored.clone());
        self.store.kv.rows.insert(key.clone(), Arc::new(row));
        self.kv_touched(key);
    }

    /// Takes a row out. Whether there was one.
    pub(super) fn remove(&mut self, key: &Key) -> bool {
        let Some(row) = self.store.kv.rows.remove(key.as_bytes()) else {
            return false;
        };
        self.holder_changed(key, row.session.as_deref(), None);
        self.kv_touched(key.clone());
        true
    }

    /// Sets the tombstone of a key or a tree that was deleted.
    pub(super) fn bury(&mut self, key: Key) {
        self.store.tombstones.set(self.now, key, self.index);
    }

    fn kv_touched(&mut self, key: Key) {
        self.store.kv.newest = self.index;
        self.effects.touched.push(Touched::Key(key));
    }

    fn holder(&self, key: &Key) -> Option<&str> {
        self.store.kv.get(key.as_bytes())?.session.as_deref()
    }
}
