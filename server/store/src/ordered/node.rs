//! The nodes of a tree: how a row is found, written and removed.

use std::borrow::Borrow;
use std::mem;
use std::ops::Bound;
use std::sync::Arc;

use super::{Bounds, Summary};

/// The most rows of a leaf. A write copies a shared leaf, and touches the reference count of each of its rows then.
pub(super) const LEAF: usize = if cfg!(test) { 8 } else { 32 };
/// The most nodes of a branch. With 64 a search among a million rows takes four steps, and a sixth less time than with 32.
/// Trees of tests are narrow, and so deep.
pub(super) const BRANCH: usize = if cfg!(test) { 8 } else { 64 };

/// A node. All leaves of a tree have the same depth, and each has a row.
pub(super) enum Node<K, V, S> {
    /// Rows in the order of their keys.
    Leaf(Arc<Vec<(K, V)>>),
    /// Nodes in the order of their keys.
    Branch(Arc<Branch<K, V, S>>),
}

/// A node of nodes.
#[derive(Clone)]
pub(super) struct Branch<K, V, S> {
    /// What lies between two nodes: above all keys of the left one, and not above those of the right one.
    pub(super) bounds: Vec<K>,
    pub(super) children: Vec<Node<K, V, S>>,
    /// The summary of each node.
    pub(super) summaries: Vec<S>,
    /// The number of rows.
    pub(super) length: usize,
}

/// A leaf, and the bounds between it and its neighbours.
pub(super) struct Found<'a, K, V> {
    pub(super) rows: &'a [(K, V)],
    pub(super) before: Option<&'a K>,
    pub(super) after: Option<&'a K>,
}

/// What the writing of a row has done to a node.
pub(super) struct Inserted<K, V, S> {
    /// The value that the key had.
    pub(super) before: Option<V>,
    /// The right part of a node that had become too large, with what lies between the parts.
    pub(super) split: Option<(K, Node<K, V, S>)>,
}

impl<K, V, S> Clone for Node<K, V, S> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(rows) => Self::Leaf(Arc::clone(rows)),
            Self::Branch(branch) => Self::Branch(Arc::clone(branch)),
        }
    }
}

impl<K, V, S> Node<K, V, S> {
    /// Returns a leaf.
    pub(super) fn leaf_of(rows: Vec<(K, V)>) -> Self {
        Self::Leaf(Arc::new(rows))
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Leaf(rows) => rows.len(),
            Self::Branch(branch) => branch.length,
        }
    }

    /// Returns the leaf that lies between the last bound for which `is_before` holds and the first one for which it does
    /// not.
    pub(super) fn leaf(&self, is_before: impl Fn(&K) -> bool) -> Found<'_, K, V> {
        let (mut node, mut before, mut after) = (self, None, None);
        loop {
            match node {
                Self::Leaf(rows) => {
                    return Found {
                        rows,
                        before,
                        after,
                    };
                }
                Self::Branch(branch) => {
                    let at = branch.bounds.partition_point(&is_before);
                    before = branch.bounds[..at].last().or(before);
                    after = branch.bounds.get(at).or(after);
                    node = &branch.children[at];
                }
            }
        }
    }
}

