//! Listing keys, and folding them at a separator (kv.md 1.4).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/keys/all-under-a-prefix",
        claim: "?keys lists the names of all keys that start with the path",
        source: "kv.md 1.4.r1",
        run: |t| {
            let all = [
                "foo", "foo/a", "foo/b/c", "foo/b/d", "foo/bar", "foobar", "zed",
            ];
            lists(t, "", "keys", &all);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/keys/byte-order",
        claim: "Keys are listed in the order of their bytes, a shorter key before its extensions, without case folding",
        source: "kv.md 1.4",
        run: |t| {
            let ordered = ["B", "Z/", "a", "a-", "a/", "a/b", "aa", "ab", "b"];
            for name in ordered.iter().rev() {
                t.put(&t.key(name), "", "").is(200, "true");
            }
            let expected: Vec<_> = ordered.iter().map(|name| t.key(name)).collect();
            t.same("keys", t.get(&t.key(""), "keys").strings(), expected);
            let entries = t.get(&t.key(""), "recurse").entries();
            let keys: Vec<_> = entries.into_iter().map(|entry| entry.key).collect();
            let expected: Vec<_> = ordered.iter().map(|name| t.key(name)).collect();
            t.same("entries", keys, expected);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/keys/separator-folds",
        claim: "With separator, keys are cut after its first occurrence behind the prefix, and each result stands once",
        source: "kv.md 1.4.r2, 1.4.r8",
        run: |t| {
            let folded = ["foo", "foo/", "foobar", "zed"];
            lists(t, "", "keys&separator=/", &folded);
            lists(t, "", "separator=%2F&keys", &folded);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/keys/seperator-is-understood",
        claim: "The historic misspelling `seperator` works like `separator`",
        source: "kv.md 1.4",
        run: |t| lists(t, "", "keys&seperator=/", &["foo", "foo/", "foobar", "zed"]),
        ..Case::REAL
    },
    Case {
        id: "kv/keys/separator-wins-over-seperator",
        claim: "When both spellings are given, `separator` counts, even an empty one",
        source: "kv.md 1.4",
        run: |t| {
            let all = [
                "foo", "foo/a", "foo/b/c", "foo/b/d", "foo/bar", "foobar", "zed",
            ];
            lists(t, "", "keys&seperator=b&separator=", &all);
            let folded = ["foo", "foo/", "foobar", "zed"];
            lists(t, "", "keys&separator=/&seperator=b", &folded);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/keys/separator-is-searched-behind-the-prefix",
        claim: "A separator within the prefix says nothing; only what follows the prefix is cut",
        source: "kv.md 1.4",
        run: |t| {
            let below = ["foo/a", "foo/b/", "foo/bar"];
            lists(t, "foo/", "keys&separator=/", &below);
            let below = ["foo/b/", "foo/bar"];
            lists(t, "foo/b", "keys&separator=/", &below);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/keys/prefix-is-bytes",
        claim: "The prefix is a prefix of bytes: `foo` lists `foobar` too",
        source: "kv.md 1.4",
        run: |t| lists(t, "foo", "keys&separator=/", &["foo", "foo/", "foobar"]),
        ..Case::MUST
    },
    Case {
        id: "kv/keys/separator-of-several-bytes",
        claim: "A separator may have several bytes; results end with the whole of it",
        source: "kv.md 1.4",
        run: |t| lists(t, "", "keys&separator=oo", &["foo", "zed"]),
        ..Case::SHOULD
    },
    Case {
        id: "kv/keys/separator-is-any-text",
        claim: "A separator need not be a slash",
        source: "kv.md 1.4",
        run: |t| {
            let folded = ["foo", "foo/a", "foo/b", "foob", "zed"];
            lists(t, "", "keys&separator=b", &folded);
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/keys/index-is-of-the-prefix",
        claim: "The index of a key listing is that of the whole prefix, including keys that are folded away",
        source: "kv.md 1.4",
        run: |t| {
            t.put(&t.key("p/a/folded"), "", "1").is(200, "true");
            t.put(&t.key("p/b"), "", "2").is(200, "true");
            t.put(&t.key("p/a/away"), "", "3").is(200, "true");
            let listing = t.get(&t.key("p/"), "keys&separator=/");
            let newest = t.get(&t.key("p/a/away"), "").index();
            t.same("X-Consul-Index", listing.index(), newest);
            let recursed = t.get(&t.key("p/"), "recurse").index();
            t.same("X-Consul-Index of recurse", recursed, newest);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/keys/woken-by-a-value",
        claim: "A blocking key listing is woken by a change of a value, though the list stays the same",
        source: "kv.md 1.4",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, prefix) = (t.key("p/k"), t.key("p/"));
            t.put(&key, "", "before").is(200, "true");
            let index = t.get(&prefix, "keys").index();
            let waiting = t.start_get(&prefix, &format!("keys&index={index}&wait=60s"));
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            let answer = waiting.answer();
            t.same("keys", answer.strings(), vec![key]);
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::REAL
    },
];

/// Puts the keys of kv.md 1.4 and compares what a listing below `prefix` gives, by name.
fn lists(t: &Trial, prefix: &str, query: &str, expected: &[&str]) {
    for name in [
        "zed", "foo/bar", "foo/b/d", "foo", "foobar", "foo/b/c", "foo/a",
    ] {
        t.put(&t.key(name), "", name).is(200, "true");
    }
    let expected: Vec<String> = expected.iter().map(|name| t.key(name)).collect();
    let keys = t.get(&t.key(prefix), query).strings();
    t.same(&format!("keys of {prefix:?} with {query}"), keys, expected);
}
