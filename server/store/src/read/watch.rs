//! The registry of waiters: a waiter registers its read set, and a write finds the waiters to wake.
//!
//! A wake is a hint: the waiter reads again and compares indexes. To miss no write between read and wait, a
//! waiter registers its read set, reads again, and sleeps only if the second read set is the same. The
//! server's `blocking.rs` does it.

use std::collections::{BTreeMap, HashMap};

use crate::{Key, Touched, Watch};

/// A waiter's number. Later waiters have higher numbers and are woken later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiterId(u64);

/// All waiters. `H` is the handle that wakes one.
#[derive(Debug)]
pub struct Registry<H> {
    next: u64,
    keys: HashMap<Key, Waiters<H>>,
    prefixes: HashMap<Key, Waiters<H>>,
    /// The number of registered prefixes of each length. A write looks up one prefix per length.
    prefix_lengths: BTreeMap<usize, usize>,
    others: HashMap<Watch, Waiters<H>>,
}

type Waiters<H> = BTreeMap<WaiterId, H>;

impl<H> Default for Registry<H> {
    fn default() -> Self {
        Self {
            next: 0,
            keys: HashMap::new(),
            prefixes: HashMap::new(),
            prefix_lengths: BTreeMap::new(),
            others: HashMap::new(),
        }
    }
}

impl<H: Clone> Registry<H> {
    /// Admits a waiter without a read set.
    pub fn admit(&mut self) -> WaiterId {
        self.next += 1;
        WaiterId(self.next)
    }

    /// Registers a read set: a change of it yields `handle`.
    pub fn register(&mut self, waiter: WaiterId, handle: &H, reads: &[Watch]) {
        for watch in reads {
            let waiters = match watch {
                Watch::Key(key) => self.keys.entry(key.clone()).or_default(),
                Watch::KeyPrefix(prefix) => {
                    let waiters = self.prefixes.entry(prefix.clone()).or_default();
                    if waiters.is_empty() {
                        let length = prefix.as_bytes().len();
                        *self.prefix_lengths.entry(length).or_default() += 1;
                    }
                    waiters
                }
                other => self.others.entry(other.clone()).or_default(),
            };
            waiters.insert(waiter, handle.clone());
        }
    }

    /// Reverses [`Registry::register`] for `waiter` and `reads`.
    pub fn deregister(&mut self, waiter: WaiterId, reads: &[Watch]) {
        for watch in reads {
            match watch {
                Watch::Key(key) => {
                    take(&mut self.keys, key, waiter);
                }
                Watch::KeyPrefix(prefix) => {
                    if take(&mut self.prefixes, prefix, waiter) {
                        self.forget_length(prefix.as_bytes().len());
                    }
                }
                other => {
                    take(&mut self.others, other, waiter);
                }
            }
        }
    }

    fn forget_length(&mut self, length: usize) {
        if let Some(count) = self.prefix_lengths.get_mut(&length) {
            *count -= 1;
            if *count == 0 {
                self.prefix_lengths.remove(&length);
            }
        }
    }

    /// Returns the waiters to wake, oldest first.
    pub fn concerned(&self, touched: &[Touched]) -> Vec<H> {
        let mut found = BTreeMap::new();
        if !self.is_empty() {
            for row in touched {
                self.collect(row, &mut found);
            }
        }
        found.into_values().collect()
    }

    /// Returns all waiters, oldest first.
    pub fn all(&self) -> Vec<H> {
        let mut found = BTreeMap::new();
        let places = self.keys.values().chain(self.prefixes.values());
        for waiters in places.chain(self.others.values()) {
            let waiters = waiters.iter();
            found.extend(waiters.map(|(waiter, handle)| (*waiter, handle.clone())));
        }
        found.into_values().collect()
    }

    /// Whether no read set is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.prefixes.is_empty() && self.others.is_empty()
    }

    fn collect(&self, row: &Touched, found: &mut Waiters<H>) {
        let mut add = |waiters: Option<&Waiters<H>>| {
            let waiters = waiters.into_iter().flatten();
            found.extend(waiters.map(|(waiter, handle)| (*waiter, handle.clone())));
        };
        match row {
            Touched::Key(key) => {
                add(self.keys.get(key));
                let bytes = key.as_bytes();
                for (length, _) in self.prefix_lengths.range(..=bytes.len()) {
                    add(self.prefixes.get(&bytes[..*length]));
                }
            }
            Touched::Session { id, node } => {
                add(self.others.get(&Watch::Session(*id)));
                add(self.others.get(&Watch::NodeSessions(node.clone())));
                add(self.others.get(&Watch::AnySession));
            }
            Touched::Node(node) => {
                add(self.others.get(&Watch::Node(node.clone())));
                add(self.others.get(&Watch::Nodes));
            }
            Touched::ServiceHealth(name) => add(self.others.get(&Watch::Service(name.clone()))),
            Touched::Service { node, name } => {
                add(self.others.get(&Watch::Service(name.clone())));
                add(self.others.get(&Watch::Node(node.clone())));
                add(self.others.get(&Watch::Nodes));
                add(self.others.get(&Watch::Services));
            }
            Touched::TableIndex(table) => add(self.others.get(table)),
            Touched::PreparedQuery => add(self.others.get(&Watch::PreparedQueries)),
            Touched::Event => add(self.others.get(&Watch::Events)),
            Touched::Check {
                node: _,
                service_name,
            } => {
                add(self.others.get(&Watch::Checks));
                add(self.others.get(&Watch::Service(service_name.clone())));
            }
            Touched::AgentService(id) => {
                add(self.others.get(&Watch::AgentService(id.clone())));
            }
        }
    }
}

/// Removes a waiter from a place, and the place if it is empty then. Returns whether it was.
fn take<K: std::hash::Hash + Eq, H>(
    places: &mut HashMap<K, Waiters<H>>,
    place: &K,
    waiter: WaiterId,
) -> bool {
    let Some(waiters) = places.get_mut(place) else {
        return false;
    };
    waiters.remove(&waiter);
    let empty = waiters.is_empty();
    if empty {
        places.remove(place);
    }
    empty
}

#[cfg(test)]
mod tests;
