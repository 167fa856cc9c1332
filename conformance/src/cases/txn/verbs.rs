//! Transactions: each KV verb, what it does and shows, and how it fails.

use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::case::{Case, Level};
use crate::cases::support::txn::{get, op, refused, result, results, set, txn};
use crate::wire::entry::Entry;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    // --- set and cas -----------------------------------------------------------------------------------------------------------
    Case {
        id: "txn/set/writes",
        claim: "set writes value and flags, and flags that are left out are 0",
        run: |t| {
            let key = t.key("k");
            txn(t, [set(&key, "v").flags(u64::MAX)]).status_is(200);
            let entry = t.get(&key, "").entry().value_is("v").flags_is(u64::MAX);
            txn(t, [set(&key, "w")]).status_is(200);
            t.get(&key, "")
                .entry()
                .value_is("w")
                .flags_is(0)
                .is_modified_since(&entry);
        },
        ..VERBS
    },
    Case {
        id: "txn/set/shows-no-value",
        claim: "The result of a set is the whole entry as stored, but with the Value null",
        run: |t| {
            let key = t.key("k");
            let shown = result(txn(t, [set(&key, "v").flags(3)])).value_is_null();
            let stored = t.get(&key, "").entry().value_is("v").flags_is(3);
            t.same(
                "the result",
                shown,
                Entry {
                    value: None,
                    ..stored
                },
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/set/ignores-index-and-session",
        claim: "set does not look at the Index and the Session of the operation",
        run: |t| {
            let key = t.key("k");
            txn(t, [set(&key, "v").index(7).session("nobody")]).status_is(200);
            t.get(&key, "").entry().value_is("v").is_unlocked();
            txn(t, [set(&key, "w").index(7)]).status_is(200);
            t.get(&key, "").entry().value_is("w");
        },
        ..Case {
            level: Level::Real,
            ..VERBS
        }
    },
    Case {
        id: "txn/set/identical-keeps-the-modify-index",
        claim: "A set of what is already there shows the old ModifyIndex",
        run: |t| {
            let key = t.key("k");
            let first = result(txn(t, [set(&key, "v").flags(1)]));
            let again = result(txn(t, [set(&key, "v").flags(1)]));
            t.same("the result", again, first);
        },
        ..VERBS
    },
    Case {
        id: "txn/set/keeps-the-holder-and-zeroes-the-lock-index",
        claim: "A set of a held key keeps its Session and sets its LockIndex to 0",
        source: "kv.md 7.3, trap 2",
        run: |t| {
            let (key, session) = locked(t);
            result(txn(t, [set(&key, "w")]))
                .session_is(&session)
                .lock_index_is(0);
            t.get(&key, "")
                .entry()
                .value_is("w")
                .session_is(&session)
                .lock_index_is(0);
        },
        ..VERBS
    },
    Case {
        id: "txn/cas/writes-when-the-index-is-current",
        claim: "cas writes when Index is the key's ModifyIndex, and shows the entry without its value",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            let shown = result(txn(
                t,
                [op("cas", &key).value("w").index(before.modify_index)],
            ));
            shown.value_is_null().is_modified_since(&before);
            t.get(&key, "").entry().value_is("w");
        },
        ..VERBS
    },
    Case {
        id: "txn/cas/zero-creates-only",
        claim: "cas with Index 0 creates a missing key and refuses one that exists",
        run: |t| {
            let key = t.key("k");
            result(txn(t, [op("cas", &key).value("a").index(0)])).is_as_created();
            let text = format!("failed to set key \"{key}\", index is stale");
            refused(txn(t, [op("cas", &key).value("b").index(0)]), &[(0, &text)]);
            refused(txn(t, [op("cas", &key).value("b")]), &[(0, &text)]);
            t.get(&key, "").entry().value_is("a");
        },
        ..VERBS
    },
    Case {
        id: "txn/cas/stale-index",
        claim: "cas with another Index fails, for an existing key and for a missing one",
        run: |t| {
            let (key, missing) = (t.key("k"), t.key("missing"));
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            for name in [&key, &missing] {
                let text = format!("failed to set key \"{name}\", index is stale");
                refused(
                    txn(
                        t,
                        [op("cas", name).value("w").index(before.modify_index + 1)],
                    ),
                    &[(0, &text)],
                );
            }
            t.get(&key, "").entry().is_unchanged_since(&before);
            t.get(&missing, "").is(404, "");
        },
        ..VERBS
    },
    // --- reads and checks ------------------------------------------------------------------------------------------------------
    Case {
        id: "txn/get/shows-the-value",
        claim: "get shows the whole entry with its value",
        run: |t| {
            let (key, _) = locked(t);
            let entry = t.get(&key, "").entry();
            t.same("the result", result(txn(t, [get(&key)])), entry);
        },
        ..VERBS
    },
    Case {
        id: "txn/get/missing",
        claim: "get of a missing key fails",
        run: |t| {
            let key = t.key("k");
            refused(
                txn(t, [get(&key)]),
                &[(0, &format!("key \"{key}\" doesn't exist"))],
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/get-tree/shows-all-below",
        claim: "get-tree shows every entry whose key begins with Key, with its value, in order",
        run: |t| {
            for key in ["p/2", "p", "p/1", "pq", "o"] {
                t.put(&t.key(key), "", key).is(200, "true");
            }
            let shown = results(txn(t, [op("get-tree", &t.key("p"))]));
            t.same(
                "the results",
                shown,
                t.get(&t.key("p"), "recurse").entries(),
            );
            t.same(
                "below p/",
                results(txn(t, [op("get-tree", &t.key("p/"))])).len(),
                2,
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/get-tree/nothing-below",
        claim: "get-tree of a prefix without keys shows nothing and does not fail",
        run: |t| {
            t.same(
                "results",
                results(txn(t, [op("get-tree", &t.key("p/"))])).len(),
                0,
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/check-index/shows-no-value",
        claim: "check-index with the key's ModifyIndex shows the entry without its value",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=2", "v").is(200, "true");
            let entry = t.get(&key, "").entry();
            let shown = result(txn(t, [op("check-index", &key).index(entry.modify_index)]));
            t.same(
                "the result",
                shown,
                Entry {
                    value: None,
                    ..entry
                },
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/check-index/fails",
        claim: "check-index fails with both indexes in the text, and for a missing key whatever the Index",
        run: |t| {
            let (key, missing) = (t.key("k"), t.key("missing"));
            t.put(&key, "", "v").is(200, "true");
            let index = t.get(&key, "").index();
            let text =
                format!("failed index check for key \"{key}\", current modify index {index} != 1");
            let gone = format!("failed to check index, key \"{missing}\" doesn't exist");
            let operations = [
                op("check-index", &key).index(1),
                op("check-index", &missing).index(0),
                op("check-index", &missing).index(index),
            ];
            refused(txn(t, operations), &[(0, &text), (1, &gone), (2, &gone)]);
        },
        ..VERBS
    },
    Case {
        id: "txn/check-session/holds",
        claim: "check-session holds for the holder of a held key and for none of a free one, and shows the entry without its value",
        run: |t| {
            let (key, session) = locked(t);
            let free = t.key("free");
            t.put(&free, "", "v").is(200, "true");
            let shown = results(txn(
                t,
                [
                    op("check-session", &key).session(&session),
                    op("check-session", &free),
                ],
            ));
            for (key, shown) in [&key, &free].into_iter().zip(shown) {
                let entry = t.get(key, "").entry();
                t.same(
                    "the result",
                    shown,
                    Entry {
                        value: None,
                        ..entry
                    },
                );
            }
        },
        ..VERBS
    },
    Case {
        id: "txn/check-session/fails",
        claim: "check-session fails with both sessions in the text, and for a missing key",
        run: |t| {
            let (key, session) = locked(t);
            let (free, missing) = (t.key("free"), t.key("missing"));
            t.put(&free, "", "v").is(200, "true");
            let check = |key: &str, session: &str| op("check-session", key).session(session);
            let differ = |key: &str, current: &str, asked: &str| {
                format!(
                    "failed session check for key \"{key}\", current session \"{current}\" != \"{asked}\""
                )
            };
            refused(
                txn(
                    t,
                    [
                        check(&key, "x"),
                        check(&key, ""),
                        check(&free, &session),
                        check(&missing, ""),
                    ],
                ),
                &[
                    (0, &differ(&key, &session, "x")),
                    (1, &differ(&key, &session, "")),
                    (2, &differ(&free, "", &session)),
                    (
                        3,
                        &format!("failed to check session, key \"{missing}\" doesn't exist"),
                    ),
                ],
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/check-not-exists/shows-nothing",
        claim: "check-not-exists holds for a missing key and shows nothing",
        run: |t| {
            t.same(
                "results",
                results(txn(t, [op("check-not-exists", &t.key("k"))])).len(),
                0,
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/check-not-exists/fails",
        claim: "check-not-exists fails for an existing key",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let operation = op("check-not-exists", &key);
            refused(
                txn(t, [operation]),
                &[(0, &format!("key \"{key}\" exists"))],
            );
        },
        ..VERBS
    },
    // --- deletes ---------------------------------------------------------------------------------------------------------------
    Case {
        id: "txn/delete/shows-nothing",
        claim: "delete takes the key away and shows nothing; a missing key is fine",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            for _ in 0..2 {
                t.same("results", results(txn(t, [op("delete", &key)])).len(), 0);
                t.get(&key, "").is(404, "");
            }
        },
        ..VERBS
    },
    Case {
        id: "txn/delete-cas/needs-the-modify-index",
        claim: "delete-cas takes the key away when Index is its ModifyIndex, and fails otherwise, also for 0",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let index = t.get(&key, "").index();
            let text = format!("failed to delete key \"{key}\", index is stale");
            let operations = [
                op("delete-cas", &key).index(index + 1),
                op("delete-cas", &key).index(0),
            ];
            refused(txn(t, operations), &[(0, &text), (1, &text)]);
            t.get(&key, "").entry().value_is("v");
            t.same(
                "results",
                results(txn(t, [op("delete-cas", &key).index(index)])).len(),
                0,
            );
            t.get(&key, "").is(404, "");
        },
        ..VERBS
    },
    Case {
        id: "txn/delete-cas/missing-is-fine",
        claim: "delete-cas of a missing key holds for every Index",
        source: "kv.md 7.3, trap 18",
        run: |t| {
            let key = t.key("k");
            let operations = [
                op("delete-cas", &key).index(0),
                op("delete-cas", &key).index(7),
            ];
            t.same("results", results(txn(t, operations)).len(), 0);
        },
        ..VERBS
    },
    Case {
        id: "txn/delete-tree/takes-a-prefix-of-bytes",
        claim: "delete-tree takes away every key that begins with Key, and shows nothing",
        source: "kv.md 7.3, trap 19",
        run: |t| {
            for key in ["p", "p/1", "pq", "o"] {
                t.put(&t.key(key), "", "v").is(200, "true");
            }
            t.same(
                "results",
                results(txn(t, [op("delete-tree", &t.key("p"))])).len(),
                0,
            );
            t.same(
                "keys",
                t.get(&t.key(""), "keys").strings(),
                vec![t.key("o")],
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/delete-tree/without-key-takes-everything",
        claim: "delete-tree with an empty Key takes away every key there is",
        source: "kv.md 7.3, trap 28",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "v").is(200, "true");
            t.put("b", "", "v").is(200, "true");
            t.same("results", results(txn(t, [op("delete-tree", "")])).len(), 0);
            t.get("", "keys").is(200, "[]");
        },
        ..VERBS
    },
    // --- what is no verb -------------------------------------------------------------------------------------------------------
    Case {
        id: "txn/verb/unknown-before-1-19-1",
        claim: "A verb that is none fails when its turn comes, and verbs have a case",
        until: Some(Version::new(1, 19, 1)),
        run: |t| {
            let key = t.key("k");
            let names = ["SET", "bogus", ""];
            let texts = names.map(|name| format!("unknown KV verb \"{name}\""));
            let expected: Vec<(usize, &str)> =
                texts.iter().map(String::as_str).enumerate().collect();
            refused(txn(t, names.map(|name| op(name, &key))), &expected);
            let missing = format!("key \"{key}\" doesn't exist");
            refused(
                txn(t, [get(&key), op("bogus", &key)]),
                &[(0, &missing), (1, &texts[1])],
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/verb/unknown-since-1-19-1",
        claim: "A verb that is none is refused before anything runs: only such operations are listed, and verbs have a case",
        source: "1.22.md A7 [S, D: 1.19.1]",
        since: Version::new(1, 19, 1),
        run: |t| {
            let key = t.key("k");
            let names = ["SET", "bogus", ""];
            let texts = names.map(|name| format!("unknown KV operation: {name}"));
            let expected: Vec<(usize, &str)> =
                texts.iter().map(String::as_str).enumerate().collect();
            refused(txn(t, names.map(|name| op(name, &key))), &expected);
            refused(txn(t, [get(&key), op("bogus", &key)]), &[(1, &texts[1])]);
        },
        ..VERBS
    },
    Case {
        id: "txn/verb/key-must-be-given",
        claim: "Every verb but delete-tree fails without a key, get-tree and unknown ones included",
        source: "kv.md 7.3, trap 28",
        run: |t| {
            let verbs = [
                "set",
                "cas",
                "lock",
                "unlock",
                "get",
                "get-tree",
                "check-index",
                "check-session",
                "check-not-exists",
                "delete",
                "delete-cas",
                "bogus",
            ];
            let expected: Vec<(usize, &str)> = (0..verbs.len())
                .map(|number| (number, "Must provide key"))
                .collect();
            refused(txn(t, verbs.map(|verb| op(verb, ""))), &expected);
        },
        ..VERBS
    },
    Case {
        id: "txn/verb/get-or-empty-is-unknown-before-1-14",
        claim: "There is no get-or-empty",
        until: Some(Version::V1_14),
        run: |t| {
            refused(
                txn(t, [op("get-or-empty", &t.key("k"))]),
                &[(0, "unknown KV verb \"get-or-empty\"")],
            );
        },
        ..VERBS
    },
    Case {
        id: "txn/get-or-empty/shows-an-empty-entry-since-1-14",
        claim: "get-or-empty shows an existing entry with its value, and a missing one as an entry without value, with the flags, \
                session and index that were sent",
        source: "kv.md 7.3, 1.22.md A7 [S, D: 1.14.0]",
        since: Version::V1_14,
        run: |t| {
            let (key, missing) = (t.key("k"), t.key("missing"));
            t.put(&key, "", "v").is(200, "true");
            let entry = t.get(&key, "").entry();
            t.same(
                "the result",
                result(txn(t, [op("get-or-empty", &key)])),
                entry,
            );
            let empty = result(txn(
                t,
                [op("get-or-empty", &missing).flags(3).index(4).session("s")],
            ));
            t.same("Key", &empty.key, &missing);
            let empty = empty
                .value_is_null()
                .flags_is(3)
                .session_is("s")
                .lock_index_is(0);
            t.same("indexes", (empty.create_index, empty.modify_index), (0, 4));
            t.get(&missing, "").is(404, "");
        },
        ..VERBS
    },
    Case {
        id: "txn/text/keys-are-quoted-as-go-does",
        claim: "Keys stand in the texts as Go quotes them: quotes, backslashes and control characters escaped, letters as they are",
        run: |t| {
            let key = t.key("a\"b\\c\td\u{1}é");
            let quoted = t.key(r#"a\"b\\c\td\x01é"#);
            refused(
                txn(t, [get(&key)]),
                &[(0, &format!("key \"{quoted}\" doesn't exist"))],
            );
            txn(t, [set(&key, "v")]).status_is(200);
            refused(
                txn(t, [op("check-not-exists", &key)]),
                &[(0, &format!("key \"{quoted}\" exists"))],
            );
        },
        ..Case {
            level: Level::Real,
            ..VERBS
        }
    },
];

/// The usual fields of the cases of this topic.
const VERBS: Case = Case {
    source: "kv.md 7.3",
    ..Case::MUST
};

/// A key that a session holds, and that session.
fn locked(t: &Trial) -> (String, String) {
    let (key, session) = (t.key("locked"), t.session_without_delay());
    t.put(&key, &format!("acquire={session}&flags=4"), "v")
        .is(200, "true");
    (key, session)
}
