//! Keys of which nobody knows any more what they must be like: writes to them overlapped, and their order does not show.
//!
//! What differs of such a key is not judged, until a read of it is alike or somebody writes it without a condition.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::order::{Timed, depends};
use super::refuses;
use proconsul_conformance::wire::asked::Asked;

/// Keys whose state is not known.
#[derive(Debug, Default)]
pub(super) struct Unsure(HashSet<String>);

/// The keys that a write is about, as sent; those of a transaction as they are.
pub(super) fn keys_of(asked: &Asked) -> Vec<String> {
    if let Some(key) = asked.key() {
        return vec![key.to_owned()];
    }
    if asked.path() != "/v1/txn" {
        return Vec::new();
    }
    let operations: Vec<Value> = serde_json::from_slice(&asked.content()).unwrap_or_default();
    let key = |operation: &Value| Some(operation.pointer("/KV/Key")?.as_str()?.to_owned());
    operations.iter().filter_map(key).collect()
}

/// The same for one that is done.
pub(super) fn keys_of_done((_, done): &Timed) -> Vec<String> {
    keys_of(&done.flight.asked)
}

impl Unsure {
    /// Whether a request is about such a key, or about all below one.
    pub(super) fn touches(&self, asked: &Asked) -> bool {
        let reaches_below = asked.has("recurse") || asked.has("keys");
        let is_about = |key: &String, unsure: &String| {
            key == unsure || reaches_below && unsure.starts_with(key.as_str())
        };
        !self.0.is_empty()
            && keys_of(asked)
                .iter()
                .any(|key| self.0.iter().any(|unsure| is_about(key, unsure)))
    }

    /// Both servers have answered alike: a key that was read, or written without a condition, is known again.
    pub(super) fn agreed(&mut self, asked: &Asked) {
        let is_plain = !depends(asked) && !asked.has("recurse") && !asked.has("keys");
        if let Some(key) = asked.key().filter(|_| is_plain) {
            self.0.remove(key);
        }
    }

    pub(super) fn add(&mut self, keys: Vec<String>) {
        self.0.extend(keys);
    }
}

/// The keys that several of these writes, which overlapped, have changed, where neither their conditions nor the real server say in
/// which order.
pub(super) fn unshown(group: &VecDeque<Timed>) -> Vec<String> {
    let mut keys: HashMap<String, (usize, bool)> = HashMap::new();
    for (moment, done) in group.iter().filter(|(_, done)| !refuses(&done.outcome)) {
        for key in keys_of(&done.flight.asked) {
            let (count, is_known) = keys.entry(key).or_insert((0, true));
            *count += 1;
            *is_known &= moment.is_some() || depends(&done.flight.asked);
        }
    }
    let lost = keys.into_iter();
    let lost = lost.filter(|(_, (count, is_known))| *count > 1 && !is_known);
    lost.map(|(key, _)| key).collect()
}
