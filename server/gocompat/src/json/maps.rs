//! Maps with their keys in order, which is how Go writes them.

use std::collections::BTreeMap;

/// Makes a map of pairs. The last of several with the same key counts.
///
/// `Iterator::collect` sorts the pairs first, and its sort is compiled for each type of pairs and each iterator that gives them:
/// in a debug build a twelfth of all code was sorts. This is for the few rows of which maps are made.
pub fn collect<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}
