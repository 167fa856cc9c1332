//! Where a search in a compressed radix tree ends.
//!
//! Consul keeps keys and the rows of its catalog in such trees, and a read waits on the node where its search ended.
//! For a missing key or an empty prefix other keys share that node, and their writes end the wait early (kv.md 5.4).
//! No tree is needed to find them: its nodes are where keys diverge, which shows in the neighbours in an ordered map.
//! No key may be a prefix of another: a NUL ends each.

use std::ops::Bound;

use crate::kv::key::{Key, after_prefix, prefix_bounds};
use crate::ordered::OrderedMap;

/// Returns the prefix of the keys whose writes end a wait at `path`, with which keys may start.
///
/// The result is `Q` of kv.md 5.4: the path through the first byte of the last edge that matches. Without such an edge
/// it is empty, and every write ends the wait.
pub(crate) fn watched_node<V, S>(rows: &OrderedMap<Key, V, S>, path: &[u8]) -> Key {
    let walked = walked(rows, path);
    if walked == 0 {
        return Key::new([]);
    }
    // The last edge starts where the keys that share the walked path diverge from the others.
    let shared = &path[..walked];
    let outside_before = rows
        .range::<_, [u8]>((Bound::Unbounded, Bound::Excluded(shared)))
        .next_back();
    let outside_after = after_prefix(shared).and_then(|end| {
        rows.range::<_, [u8]>((Bound::Included(end.as_slice()), Bound::Unbounded))
            .next()
    });
    let node = common_with(path, outside_before).max(common_with(path, outside_after));
    Key::new(&path[..=node])
}

/// Returns the node that the removal of `path` has merged with its parent, by the path through the first byte of its
/// edge. Reads that wait at this node are woken, too (kv.md 5.4). `rows` are those that are left.
pub(crate) fn merged<V, S>(rows: &OrderedMap<Key, V, S>, path: &[u8]) -> Option<Key> {
    let parent = walked(rows, path);
    if parent == 0 {
        // The root has no parent, and stays with a single child.
        return None;
    }
    let path = &path[..parent];
    let end = after_prefix(path);
    let mut below = rows.range::<_, [u8]>(prefix_bounds(path, end.as_deref()));
    let only_child: Vec<u8> = terminated(below.next()?.0).take(parent + 1).collect();
    let is_only = |(last, _): (&Key, &V)| {
        terminated(last)
            .take(parent + 1)
            .eq(only_child.iter().copied())
    };
    below
        .next_back()
        .is_none_or(is_only)
        .then(|| Key::new(&only_child))
}

/// Returns the number of bytes of `path` that a key starts with, too.
fn walked<V, S>(rows: &OrderedMap<Key, V, S>, path: &[u8]) -> usize {
    let before = rows
        .range::<_, [u8]>((Bound::Unbounded, Bound::Excluded(path)))
        .next_back();
    let after = rows
        .range::<_, [u8]>((Bound::Excluded(path), Bound::Unbounded))
        .next();
    common_with(path, before).max(common_with(path, after))
}

/// Returns the length of the common prefix of `path` and a neighbour with its terminating NUL.
fn common_with<V>(path: &[u8], neighbour: Option<(&Key, &V)>) -> usize {
    let Some((key, _)) = neighbour else { return 0 };
    path.iter()
        .zip(terminated(key))
        .take_while(|(left, right)| **left == *right)
        .count()
}

fn terminated(key: &Key) -> impl Iterator<Item = u8> {
    key.as_bytes().iter().copied().chain([0])
}