impl<K: Ord, V, S> Node<K, V, S> {
    /// Returns the number of rows in a range.
    pub(super) fn count_between<Q: Ord + ?Sized>(&self, range: Bounds<'_, Q>) -> usize
    where
        K: Borrow<Q>,
    {
        let branch = match self {
            Self::Leaf(rows) => {
                let (first, end) = (first_in(rows, range.0), end_in(rows, range.1));
                return end.saturating_sub(first);
            }
            Self::Branch(branch) => branch,
        };
        let (first, last) = branch.children_in(range);
        if first == last {
            return branch.children[first].count_between(range);
        }
        let between = branch.children[first + 1..last].iter().map(Self::len);
        branch.children[first].count_between((range.0, Bound::Unbounded))
            + between.sum::<usize>()
            + branch.children[last].count_between((Bound::Unbounded, range.1))
    }
}

/// Returns the place of a key among rows, or that of a new row with it.
pub(super) fn place<K: Borrow<Q>, V, Q: Ord + ?Sized>(
    rows: &[(K, V)],
    key: &Q,
) -> Result<usize, usize> {
    rows.binary_search_by(|(other, _)| other.borrow().cmp(key))
}

/// Returns the place of the first row in a range.
pub(super) fn first_in<K: Borrow<Q>, V, Q: Ord + ?Sized>(
    rows: &[(K, V)],
    first: Bound<&Q>,
) -> usize {
    match first {
        Bound::Unbounded => 0,
        Bound::Included(key) => rows.partition_point(|(other, _)| other.borrow() < key),
        Bound::Excluded(key) => rows.partition_point(|(other, _)| other.borrow() <= key),
    }
}

/// Returns the place behind the last row in a range.
pub(super) fn end_in<K: Borrow<Q>, V, Q: Ord + ?Sized>(rows: &[(K, V)], last: Bound<&Q>) -> usize {
    match last {
        Bound::Unbounded => rows.len(),
        Bound::Included(key) => rows.partition_point(|(other, _)| other.borrow() <= key),
        Bound::Excluded(key) => rows.partition_point(|(other, _)| other.borrow() < key),
    }
}

/// Whether the rows behind a bound between nodes may begin a range.
pub(super) fn begins_behind<K: Borrow<Q>, Q: Ord + ?Sized>(bound: &K, first: Bound<&Q>) -> bool {
    match first {
        Bound::Unbounded => false,
        Bound::Included(key) | Bound::Excluded(key) => bound.borrow() <= key,
    }
}

/// Whether the rows behind a bound between nodes may end a range.
pub(super) fn ends_behind<K: Borrow<Q>, Q: Ord + ?Sized>(bound: &K, last: Bound<&Q>) -> bool {
    match last {
        Bound::Unbounded => true,
        Bound::Included(key) => bound.borrow() <= key,
        Bound::Excluded(key) => bound.borrow() < key,
    }
}

/// Returns rows that no other tree shares, with room for `more` if they had to be copied.
pub(super) fn unshared<T: Clone>(rows: &mut Arc<Vec<T>>, more: usize) -> &mut Vec<T> {
    if Arc::get_mut(rows).is_none() {
        let mut copy = Vec::with_capacity(rows.len() + more);
        copy.extend_from_slice(rows);
        *rows = Arc::new(copy);
    }
    Arc::make_mut(rows)
}

/// Puts an item in its place. A full vector grows by half, and not beyond `most`.
fn put<T>(items: &mut Vec<T>, at: usize, item: T, most: usize) {
    if items.len() == items.capacity() {
        let more = (items.len() / 2).min(most.saturating_sub(items.len()));
        items.reserve_exact(more.max(1));
    }
    items.insert(at, item);
}

impl<K: Ord + Clone, V: Clone, S: Summary<V>> Node<K, V, S> {
    /// Writes a row.
    pub(super) fn insert(&mut self, key: K, value: V) -> Inserted<K, V, S> {
        let rows = match self {
            Self::Branch(branch) => return Arc::make_mut(branch).insert(key, value),
            Self::Leaf(rows) => rows,
        };
        let (mut before, mut split) = (None, None);
        match place(rows, &key) {
            Ok(at) => before = Some(mem::replace(&mut unshared(rows, 0)[at].1, value)),
            Err(at) if rows.len() < LEAF => put(unshared(rows, 1), at, (key, value), LEAF),
            // Keys are mostly written in their order, and leave full leaves behind.
            Err(LEAF) => split = Some((key.clone(), Self::leaf_of(vec![(key, value)]))),
            Err(at) => {
                let left = unshared(rows, 0);
                let mut right = left.split_off(LEAF / 2);
                left.shrink_to_fit();
                match at.checked_sub(LEAF / 2) {
                    None | Some(0) => put(left, at, (key, value), LEAF),
                    Some(at) => put(&mut right, at, (key, value), LEAF),
                }
                split = Some((right[0].0.clone(), Self::leaf_of(right)));
            }
        }
        Inserted { before, split }
    }

