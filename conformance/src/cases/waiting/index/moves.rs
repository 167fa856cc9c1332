//! `X-Consul-Index` of single keys and prefixes: what it is made of, and what moves it.

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "index/single/is-its-modify-index",
        claim: "The index of an existing key is its ModifyIndex, whatever has been written elsewhere since",
        source: "kv.md 4.2, trap 10",
        run: |t| {
            let (key, other) = (t.key("k"), t.key("other"));
            t.put(&key, "", "v").is(200, "true");
            t.put(&other, "", "v").is(200, "true");
            t.grew(
                "the other's index",
                t.get(&key, "").index(),
                t.get(&other, "").index(),
            );
            for query in ["", "raw"] {
                let modified = t.get(&key, "").entry().modify_index;
                t.same("X-Consul-Index", t.get(&key, query).index(), modified);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "index/single/missing-is-the-newest-of-all",
        claim: "The index of a missing key is that of the last change to any key",
        source: "kv.md 4.2, trap 10",
        run: |t| {
            let (missing, other) = (t.key("a/missing"), t.key("b/other"));
            let before = t.get(&missing, "").is(404, "").index();
            t.put(&other, "", "v").is(200, "true");
            let modified = t.get(&other, "").entry().modify_index;
            let after = t.get(&missing, "").is(404, "").index();
            t.grew("a missing key's index", before, after);
            t.check(
                after >= modified,
                format!("{after} is older than the last change, {modified}"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "index/single/missing-follows-deletes",
        claim: "The deletion of any key moves the index of a missing one",
        source: "kv.md 4.2",
        run: |t| {
            let (missing, other) = (t.key("a/missing"), t.key("b/other"));
            t.put(&other, "", "v").is(200, "true");
            let before = t.get(&missing, "").index();
            t.delete(&other, "").is(200, "true");
            let after = t.get(&missing, "").index();
            t.grew("a missing key's index", before, after);
            let deleted = t.get(&other, "").is(404, "").index();
            t.check(
                deleted >= after,
                "the deleted key's index is older than its deletion",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/is-the-newest-below-it",
        claim: "The index of a prefix is the greatest ModifyIndex below it, for lists and for keys",
        source: "kv.md 4.2, trap 10",
        run: |t| {
            let (prefix, first, second) = (t.key("p/"), t.key("p/1"), t.key("p/2"));
            t.put(&first, "", "a").is(200, "true");
            t.put(&second, "", "a").is(200, "true");
            t.put(&first, "", "b").is(200, "true");
            t.put(&t.key("q/1"), "", "a").is(200, "true");
            let newest = t.get(&first, "").entry().modify_index;
            t.grew(
                "ModifyIndex",
                t.get(&second, "").entry().modify_index,
                newest,
            );
            for query in ["recurse", "keys", "keys&separator=/"] {
                t.same(query, t.get(&prefix, query).index(), newest);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/is-a-prefix-of-bytes",
        claim: "A key whose name only begins with the prefix counts as below it",
        source: "kv.md 4.2, 1.4",
        run: |t| {
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            t.put(&t.key("pq"), "", "v").is(200, "true");
            let modified = t.get(&t.key("pq"), "").entry().modify_index;
            t.same("recurse", t.get(&t.key("p"), "recurse").index(), modified);
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/remembers-deletes",
        claim: "Deleting a key moves the index of every prefix above it, though less is left below",
        source: "kv.md 4.2, trap 10",
        run: |t| {
            t.put(&t.key("p/a/1"), "", "v").is(200, "true");
            t.put(&t.key("p/a/2"), "", "v").is(200, "true");
            let (above, below) = (t.key("p/"), t.key("p/a/"));
            let before = t.get(&above, "recurse").index();
            t.delete(&t.key("p/a/2"), "").is(200, "true");
            let answer = t.get(&above, "recurse");
            t.same("keys left", answer.entries().len(), 1);
            t.grew("the prefix's index", before, answer.index());
            t.same("keys", t.get(&below, "keys").index(), answer.index());
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/unknown-is-the-newest-of-all",
        claim: "The index of a prefix that never had keys is that of the last change to any key",
        source: "kv.md 4.2, trap 10",
        run: |t| {
            let (unknown, other) = (t.key("never/"), t.key("b/other"));
            for query in ["recurse", "keys"] {
                let before = t.get(&unknown, query).is(404, "").index();
                t.put(&other, "", query).is(200, "true");
                let modified = t.get(&other, "").entry().modify_index;
                let after = t.get(&unknown, query).is(404, "").index();
                t.grew("an unknown prefix's index", before, after);
                t.check(
                    after >= modified,
                    format!("{after} is older than the last change, {modified}"),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/emptied-stays-at-its-deletion",
        claim: "An emptied prefix keeps the index of its last deletion, whatever is written elsewhere",
        source: "kv.md 4.2",
        run: |t| {
            let (key, prefix) = (t.key("p/k"), t.key("p/"));
            t.put(&key, "", "v").is(200, "true");
            let modified = t.get(&key, "").entry().modify_index;
            t.delete(&key, "").is(200, "true");
            let deleted = t.get(&prefix, "recurse").is(404, "").index();
            t.grew("the index of the deletion", modified, deleted);
            t.put(&t.key("q"), "", "v").is(200, "true");
            t.grew(
                "ModifyIndex elsewhere",
                deleted,
                t.get(&t.key("q"), "").index(),
            );
            t.same(
                "recurse",
                t.get(&prefix, "recurse").is(404, "").index(),
                deleted,
            );
            t.same("keys", t.get(&prefix, "keys").is(404, "").index(), deleted);
        },
        ..Case::MUST
    },
    Case {
        id: "index/prefix/a-prefix-delete-counts-at-its-prefix",
        claim: "After a recursive delete of a prefix, it and the prefixes above it have one new index",
        source: "kv.md 3, 4.2",
        run: |t| {
            t.put(&t.key("p/a/1"), "", "v").is(200, "true");
            t.put(&t.key("p/a/2"), "", "v").is(200, "true");
            t.put(&t.key("p/b"), "", "v").is(200, "true");
            let before = t.get(&t.key("p/"), "recurse").index();
            t.delete(&t.key("p/a/"), "recurse").is(200, "true");
            let above = t.get(&t.key("p/"), "recurse").index();
            t.grew("the index above", before, above);
            t.same(
                "the index of the prefix",
                t.get(&t.key("p/a/"), "recurse").index(),
                above,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "index/root/is-the-newest-of-all",
        claim: "The index of all keys, of a missing key and of an unknown prefix are the same",
        source: "kv.md 4.2",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "v").is(200, "true");
            all_the_same(t);
            t.put("b", "", "v").is(200, "true");
            let written = all_the_same(t);
            t.same("ModifyIndex", t.get("b", "").entry().modify_index, written);
            t.delete("b", "").is(200, "true");
            t.grew("the index of all keys", written, all_the_same(t));
        },
        ..Case::MUST
    },
    Case {
        id: "index/fresh/is-one",
        claim: "On a server that has never had a key every KV read has the index 1, never 0",
        source: "kv.md 4.2, trap 11; session.md trap 29",
        needs: &[Feature::OwnServer],
        run: |t| {
            for query in ["", "raw", "recurse", "keys"] {
                t.same(query, t.get("missing", query).is(404, "").index(), 1);
            }
            t.same("all keys", t.get("", "keys").is(200, "[]").index(), 1);
            t.same("all entries", t.get("", "recurse").is(404, "").index(), 1);
        },
        ..Case::MUST
    },
    Case {
        id: "index/entry/create-index-stays",
        claim: "A change moves the ModifyIndex and leaves the CreateIndex; a key made anew has both new and equal",
        source: "kv.md 2.3, 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "a").is(200, "true");
            let created = t.get(&key, "").entry().is_as_created();
            t.put(&key, "", "b").is(200, "true");
            let changed = t.get(&key, "").entry().is_modified_since(&created);
            t.delete(&key, "").is(200, "true");
            t.put(&key, "", "b").is(200, "true");
            let anew = t.get(&key, "").entry().is_as_created();
            t.grew("CreateIndex", changed.modify_index, anew.create_index);
        },
        ..Case::MUST
    },
    Case {
        id: "index/session/destroy-stamps-all-keys-alike",
        claim: "Destroying a session gives all keys that it held one new ModifyIndex",
        source: "kv.md 4.2, 8",
        run: |t| {
            let session = t.session_without_delay();
            let (first, second) = (t.key("a/1"), t.key("b/2"));
            for key in [&first, &second] {
                t.put(key, &format!("acquire={session}"), "v")
                    .is(200, "true");
            }
            let before = t.get(&second, "").entry().modify_index;
            t.destroy(&session);
            let entry = t.get(&first, "").entry().is_unlocked();
            t.grew("ModifyIndex", before, entry.modify_index);
            let other = t.get(&second, "").entry().is_unlocked();
            t.same(
                "the other's ModifyIndex",
                other.modify_index,
                entry.modify_index,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "index/session/behavior-delete-counts-as-one-deletion",
        claim: "A destroyed session that deletes its keys gives their prefixes one new index",
        source: "kv.md 4.2",
        run: |t| {
            let session = t.session(r#"{"LockDelay":"0s","NodeChecks":[],"Behavior":"delete"}"#);
            for key in ["a/1", "b/2"] {
                t.put(&t.key(key), &format!("acquire={session}"), "v")
                    .is(200, "true");
            }
            let before = t.get(&t.key("b/"), "recurse").index();
            t.destroy(&session);
            let after = t.get(&t.key("a/"), "recurse").is(404, "").index();
            t.grew("the prefix's index", before, after);
            t.same(
                "the other's",
                t.get(&t.key("b/"), "recurse").is(404, "").index(),
                after,
            );
        },
        ..Case::REAL
    },
];

/// Reads the index in every way that shows the newest of all, and gives it.
#[track_caller]
fn all_the_same(t: &Trial) -> u64 {
    let index = t.get("missing", "").index();
    t.same("all entries", t.get("", "recurse").index(), index);
    t.same("all keys", t.get("", "keys").index(), index);
    t.same("folded keys", t.get("", "keys&separator=/").index(), index);
    t.same(
        "entries of an unknown prefix",
        t.get("never/", "recurse").index(),
        index,
    );
    t.same(
        "keys of an unknown prefix",
        t.get("never/", "keys").index(),
        index,
    );
    index
}
