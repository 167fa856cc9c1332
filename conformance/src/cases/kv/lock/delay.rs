//! The lock-delay: when it begins, whom it stops, and when it ends.

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::txn::{op, refused, set, txn};
use crate::time::Stopwatch;

/// Longer than any of these cases takes, where nobody waits for the end.
const LONG: &str = "50s";
/// Where somebody does.
const SHORT: Duration = Duration::from_secs(1);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    // --- begins ----------------------------------------------------------------------------------------------------------------
    Case {
        id: "lock-delay/begins/with-a-destroyed-session",
        claim: "After the session of a held key is destroyed, nobody can acquire the key until the delay has passed",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, "1s", "release");
            passes(t, &key, &session, SHORT);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/with-behavior-delete",
        claim: "A session that deletes its keys when it is destroyed leaves the delay on them: the key is gone and cannot be acquired",
        source: "kv.md 8, trap 21; session.md 3.3.r2, trap 21",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, "1s", "delete");
            passes(t, &key, &session, SHORT);
            t.get(&key, "").entry().is_as_created().lock_index_is(1);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/with-a-lapsed-session",
        claim: "A session that lapses leaves the delay on its key",
        source: "kv.md 8; session.md 3.3, 3.4.r3",
        run: |t| {
            let (ttl, text) = t.shortest_ttl();
            let key = t.key("k");
            let body = json!({"TTL": text, "LockDelay": LONG, "NodeChecks": []}).to_string();
            let session = t.session(&body);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            t.pass(ttl * 2);
            freed(t, &key);
            is_delayed(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/with-a-critical-check",
        claim: "A check of the session that turns critical leaves the delay on its key",
        needs: &[Feature::Registration],
        run: |t| {
            let (node, key) = checked(t, "passing");
            register_check(t, &node, "critical");
            freed(t, &key);
            is_delayed(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/with-a-deregistered-check",
        claim: "Taking away a check of the session leaves the delay on its key",
        needs: &[Feature::Registration],
        run: |t| {
            let (node, key) = checked(t, "passing");
            let body = json!({"Node": node, "CheckID": "alive"}).to_string();
            t.api_put("/v1/catalog/deregister", body).is(200, "true");
            freed(t, &key);
            is_delayed(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/with-a-deregistered-node",
        claim: "Taking away the node of the session leaves the delay on its key",
        needs: &[Feature::Registration],
        run: |t| {
            let (node, key) = checked(t, "passing");
            let body = json!({"Node": node}).to_string();
            t.api_put("/v1/catalog/deregister", body).is(200, "true");
            freed(t, &key);
            is_delayed(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/on-every-held-key",
        claim: "The delay is on every key that the session held at its end, and on no other",
        run: |t| {
            let (first, second, other) = (t.key("1"), t.key("2"), t.key("other"));
            let session = holding(t, &first, LONG, "release");
            t.put(&second, &format!("acquire={session}"), "v")
                .is(200, "true");
            t.destroy(&session);
            is_delayed(t, &first);
            is_delayed(t, &second);
            let next = t.session_without_delay();
            t.put(&other, &format!("acquire={next}"), "v")
                .is(200, "true");
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/fifteen-seconds-when-left-out",
        claim: "A session without LockDelay leaves a delay of 15 seconds",
        run: |t| {
            let key = t.key("k");
            let session = t.session(r#"{"NodeChecks":[]}"#);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            passes(t, &key, &session, Duration::from_secs(15));
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/begins/sixty-seconds-at-most",
        claim: "A session may ask for a longer LockDelay, and shows it, but the delay is 60 seconds",
        source: "kv.md 8; session.md 3.2.r5, trap 4",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, "90s", "release");
            t.api_get(&format!("/v1/session/info/{session}"))
                .field_is("/0/LockDelay", 90_000_000_000_u64);
            passes(t, &key, &session, Duration::from_secs(60));
        },
        ..DELAY
    },
    // --- does not begin --------------------------------------------------------------------------------------------------------
    Case {
        id: "lock-delay/none/after-a-release",
        claim: "A key that its holder releases can be acquired at once, whatever the session's LockDelay",
        source: "kv.md 8, trap 21; session.md 3.3.r2, trap 21",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            t.put(&key, &format!("release={session}"), "")
                .is(200, "true");
            is_free(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/after-an-unlock",
        claim: "A key that a transaction unlocks can be acquired at once",
        source: "kv.md 8, trap 21",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            txn(t, [op("unlock", &key).session(&session)]).status_is(200);
            is_free(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/after-a-delete",
        claim: "A held key that is deleted can be acquired at once by another session, and its holder goes on living",
        source: "kv.md 3, 8, trap 21; session.md 3.3.r2",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            t.delete(&key, "").is(200, "true");
            is_free(t, &key);
            t.get(&key, "").entry().is_as_created().lock_index_is(1);
            t.api_get(&format!("/v1/session/info/{session}"))
                .field_is("/0/ID", session);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/for-keys-released-before",
        claim: "A session that is destroyed after it has released a key leaves no delay on it",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            t.put(&key, &format!("release={session}"), "")
                .is(200, "true");
            t.destroy(&session);
            is_free(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/for-keys-deleted-before",
        claim: "A session that is destroyed after its key was deleted leaves no delay on it",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            t.delete(&key, "").is(200, "true");
            t.destroy(&session);
            is_free(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/of-zero",
        claim: "A session with a LockDelay of 0 leaves none",
        source: "kv.md 8; session.md 3.2.r5, 3.3",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, "0s", "release");
            t.destroy(&session);
            is_free(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/none/after-a-renewal",
        claim: "Renewing a session leaves its key as it is, held and without delay",
        run: |t| {
            let key = t.key("k");
            let body = json!({"TTL": "60s", "LockDelay": LONG, "NodeChecks": []}).to_string();
            let session = t.session(&body);
            let acquire = format!("acquire={session}");
            t.put(&key, &acquire, "v").is(200, "true");
            let held = t.get(&key, "").entry();
            t.api_put(&format!("/v1/session/renew/{session}"), "")
                .status_is(200);
            t.get(&key, "").entry().is_unchanged_since(&held);
            t.put(&key, &acquire, "w").is(200, "true");
        },
        ..DELAY
    },
    // --- whom it stops ---------------------------------------------------------------------------------------------------------
    Case {
        id: "lock-delay/stops/every-acquire",
        claim: "During the delay an acquire is 200 false for every session, even for one that is not there, misspelled or empty",
        source: "kv.md 2.5, 8, trap 20; session.md 3.3.r1",
        run: |t| {
            let key = delayed(t);
            let sessions = [
                t.session_without_delay(),
                t.unknown_session(),
                "nope".to_owned(),
                String::new(),
            ];
            for session in sessions {
                t.put(&key, &format!("acquire={session}"), "w")
                    .is(200, "false");
            }
            t.get(&key, "").entry().value_is("v").is_unlocked();
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/stops/a-txn-that-locks",
        claim: "During the delay a transaction that locks the key is refused whole before it runs",
        source: "kv.md 7.4, 8; session.md 3.3.r1",
        run: |t| {
            let (key, other, session) = (delayed(t), t.key("other"), t.session_without_delay());
            let operations = [
                set(&other, "v"),
                op("get", &t.key("missing")),
                op("lock", &key).session(&session),
            ];
            let text = format!("failed to lock key \"{key}\" due to lock delay");
            refused(txn(t, operations), &[(2, &text)]);
            t.get(&other, "").is(404, "");
            refused(
                txn(t, [op("lock", &key).session("nope"), op("lock", &key)]),
                &[(0, &text), (1, &text)],
            );
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/stops/nothing-else",
        claim: "During the delay plain writes, check-and-sets, releases, transactions and deletes do what they always do",
        source: "kv.md 8; session.md 3.3.r3, trap 21",
        run: |t| {
            let key = delayed(t);
            t.put(&key, "", "plain").is(200, "true");
            let index = t.get(&key, "").entry().value_is("plain").modify_index;
            t.put(&key, &format!("cas={index}"), "cas").is(200, "true");
            t.get(&key, "").entry().value_is("cas");
            let session = t.session_without_delay();
            t.put(&key, &format!("release={session}"), "x")
                .is(200, "false");
            txn(t, [set(&key, "txn")]).status_is(200);
            t.get(&key, "").entry().value_is("txn");
            t.delete(&key, "").is(200, "true");
            t.get(&key, "").is(404, "");
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/stops/the-key-made-anew-too",
        claim: "Deleting the key and creating it again does not end the delay",
        source: "kv.md 8, trap 21; session.md 3.3.r3, trap 21; 1.22.md A8",
        run: |t| {
            let key = delayed(t);
            t.delete(&key, "").is(200, "true");
            is_delayed(t, &key);
            t.put(&key, "", "anew").is(200, "true");
            is_delayed(t, &key);
            t.delete(&key.replace("/k", "/"), "recurse").is(200, "true");
            is_delayed(t, &key);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/stops/but-shows-no-holder",
        claim: "An acquire that the delay refuses leaves the key without Session: so it is told apart from a key that is held",
        run: |t| {
            let key = delayed(t);
            let freed = t.get(&key, "").entry().is_unlocked();
            is_delayed(t, &key);
            t.get(&key, "").entry().is_unchanged_since(&freed);
        },
        ..DELAY
    },
    // --- what the end of the session does to the key ---------------------------------------------------------------------------
    Case {
        id: "lock-delay/key/is-freed-with-its-value",
        claim: "The end of the session frees its keys at one new ModifyIndex and leaves value, flags and LockIndex",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, LONG, "release");
            let held = t
                .get(&key, "")
                .entry()
                .session_is(&session)
                .lock_index_is(1);
            t.destroy(&session);
            let entry = t
                .get(&key, "")
                .entry()
                .is_modified_since(&held)
                .is_unlocked();
            entry.value_is("v").flags_is(held.flags).lock_index_is(1);
        },
        ..DELAY
    },
    Case {
        id: "lock-delay/key/counts-up-after-the-delay",
        claim: "The first acquire after the delay adds one to the LockIndex",
        run: |t| {
            let key = t.key("k");
            let session = holding(t, &key, "1s", "release");
            let next = passes(t, &key, &session, SHORT);
            t.get(&key, "").entry().session_is(&next).lock_index_is(2);
        },
        ..DELAY
    },
];

/// The usual fields of the cases of this topic.
const DELAY: Case = Case {
    source: "kv.md 8; session.md 3.3",
    ..Case::MUST
};

/// A session with that delay and behavior, which holds the key with the value `v`.
#[track_caller]
fn holding(t: &Trial, key: &str, delay: &str, behavior: &str) -> String {
    let body = json!({"LockDelay": delay, "Behavior": behavior, "NodeChecks": []}).to_string();
    let session = t.session(&body);
    t.put(key, &format!("acquire={session}&flags=6"), "v")
        .is(200, "true");
    session
}

/// A key with the value `v` and a delay that does not end within the case.
#[track_caller]
fn delayed(t: &Trial) -> String {
    let key = t.key("k");
    let session = holding(t, &key, LONG, "release");
    t.destroy(&session);
    key
}

/// Destroys the session; its key cannot be acquired before the delay has passed, and soon afterwards it is. Gives the new holder.
#[track_caller]
fn passes(t: &Trial, key: &str, session: &str, delay: Duration) -> String {
    let next = t.session_without_delay();
    let acquire = format!("acquire={next}");
    let acquired = || t.put(key, &acquire, "w").status_is(200).json() == json!(true);
    let watch = Stopwatch::start();
    // Only what has certainly passed counts: on a slow machine an acquire may come too late to say anything.
    let too_early = |advanced: Duration| {
        t.check(
            advanced + watch.elapsed() >= delay,
            "the key was acquired within the lock-delay",
        );
    };
    let virtually = |duration: Duration| match t.facts().has(Feature::MovableClock) {
        true => duration,
        false => Duration::ZERO,
    };
    t.destroy(session);
    const HELD_UP: &str = "the machine was too slow to see the delay";
    if acquired() {
        t.not_compared(HELD_UP);
        too_early(Duration::ZERO);
        return next;
    }
    t.pass(delay * 3 / 4);
    if acquired() {
        t.not_compared(HELD_UP);
        too_early(virtually(delay * 3 / 4));
        return next;
    }
    t.pass(delay / 4);
    t.eventually(
        "an acquire after the lock-delay",
        Duration::from_secs(20),
        || acquired().then_some(()),
    );
    too_early(virtually(delay));
    next
}

#[track_caller]
fn is_delayed(t: &Trial, key: &str) {
    let session = t.session_without_delay();
    t.put(key, &format!("acquire={session}"), "w")
        .is(200, "false");
}

#[track_caller]
fn is_free(t: &Trial, key: &str) {
    let session = t.session_without_delay();
    t.put(key, &format!("acquire={session}"), "w")
        .is(200, "true");
}

/// The key has lost its holder, or does so soon.
#[track_caller]
fn freed(t: &Trial, key: &str) {
    t.eventually("the key is freed", Duration::from_secs(10), || {
        t.get(key, "").entry().session.is_none().then_some(())
    });
}

/// A node with a check, and a key that a session bound to the check holds.
#[track_caller]
fn checked(t: &Trial, status: &str) -> (String, String) {
    let (node, key) = (t.register_node("n"), t.key("k"));
    register_check(t, &node, status);
    let body = json!({"Node": node, "NodeChecks": ["alive"], "LockDelay": LONG});
    let session = t.session(&body.to_string());
    t.put(&key, &format!("acquire={session}"), "v")
        .is(200, "true");
    (node, key)
}

#[track_caller]
fn register_check(t: &Trial, node: &str, status: &str) {
    let check = json!({"CheckID": "alive", "Name": "alive", "Status": status});
    t.register(&json!({"Node": node, "Address": "127.0.0.1", "Check": check}));
}