    /// Removes the row of a key, which there is.
    pub(super) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(rows) => {
                let at = place(rows, key).ok()?;
                let rows = unshared(rows, 0);
                let (_, removed) = rows.remove(at);
                if rows.len() < rows.capacity() / 2 {
                    rows.shrink_to_fit();
                }
                Some(removed)
            }
            Self::Branch(branch) => Arc::make_mut(branch).remove(key),
        }
    }

    /// Returns the value of a key, which there is.
    pub(super) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(rows) => {
                let at = place(rows, key).ok()?;
                Some(&mut unshared(rows, 0)[at].1)
            }
            Self::Branch(branch) => {
                let branch = Arc::make_mut(branch);
                let at = branch.bounds.partition_point(|it| it.borrow() <= key);
                branch.children[at].get_mut(key)
            }
        }
    }

    /// Returns the summary of all rows.
    pub(super) fn summary(&self) -> S {
        let greatest = match self {
            Self::Leaf(rows) => rows.iter().map(|(_, value)| S::of(value)).max(),
            Self::Branch(branch) => branch.summaries.iter().copied().max(),
        };
        greatest.unwrap_or_default()
    }

    /// Returns the summary of the rows in a range.
    pub(super) fn summary_between<Q: Ord + ?Sized>(&self, range: Bounds<'_, Q>) -> Option<S>
    where
        K: Borrow<Q>,
    {
        let branch = match self {
            Self::Leaf(rows) => {
                let rows = &rows[first_in(rows, range.0)..end_in(rows, range.1)];
                return rows.iter().map(|(_, value)| S::of(value)).max();
            }
            Self::Branch(branch) => branch,
        };
        let (first, last) = branch.children_in(range);
        if first == last {
            return branch.children[first].summary_between(range);
        }
        let begin = branch.children[first].summary_between((range.0, Bound::Unbounded));
        let end = branch.children[last].summary_between((Bound::Unbounded, range.1));
        let between = branch.summaries[first + 1..last].iter().copied().max();
        begin.max(between).max(end)
    }
}

impl<K: Ord, V, S> Branch<K, V, S> {
    /// Returns the places of the nodes in which a range begins and ends.
    pub(super) fn children_in<Q: Ord + ?Sized>(&self, range: Bounds<'_, Q>) -> (usize, usize)
    where
        K: Borrow<Q>,
    {
        let bounds = &self.bounds;
        let first = bounds.partition_point(|bound| begins_behind(bound, range.0));
        let last = bounds.partition_point(|bound| ends_behind(bound, range.1));
        (first, last)
    }
}

impl<K: Ord + Clone, V: Clone, S: Summary<V>> Branch<K, V, S> {
    fn insert(&mut self, key: K, value: V) -> Inserted<K, V, S> {
        let at = self.place_for(&key);
        let new = S::of(&value);
        let Inserted { before, split } = self.children[at].insert(key, value);
        match split {
            Some((bound, right)) => {
                self.summaries[at] = self.children[at].summary();
                self.put_child(at + 1, bound, right);
            }
            None => self.summarize(at, new, before.as_ref()),
        }
        self.length += usize::from(before.is_none());
        let size = self.children.len();
        let at_end = at + 2 == size;
        // A branch that grows at its end keeps more, but leaves enough for a branch.
        let keeps = if at_end { BRANCH / 4 * 3 } else { size / 2 };
        let split = (size > BRANCH).then(|| self.split(keeps));
        Inserted { before, split }
    }

    /// Returns the place of the node for a new row. A row behind a full leaf begins the next leaf if that has room, for
    /// else keys in descending order would make a leaf each.
    fn place_for(&mut self, key: &K) -> usize {
        let at = self.bounds.partition_point(|bound| bound <= key);
        if let Node::Leaf(rows) = &self.children[at]
            && rows.len() == LEAF
            && rows.last().is_some_and(|(last, _)| last < key)
            && self
                .children
                .get(at + 1)
                .is_some_and(|next| next.len() < LEAF)
        {
            self.bounds[at] = key.clone();
            return at + 1;
        }
        at
    }

    /// Keeps the summary of a node in which a value was written in place of `before`.
    fn summarize(&mut self, at: usize, new: S, before: Option<&V>) {
        let summary = &mut self.summaries[at];
        if new >= *summary {
            *summary = new;
        } else if before.is_some_and(|before| S::of(before) == *summary) {
            *summary = self.children[at].summary();
        }
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.bounds.partition_point(|bound| bound.borrow() <= key);
        let removed = self.children[at].remove(key)?;
        self.length -= 1;
        if S::of(&removed) >= self.summaries[at] {
            self.summaries[at] = self.children[at].summary();
        }
        self.mend(at);
        Some(removed)
    }

    /// Puts a node in its place, behind `bound`.
    pub(super) fn put_child(&mut self, at: usize, bound: K, node: Node<K, V, S>) {
        put(&mut self.bounds, at - 1, bound, BRANCH);
        put(&mut self.summaries, at, node.summary(), BRANCH + 1);
        put(&mut self.children, at, node, BRANCH + 1);
    }
}
