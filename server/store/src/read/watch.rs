//! The registry of waiters: a waiter registers its read set, and a write finds the waiters to wake.
//!
//! A wake is a hint: the waiter reads again and compares indexes. To miss no write between read and wait, a
//! waiter registers its read set, reads again, and sleeps only if the second read set is the same. The
//! server's `blocking.rs` does it.

use std::collections::{BTreeMap, HashMap};

use crate::{DeletedKeys, Key, Touched, Tree, Watch};

/// A waiter's number. Later waiters have higher numbers and are woken later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiterId(u64);

/// All waiters. `H` is the handle that wakes one.
#[derive(Debug)]
pub struct Registry<H> {
    next: u64,
    keys: HashMap<Key, Waiters<H>>,
    prefixes: Prefixes<H>,
    trees: [Prefixes<H>; Tree::COUNT],
    others: HashMap<Watch, Waiters<H>>,
}

/// Waiters on all keys with a prefix.
#[derive(Debug)]
struct Prefixes<H> {
    waiters: HashMap<Key, Waiters<H>>,
    /// The number of registered prefixes of each length. A write looks up one prefix per length.
    lengths: BTreeMap<usize, usize>,
}

type Waiters<H> = BTreeMap<WaiterId, H>;

impl<H> Default for Registry<H> {
    fn default() -> Self {
        Self {
            next: 0,
            keys: HashMap::new(),
            prefixes: Prefixes::default(),
            trees: Default::default(),
            others: HashMap::new(),
        }
    }
}

impl<H> Default for Prefixes<H> {
    fn default() -> Self {
        Self {
            waiters: HashMap::new(),
            lengths: BTreeMap::new(),
        }
    }
}

impl<H> Prefixes<H> {
    fn of(&mut self, prefix: &Key) -> &mut Waiters<H> {
        let waiters = self.waiters.entry(prefix.clone()).or_default();
        if waiters.is_empty() {
            *self.lengths.entry(prefix.as_bytes().len()).or_default() += 1;
        }
        waiters
    }

    fn take(&mut self, prefix: &Key, waiter: WaiterId) {
        let length = prefix.as_bytes().len();
        if take(&mut self.waiters, prefix, waiter)
            && let Some(count) = self.lengths.get_mut(&length)
        {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&length);
            }
        }
    }

    /// Returns the waiters on each prefix of a key.
    fn concerned<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = &'a Waiters<H>> {
        let bytes = key.as_bytes();
        let lengths = self.lengths.range(..=bytes.len());
        lengths.filter_map(move |(length, _)| self.waiters.get(&bytes[..*length]))
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
                Watch::KeyPrefix(prefix) => self.prefixes.of(prefix),
                Watch::Branch(tree, prefix) => self.trees[*tree as usize].of(prefix),
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
                Watch::KeyPrefix(prefix) => self.prefixes.take(prefix, waiter),
                Watch::Branch(tree, prefix) => self.trees[*tree as usize].take(prefix, waiter),
                other => {
                    take(&mut self.others, other, waiter);
                }
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
        let prefixes = self.trees.iter().chain([&self.prefixes]);
        let prefixes = prefixes.flat_map(|prefixes| prefixes.waiters.values());
        let places = self.keys.values().chain(prefixes);
        for waiters in places.chain(self.others.values()) {
            let waiters = waiters.iter();
            found.extend(waiters.map(|(waiter, handle)| (*waiter, handle.clone())));
        }
        found.into_values().collect()
    }

    /// Whether no read set is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut prefixes = self.trees.iter().chain([&self.prefixes]);
        self.keys.is_empty()
            && self.others.is_empty()
            && prefixes.all(|prefixes| prefixes.waiters.is_empty())
    }

    fn waiters_on<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = &'a Waiters<H>> {
        let alone = self.keys.get(key).into_iter();
        alone.chain(self.prefixes.concerned(key))
    }

    /// Returns the waiters on keys of a deleted tree. It goes through those of which there are fewer, places or keys.
    fn waiters_on_any<'a>(
        &'a self,
        deleted: &'a DeletedKeys,
    ) -> Box<dyn Iterator<Item = &'a Waiters<H>> + 'a> {
        let prefixes = &self.prefixes.waiters;
        if deleted.len() < self.keys.len() + prefixes.len() {
            return Box::new(deleted.iter().flat_map(|key| self.waiters_on(key)));
        }
        let keys = self.keys.iter().filter(|(key, _)| deleted.contains(key));
        let prefixes = prefixes.iter();
        let prefixes = prefixes.filter(|(prefix, _)| deleted.any_under(prefix.as_bytes()));
        Box::new(keys.chain(prefixes).map(|(_, waiters)| waiters))
    }

    fn collect(&self, row: &Touched, found: &mut Waiters<H>) {
        let mut add = |waiters: Option<&Waiters<H>>| {
            let waiters = waiters.into_iter().flatten();
            found.extend(waiters.map(|(waiter, handle)| (*waiter, handle.clone())));
        };
        match row {
            Touched::Key(key) => self.waiters_on(key).for_each(|it| add(Some(it))),
            Touched::Keys(keys) => self.waiters_on_any(keys).for_each(|it| add(Some(it))),
            Touched::MergedKeys(path) => add(self.prefixes.waiters.get(path)),
            Touched::Session { id, node } => {
                add(self.others.get(&Watch::Session(*id)));
                add(self.others.get(&Watch::NodeSessions(node.clone())));
                add(self.others.get(&Watch::AnySession));
            }
            Touched::Node(node) => {
                add(self.others.get(&Watch::Node(node.clone())));
                add(self.others.get(&Watch::Nodes));
            }
            Touched::NodeOfService(name) => {
                add(self.others.get(&Watch::NodesOfService(name.clone())));
            }
            Touched::ServiceIndex(name) => {
                add(self.others.get(&Watch::ServiceIndex(name.clone())));
            }
            Touched::Entry(tree, key) => {
                let tree = &self.trees[*tree as usize];
                tree.concerned(key).for_each(|it| add(Some(it)));
            }
            Touched::Merged(tree, path) => add(self.trees[*tree as usize].waiters.get(path)),
            // Their entries and indexes are what reads depend on.
            Touched::Service { .. } | Touched::Check { .. } => {}
            Touched::PreparedQuery(id) => {
                add(self.others.get(&Watch::PreparedQuery(*id)));
                add(self.others.get(&Watch::PreparedQueries));
            }
            Touched::AclTable(kind) => add(self.others.get(&Watch::Acl(*kind))),
            Touched::AclObject(kind, id) => {
                add(self.others.get(&Watch::AclObject(*kind, *id)));
                add(self.others.get(&Watch::Acl(*kind)));
            }
            Touched::ConfigEntry { kind, name } => {
                let (kind, name) = (kind.clone(), name.clone());
                add(self.others.get(&Watch::ConfigKind(kind.clone())));
                add(self.others.get(&Watch::ConfigEntry { kind, name }));
                add(self.others.get(&Watch::Config));
            }
            Touched::Event => add(self.others.get(&Watch::Events)),
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
