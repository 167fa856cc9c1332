//! Random operations on a map, compared with the standard library's.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds as _};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use proconsul_testing::random_cases;

use super::node::{BRANCH, LEAF, Node};
use super::{OrderedMap, OrderedSet, Summary};

/// A value whose number is its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbered(Arc<u32>);

impl Summary<Numbered> for u32 {
    fn of(value: &Numbered) -> Self {
        *value.0
    }
}

type Map = OrderedMap<u16, Numbered, u32>;
type Model = BTreeMap<u16, Numbered>;
type Ends = (Bound<u16>, Bound<u16>);

/// An operation on a map.
#[derive(Clone, Debug)]
enum Operation {
    Insert(u16, u32),
    /// Inserts a run of keys, upwards or downwards.
    Run {
        first: u16,
        count: u16,
        down: bool,
    },
    Remove(u16),
    /// Removes a run of keys.
    RemoveRun {
        first: u16,
        count: u16,
    },
    Take(Ends),
    /// Goes on with a map built of the rows.
    Rebuild,
    /// Goes on with a copy; the map as it is has to stay so.
    Keep,
}

/// The keys are few enough to meet again, and enough for four levels of nodes.
const KEYS: u16 = 6000;

fn bound() -> impl Strategy<Value = Bound<u16>> {
    prop_oneof![
        3 => (0..KEYS).prop_map(Bound::Included),
        3 => (0..KEYS).prop_map(Bound::Excluded),
        1 => Just(Bound::Unbounded),
    ]
}

/// Ends of ranges, in order and not.
fn ends() -> impl Strategy<Value = Ends> {
    let near = |key: u16| {
        (
            Bound::Included(key),
            Bound::Excluded(key.saturating_add(40)),
        )
    };
    prop_oneof![3 => (bound(), bound()), 1 => (0..KEYS).prop_map(near)]
}

fn operation() -> impl Strategy<Value = Operation> {
    let run = (0..KEYS, 1..600u16, any::<bool>());
    prop_oneof![
        8 => (0..KEYS, any::<u32>()).prop_map(|(key, value)| Operation::Insert(key, value)),
        6 => run.prop_map(|(first, count, down)| Operation::Run { first, count, down }),
        6 => (0..KEYS).prop_map(Operation::Remove),
        4 => (0..KEYS, 1..400u16).prop_map(|(first, count)| Operation::RemoveRun { first, count }),
        3 => ends().prop_map(Operation::Take),
        1 => Just(Operation::Rebuild),
        4 => Just(Operation::Keep),
    ]
}

fn value(number: u32) -> Numbered {
    Numbered(Arc::new(number))
}

/// Returns what a standard map has in a range, which may have its ends the wrong way round.
fn within(model: &Model, ends: Ends) -> Vec<(u16, Numbered)> {
    let rows = model.iter().filter(|(key, _)| ends.contains(*key));
    rows.map(|(key, value)| (*key, value.clone())).collect()
}

fn owned((key, value): (&u16, &Numbered)) -> (u16, Numbered) {
    (*key, value.clone())
}

/// Does the same to both.
fn apply(map: &mut Map, model: &mut Model, operation: &Operation) {
    let mut insert = |key: u16, number: u32| {
        let value = value(number);
        assert_eq!(map.insert(key, value.clone()), model.insert(key, value));
    };
    match *operation {
        Operation::Insert(key, number) => insert(key, number),
        Operation::Run { first, count, down } => {
            for number in 0..count {
                let step = if down { count - number } else { number };
                insert(first + step, u32::from(first ^ step.wrapping_mul(977)));
            }
        }
        Operation::Remove(key) => assert_eq!(map.remove(&key), model.remove(&key)),
        Operation::RemoveRun { first, count } => {
            for key in first..first + count {
                assert_eq!(map.remove(&key), model.remove(&key));
            }
        }
        Operation::Take(ends) => {
            let taken = map.take_range(ends);
            let expected: Model = within(model, ends).into_iter().collect();
            model.retain(|key, _| !expected.contains_key(key));
            check(&taken, &expected);
        }
        Operation::Rebuild => *map = map.iter().map(owned).collect(),
        Operation::Keep => {}
    }
}

/// Checks a map and its tree.
fn check(map: &Map, model: &Model) {
    assert_eq!(map.len(), model.len());
    assert_eq!(map.is_empty(), model.is_empty());
    assert!(map.iter().map(owned).eq(model.clone()));
    assert!(
        map.iter()
            .rev()
            .map(owned)
            .eq(model.clone().into_iter().rev())
    );
    assert_eq!(map.first_key_value(), model.first_key_value());
    if let Some(root) = &map.root {
        check_node(root, true, None, None);
    }
}

