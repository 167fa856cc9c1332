//! Waits on missing keys and prefixes, compared with a real radix tree (kv.md 5.4).

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::Selector;

use proconsul_testing::random_cases;

use crate::read::watch::Registry;
use crate::timestamp::Timestamp;
use crate::{Content, Index, Key, KvGet, KvList, KvVerb, KvWrite, Read, Store, Watch};

/// A node of a radix tree: its edges and their targets, by first byte.
#[derive(Default)]
struct Node {
    edges: BTreeMap<u8, (Vec<u8>, Node)>,
}

impl Node {
    /// Builds the compressed tree of strings, none of which is a prefix of another.
    fn of(strings: &[Vec<u8>]) -> Self {
        let mut node = Self::default();
        let first: BTreeSet<u8> = strings
            .iter()
            .filter_map(|string| string.first().copied())
            .collect();
        for byte in first {
            let below = strings
                .iter()
                .filter(|string| string.first() == Some(&byte));
            let below: Vec<&Vec<u8>> = below.collect();
            let common = (0..).take_while(|place| {
                below[0].len() > *place
                    && below
                        .iter()
                        .all(|string| string.get(*place) == below[0].get(*place))
            });
            let (label, _) = below[0].split_at(common.count());
            let rests: Vec<Vec<u8>> = below
                .iter()
                .map(|string| string[label.len()..].to_vec())
                .collect();
            node.edges.insert(byte, (label.to_vec(), Self::of(&rests)));
        }
        node
    }

    /// Returns `path` up to the first byte of the last matching edge; `None` without such an edge.
    fn walk(&self, path: &[u8]) -> Option<Vec<u8>> {
        let first = *path.first()?;
        let (label, below) = self.edges.get(&first)?;
        let deeper = path
            .strip_prefix(label.as_slice())
            .and_then(|rest| below.walk(rest));
        Some(match deeper {
            Some(deeper) => [label.as_slice(), &deeper].concat(),
            None => vec![first],
        })
    }

    /// Returns the node that takes its parent's place when `path` is removed, by the path through its first byte. The
    /// root is given up for no child.
    fn merges_without(&self, path: &[u8], is_root: bool) -> Option<Vec<u8>> {
        let (label, below) = self.edges.get(path.first()?)?;
        if below.edges.is_empty() {
            let mut others = self.edges.keys().filter(|byte| path.first() != Some(byte));
            let (other, further) = (others.next()?, others.next());
            return (!is_root && further.is_none()).then(|| vec![*other]);
        }
        let deeper = below.merges_without(path.strip_prefix(label.as_slice())?, false)?;
        Some([label.as_slice(), &deeper].concat())
    }
}

fn with_nul(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// Whether a write of `key` ends a wait at `path`, in the tree of `keys`.
fn wakes(keys: &BTreeSet<Vec<u8>>, path: &[u8], key: &[u8]) -> bool {
    let strings: Vec<Vec<u8>> = keys.iter().map(|key| with_nul(key)).collect();
    let watched = Node::of(&strings).walk(path);
    watched.is_none_or(|watched| with_nul(key).starts_with(&watched))
}

pub(super) fn store_of(keys: &BTreeSet<Vec<u8>>) -> Store {
    let mut store = Store::new(super::OLDEST, Index::ZERO);
    for key in keys {
        let write = KvWrite {
            key: Key::new(key),
            verb: KvVerb::Set(Content::default()),
        };
        let written = store.apply(Timestamp::ZERO, write);
        written.result.expect("a key can be written");
    }
    store
}

/// Returns the prefix of the keys whose writes end the wait of a read with one dependency.
fn watched(store: &Store, read: &impl Read<Refused = Infallible>) -> Key {
    let Ok(answer) = read.look(store);
    match answer.reads.as_slice() {
        [Watch::KeyPrefix(prefix)] => prefix.clone(),
        other => panic!("{} waits for {other:?}", read.subject()),
    }
}

pub(super) fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(
        prop_oneof![Just(b'a'), Just(b'b'), Just(b'/'), Just(0xff)],
        1..6,
    )
}

proptest! {
    #![proptest_config(random_cases(1000))]

    #[test]
    fn who_waits_for_what_is_missing_is_woken_as_in_a_radix_tree(
        keys in btree_set(key(), 0..8),
        missing in key(),
        writes in vec(key(), 20),
    ) {
        let store = store_of(&keys);
        let writes = writes.iter().chain(&keys).chain([&missing]);
        if !keys.contains(&missing) {
            let watched = watched(&store, &KvGet(Key::new(&missing)));
            for write in writes.clone() {
                let woken = write.starts_with(watched.as_bytes());
                prop_assert_eq!(woken, wakes(&keys, &with_nul(&missing), write), "key, {:?}", write);
            }
        }
        if !keys.iter().any(|key| key.starts_with(&missing)) {
            let watched = watched(&store, &KvList(Key::new(&missing)));
            for write in writes {
                let woken = write.starts_with(watched.as_bytes());
                prop_assert_eq!(woken, wakes(&keys, &missing, write), "prefix, {:?}", write);
            }
        }
    }
}

proptest! {
    #![proptest_config(random_cases(1000))]

    #[test]
    fn a_deletion_wakes_those_who_wait_at_the_node_that_it_merges(
        keys in btree_set(key(), 1..8),
        deleted in any::<Selector>(),
        tree in any::<bool>(),
        missing in key(),
    ) {
        prop_assume!(!keys.iter().any(|key| key.starts_with(&missing)));
        let deleted = deleted.select(&keys);
        let mut store = store_of(&keys);
        let strings: Vec<Vec<u8>> = keys.iter().map(|key| with_nul(key)).collect();
        let node = Node::of(&strings);
        let merged = node.merges_without(&with_nul(deleted), true);
        let expected = wakes(&keys, &missing, deleted) || merged.is_some() && merged == node.walk(&missing);

        let Ok(waiting) = KvList(Key::new(&missing)).look(&store);
        let mut registry = Registry::default();
        let waiter = registry.admit();
        registry.register(waiter, &(), &waiting.reads);
        let is_alone = keys.iter().filter(|key| key.starts_with(deleted)).count() == 1;
        let write = KvWrite {
            key: Key::new(deleted),
            verb: if tree && is_alone { KvVerb::DeleteTree } else { KvVerb::Delete },
        };
        let applied = store.apply(Timestamp::ZERO, write);
        prop_assert_eq!(!registry.concerned(&applied.effects.touched).is_empty(), expected);
    }
}

/// Only transactions write keys with a NUL. Beside them a wait may end more often than in a radix tree, never
/// less often.
#[test]
fn a_key_beside_one_with_a_nul_is_waited_for() {
    let keys = BTreeSet::from([b"a\0b".to_vec(), b"ac".to_vec()]);
    let watched = watched(&store_of(&keys), &KvGet(Key::new("a")));
    assert!(wakes(&keys, b"a\0", b"a"));
    assert!(b"a".starts_with(watched.as_bytes()), "the key itself wakes");
}

#[test]
fn the_tree_of_the_test_is_that_of_the_contracts_example() {
    let keys = BTreeSet::from([b"k".to_vec(), b"kk".to_vec()]);
    assert!(wakes(&keys, b"nokey\0", b"q"), "no edge could be taken");
    let keys = BTreeSet::from([b"k".to_vec(), b"kk".to_vec(), b"nokez".to_vec()]);
    assert!(wakes(&keys, b"nokey\0", b"nothing"));
    assert!(!wakes(&keys, b"nokey\0", b"q"));
}
