//! Ordered maps and sets whose copies share what is equal in them: a B+ tree of reference-counted nodes.
//!
//! A copy costs one reference count, and a write copies the path to its row where another copy shares it. That is what
//! snapshots, and transactions that may fail, are made of. A library's maps do the same; these here also
//!
//! * keep the greatest [`Summary`] of each branch, so that the newest index of many rows is found without looking at them;
//! * take room for what they hold: a server in a test has some forty of them, most of them empty or with one row;
//! * are full where keys are written in order, as keys mostly are;
//! * give away a range of rows as a map that shares them.

mod node;
mod range;
mod set;
mod shape;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, RangeBounds};

use node::Node;
pub(crate) use range::Range;
pub(crate) use set::OrderedSet;

/// What is known of the values below a branch without looking at them: the greatest of what is known of each.
pub(crate) trait Summary<V>: Copy + Default + Ord {
    /// Returns the summary of a value.
    fn of(value: &V) -> Self;
}

impl<V> Summary<V> for () {
    fn of(_: &V) -> Self {}
}

/// An ordered map. Its branches keep an `S` of their values.
pub(crate) struct OrderedMap<K, V, S = ()> {
    root: Option<Node<K, V, S>>,
}

/// Both ends of a range of keys.
type Bounds<'a, Q> = (Bound<&'a Q>, Bound<&'a Q>);

impl<K, V, S> OrderedMap<K, V, S> {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.root.as_ref().map_or(0, Node::len)
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.root.is_none()
    }
}

impl<K: Ord, V, S> OrderedMap<K, V, S> {
    /// Returns the value of a key.
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        Some(self.get_key_value(key)?.1)
    }

    /// Returns a key as it is stored, with its value.
    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let rows = self.root.as_ref()?.leaf(|bound| bound.borrow() <= key).rows;
        let (key, value) = &rows[node::place(rows, key).ok()?];
        Some((key, value))
    }

    /// Whether there is a row with this key.
    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Returns the first row.
    pub(crate) fn first_key_value(&self) -> Option<(&K, &V)> {
        let (key, value) = self.root.as_ref()?.leaf(|_| false).rows.first()?;
        Some((key, value))
    }

    /// Returns the number of rows whose keys lie in a range.
    pub(crate) fn count<R: RangeBounds<Q>, Q: Ord + ?Sized>(&self, range: R) -> usize
    where
        K: Borrow<Q>,
    {
        let bounds = (range.start_bound(), range.end_bound());
        let root = self.root.as_ref().filter(|_| !is_empty(bounds));
        root.map_or(0, |root| root.count_between(bounds))
    }

    /// Returns the rows in the order of their keys.
    pub(crate) fn iter(&self) -> Range<'_, K, V, S> {
        Range::new(self.root.as_ref(), (Bound::Unbounded, Bound::Unbounded))
    }

    /// Returns the keys in their order.
    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values in the order of their keys.
    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the rows whose keys lie in a range.
    pub(crate) fn range<R: RangeBounds<Q>, Q: Ord + ?Sized>(&self, range: R) -> Range<'_, K, V, S>
    where
        K: Borrow<Q>,
    {
        let bounds = (range.start_bound(), range.end_bound());
        let root = self.root.as_ref().filter(|_| !is_empty(bounds));
        Range::new(root, bounds)
    }
}

impl<K: Ord + Clone, V: Clone, S: Summary<V>> OrderedMap<K, V, S> {
    /// Returns an empty map.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Writes a row. Returns the value that its key had.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(root) = &mut self.root else {
            self.root = Some(Node::leaf_of(vec![(key, value)]));
            return None;
        };
        let inserted = root.insert(key, value);
        if let Some((bound, right)) = inserted.split {
            let left = root.clone();
            *root = Node::branch_of(vec![bound], vec![left, right]);
        }
        inserted.before
    }

    /// Removes a row. Returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        // Otherwise a copy would be made of a path on which nothing changes.
        if !self.contains_key(key) {
            return None;
        }
        let removed = self.root.as_mut()?.remove(key);
        self.settle();
        removed
    }

    /// Removes the rows whose keys lie in a range, and returns them. The cost grows with the depth of the tree, not with the
    /// number of rows.
    pub(crate) fn take_range<R: RangeBounds<Q>, Q: Ord + ?Sized>(&mut self, range: R) -> Self
    where
        K: Borrow<Q>,
    {
        let bounds = (range.start_bound(), range.end_bound());
        if self.range::<_, Q>(bounds).next().is_none() {
            return Self::new();
        }
        let root = self.root.as_mut().and_then(|root| root.take(bounds));
        let mut taken = Self { root };
        taken.settle();
        self.settle();
        taken
    }

    /// Returns the greatest summary of the rows whose keys lie in a range; `None` without rows there.
    pub(crate) fn summary<R: RangeBounds<Q>, Q: Ord + ?Sized>(&self, range: R) -> Option<S>
    where
        K: Borrow<Q>,
    {
        let bounds = (range.start_bound(), range.end_bound());
        let root = self.root.as_ref().filter(|_| !is_empty(bounds))?;
        root.summary_between(bounds)
    }

    /// Gives up a root that has lost its rows or all but one of its branches.
    fn settle(&mut self) {
        while let Some(root) = &self.root {
            let only = match root {
                Node::Leaf(rows) if rows.is_empty() => None,
                Node::Branch(branch) if branch.children.len() < 2 => {
                    branch.children.first().cloned()
                }
                _ => return,
            };
            self.root = only;
        }
    }
}

impl<K: Ord + Clone, V: Clone> OrderedMap<K, V> {
    /// Returns the value of a key, to change it. Where branches keep summaries, a value is written anew.
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        self.root.as_mut()?.get_mut(key)
    }
}

/// Whether no key can lie between these ends.
fn is_empty<Q: Ord + ?Sized>(bounds: Bounds<'_, Q>) -> bool {
    match bounds {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(first), Bound::Included(last)) => first > last,
        (
            Bound::Included(first) | Bound::Excluded(first),
            Bound::Included(last) | Bound::Excluded(last),
        ) => first.cmp(last) != Ordering::Less,
    }
}

impl<K, V, S> Clone for OrderedMap<K, V, S> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
        }
    }
}

impl<K, V, S> Default for OrderedMap<K, V, S> {
    fn default() -> Self {
        Self { root: None }
    }
}

impl<K: Ord + fmt::Debug, V: fmt::Debug, S> fmt::Debug for OrderedMap<K, V, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

impl<K: Ord, V: PartialEq, S> PartialEq for OrderedMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<K: Ord, V: Eq, S> Eq for OrderedMap<K, V, S> {}

impl<'a, K: Ord, V, S> IntoIterator for &'a OrderedMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Range<'a, K, V, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Of rows with the same key the last one counts.
impl<K: Ord + Clone, V: Clone, S: Summary<V>> FromIterator<(K, V)> for OrderedMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(rows: I) -> Self {
        let mut map = Self::default();
        for (key, value) in rows {
            map.insert(key, value);
        }
        map
    }
}
