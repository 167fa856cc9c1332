//! The KV store: rows, the verbs that write them, and the indexes that reads report.

pub(crate) mod deleted;
pub(crate) mod key;
pub(crate) mod lock_delay;
pub(crate) mod radix;
pub(crate) mod row;
pub(crate) mod tombstone;
mod tree;

use std::convert::Infallible;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use crate::Index;
use crate::command::effects::{Note, Touched};
use crate::command::entry::LogEntry;
use crate::command::{AcquireRefused, Command, KvRefused, Refusal};
use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::kv::row::Rare;
pub use crate::kv::row::{Entry, KvRow};
use crate::ordered::OrderedMap;
use crate::read::{Answer, News, Read, ReadResult, ReadSet, Subject, Watch};
use crate::timestamp::Timestamp;
use crate::{Change, Store};

/// The largest raft entry. Consul splits a longer one, and each part takes an index (kv.md 2.2).
const RAFT_ENTRY_BYTES: usize = 524_288;
/// The approximate size of a raft entry without key and value. Consul's varies with the request.
const RAFT_ENTRY_OVERHEAD: usize = 128;

/// The longest value that is copied when it is stored. A short value is a slice of a connection's buffer, and
/// would keep that much larger buffer alive. A longer value came in its own buffer.
const COPIED_VALUE: usize = 64 * 1024;

/// Writes a key or deletes a tree of keys.
#[derive(Clone, Debug)]
pub struct KvWrite {
    /// The key, or the prefix for [`KvVerb::DeleteTree`].
    pub key: Key,
    /// The operation.
    pub verb: KvVerb,
}

/// A write whose acquire has passed the check of the lock-delay already: it was in flight while the lock-delay began
/// (session.md 3.3).
#[derive(Clone, Debug)]
pub struct KvWriteInFlight(pub KvWrite);

/// The operation of a KV write, for the KV endpoint and transactions.
#[derive(Clone, Debug)]
pub enum KvVerb {
    /// Write unconditionally (kv.md 2.3).
    Set(Content),
    /// Write if the modify index matches; 0 requires a missing key (kv.md 2.4).
    Cas(Content, Index),
    /// Write and become the holder (kv.md 2.5); `lock` in a transaction.
    Acquire(Content, String),
    /// Write and release (kv.md 2.5); `unlock` in a transaction.
    Release(Content, String),
    /// Delete the key.
    Delete,
    /// Delete the key if its modify index matches; a missing key counts as deleted (kv.md 3).
    DeleteCas(Index),
    /// Delete every key with this prefix.
    DeleteTree,
}

impl KvVerb {
    /// Returns the name of the operation in the log.
    fn name(&self) -> &'static str {
        match self {
            Self::Set(_) => "set",
            Self::Cas(..) => "cas",
            Self::Acquire(..) => "lock",
            Self::Release(..) => "unlock",
            Self::Delete => "delete",
            Self::DeleteCas(_) => "delete-cas",
            Self::DeleteTree => "delete-tree",
        }
    }
}

/// The content of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The value; an empty one is shown as `null`.
    pub value: Bytes,
    /// The flags. Unset, they are 0, even for an existing key (kv.md trap 4).
    pub flags: u64,
}

/// Reads a single key.
#[derive(Clone, Debug)]
pub struct KvGet(pub Key);

/// Reads all keys with a prefix, in byte order; an empty prefix reads the whole store.
#[derive(Clone, Debug)]
pub struct KvList(pub Key);

/// Reads the names of all keys with a prefix, in byte order, each up to the first separator behind the prefix and once
/// (kv.md 1.4). It takes the time of the names, however many keys they stand for.
#[derive(Clone, Debug)]
pub struct KvNames {
    /// What the keys start with; empty for the whole store.
    pub prefix: Key,
    /// Where names end; empty for whole keys.
    pub separator: Box<[u8]>,
}

/// The KV table.
#[derive(Clone, Debug, Default)]
pub(crate) struct KvTable {
    /// With the newest modify index of each branch.
    pub(crate) rows: OrderedMap<Key, Arc<KvRow>, Index>,
    /// The index of the last change of any row (`kvs.max` in kv.md 4.2).
    pub(crate) newest: Index,
}

impl KvTable {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Arc<KvRow>> {
        self.rows.get(key)
    }

    /// Returns the rows with a prefix, in byte order.
    pub(crate) fn under(&self, prefix: &[u8]) -> Vec<Entry> {
        if prefix.is_empty() {
            return self.rows.iter().map(owned).collect();
        }
        let end = after_prefix(prefix);
        self.rows
            .range::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
            .map(owned)
            .collect()
    }

