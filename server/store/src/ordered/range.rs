//! The rows of a range, from either end.

use std::borrow::Borrow;
use std::ptr;

use super::Bounds;
use super::node::{Node, begins_behind, end_in, ends_behind, first_in};

/// The rows whose keys lie in a range, in the order of their keys.
///
/// It keeps no path through the tree: the bounds between leaves lead to the next one.
pub(crate) struct Range<'a, K, V, S> {
    root: Option<&'a Node<K, V, S>>,
    /// What is left of the first leaf.
    front: &'a [(K, V)],
    /// What is left of the last leaf, unless that is the first one.
    back: &'a [(K, V)],
    /// The bounds behind the first leaf and before the last one; `None` if that is the first one.
    between: Option<(&'a K, &'a K)>,
}

impl<K, V, S> Clone for Range<'_, K, V, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, K: Ord, V, S> Range<'a, K, V, S> {
    /// Returns the rows of a tree in a range, whose ends are in order.
    pub(super) fn new<Q: Ord + ?Sized>(
        root: Option<&'a Node<K, V, S>>,
        range: Bounds<'_, Q>,
    ) -> Self
    where
        K: Borrow<Q>,
    {
        let Some(node) = root else {
            return Self {
                root,
                front: &[],
                back: &[],
                between: None,
            };
        };
        let first = node.leaf(|bound| begins_behind(bound, range.0));
        let last = node.leaf(|bound| ends_behind(bound, range.1));
        let (begin, end) = (first_in(first.rows, range.0), end_in(last.rows, range.1));
        if let (Some(after), Some(before)) = (first.after, last.before)
            && !ptr::eq(first.rows, last.rows)
        {
            return Self {
                root,
                front: &first.rows[begin..],
                back: &last.rows[..end],
                between: Some((after, before)),
            };
        }
        Self {
            root,
            front: &first.rows[begin..end],
            back: &[],
            between: None,
        }
    }

    /// Goes on to the next leaf from the front. Returns whether there is one.
    fn go_on(&mut self) -> Option<()> {
        let (after, before) = self.between?;
        if ptr::eq(after, before) {
            (self.front, self.between) = (self.back, None);
            return Some(());
        }
        let next = self.root?.leaf(|bound| bound <= after);
        self.front = next.rows;
        self.between = Some((next.after?, before));
        Some(())
    }

    /// Goes on to the next leaf from the back. Returns whether there is one.
    fn go_back(&mut self) -> Option<()> {
        let (after, before) = self.between?;
        if ptr::eq(after, before) {
            self.between = None;
            return Some(());
        }
        let next = self.root?.leaf(|bound| bound < before);
        self.back = next.rows;
        self.between = Some((after, next.before?));
        Some(())
    }
}

impl<'a, K: Ord, V, S> Iterator for Range<'a, K, V, S> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(((key, value), rest)) = self.front.split_first() {
                self.front = rest;
                return Some((key, value));
            }
            self.go_on()?;
        }
    }
}

impl<K: Ord, V, S> DoubleEndedIterator for Range<'_, K, V, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let rows = match self.between {
                Some(_) => &mut self.back,
                None => &mut self.front,
            };
            if let Some(((key, value), rest)) = rows.split_last() {
                *rows = rest;
                return Some((key, value));
            }
            self.go_back()?;
        }
    }
}
