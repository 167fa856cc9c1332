//! Transactions: all or nothing, in order, at one index.

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::txn::{get, op, refused, result, results, set, txn};
use crate::runner::verdict::fail;
use crate::wire::entry::Entry;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/results/are-a-flat-list",
        claim: "Results are one list without places for operations that show nothing, and with one for each entry of a get-tree",
        source: "kv.md 7.3, trap 27",
        run: |t| {
            for key in ["p/1", "p/2"] {
                t.put(&t.key(key), "", key).is(200, "true");
            }
            let (key, gone) = (t.key("k"), t.key("gone"));
            let operations = [
                op("check-not-exists", &gone),
                op("get-tree", &t.key("none/")),
                set(&key, "v"),
                op("delete", &gone),
                op("get-tree", &t.key("p/")),
                op("delete-tree", &t.key("none/")),
                op("delete-cas", &gone),
                get(&key),
            ];
            let shown = results(txn(t, operations));
            let keys: Vec<String> = shown.iter().map(|entry| entry.key.clone()).collect();
            t.same(
                "keys of the results",
                keys,
                vec![key.clone(), t.key("p/1"), t.key("p/2"), key],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/results/values-only-where-read",
        claim: "The results of get and get-tree have their values, also in a transaction that writes; those of writes and checks have null",
        source: "kv.md 7.3, trap 27",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "before").is(200, "true");
            let index = t.get(&key, "").index();
            let operations = [
                op("check-index", &key).index(index),
                op("check-session", &key),
                op("cas", &key).index(index).value("a"),
                get(&key),
                set(&key, "b"),
                op("get-tree", &key),
            ];
            let values: Vec<Option<Vec<u8>>> = results(txn(t, operations))
                .into_iter()
                .map(|entry| entry.value)
                .collect();
            let some = |value: &str| Some(value.as_bytes().to_vec());
            t.same(
                "values",
                values,
                vec![None, None, None, some("a"), None, some("b")],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/results/fields-of-an-entry",
        claim: "A result is an object with the field KV alone, which has the fields of an entry in their order, Session only when held",
        source: "kv.md 7.3",
        run: |t| {
            let (key, session) = (t.key("k"), t.session_without_delay());
            txn(t, [set(&key, "v").flags(7)]).status_is(200);
            let index = t.get(&key, "").index();
            let head = |flags| format!(r#""Key":"{key}","Flags":{flags},"Value":null"#);
            let answer = txn(t, [set(&key, "v").flags(7)]);
            let entry = format!(
                r#"{{"LockIndex":0,{},"CreateIndex":{index},"ModifyIndex":{index}}}"#,
                head(7)
            );
            answer.is(
                200,
                &format!(r#"{{"Results":[{{"KV":{entry}}}],"Errors":null}}"#),
            );
            let answer = txn(t, [op("lock", &key).session(&session)]);
            let modified = t.get(&key, "").index();
            let held =
                format!(r#""Session":"{session}","CreateIndex":{index},"ModifyIndex":{modified}"#);
            let entry = format!(r#"{{"LockIndex":1,{},{held}}}"#, head(0));
            answer.is(
                200,
                &format!(r#"{{"Results":[{{"KV":{entry}}}],"Errors":null}}"#),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/order/later-operations-see-earlier-ones",
        claim: "The operations run in order, and each sees what those before it have done",
        source: "kv.md 7.4",
        run: |t| {
            let key = t.key("k");
            let operations = [
                op("check-not-exists", &key),
                set(&key, "1"),
                get(&key),
                set(&key, "2"),
                get(&key),
                op("get-tree", &key),
                op("delete", &key),
                op("check-not-exists", &key),
                set(&key, "3"),
            ];
            let values: Vec<Option<Vec<u8>>> = results(txn(t, operations))
                .into_iter()
                .map(|entry| entry.value)
                .collect();
            let some = |value: &str| Some(value.as_bytes().to_vec());
            t.same(
                "values",
                values,
                vec![None, some("1"), None, some("2"), some("2"), None],
            );
            t.get(&key, "").entry().value_is("3");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/order/cas-after-set-needs-the-new-index",
        claim: "After a set in the same transaction a cas with the index of before is stale",
        source: "kv.md 7.4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let index = t.get(&key, "").index();
            let text = format!("failed to set key \"{key}\", index is stale");
            let operations = [set(&key, "a"), op("cas", &key).index(index).value("b")];
            refused(txn(t, operations), &[(1, &text)]);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/order/cas-with-the-transactions-own-index",
        claim: "After a set in the same transaction a cas with the index of this very transaction writes",
        source: "kv.md 7.4",
        needs: &[Feature::OwnServer],
        run: |t| {
            // The next place in the log is a guess that only the server's own writes can spoil.
            let guessed = (0..5).any(|_| {
                t.put("k", "", format!("{}", t.get("k", "").index()))
                    .is(200, "true");
                let next = t.get("k", "").index() + 1;
                let operations = [set("k", "a"), op("cas", "k").index(next).value("b")];
                txn(t, operations).status() == 200
            });
            t.check(guessed, "no transaction went through");
            t.get("k", "").entry().value_is("b");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/index/one-for-all-writes",
        claim: "All writes of a transaction have one ModifyIndex, and so have its deletions",
        source: "kv.md 7.4",
        run: |t| {
            let (first, second) = (t.key("a/1"), t.key("b/2"));
            t.put(&t.key("c/3"), "", "v").is(200, "true");
            t.put(&t.key("d/4"), "", "v").is(200, "true");
            let operations = [
                set(&first, "v"),
                set(&second, "v"),
                op("delete", &t.key("c/3")),
                op("delete-tree", &t.key("d/")),
            ];
            let shown = results(txn(t, operations));
            let index = t.get(&first, "").entry().is_as_created().modify_index;
            t.same(
                "the other key",
                t.get(&second, "").entry().is_as_created().modify_index,
                index,
            );
            for entry in shown {
                t.same("a result", entry.modify_index, index);
            }
            t.same(
                "the deleted key",
                t.get(&t.key("c/"), "recurse").is(404, "").index(),
                index,
            );
            t.same(
                "the deleted tree",
                t.get(&t.key("d/"), "recurse").is(404, "").index(),
                index,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/index/deleted-and-made-anew",
        claim: "A key that a transaction sets, deletes and sets has the transaction's index as its CreateIndex",
        source: "kv.md 7.4",
        run: |t| {
            let (new, old) = (t.key("new"), t.key("old"));
            t.put(&old, "", "v").is(200, "true");
            let before = t.get(&old, "").entry();
            let twice = |key: &str| [set(key, "1"), op("delete", key), set(key, "2")];
            txn(t, twice(&new).into_iter().chain(twice(&old))).status_is(200);
            let entry = t.get(&new, "").entry().value_is("2").is_as_created();
            let other = t.get(&old, "").entry().value_is("2").is_as_created();
            t.same("CreateIndex", other.create_index, entry.create_index);
            t.grew("CreateIndex", before.create_index, entry.create_index);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/failure/nothing-is-applied",
        claim: "When one operation fails, nothing of the whole transaction is applied",
        source: "kv.md 7.4",
        run: |t| {
            let (old, new, locked) = (t.key("old"), t.key("new"), t.key("locked"));
            let session = t.session_without_delay();
            t.put(&old, "", "v").is(200, "true");
            let before = t.get(&old, "").entry();
            let operations = [
                set(&new, "v"),
                set(&old, "w"),
                op("lock", &locked).session(&session),
                op("delete", &old),
                op("delete-tree", &t.key("")),
                get(&t.key("missing")),
            ];
            let text = format!("key \"{}\" doesn't exist", t.key("missing"));
            refused(txn(t, operations), &[(5, &text)]);
            t.get(&old, "").entry().is_unchanged_since(&before);
            t.same("keys", t.get(&t.key(""), "keys").strings(), vec![old]);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/failure/lists-every-failing-operation",
        claim: "Every operation that fails is listed with its place, not only the first, and those after it see what did not fail",
        source: "kv.md 7.4, trap 27",
        run: |t| {
            let (key, missing) = (t.key("k"), t.key("missing"));
            let operations = [
                set(&key, "v"),
                get(&missing),
                op("check-not-exists", &key),
                get(&key),
                op("cas", &key).index(1).value("w"),
            ];
            refused(
                txn(t, operations),
                &[
                    (1, &format!("key \"{missing}\" doesn't exist")),
                    (2, &format!("key \"{key}\" exists")),
                    (4, &format!("failed to set key \"{key}\", index is stale")),
                ],
            );
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/failure/results-are-null",
        claim: "A refused transaction is 409 with Results null, though some operations would have shown something",
        source: "kv.md 7.3, trap 27",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let answer = txn(t, [get(&key), set(&key, "w"), op("check-not-exists", &key)]);
            let error = format!(r#"{{"OpIndex":2,"What":"key \"{key}\" exists"}}"#);
            answer.is(409, &format!(r#"{{"Results":null,"Errors":[{error}]}}"#));
        },
        ..Case::MUST
    },
    Case {
        id: "txn/failure/pre-check-comes-first",
        claim: "When the pre-check refuses an operation, only what it refuses is listed, and nothing has run",
        source: "kv.md 7.4",
        run: |t| {
            let key = t.key("k");
            let operations = [
                get(&t.key("missing")),
                set(&key, "v"),
                set("", "v"),
                op("get-tree", ""),
            ];
            refused(
                txn(t, operations),
                &[(2, "Must provide key"), (3, "Must provide key")],
            );
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/wakes/several-keys-at-once",
        claim: "A transaction answers the reads of all keys that it changes, with one index",
        source: "kv.md 5.3, 7.4",
        needs: &[Feature::Blocking],
        run: |t| {
            let keys = [t.key("a/1"), t.key("b/2")];
            for key in &keys {
                t.put(key, "", "before").is(200, "true");
            }
            let index = t.get(&keys[1], "").index();
            let waiting = keys
                .each_ref()
                .map(|key| t.start_get(key, &format!("index={index}&wait=60s")));
            txn(t, keys.each_ref().map(|key| set(key, "after"))).status_is(200);
            let [first, second] = waiting.map(|waiting| waiting.answer());
            first.entry().value_is("after");
            second.entry().value_is("after");
            t.same("X-Consul-Index", first.index(), second.index());
        },
        ..Case::MUST
    },
    Case {
        id: "txn/concurrent/sums-are-kept",
        claim: "Transactions that move an amount between two keys at the same time never lose or make any",
        source: "kv.md 7.4",
        run: |t| {
            let (left, right) = (t.key("left"), t.key("right"));
            t.put(&left, "", "100").is(200, "true");
            t.put(&right, "", "100").is(200, "true");
            let moved = t.together(6, |_| move_some(t, &left, &right));
            t.check(
                moved.iter().any(|done| *done),
                "no transaction went through",
            );
            let amounts = results(txn(t, [get(&left), get(&right)]));
            t.same("the sum", amounts.iter().map(amount).sum::<u64>(), 200);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/concurrent/reads-are-snapshots",
        claim: "A transaction that reads two keys sees both before or both after another transaction, never one of each",
        source: "kv.md 7.4",
        run: |t| {
            let (left, right) = (t.key("left"), t.key("right"));
            let write =
                |value: &str| txn(t, [set(&left, value), set(&right, value)]).status_is(200);
            write("0");
            t.together(6, |number| {
                for round in 0..10 {
                    if number == 0 {
                        write(&round.to_string());
                    } else {
                        let shown = results(txn(t, [get(&left), get(&right)]));
                        t.same("both values", &shown[0].value, &shown[1].value);
                        t.same("both indexes", shown[0].modify_index, shown[1].modify_index);
                    }
                }
            });
        },
        ..Case::MUST
    },
    Case {
        id: "txn/node/deleting-one-ends-its-sessions",
        claim: "Deleting a node in a transaction destroys its sessions and frees their keys at the transaction's index",
        source: "kv.md 7.5",
        needs: &[Feature::Registration],
        run: |t| {
            let (node, key, other) = (t.register_node("n"), t.key("locked"), t.key("other"));
            let body = json!({"Node": node, "NodeChecks": [], "LockDelay": "0s"});
            let session = t.session(&body.to_string());
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let operations = json!([
                {"KV": {"Verb": "set", "Key": other, "Value": "dg=="}},
                {"Node": {"Verb": "delete", "Node": {"Node": node}}},
            ]);
            let index = result(t.txn(&operations)).modify_index;
            let entry = t.get(&key, "").entry().is_unlocked();
            t.same("ModifyIndex", entry.modify_index, index);
            t.api_get(&format!("/v1/session/info/{session}"))
                .is(200, "[]");
        },
        ..Case::MUST
    },
];

/// Moves one from left to right if nobody else has changed either meanwhile.
#[track_caller]
fn move_some(t: &Trial, left: &str, right: &str) -> bool {
    let [from, to] = [left, right].map(|key| t.get(key, "").entry());
    let cas = |entry: &Entry, value: u64| {
        op("cas", &entry.key)
            .index(entry.modify_index)
            .value(&value.to_string())
    };
    let operations = [cas(&from, amount(&from) - 1), cas(&to, amount(&to) + 1)];
    txn(t, operations).status_is_one_of(&[200, 409]).status() == 200
}

/// The number that an entry holds.
#[track_caller]
fn amount(entry: &Entry) -> u64 {
    let text = String::from_utf8_lossy(entry.value.as_deref().unwrap_or_default()).into_owned();
    match text.parse() {
        Ok(amount) => amount,
        Err(_) => fail(format!("{} holds {text:?}, which is no number", entry.key)),
    }
}