    /// Returns the newest modify index of the rows with a prefix.
    fn newest_under(&self, prefix: &[u8]) -> Option<Index> {
        let end = after_prefix(prefix);
        self.rows
            .summary::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
    }

    /// Returns the number of rows with a prefix.
    fn count_under(&self, prefix: &[u8]) -> usize {
        let end = after_prefix(prefix);
        self.rows
            .count::<_, [u8]>(prefix_bounds(prefix, end.as_deref()))
    }

    /// Returns the names of [`KvNames`].
    fn names(&self, prefix: &[u8], separator: &[u8]) -> Vec<Key> {
        let end = after_prefix(prefix);
        let (first, last) = prefix_bounds(prefix, end.as_deref());
        let mut keys = self.rows.range::<_, [u8]>((first, last)).peekable();
        let mut names = Vec::new();
        while let Some((key, _)) = keys.next() {
            let Some(name) = key.up_to(separator, prefix.len()) else {
                names.push(key.clone());
                continue;
            };
            names.push(Key::new(name));
            // Skips the other keys of this name, if there are any.
            if keys
                .peek()
                .is_some_and(|(key, _)| key.as_bytes().starts_with(name))
            {
                let Some(next) = after_prefix(name) else {
                    break;
                };
                let rest = (Bound::Included(next.as_slice()), last);
                keys = self.rows.range::<_, [u8]>(rest).peekable();
            }
        }
        names
    }
}

fn owned((key, row): (&Key, &Arc<KvRow>)) -> Entry {
    (key.clone(), Arc::clone(row))
}

impl Read for KvGet {
    type Rows = Option<Entry>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::Key(self.0.clone())
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let key = &self.0;
        let Some(row) = store.kv.get(key.as_bytes()) else {
            return Ok(store.kv_missing(key));
        };
        let entry = (key.clone(), Arc::clone(row));
        let reads = vec![Watch::Key(key.clone())];
        Ok(Answer::new(row.modify_index, Some(entry), reads))
    }
}

impl Read for KvList {
    type Rows = Vec<Entry>;
    type Refused = Infallible;

    fn rows(&self, store: &Store) -> usize {
        store.kv.count_under(self.0.as_bytes())
    }

    fn subject(&self) -> Subject {
        Subject::Prefix(self.0.clone())
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let entries = store.kv.under(self.0.as_bytes());
        let index = store.prefix_index(&self.0);
        let reads = store.prefix_reads(&self.0, entries.is_empty());
        Ok(Answer::new(index, entries, reads))
    }
}

impl Read for KvNames {
    type Rows = Vec<Key>;
    type Refused = Infallible;

    fn rows(&self, store: &Store) -> usize {
        store.kv.count_under(self.prefix.as_bytes())
    }

    fn subject(&self) -> Subject {
        Subject::Prefix(self.prefix.clone())
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let prefix = self.prefix.as_bytes();
        let names = store.kv.names(prefix, &self.separator);
        let index = store.prefix_index(&self.prefix);
        let reads = store.prefix_reads(&self.prefix, names.is_empty());
        Ok(Answer::new(index, names, reads))
    }
}

impl Store {
    /// `G` of kv.md 4.2: the index for a missing key, and for a prefix without keys and tombstones.
    pub(crate) fn kv_newest(&self) -> Index {
        self.kv.newest.max(self.tombstones.newest())
    }

    fn kv_missing(&self, key: &Key) -> Answer<Option<Entry>> {
        if self.rules.missing_keeps_blocking {
            // Writes of neighbours cannot end the wait, so they need not wake it.
            let reads = vec![Watch::Key(key.clone())];
            return Answer {
                news: News::Existence,
                ..Answer::new(self.kv_newest(), None, reads)
            };
        }
        let path = [key.as_bytes(), &[0]].concat();
        Answer::new(self.kv_newest(), None, vec![self.watched_keys(&path)])
    }

    /// Refuses an acquire during the lock-delay of its key. This comes before the check of the session, so a
    /// missing or unknown session gets `false` and no error (kv.md trap 20), and before raft (trap 22).
    pub(crate) fn check_lock_delay(
        &self,
        now: Timestamp,
        key: &Key,
        verb: &KvVerb,
    ) -> Result<(), KvRefused> {
        if !matches!(verb, KvVerb::Acquire(..)) {
            return Ok(());
        }
        let left = self.lock_delays.left(now, key);
        left.map_or(Ok(()), |left| {
            Err(KvRefused::Acquire(AcquireRefused::LockDelay(left)))
        })
    }