/// Checks the order, fill, lengths and summaries of a node whose keys lie between two bounds. Returns its depth.
fn check_node(
    node: &Node<u16, Numbered, u32>,
    is_root: bool,
    first: Option<u16>,
    end: Option<u16>,
) -> usize {
    let is_within = |key: u16| first.is_none_or(|it| it <= key) && end.is_none_or(|it| key < it);
    let branch = match node {
        Node::Leaf(rows) => {
            assert!((1..=LEAF).contains(&rows.len()), "{} rows", rows.len());
            assert!(rows.is_sorted_by_key(|(key, _)| *key));
            assert!(rows.iter().all(|(key, _)| is_within(*key)));
            return 0;
        }
        Node::Branch(branch) => branch,
    };
    let count = branch.children.len();
    let least = if is_root { 2 } else { BRANCH / 4 };
    assert!((least..=BRANCH).contains(&count), "{count} nodes");
    assert_eq!(
        (branch.bounds.len(), branch.summaries.len()),
        (count - 1, count)
    );
    assert!(branch.bounds.iter().all(|bound| is_within(*bound)));
    let bounds = branch.bounds.iter().map(|bound| Some(*bound));
    let firsts = [first].into_iter().chain(bounds.clone());
    let ends = bounds.chain([end]);
    let mut depths = Vec::new();
    for ((child, summary), (first, end)) in branch
        .children
        .iter()
        .zip(&branch.summaries)
        .zip(firsts.zip(ends))
    {
        depths.push(check_node(child, false, first, end));
        assert_eq!(child.summary(), *summary);
    }
    assert!(depths.iter().all(|depth| *depth == depths[0]));
    let lengths = branch.children.iter().map(Node::len);
    assert_eq!(branch.length, lengths.sum::<usize>());
    depths[0] + 1
}

/// Checks everything that is read of a range.
fn check_range(map: &Map, model: &Model, ends: Ends, turns: &[bool]) {
    let expected = within(model, ends);
    let rows = map.range::<_, u16>(ends).map(owned);
    assert!(rows.eq(expected.iter().cloned()), "{ends:?}");
    let rows = map.range::<_, u16>(ends).rev().map(owned);
    assert!(
        rows.eq(expected.iter().rev().cloned()),
        "{ends:?} backwards"
    );
    assert_eq!(map.count::<_, u16>(ends), expected.len(), "{ends:?}");
    let greatest = expected.iter().map(|(_, value)| *value.0).max();
    assert_eq!(map.summary::<_, u16>(ends), greatest, "{ends:?}");
    // From both ends in turn, until they meet.
    let mut rows = map.range::<_, u16>(ends);
    let mut left = expected.iter();
    for from_front in turns.iter().cycle().take(expected.len() + 2) {
        let (row, expected) = if *from_front {
            (rows.next(), left.next())
        } else {
            (rows.next_back(), left.next_back())
        };
        assert_eq!(row.map(owned), expected.cloned(), "{ends:?} from both ends");
    }
}

proptest! {
    #![proptest_config(random_cases(400))]

    #[test]
    fn a_map_is_what_the_standard_map_is_and_its_copies_stay_as_they_were(
        operations in vec(operation(), 1..40),
        ranges in vec((ends(), vec(any::<bool>(), 1..5)), 8),
        keys in vec(0..KEYS, 8),
    ) {
        let (mut map, mut model) = (Map::new(), Model::new());
        let mut kept = Vec::new();
        for operation in &operations {
            apply(&mut map, &mut model, operation);
            if matches!(operation, Operation::Keep) {
                kept.push((map.clone(), model.clone()));
            }
            check(&map, &model);
        }
        for (ends, turns) in &ranges {
            check_range(&map, &model, *ends, turns);
        }
        for key in &keys {
            prop_assert_eq!(map.get(key), model.get(key));
            prop_assert_eq!(map.get_key_value(key), model.get_key_value(key));
            prop_assert_eq!(map.contains_key(key), model.contains_key(key));
        }
        for (map, model) in &kept {
            check(map, model);
            prop_assert_eq!(*map == kept[0].0, *model == kept[0].1);
        }
    }

    #[test]
    fn of_equal_keys_the_last_one_counts(rows in vec((0..200u16, any::<u32>()), 0..300)) {
        let rows = rows.into_iter().map(|(key, number)| (key, value(number)));
        let map: Map = rows.clone().collect();
        check(&map, &rows.clone().collect());
        let set: OrderedSet<u16> = rows.map(|(key, _)| key).collect();
        prop_assert!(set.iter().eq(map.keys()));
    }

    #[test]
    fn a_value_changes_in_one_copy_only(keys in vec(0..500u16, 1..300), changed in 0..500u16) {
        let mut map: OrderedMap<u16, u32> = keys.iter().map(|key| (*key, 0)).collect();
        let copy = map.clone();
        if let Some(value) = map.get_mut(&changed) {
            *value = 1;
        }
        prop_assert!(copy.values().all(|value| *value == 0));
        prop_assert!(map.iter().all(|(key, value)| (*value == 1) == (*key == changed)));
    }
}

#[test]
fn keys_in_order_leave_full_leaves_behind() {
    let mut map: OrderedMap<u32, ()> = OrderedMap::new();
    for key in 0..10_000 {
        map.insert(key, ());
    }
    let mut leaves = 0;
    let mut open = vec![map.root.clone().expect("there are rows")];
    while let Some(node) = open.pop() {
        match node {
            Node::Leaf(rows) => {
                leaves += 1;
                assert!(rows.capacity() <= LEAF);
            }
            Node::Branch(branch) => open.extend(branch.children.iter().cloned()),
        }
    }
    assert_eq!(leaves, 10_000_usize.div_ceil(LEAF));
}

#[test]
fn a_map_takes_room_for_what_it_holds() {
    let mut map: OrderedMap<u32, ()> = OrderedMap::new();
    assert!(map.root.is_none());
    map.insert(1, ());
    let Some(Node::Leaf(rows)) = &map.root else {
        panic!("one row lies in a leaf");
    };
    assert_eq!(rows.capacity(), 1);
}
