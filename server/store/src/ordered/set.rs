//! Ordered sets.

use std::borrow::Borrow;
use std::fmt;
use std::ops::RangeBounds;

use super::OrderedMap;

/// An ordered set, with what an [`OrderedMap`] has.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct OrderedSet<K: Ord>(OrderedMap<K, ()>);

impl<K: Ord> OrderedSet<K> {
    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the first item.
    pub(crate) fn first(&self) -> Option<&K> {
        Some(self.0.first_key_value()?.0)
    }

    /// Whether an item is there.
    pub(crate) fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(item)
    }

    /// Returns the items in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.0.keys()
    }

    /// Returns the items in a range.
    pub(crate) fn range<R: RangeBounds<Q>, Q: Ord + ?Sized>(
        &self,
        range: R,
    ) -> impl DoubleEndedIterator<Item = &K> + Clone
    where
        K: Borrow<Q>,
    {
        self.0.range(range).map(|(item, ())| item)
    }
}

impl<K: Ord + Clone> OrderedSet<K> {
    /// Returns an empty set.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds an item.
    pub(crate) fn insert(&mut self, item: K) {
        self.0.insert(item, ());
    }

    /// Removes an item. Returns whether it was there.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(item).is_some()
    }
}

impl<K: Ord> Default for OrderedSet<K> {
    fn default() -> Self {
        Self(OrderedMap::default())
    }
}

impl<K: Ord + fmt::Debug> fmt::Debug for OrderedSet<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone> FromIterator<K> for OrderedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(items: I) -> Self {
        Self(items.into_iter().map(|item| (item, ())).collect())
    }
}