    /// Returns the index of a list of the keys with a prefix.
    fn prefix_index(&self, prefix: &Key) -> Index {
        if prefix.is_empty() {
            return self.kv_newest();
        }
        let prefix = prefix.as_bytes();
        let newest = self.kv.newest_under(prefix);
        newest
            .max(self.tombstones.newest_under(prefix))
            .unwrap_or_else(|| self.kv_newest())
    }

    fn prefix_reads(&self, prefix: &Key, empty: bool) -> ReadSet {
        if !empty || prefix.is_empty() {
            return vec![Watch::KeyPrefix(prefix.clone())];
        }
        // A wait on an empty prefix may end early in every version (kv.md 5.4, 1.22.md A5).
        vec![self.watched_keys(prefix.as_bytes())]
    }

    /// Returns the keys whose writes end a wait at a path without keys.
    fn watched_keys(&self, path: &[u8]) -> Watch {
        let watched = radix::watched_node(&self.kv.rows, path);
        let bytes = watched.as_bytes();
        // The terminating NUL is included only beside keys that contain a NUL. Keys of writes have no terminator.
        Watch::KeyPrefix(bytes.strip_suffix(&[0]).map_or(watched.clone(), Key::new))
    }
}

impl Command for KvWrite {
    type Reply = ();
    type Refused = KvRefused;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::kvs(self.verb.name()))
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), KvRefused> {
        let checked = change
            .store
            .check_lock_delay(change.now, &self.key, &self.verb);
        self.run_checked(change, checked)
    }
}

impl Command for KvWriteInFlight {
    type Reply = ();
    type Refused = KvRefused;

    fn entry(&self) -> Option<LogEntry> {
        self.0.entry()
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), KvRefused> {
        self.0.run_checked(change, Ok(()))
    }
}

impl KvWrite {
    /// Applies the write, if the check of its lock-delay has passed.
    fn run_checked(
        self,
        change: &mut Change<'_>,
        checked: Result<(), KvRefused>,
    ) -> Result<(), KvRefused> {
        let Self { key, verb } = self;
        let session = match &verb {
            KvVerb::Acquire(_, session) | KvVerb::Release(_, session) => Some(session.clone()),
            _ => None,
        };
        let acquires = matches!(verb, KvVerb::Acquire(..));
        let written = checked.and_then(|()| {
            change.take_indexes(raft_entries(&key, &verb));
            change.kv_write(&key, verb).map(|_| ())
        });
        let has_other_holder = !change.effects.holders.is_empty();
        change.effects.notes.extend(match (&written, session) {
            (Ok(()), Some(session)) if acquires && !has_other_holder => {
                Some(Note::AcquiredAgain { key, session })
            }
            (Ok(()), _) => None,
            (Err(KvRefused::Acquire(why)), Some(session)) => {
                let why = why.clone();
                Some(Note::AcquireRefused { key, session, why })
            }
            (Err(_), Some(session)) => Some(Note::ReleaseRefused { key, session }),
            (Err(_), None) => Some(Note::WriteRefused(key)),
        });
        written
    }
}

/// Returns the number of raft entries of a write.
fn raft_entries(key: &Key, verb: &KvVerb) -> u64 {
    match verb {
        KvVerb::Set(content)
        | KvVerb::Cas(content, _)
        | KvVerb::Acquire(content, _)
        | KvVerb::Release(content, _) => {
            let bytes = key.as_bytes().len() + content.value.len() + RAFT_ENTRY_OVERHEAD;
            bytes.div_ceil(RAFT_ENTRY_BYTES) as u64
        }
        KvVerb::Delete | KvVerb::DeleteCas(_) | KvVerb::DeleteTree => 1,
    }
}

