//! Transactions: the verbs lock and unlock.

use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::case::{Case, Level};
use crate::cases::support::txn::{get, op, refused, result, results, set, txn};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/lock/takes-a-free-key",
        claim: "lock creates or takes a key for its session, writes value and flags, and shows the entry without its value",
        run: |t| {
            let (key, session) = (t.key("k"), t.session_without_delay());
            let lock = || op("lock", &key).session(&session).value("v").flags(2);
            let shown = result(txn(t, [lock()]))
                .value_is_null()
                .session_is(&session)
                .lock_index_is(1);
            shown.flags_is(2).is_as_created();
            let entry = t
                .get(&key, "")
                .entry()
                .value_is("v")
                .session_is(&session)
                .lock_index_is(1);
            t.same(
                "the result",
                result(txn(t, [lock()])).modify_index,
                entry.modify_index,
            );
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/counts-up",
        claim: "Each lock of a free key adds one to its LockIndex, and the holder's next lock adds nothing",
        run: |t| {
            let (key, ours, theirs) = three(t);
            let lock = |session: &str, value: &str| op("lock", &key).session(session).value(value);
            result(txn(t, [lock(&ours, "a")])).lock_index_is(1);
            result(txn(t, [lock(&ours, "b")])).lock_index_is(1);
            result(txn(t, [op("unlock", &key).session(&ours)]))
                .lock_index_is(1)
                .is_unlocked();
            result(txn(t, [lock(&theirs, "c")]))
                .lock_index_is(2)
                .session_is(&theirs);
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/held-by-another",
        claim: "lock fails while another session holds the key",
        run: |t| {
            let (key, ours, theirs) = three(t);
            t.put(&key, &format!("acquire={ours}"), "v").is(200, "true");
            let text = format!("failed to lock key \"{key}\", lock is already held");
            refused(txn(t, [op("lock", &key).session(&theirs)]), &[(0, &text)]);
            t.get(&key, "").entry().value_is("v").session_is(&ours);
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/without-a-session",
        claim: "lock and unlock without a session fail",
        run: |t| {
            let key = t.key("k");
            let operations = [
                op("lock", &key),
                op("unlock", &key),
                op("lock", &key).session(""),
            ];
            let text = "missing session";
            refused(txn(t, operations), &[(0, text), (1, text), (2, text)]);
            t.get(&key, "").is(404, "");
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/unknown-session",
        claim: "lock fails for a session that is not there, destroyed ones included",
        run: |t| {
            let (key, unknown, gone) = (t.key("k"), t.unknown_session(), t.session_without_delay());
            t.destroy(&gone);
            let invalid = |session: &str| format!("invalid session \"{session}\"");
            refused(
                txn(
                    t,
                    [&unknown, &gone].map(|session| op("lock", &key).session(session)),
                ),
                &[(0, &invalid(&unknown)), (1, &invalid(&gone))],
            );
            t.get(&key, "").is(404, "");
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/malformed-session-before-1-11",
        claim: "lock fails for a session whose id has not 36 characters, in the words of the index",
        until: Some(Version::V1_11),
        run: |t| {
            let text = "failed session lookup: index error: UUID must be 36 characters";
            refused(
                txn(t, [op("lock", &t.key("k")).session("nope")]),
                &[(0, text)],
            );
        },
        ..Case {
            level: Level::Real,
            ..LOCKS
        }
    },
    Case {
        id: "txn/lock/malformed-session-since-1-11",
        claim: "lock fails for a session whose id is not one as for any other that is not there",
        source: "kv.md 7.3, 1.22.md A2 [S, H: 1.11.0]",
        since: Version::V1_11,
        run: |t| {
            refused(
                txn(t, [op("lock", &t.key("k")).session("nope")]),
                &[(0, "invalid session \"nope\"")],
            );
        },
        ..Case {
            level: Level::Real,
            ..LOCKS
        }
    },
    Case {
        id: "txn/unlock/frees-and-overwrites",
        claim: "unlock frees the key, overwrites its value and flags with its own, and keeps the LockIndex",
        source: "kv.md 7.3, trap 5",
        run: |t| {
            let (key, session) = (t.key("k"), t.session_without_delay());
            let acquire = format!("acquire={session}&flags=4");
            t.put(&key, &acquire, "v").is(200, "true");
            result(txn(
                t,
                [op("unlock", &key).session(&session).value("left").flags(1)],
            ))
            .value_is_null()
            .is_unlocked()
            .lock_index_is(1);
            t.get(&key, "")
                .entry()
                .value_is("left")
                .flags_is(1)
                .is_unlocked();
            t.put(&key, &acquire, "v").is(200, "true");
            txn(t, [op("unlock", &key).session(&session)]).status_is(200);
            t.get(&key, "")
                .entry()
                .value_is_null()
                .flags_is(0)
                .lock_index_is(2);
        },
        ..LOCKS
    },
    Case {
        id: "txn/unlock/only-the-holder",
        claim: "unlock fails for another session than the holder's, for a free key and for a missing one",
        run: |t| {
            let (key, ours, theirs) = three(t);
            let (free, missing) = (t.key("free"), t.key("missing"));
            t.put(&key, &format!("acquire={ours}"), "v").is(200, "true");
            t.put(&free, "", "v").is(200, "true");
            let texts = [&key, &free, &missing].map(|key| {
                format!(
                    "failed to unlock key \"{key}\", lock isn't held, or is held by another session"
                )
            });
            let expected: Vec<(usize, &str)> =
                texts.iter().map(String::as_str).enumerate().collect();
            let unlock = |key| op("unlock", key).session(&theirs);
            refused(
                txn(t, [&key, &free, &missing].map(|key| unlock(key))),
                &expected,
            );
            t.get(&key, "").entry().session_is(&ours);
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/guards-other-writes",
        claim: "check-session lets a transaction write only as long as its session holds the lock",
        run: |t| {
            let (key, ours, theirs) = three(t);
            let data = t.key("data");
            t.put(&key, &format!("acquire={ours}"), "v").is(200, "true");
            let guarded = |session: &str, value: &str| {
                [
                    op("check-session", &key).session(session),
                    set(&data, value),
                ]
            };
            txn(t, guarded(&ours, "ours")).status_is(200);
            txn(t, guarded(&theirs, "theirs")).status_is(409);
            t.get(&data, "").entry().value_is("ours");
            t.destroy(&ours);
            txn(t, guarded(&ours, "late")).status_is(409);
            t.get(&data, "").entry().value_is("ours");
        },
        ..LOCKS
    },
    Case {
        id: "txn/lock/hand-over-in-one",
        claim: "One transaction can unlock a key for one session and lock it for another",
        run: |t| {
            let (key, ours, theirs) = three(t);
            t.put(&key, &format!("acquire={ours}"), "v").is(200, "true");
            let operations = [
                op("unlock", &key).session(&ours),
                op("lock", &key).session(&theirs).value("handed"),
                get(&key),
            ];
            let shown = results(txn(t, operations));
            t.same("results", shown.len(), 3);
            t.get(&key, "")
                .entry()
                .value_is("handed")
                .session_is(&theirs)
                .lock_index_is(2);
        },
        ..LOCKS
    },
];

/// The usual fields of the cases of this topic.
const LOCKS: Case = Case {
    source: "kv.md 7.3",
    ..Case::MUST
};

/// A key and two sessions.
fn three(t: &Trial) -> (String, String, String) {
    (
        t.key("k"),
        t.session_without_delay(),
        t.session_without_delay(),
    )
}
