//! What acquire and release say about sessions (session.md 3.5). The rest of locking is among the cases of the KV store.

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::session::{info, takes_raft_indexes};
use crate::wire::answer::Answer;

/// Flags beyond what fits into a signed number: those of the semaphores of Consul's own client.
const SEMAPHORE_FLAGS: u64 = 16_210_313_421_097_356_768;

fn acquire(t: &Trial, key: &str, session: &str) -> Answer {
    t.put(key, &format!("acquire={session}"), "v")
}

fn release(t: &Trial, key: &str, session: &str) -> Answer {
    t.put(key, &format!("release={session}"), "v")
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/lock/acquire-with-unknown-session",
        claim: "An acquire with a session that does not exist is 500 with its id, and changes nothing",
        source: "session.md 3.5.r1, 7.1",
        run: |t| {
            let (key, id) = (t.key("lock"), t.unknown_session());
            acquire(t, &key, &id).says(500, &format!("invalid session \"{id}\""));
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/acquire-texts",
        claim: "What the store says of a session that it cannot use is answered bare, and an id that is no UUID in the words of the lookup",
        source: "session.md 3.5.r1, 3.5.r2, 3.5.r3; 1.22.md A2 (until 1.10.0 [H])",
        until: Some(Version::V1_10),
        run: |t| {
            let (key, id) = (t.key("lock"), t.unknown_session());
            acquire(t, &key, &id).is(500, &format!("invalid session \"{id}\""));
            acquire(t, &key, "").is(500, "missing session");
            acquire(t, &key, "nope").is(
                500,
                "failed session lookup: index error: UUID must be 36 characters",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/acquire-texts-since-1-11",
        claim: "What the store says of a session that it cannot use follows `raft apply failed: `, the same for any text",
        source: "session.md 3.5; 1.22.md A2 (prefix since 1.10.0, any text since 1.11.0 [H])",
        since: Version::V1_11,
        run: |t| {
            let key = t.key("lock");
            for id in [t.unknown_session().as_str(), "nope"] {
                acquire(t, &key, id)
                    .is(500, &format!("raft apply failed: invalid session \"{id}\""));
            }
            acquire(t, &key, "").is(500, "raft apply failed: missing session");
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/acquire-with-destroyed-session",
        claim: "A session that was destroyed can acquire nothing",
        source: "session.md 3.5",
        run: |t| {
            let session = t.session_without_delay();
            t.destroy(&session);
            acquire(t, &t.key("lock"), &session).says(500, "invalid session");
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/release-without-holding",
        claim: "A release is false, whatever the session, unless that session holds the key; a missing key stays missing",
        source: "session.md 3.5.r4",
        run: |t| {
            let key = t.key("lock");
            let (holder, other) = (t.session_without_delay(), t.session_without_delay());
            for session in [other.as_str(), t.unknown_session().as_str(), "nope"] {
                release(t, &key, session).is(200, "false");
            }
            t.get(&key, "").is(404, "");
            acquire(t, &key, &holder).is(200, "true");
            let held = t.get(&key, "").entry();
            for session in [other.as_str(), t.unknown_session().as_str(), "nope"] {
                t.put(&key, &format!("release={session}"), "w")
                    .is(200, "false");
            }
            t.get(&key, "").entry().is_unchanged_since(&held);
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/lock-index-counts-holders",
        claim: "LockIndex is 1 for a new key and grows with each acquire of a free key, not with those of the holder nor with a release",
        source: "session.md 3.5.r5, 3.5.r6",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            for holder in 1..=3 {
                acquire(t, &key, &session).is(200, "true");
                t.get(&key, "").entry().lock_index_is(holder);
                t.put(&key, &format!("acquire={session}"), "again")
                    .is(200, "true");
                t.get(&key, "")
                    .entry()
                    .value_is("again")
                    .lock_index_is(holder);
                release(t, &key, &session).is(200, "true");
                t.get(&key, "").entry().is_unlocked().lock_index_is(holder);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/acquire-of-an-existing-key",
        claim: "A key that was there before it is acquired gets a LockIndex of 1 and keeps its CreateIndex",
        source: "session.md 3.5.r5",
        run: |t| {
            let key = t.key("lock");
            t.put(&key, "flags=5", "before").is(200, "true");
            let before = t.get(&key, "").entry();
            let session = t.session_without_delay();
            t.put(&key, &format!("acquire={session}&flags=7"), "after")
                .is(200, "true");
            t.get(&key, "")
                .entry()
                .value_is("after")
                .flags_is(7)
                .session_is(&session)
                .lock_index_is(1)
                .is_modified_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/identical-acquire-moves-nothing",
        claim: "An acquire by the holder with the same value and flags is true and changes nothing, though it takes a raft index",
        source: "session.md 3.5.r6",
        needs: &[Feature::OwnServer],
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            acquire(t, &key, &session).is(200, "true");
            let held = t.get(&key, "").entry();
            takes_raft_indexes(t, 1, || drop(acquire(t, &key, &session).is(200, "true")));
            t.get(&key, "").entry().is_unchanged_since(&held);
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/refused-acquire",
        claim: "An acquire of a key that another holds is false and changes nothing, though it takes a raft index",
        source: "session.md 3.5.r7, trap 22",
        needs: &[Feature::OwnServer],
        run: |t| {
            let key = t.key("lock");
            let (holder, other) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &holder).is(200, "true");
            let held = t.get(&key, "").entry();
            takes_raft_indexes(t, 1, || {
                t.put(&key, &format!("acquire={other}&flags=9"), "other")
                    .is(200, "false");
            });
            t.get(&key, "").entry().is_unchanged_since(&held);
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/writes-zero-the-lock-index",
        claim: "A plain or a checked write of a held key keeps its Session and zeroes its LockIndex, so that the next holder counts from 1",
        source: "session.md 3.5.r8, trap 23",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            for checked in [false, true] {
                acquire(t, &key, &session).is(200, "true");
                release(t, &key, &session).is(200, "true");
                acquire(t, &key, &session).is(200, "true");
                let held = t.get(&key, "").entry().lock_index_is(2);
                let query = if checked {
                    format!("cas={}", held.modify_index)
                } else {
                    String::new()
                };
                t.put(&key, &query, "written").is(200, "true");
                let written = t.get(&key, "").entry().value_is("written");
                written
                    .session_is(&session)
                    .lock_index_is(0)
                    .is_modified_since(&held);
                release(t, &key, &session).is(200, "true");
                acquire(t, &key, &session).is(200, "true");
                t.get(&key, "").entry().lock_index_is(1);
                t.delete(&key, "").is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/upper-case-holder",
        claim: "An acquire under the id in upper case stores that spelling, under which alone the key is held and released",
        source: "session.md 3.5.r9",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            let loud = session.to_uppercase();
            acquire(t, &key, &loud).is(200, "true");
            t.get(&key, "").entry().session_is(&loud).lock_index_is(1);
            acquire(t, &key, &session).is(200, "false");
            release(t, &key, &session).is(200, "false");
            acquire(t, &key, &loud).is(200, "true");
            release(t, &key, &loud).is(200, "true");
            t.get(&key, "").entry().is_unlocked();
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/upper-case-holder-is-released",
        claim: "A key held under the id in upper case is released when the session is destroyed",
        source: "session.md 3.2.r2, 3.5.r9; 1.22.md A2",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            acquire(t, &key, &session.to_uppercase()).is(200, "true");
            let held = t.get(&key, "").entry();
            t.destroy(&session);
            t.get(&key, "")
                .entry()
                .is_unlocked()
                .is_modified_since(&held);
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/many-keys",
        claim: "One session may hold any number of keys, and its destruction releases them all",
        source: "session.md 3.5.r11",
        run: |t| {
            let session = t.session_without_delay();
            for number in 0..20 {
                acquire(t, &t.key(&format!("lock{number}")), &session).is(200, "true");
            }
            for entry in t.get(&t.key(""), "recurse").entries() {
                entry.session_is(&session);
            }
            t.destroy(&session);
            let entries = t.get(&t.key(""), "recurse").entries();
            t.same("the number of keys", entries.len(), 20);
            for entry in entries {
                entry.is_unlocked().lock_index_is(1);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/of-another-node",
        claim: "Nobody asks who made a session: one of another node acquires and releases as any",
        source: "session.md 3.5, trap 24",
        needs: &[Feature::Registration],
        run: |t| {
            let key = t.key("lock");
            let body = json!({"Node": t.register_node("n"), "NodeChecks": []});
            let session = t.session(&body.to_string());
            acquire(t, &key, &session).is(200, "true");
            t.get(&key, "").entry().session_is(&session);
            release(t, &key, &session).is(200, "true");
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/whoever-knows-the-id",
        claim: "Whoever knows the id of the holder can write under it and release the key",
        source: "session.md 3.5, trap 24",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            acquire(t, &key, &session).is(200, "true");
            // All there is to know stands in the entry, for every reader.
            let holder = t.get(&key, "").entry().session.unwrap_or_default();
            t.put(&key, &format!("acquire={holder}"), "stranger")
                .is(200, "true");
            t.put(&key, &format!("release={holder}"), "stranger")
                .is(200, "true");
            t.get(&key, "").entry().value_is("stranger").is_unlocked();
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock/transaction-texts",
        claim: "A transaction that cannot lock fails with the reason: another holds the key, or the session does not exist",
        source: "session.md 3.5.r10",
        run: |t| {
            let key = t.key("lock");
            let (holder, other) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &holder).is(200, "true");
            let lock = |session: &str| json!([{"KV": {"Verb": "lock", "Key": key, "Value": "", "Session": session}}]);
            t.txn(&lock(&other)).is(
                409,
                &format!(
                    r#"{{"Results":null,"Errors":[{{"OpIndex":0,"What":"failed to lock key \"{key}\", lock is already held"}}]}}"#
                ),
            );
            let unknown = t.unknown_session();
            t.txn(&lock(&unknown)).is(
                409,
                &format!(
                    r#"{{"Results":null,"Errors":[{{"OpIndex":0,"What":"invalid session \"{unknown}\""}}]}}"#
                ),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock/as-the-semaphore-does",
        claim: "What Consul's own client sends for a semaphore works: parameters with an empty value, flags beyond i64, and agent/self with the node's name",
        source: "session.md 7, trap 30",
        run: |t| {
            let node = t.api_get("/v1/agent/self").json()["Config"]["NodeName"].clone();
            t.same("NodeName", node.as_str(), Some(t.facts().node.as_str()));
            let prefix = t.key("sem");
            let session =
                t.session(r#"{"Name":"Consul API Semaphore","TTL":"15s","Behavior":"delete"}"#);
            let contender = format!("{prefix}/{session}");
            t.put(
                &contender,
                &format!("acquire={session}&flags={SEMAPHORE_FLAGS}"),
                "",
            )
            .is(200, "true");
            let listed = t.get(&prefix, "recurse=&wait=15000ms").entry();
            listed
                .flags_is(SEMAPHORE_FLAGS)
                .session_is(&session)
                .value_is_null();
            t.same(
                "the keys",
                t.get(&prefix, "consistent=&keys=").strings(),
                vec![contender],
            );
            t.put(
                &format!("{prefix}/.lock"),
                &format!("cas=0&flags={SEMAPHORE_FLAGS}"),
                "{}",
            )
            .is(200, "true");
            let listed = t.get(&prefix, "consistent=&recurse=").entries();
            t.same("the number of entries", listed.len(), 2);
            t.api_get(&info(&session)).field_is("/0/Behavior", "delete");
        },
        ..Case::MUST
    },
];
