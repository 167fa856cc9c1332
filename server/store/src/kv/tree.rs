//! The deletion of a tree of keys.

use crate::Change;
use crate::command::effects::Touched;
use crate::kv::deleted::DeletedKeys;
use crate::kv::key::{Key, after_prefix, prefix_bounds};

impl Change<'_> {
    /// Deletes every key that starts with `prefix`.
    pub(super) fn kv_delete_tree(&mut self, prefix: &Key) {
        let end = after_prefix(prefix.as_bytes());
        let bounds = prefix_bounds(prefix.as_bytes(), end.as_deref());
        let mut taken = DeletedKeys {
            prefix: prefix.clone(),
            rows: self.store.kv.rows.take_range::<_, [u8]>(bounds),
            held: Vec::new(),
        };
        let Some(last) = taken.rows.keys().next_back().cloned() else {
            return;
        };
        taken.held = self.held_of(&taken);
        for key in &taken.held {
            let row = taken.rows.get(key);
            let holder = row.and_then(|row| row.session());
            self.holder_changed(key, holder, None);
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
        let rows = taken.rows.iter().filter(|(_, row)| row.session().is_some());
        rows.map(|(key, _)| key.clone()).collect()
    }
}