impl Change<'_> {
    /// Writes a key, and returns its row; `None` for a deletion. The caller has checked the lock-delay.
    pub(crate) fn kv_write(
        &mut self,
        key: &Key,
        verb: KvVerb,
    ) -> Result<Option<Arc<KvRow>>, KvRefused> {
        let row = match verb {
            KvVerb::Set(content) => self.kv_set(key, content),
            KvVerb::Cas(content, index) => {
                // 0 is a missing key.
                let current = self.store.kv.get(key.as_bytes());
                if current.map_or(Index::ZERO, |row| row.modify_index) != index {
                    return Err(KvRefused::StaleSet);
                }
                self.kv_set(key, content)
            }
            KvVerb::Acquire(content, session) => {
                let acquired = self.kv_acquire(key, content, &session);
                acquired.map_err(KvRefused::Acquire)?
            }
            KvVerb::Release(content, session) => self.kv_release(key, content, &session)?,
            KvVerb::Delete => {
                self.kv_delete(key);
                return Ok(None);
            }
            KvVerb::DeleteCas(index) => {
                match self.store.kv.get(key.as_bytes()) {
                    // A missing key counts as deleted (kv.md trap 18).
                    None => {}
                    Some(row) if row.modify_index != index => return Err(KvRefused::StaleDelete),
                    Some(_) => self.kv_delete(key),
                }
                return Ok(None);
            }
            KvVerb::DeleteTree => {
                self.kv_delete_tree(key);
                return Ok(None);
            }
        };
        Ok(Some(row))
    }

    /// Writes a key unconditionally.
    fn kv_set(&mut self, key: &Key, content: Content) -> Arc<KvRow> {
        // Only an acquire keeps or raises the lock index (kv.md trap 2).
        self.put(key, content, 0, |holder| holder.map(Box::from))
    }

    /// Makes `session` the holder of a key.
    fn kv_acquire(
        &mut self,
        key: &Key,
        content: Content,
        session: &str,
    ) -> Result<Arc<KvRow>, AcquireRefused> {
        if session.is_empty() {
            return Err(AcquireRefused::Session(Refusal::MissingSession));
        }
        let found = self.store.require_session(session);
        found.map_err(AcquireRefused::Session)?;
        let lock_index = match self.store.kv.get(key.as_bytes()) {
            None => 1,
            Some(row) => match row.session() {
                None => row.lock_index() + 1,
                Some(holder) if holder == session => row.lock_index(),
                Some(holder) => return Err(AcquireRefused::HeldBy(holder.into())),
            },
        };
        Ok(self.put(key, content, lock_index, |_| Some(session.into())))
    }

    /// Releases a key that `session` holds.
    fn kv_release(
        &mut self,
        key: &Key,
        content: Content,
        session: &str,
    ) -> Result<Arc<KvRow>, KvRefused> {
        if session.is_empty() {
            return Err(KvRefused::Release(Refusal::MissingSession));
        }
        let row = self.store.kv.get(key.as_bytes());
        let held = row.filter(|row| row.session() == Some(session));
        let lock_index = held.ok_or(KvRefused::NotHolder)?.lock_index();
        Ok(self.put(key, content, lock_index, |_| None))
    }

    /// Deletes a key if it exists.
    pub(crate) fn kv_delete(&mut self, key: &Key) {
        if self.remove(key) {
            self.kv_merged(key);
            self.bury(key.clone());
        }
    }

    /// Wakes the reads that wait at the tree node that is merged when `key` goes; `key` is the last key of a removal.
    fn kv_merged(&mut self, key: &Key) {
        let path = [key.as_bytes(), &[0]].concat();
        let merged = radix::merged(&self.store.kv.rows, &path);
        self.effects.touched.extend(merged.map(Touched::MergedKeys));
    }

    /// Stores a row if it differs from the current one, and returns the row of the key. `session` is given the holder, and
    /// returns the new one.
    pub(crate) fn put(
        &mut self,
        key: &Key,
        content: Content,
        lock_index: u64,
        session: impl FnOnce(Option<&str>) -> Option<Box<str>>,
    ) -> Arc<KvRow> {
        // Reuses the allocation of an existing key.
        let stored = self.store.kv.rows.get_key_value(key.as_bytes());
        let key = stored.map_or(key, |(stored, _)| stored).clone();
        let current = stored.map(|(_, row)| row);
        let rare = Rare {
            flags: content.flags,
            lock_index,
            session: session(current.and_then(|row| row.session())),
        };
        let created = current.map_or(self.index, |row| row.create_index);
        let mut row = KvRow::new(content.value, rare, created, self.index);
        if let Some(current) = current
            && current.same_content(&row)
        {
            return Arc::clone(current);
        }
        if row.value.len() <= COPIED_VALUE {
            row.value = Bytes::copy_from_slice(&row.value);
        }
        let before = current.and_then(|current| current.session().map(Box::<str>::from));
        self.holder_changed(&key, before.as_deref(), row.session());
        let row = Arc::new(row);
        self.store.kv.rows.insert(key.clone(), Arc::clone(&row));
        self.kv_touched(key);
        row
    }

    /// Removes a row. Returns whether it existed.
    fn remove(&mut self, key: &Key) -> bool {
        let Some(row) = self.store.kv.rows.remove(key.as_bytes()) else {
            return false;
        };
        self.holder_changed(key, row.session(), None);
        self.kv_touched(key.clone());
        true
    }

    /// Sets the tombstone of a deleted key or tree.
    fn bury(&mut self, key: Key) {
        self.store.tombstones.set(self.now, key, self.index);
    }

    fn kv_touched(&mut self, key: Key) {
        self.store.kv.newest = self.index;
        self.effects.touched.push(Touched::Key(key));
    }
}
