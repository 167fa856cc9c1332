//! Which writes may end a wait on something that is not there.
//!
//! Consul keeps its keys in a compressed radix tree and lets a read wait on the node that it ended at.
//! For a missing key or an empty prefix that is a node which other keys share, so writes of those end the
//! wait early (kv.md 5.4). The tree itself is not needed to know which: its nodes are the places where
//! keys part, and those can be read off the neighbours in an ordered map.

use std::ops::Bound;

use imbl::OrdMap;

use crate::kv::key::{Key, after_prefix};

/// The prefix of all keys whose writes end a wait at `path`, where no key starts with `path`.
///
/// `path` is the missing key with its terminating NUL, or the empty prefix as it is. The answer is
/// `Q` of kv.md 5.4: the path up to and including the first byte of the last edge that can be walked; the
/// empty key, which stands for every write, when there is no such edge.
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
    // The last edge starts where the keys that share the walked path part from the others.
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
    // Only next to keys that hold a NUL can the terminator be part of it; a write of the key has none.
    Key::new(watched.strip_suffix(&[0]).unwrap_or(watched))
}

/// How many leading bytes `path` has in common with a neighbour, its terminating NUL included.
fn common_with<V>(path: &[u8], neighbour: Option<(&Key, &V)>) -> usize {
    let Some((key, _)) = neighbour else { return 0 };
    let terminated = key.as_bytes().iter().chain(std::iter::once(&0));
    path.iter()
        .zip(terminated)
        .take_while(|(left, right)| left == right)
        .count()
}
