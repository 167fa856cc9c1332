//! Which writes may end a wait on a missing key or an empty prefix.
//!
//! Consul keeps keys in a compressed radix tree, and a read waits on the node where its search ended. For a
//! missing key or an empty prefix other keys share that node, and their writes end the wait early (kv.md 5.4).
//! No tree is needed to find them: its nodes are where keys diverge, which shows in the neighbours in an
//! ordered map.

use std::ops::Bound;

use imbl::OrdMap;

use crate::kv::key::{Key, after_prefix};

/// Returns the prefix of the keys whose writes end a wait at `path`. No key starts with `path`.
///
/// `path` is a missing key with its terminating NUL, or a prefix without keys. The result is `Q` of kv.md 5.4:
/// the path through the first byte of the last edge that matches. Without such an edge it is empty, and every
/// write ends the wait.
pub(crate) fn watched_node<V: Clone>(rows: &OrdMap<Key, V>, path: &[u8]) -> Key {
    let before = rows
        .range::<_, [u8]>((Bound::Unbounded, Bound::Excluded(path)))
        .next_back();
    let after = rows
        .range::<_, [u8]>((Bound::Excluded(path), Bound::Unbounded))
        .next();
    let walked = common_with(path, before).max(common_with(path, after));
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
    let watched = &path[..=node];
    // The terminating NUL is included only beside keys that contain a NUL. Keys of writes have no terminator.
    Key::new(watched.strip_suffix(&[0]).unwrap_or(watched))
}

/// Returns the length of the common prefix of `path` and a neighbour with its terminating NUL.
fn common_with<V>(path: &[u8], neighbour: Option<(&Key, &V)>) -> usize {
    let Some((key, _)) = neighbour else { return 0 };
    let terminated = key.as_bytes().iter().chain(std::iter::once(&0));
    path.iter()
        .zip(terminated)
        .take_while(|(left, right)| left == right)
        .count()
}
