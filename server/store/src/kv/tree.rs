//! The deletion of a tree of keys.

use crate::Change;
use crate::command::effects::Touched;
use crate::kv::KvTable;
use crate::kv::deleted::DeletedKeys;
use crate::kv::key::{Key, after_prefix, prefix_bounds};

impl KvTable {
    /// Removes the rows with a prefix.
    fn take_under(&mut self, prefix: &[u8]) -> DeletedKeys {
        let end = after_prefix(prefix);
        let bounds = prefix_bounds(prefix, end.as_deref());
        DeletedKeys(self.rows.take_range::<_, [u8]>(bounds))
    }
}

impl Change<'_> {
    /// Deletes every key that starts with `prefix`.
    pub(super) fn kv_delete_tree(&mut self, prefix: &Key) {
        let taken = self.store.kv.take_under(prefix.as_bytes());
        let Some(last) = taken.0.keys().next_back().cloned() else {
            return;
        };
        for key in self.held_of(&taken) {
            let row = taken.0.get(&key);
            let holder = row.and_then(|row| row.session());
            self.holder_changed(&key, holder, None);
        }
        self.store.kv.newest = self.index;
        self.effects.touched.push(Touched::Keys(taken));
        self.kv_merged(&last);
        // A tree gets a single tombstone, the whole store gets none (kv.md 3, 4.3).
        if !prefix.is_empty() {
            self.bury(prefix.clone());
        }
    }

    /// Returns those of deleted keys that sessions hold, in byte order.
    fn held_of(&self, taken: &DeletedKeys) -> Vec<Key> {
        let held = &self.store.sessions.held;
        // Few keys are held, and the rows of the others lie all over the memory.
        if held.len() < taken.len() {
            let keys = held.iter().map(|(_, key)| key);
            let mut keys: Vec<Key> = keys.filter(|key| taken.contains(key)).cloned().collect();
            keys.sort();
            return keys;
        }
        let rows = taken.0.iter().filter(|(_, row)| row.session().is_some());
        rows.map(|(key, _)| key.clone()).collect()
    }
}
