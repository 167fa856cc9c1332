//! Names of keys up to a separator, compared with the list of all keys (kv.md 1.4).

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use proconsul_testing::random_cases;

use super::radix::{key, store_of};
use crate::{Key, KvList, KvNames, Read};

const SEPARATORS: &[&[u8]] = &[b"", b"/", b"//", b"a/", b"b"];

proptest! {
    #![proptest_config(random_cases(1000))]

    #[test]
    fn names_are_those_of_all_keys(
        keys in btree_set(key(), 0..40),
        prefix in vec(select(b"ab/\xff".as_slice()), 0..3),
        separator in select(SEPARATORS),
    ) {
        let store = store_of(&keys);
        let prefix = Key::new(prefix);
        let Ok(all) = KvList(prefix.clone()).look(&store);
        let mut expected: Vec<Vec<u8>> = all.rows.iter().map(|(key, _)| {
            let rest = &key.as_bytes()[prefix.as_bytes().len()..];
            let at = (0..rest.len()).find(|at| rest[*at..].starts_with(separator) && !separator.is_empty());
            let kept = at.map_or(rest.len(), |at| at + separator.len());
            [prefix.as_bytes(), &rest[..kept]].concat()
        }).collect();
        expected.dedup();
        let Ok(names) = KvNames { prefix, separator: separator.into() }.look(&store);
        let found: Vec<&[u8]> = names.rows.iter().map(Key::as_bytes).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(names.index, all.index);
        prop_assert_eq!(names.reads, all.reads);
    }
}
