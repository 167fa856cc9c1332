//! What the end of a session does, in order and all under one raft index (session.md 3.2).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::{check, deregister};
use crate::cases::support::invalidation::{
    BOTH, CHECKS, Holder, NODES, QUERIES, SERVICES, bound, index_of, node_with_checks,
};
use crate::cases::support::session::{
    LIST, is_gone, leaves_alone, node_with_neighbour, of_node, sleeping,
};
use crate::wire::Request;

/// The fields of a session that nothing ends but its destruction.
fn free(behavior: &str) -> Value {
    json!({"Behavior": behavior, "NodeChecks": [], "LockDelay": "60s"})
}

/// A prepared query that lives as long as the session.
#[track_caller]
fn query_of(t: &Trial, session: &str, name: &str) -> String {
    let body = json!({"Name": name, "Session": session, "Service": {"Service": "none"}});
    let request = Request::new("POST", "/v1/query").body(body.to_string());
    let answer = t.send(&request).status_is(200);
    answer.json()["ID"].as_str().unwrap_or_default().to_owned()
}

/// `end` of the node of a session that holds a key and has a query leaves one index in the tables of all three, and in `others`.
#[track_caller]
fn leaves_one_index(t: &Trial, behavior: &str, end: impl FnOnce(&str), others: &[&str]) {
    let node = node_with_checks(t);
    let mut fields = bound(&node, &["ok"]);
    fields["Behavior"] = json!(behavior);
    fields["LockDelay"] = json!("0s");
    let holder = Holder::new(t, behavior, &fields);
    query_of(t, &holder.session, "");
    end(&node);
    is_gone(t, &holder.session);
    let index = index_of(t, LIST);
    // The index of a missing key is that of all keys, with the deleted ones.
    let keys = t.get(&t.key("missing"), "").is(404, "").index();
    t.same("the keys' index", keys, index);
    for path in [QUERIES].iter().chain(others) {
        t.same(path, index_of(t, path), index);
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "invalidation/effect/release-keeps-the-rest",
        claim: "A key that is released loses its Session field and gets a new ModifyIndex; value, flags, CreateIndex and LockIndex stay",
        source: "session.md 3.2.r3, trap 20",
        run: |t| {
            let holder = Holder::new(t, "lock", &free("release"));
            t.destroy(&holder.session);
            let entry = holder.was_released(t).flags_is(7).lock_index_is(1);
            // Not an empty text: the field is not there at all.
            let (key, created, modified) = (&holder.key, entry.create_index, entry.modify_index);
            t.get(key, "").is(
                200,
                &format!(
                    r#"[{{"LockIndex":1,"Key":"{key}","Flags":7,"Value":"aGVsZA==","CreateIndex":{created},"ModifyIndex":{modified}}}]"#
                ),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/delete-removes-the-keys",
        claim: "Behavior delete removes the keys that the session holds, and those alone",
        source: "session.md 3.2.r4",
        run: |t| {
            let holder = Holder::new(t, "dir/held", &free("delete"));
            let second = t.key("dir/second");
            t.put(&second, &format!("acquire={}", holder.session), "v")
                .is(200, "true");
            let released = t.key("dir/released");
            t.put(&released, &format!("acquire={}", holder.session), "v")
                .is(200, "true");
            t.put(&released, &format!("release={}", holder.session), "v")
                .is(200, "true");
            t.put(&t.key("dir/held/child"), "", "v").is(200, "true");
            t.destroy(&holder.session);
            holder.was_deleted(t);
            t.same(
                "the keys that are left",
                t.get(&t.key("dir/"), "keys").strings(),
                vec![t.key("dir/held/child"), released],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/delete-leaves-tombstones",
        claim: "The index of a prefix from which keys were deleted with their session is that of the deletion, as after any deletion",
        source: "session.md 3.2.r4",
        run: |t| {
            let holder = Holder::new(t, "dir/lock", &free("delete"));
            let witness = Holder::new(t, "witness", &free("release"));
            t.destroy(&witness.session);
            let before = witness.was_released(t).modify_index;
            t.destroy(&holder.session);
            let index = t.get(&t.key("dir/"), "recurse").is(404, "").index();
            t.grew("the index of the prefix", before, index);
            // Tombstones stay; the index of a prefix that nobody else writes does too.
            t.put(&t.key("elsewhere"), "", "v").is(200, "true");
            t.same(
                "the index of the prefix",
                t.get(&t.key("dir/"), "recurse").index(),
                index,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/one-index-for-all-keys",
        claim: "All keys that a session held are released under the same index",
        source: "session.md 3.2.r2, trap 19",
        run: |t| {
            let holder = Holder::new(t, "z", &free("release"));
            for name in ["a", "m/n", "zz"] {
                t.put(&t.key(name), &format!("acquire={}", holder.session), "v")
                    .is(200, "true");
            }
            t.destroy(&holder.session);
            let released = holder.was_released(t).modify_index;
            for entry in t.get(&t.key(""), "recurse").entries() {
                t.same("ModifyIndex", entry.is_unlocked().modify_index, released);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/one-index-for-session-and-keys",
        claim: "The sessions' index is that under which the keys were released",
        source: "session.md 3.2.r1, 7.1, trap 19",
        needs: &[Feature::OwnServer],
        run: |t| {
            let holder = Holder::new(t, "lock", &free("release"));
            t.destroy(&holder.session);
            let released = holder.was_released(t).modify_index;
            t.same("the sessions' index", t.api_get(LIST).index(), released);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/one-index-with-the-trigger",
        claim: "The check that became critical and the keys that it released have the same ModifyIndex",
        source: "session.md 3.2.r8, 7.1, trap 19",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let holders = ["a", "b"].map(|name| Holder::new(t, name, &bound(&node, &["ok"])));
            check(t, &node, "ok", "critical");
            let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
            let found = checks.iter().find(|check| check["CheckID"] == "ok");
            let index = found.and_then(|check| check["ModifyIndex"].as_u64());
            for holder in &holders {
                t.same(
                    "ModifyIndex",
                    Some(holder.was_released(t).modify_index),
                    index,
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/one-index-for-every-table",
        claim: "A check that became critical leaves one index in sessions, keys, queries and checks, a node that went also in nodes and services",
        source: "session.md 3.2.r8, 7.1, trap 19",
        needs: &[
            Feature::OwnServer,
            Feature::Registration,
            Feature::PreparedQueries,
        ],
        run: |t| {
            for behavior in BOTH {
                let critical = |node: &str| check(t, node, "ok", "critical");
                leaves_one_index(t, behavior, critical, &[CHECKS]);
                let gone = |node: &str| deregister(t, node, &json!({}));
                leaves_one_index(t, behavior, gone, &[CHECKS, NODES, SERVICES]);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/sessions-alone-move-no-key",
        claim: "The end of a session that holds no key moves no index of the KV store",
        source: "session.md 3.2",
        needs: &[Feature::OwnServer],
        run: |t| {
            let missing = t.key("missing");
            leaves_alone(
                t,
                "the index of all keys",
                || t.get(&missing, "").status_is(404).index(),
                || t.destroy(&t.session_without_delay()),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/others-are-untouched",
        claim: "Keys that other sessions hold, or none, do not change, and neither do other sessions",
        source: "session.md 3.2.r2",
        run: |t| {
            let ended = Holder::new(t, "a", &free("release"));
            let other = Holder::new(t, "b", &free("release"));
            let plain = t.key("c");
            t.put(&plain, "", "v").is(200, "true");
            let before = t.get(&plain, "").entry();
            t.destroy(&ended.session);
            ended.was_released(t);
            other.holds(t);
            t.get(&plain, "").entry().is_unchanged_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/bindings-go",
        claim: "A session that was destroyed is bound to its checks no longer: when one becomes critical, no index of session reads moves",
        source: "session.md 3.2.r6",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let ended = Holder::new(t, "lock", &bound(&node, &["ok"]));
            let witness = Holder::new(t, "witness", &bound(&node, &["other"]));
            t.destroy(&ended.session);
            let released = ended.was_released(t);
            let sessions = || index_of(t, LIST);
            leaves_alone(t, "the index of session reads", sessions, || {
                check(t, &node, "ok", "critical");
            });
            t.get(&ended.key, "").entry().is_unchanged_since(&released);
            // Of one that is still bound it does.
            let before = sessions();
            check(t, &node, "other", "critical");
            witness.was_released(t);
            t.grew("the index of session reads", before, sessions());
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/seen-within-the-transaction",
        claim: "Later operations of a transaction that ends a session already see its keys released",
        source: "session.md 3.2",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &["ok"]));
            let set = json!({"Node": node, "CheckID": "ok", "Name": "ok", "Status": "critical"});
            let answer = t.txn(&json!([
                {"Check": {"Verb": "set", "Check": set}},
                {"KV": {"Verb": "get", "Key": holder.key}},
            ]));
            let seen = answer.status_is(200).json()["Results"][1]["KV"].clone();
            t.check(
                seen.get("Session").is_none(),
                format!("it is held in {seen}"),
            );
            let released = holder.was_released(t).modify_index;
            t.same("ModifyIndex", seen["ModifyIndex"].as_u64(), Some(released));
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/effect/check-wakes-the-keys",
        claim: "A check that becomes critical wakes those who wait for the keys that it releases, another check does not",
        source: "session.md 3.2",
        needs: &[Feature::Registration, Feature::Blocking],
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &["ok"]));
            let index = t.get(&holder.key, "").index();
            let waiting = t.start_get(&holder.key, &format!("index={index}&wait=60s"));
            check(t, &node, "other", "critical");
            t.still_blocked(&waiting);
            check(t, &node, "ok", "critical");
            let answer = waiting.answer();
            let entry = answer.entry().is_unlocked();
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/check-wakes-the-sessions",
        claim: "A check that becomes critical wakes those who wait for the sessions of its node, another check does not",
        source: "session.md 3.2",
        needs: &[Feature::OwnServer, Feature::Registration, Feature::Blocking],
        run: |t| {
            let (node, _) = node_with_neighbour(t);
            check(t, &node, "ok", "passing");
            check(t, &node, "other", "passing");
            t.session(&bound(&node, &["ok"]).to_string());
            let waiting = sleeping(t, &of_node(&node), || check(t, &node, "other", "critical"));
            check(t, &node, "ok", "critical");
            waiting.answer().is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/effect/queries-go",
        claim: "Prepared queries that belong to the session go with it, named or not, under the index of its end; other queries stay",
        source: "session.md 3.2.r7, 5, trap 19",
        needs: &[Feature::PreparedQueries],
        run: |t| {
            let holder = Holder::new(t, "lock", &free("release"));
            let kept = t.session_without_delay();
            let unnamed = query_of(t, &holder.session, "");
            let named = query_of(t, &holder.session, &t.node("named"));
            let other = query_of(t, &kept, "");
            let path = |query: &str| format!("/v1/query/{query}");
            t.api_get(&path(&unnamed)).status_is(200);
            t.destroy(&holder.session);
            is_gone(t, &holder.session);
            t.api_get(&path(&unnamed)).is(404, "Query not found");
            t.api_get(&path(&named)).is(404, "Query not found");
            t.api_get(&path(&other)).status_is(200);
            let index = t.api_get("/v1/query").index();
            let released = holder.was_released(t).modify_index;
            t.check(
                index >= released,
                format!("the queries' index is {index}, older than {released}"),
            );
        },
        ..Case::MUST
    },
];
