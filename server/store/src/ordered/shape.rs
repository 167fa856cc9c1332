//! How trees keep their shape: nodes are split, joined, and taken out.

use std::borrow::Borrow;
use std::ops::Bound;
use std::sync::Arc;

use super::node::{BRANCH, Branch, LEAF, Node, end_in, first_in, unshared};
use super::{Bounds, Summary};

impl<K: Ord + Clone, V: Clone, S: Summary<V>> Node<K, V, S> {
    /// Returns a branch of these nodes, and of what lies between them.
    pub(super) fn branch_of(bounds: Vec<K>, children: Vec<Self>) -> Self {
        let summaries = children.iter().map(Self::summary).collect();
        Self::Branch(Arc::new(Branch::of(bounds, children, summaries)))
    }

    /// Whether a node is to be joined with its neighbour.
    fn is_small(&self) -> bool {
        match self {
            Self::Leaf(rows) => rows.len() < LEAF / 4,
            Self::Branch(branch) => branch.children.len() < BRANCH / 4,
        }
    }

    /// Appends a node of the same depth, which lies behind `bound`. Returns the right part if both are too large for one.
    fn join(&mut self, bound: K, right: Self) -> Option<(K, Self)> {
        match (self, right) {
            (Self::Leaf(left), Self::Leaf(right)) => {
                let rows = unshared(left, right.len());
                rows.reserve_exact(right.len());
                rows.extend(Arc::unwrap_or_clone(right));
                if rows.len() <= LEAF {
                    return None;
                }
                let right = rows.split_off(rows.len() / 2);
                rows.shrink_to_fit();
                Some((right[0].0.clone(), Self::leaf_of(right)))
            }
            (Self::Branch(left), Self::Branch(right)) => {
                Arc::make_mut(left).join(bound, Arc::unwrap_or_clone(right))
            }
            _ => unreachable!("the nodes of a branch have the same depth"),
        }
    }

    /// Removes the rows in a range, which may be all, and returns them as a node of the same depth.
    pub(super) fn take<Q: Ord + ?Sized>(&mut self, range: Bounds<'_, Q>) -> Option<Self>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(rows) => {
                let places = first_in(rows, range.0)..end_in(rows, range.1);
                if places.is_empty() {
                    return None;
                }
                let rows = unshared(rows, 0);
                let mut taken = Vec::with_capacity(places.len());
                taken.extend(rows.drain(places));
                rows.shrink_to_fit();
                Some(Self::leaf_of(taken))
            }
            Self::Branch(branch) => {
                let taken = Arc::make_mut(branch).take(range)?;
                Some(Self::Branch(Arc::new(taken)))
            }
        }
    }
}

impl<K: Ord + Clone, V: Clone, S: Summary<V>> Branch<K, V, S> {
    fn of(bounds: Vec<K>, children: Vec<Node<K, V, S>>, summaries: Vec<S>) -> Self {
        Self {
            length: children.iter().map(Node::len).sum(),
            bounds,
            children,
            summaries,
        }
    }

    /// Cuts off all nodes but the first ones. Returns them, with what lies before them.
    pub(super) fn split(&mut self, keeps: usize) -> (K, Node<K, V, S>) {
        let bounds = self.bounds.split_off(keeps);
        let bound = self.bounds.remove(keeps - 1);
        let children = self.children.split_off(keeps);
        let right = Self::of(bounds, children, self.summaries.split_off(keeps));
        self.length -= right.length;
        (bound, Node::Branch(Arc::new(right)))
    }

    /// Joins a node with its neighbour if it has become small.
    pub(super) fn mend(&mut self, at: usize) {
        if self.children.len() < 2 || !self.children[at].is_small() {
            return;
        }
        let left = at.saturating_sub(1);
        let bound = self.bounds.remove(left);
        self.summaries.remove(left + 1);
        let right = self.children.remove(left + 1);
        let split = self.children[left].join(bound, right);
        self.summaries[left] = self.children[left].summary();
        if let Some((bound, right)) = split {
            self.put_child(left + 1, bound, right);
        }
    }

    fn join(&mut self, bound: K, right: Self) -> Option<(K, Node<K, V, S>)> {
        let seam = self.children.len();
        self.bounds.push(bound);
        self.bounds.extend(right.bounds);
        self.children.extend(right.children);
        self.summaries.extend(right.summaries);
        self.length += right.length;
        // Nodes that had no neighbours to be joined with have some now.
        self.mend(seam);
        self.mend(seam - 1);
        let size = self.children.len();
        (size > BRANCH).then(|| self.split(size / 2))
    }

    fn take<Q: Ord + ?Sized>(&mut self, range: Bounds<'_, Q>) -> Option<Self>
    where
        K: Borrow<Q>,
    {
        let (first, last) = self.children_in(range);
        let mut taken = if first == last {
            let node = self.children[first].take(range)?;
            let summary = node.summary();
            Self::of(Vec::new(), vec![node], vec![summary])
        } else {
            self.take_between(first, last, range)?
        };
        self.length -= taken.length;
        taken.mend(taken.children.len() - 1);
        taken.mend(0);
        for at in (first..self.children.len().min(first + 2)).rev() {
            if self.children[at].len() == 0 {
                self.drop_child(at);
            }
        }
        // What is left of both ends lies side by side now.
        for at in (first..self.children.len().min(first + 2)).rev() {
            self.summaries[at] = self.children[at].summary();
            self.mend(at);
        }
        Some(taken)
    }

    /// Takes the nodes between two, and what lies in the range of these two.
    fn take_between<Q: Ord + ?Sized>(
        &mut self,
        first: usize,
        last: usize,
        range: Bounds<'_, Q>,
    ) -> Option<Self>
    where
        K: Borrow<Q>,
    {
        let begin = self.children[first].take((range.0, Bound::Unbounded));
        let end = self.children[last].take((Bound::Unbounded, range.1));
        let between = first + 1..last;
        let stays = self.bounds[last - 1].clone();
        let mut bounds: Vec<K> = self.bounds.splice(first..last, [stays]).collect();
        let mut children: Vec<_> = self.children.drain(between.clone()).collect();
        let mut summaries: Vec<S> = self.summaries.drain(between).collect();
        match begin {
            Some(node) => {
                summaries.insert(0, node.summary());
                children.insert(0, node);
            }
            None => drop(bounds.remove(0)),
        }
        match end {
            Some(node) => {
                summaries.push(node.summary());
                children.push(node);
            }
            None => drop(bounds.pop()),
        }
        (!children.is_empty()).then(|| Self::of(bounds, children, summaries))
    }

    /// Drops a node that has lost all rows.
    fn drop_child(&mut self, at: usize) {
        self.children.remove(at);
        self.summaries.remove(at);
        if !self.bounds.is_empty() {
            self.bounds.remove(at.saturating_sub(1));
        }
    }
}
