//! Acquire and release, and what other writes do to a held key (kv.md 2.5).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::cases::support::lock::{acquire, release};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/acquire/one-holder",
        claim: "A key is held by the session that acquired it until that session releases it",
        source: "kv.md 2.5.r2, 2.5.r5, 2.5.r12",
        run: |t| {
            let key = t.key("lock");
            let (ours, theirs) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &ours, "ours").is(200, "true");
            acquire(t, &key, &theirs, "theirs").is(200, "false");
            release(t, &key, &theirs, "theirs").is(200, "false");
            let entry = t.get(&key, "").entry().value_is("ours");
            entry.session_is(&ours).lock_index_is(1);
            release(t, &key, &ours, "left").is(200, "true");
            let entry = t.get(&key, "").entry().value_is("left");
            entry.is_unlocked().lock_index_is(1);
            acquire(t, &key, &theirs, "theirs").is(200, "true");
            t.get(&key, "").entry().session_is(&theirs).lock_index_is(2);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/creates",
        claim: "Acquiring a missing key creates it with LockIndex 1, the Session, and the flags and value that were given",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, &format!("flags=9&acquire={session}"), "v")
                .is(200, "true");
            let entry = t.get(&key, "").entry().value_is("v").flags_is(9);
            let entry = entry.session_is(&session).lock_index_is(1);
            entry.is_as_created();
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/an-existing-key",
        claim: "Acquiring an unlocked key keeps its CreateIndex, writes value and flags, and adds 1 to its LockIndex",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, "flags=9", "before").is(200, "true");
            let before = t.get(&key, "").entry().lock_index_is(0);
            for lock_index in 1..=3 {
                acquire(t, &key, &session, "held").is(200, "true");
                let held = t.get(&key, "").entry().value_is("held").flags_is(0);
                let held = held.session_is(&session).lock_index_is(lock_index);
                held.is_modified_since(&before);
                release(t, &key, &session, "left").is(200, "true");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/again-without-change",
        claim: "A holder that acquires again with the same value and flags is told true, and nothing changes",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            let query = format!("acquire={session}&flags=4");
            t.put(&key, &query, "v").is(200, "true");
            let before = t.get(&key, "").entry().lock_index_is(1);
            t.put(&key, &query, "v").is(200, "true");
            t.get(&key, "").entry().is_unchanged_since(&before);
            t.put(&key, &query, "w").is(200, "true");
            t.get(&key, "").entry().is_modified_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/again-with-a-new-value",
        claim: "A holder that acquires again with another value and no flags writes it, with flags 0 and the same LockIndex",
        source: "kv.md 2.5; trap 4",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, &format!("acquire={session}&flags=4"), "v")
                .is(200, "true");
            let before = t.get(&key, "").entry().flags_is(4);
            acquire(t, &key, &session, "w").is(200, "true");
            let after = t.get(&key, "").entry().value_is("w").flags_is(0);
            let after = after.session_is(&session).lock_index_is(1);
            after.is_modified_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/held-changes-nothing",
        claim: "Acquiring what another session holds is answered false and changes nothing",
        source: "kv.md 2.5; trap 20",
        run: |t| {
            let key = t.key("lock");
            let (ours, theirs) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &ours, "ours").is(200, "true");
            let before = t.get(&key, "").entry();
            t.put(&key, &format!("acquire={theirs}&flags=1"), "theirs")
                .is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/one-winner",
        claim: "Of many sessions that acquire a key at once, exactly one is told true, and it is the holder",
        source: "kv.md 2.5.r5",
        run: |t| {
            let key = t.key("lock");
            let sessions: Vec<_> = (0..6).map(|_| t.session_without_delay()).collect();
            for lock_index in 1..=5 {
                let won = t.together(sessions.len(), |number| {
                    let session = &sessions[number];
                    acquire(t, &key, session, session).status_is(200).json() == true
                });
                let winners: Vec<_> = (0..won.len()).filter(|number| won[*number]).collect();
                t.same("winners", winners.len(), 1);
                let winner = &sessions[winners[0]];
                let entry = t.get(&key, "").entry().value_is(winner);
                entry.session_is(winner).lock_index_is(lock_index);
                release(t, &key, winner, "").is(200, "true");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/plain-put-zeroes-the-lock-index",
        claim: "A plain write on a held key keeps its Session and sets its LockIndex to 0",
        source: "kv.md 2.5; trap 2",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            acquire(t, &key, &session, "v").is(200, "true");
            let held = t.get(&key, "").entry().lock_index_is(1);
            t.put(&key, "", "w").is(200, "true");
            let entry = t.get(&key, "").entry().value_is("w");
            let entry = entry.session_is(&session).lock_index_is(0);
            entry.is_modified_since(&held);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/identical-put-bumps-once",
        claim: "A plain write of the same value on a held key is a change, because of its LockIndex; the second one is not",
        source: "kv.md 2.5; trap 3",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            acquire(t, &key, &session, "v").is(200, "true");
            let held = t.get(&key, "").entry();
            t.put(&key, "", "v").is(200, "true");
            let once = t.get(&key, "").entry().lock_index_is(0);
            let once = once.session_is(&session).is_modified_since(&held);
            t.put(&key, "", "v").is(200, "true");
            t.get(&key, "").entry().is_unchanged_since(&once);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/lock-index-stays-zero-for-the-holder",
        claim: "A holder whose LockIndex a plain write set to 0 acquires again without raising it",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            acquire(t, &key, &session, "v").is(200, "true");
            t.put(&key, "", "w").is(200, "true");
            let before = t.get(&key, "").entry().lock_index_is(0);
            acquire(t, &key, &session, "x").is(200, "true");
            let after = t.get(&key, "").entry().session_is(&session);
            after.lock_index_is(0).is_modified_since(&before);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/lock-index-starts-again",
        claim: "After a plain write the LockIndex counts from 0 again: it does not grow over a key's life",
        source: "kv.md 2.5",
        run: |t| {
            let key = t.key("lock");
            let (first, second) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &first, "v").is(200, "true");
            release(t, &key, &first, "v").is(200, "true");
            acquire(t, &key, &first, "v").is(200, "true");
            t.get(&key, "").entry().lock_index_is(2);
            release(t, &key, &first, "v").is(200, "true");
            t.put(&key, "", "v").is(200, "true");
            t.get(&key, "").entry().is_unlocked().lock_index_is(0);
            acquire(t, &key, &second, "v").is(200, "true");
            t.get(&key, "").entry().session_is(&second).lock_index_is(1);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/release/missing-key",
        claim: "Releasing a missing key is answered false and does not create it",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            release(t, &key, &session, "v").is(200, "false");
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/release/by-another-changes-nothing",
        claim: "Releasing with anything but the holder, even with an id that no session has, is false and changes nothing",
        source: "kv.md 2.5",
        run: |t| {
            let key = t.key("lock");
            let (ours, theirs) = (t.session_without_delay(), t.session_without_delay());
            acquire(t, &key, &ours, "v").is(200, "true");
            let before = t.get(&key, "").entry();
            let unknown = t.unknown_session();
            for other in [theirs.as_str(), &unknown, "garbage", "%00"] {
                release(t, &key, other, "w").is(200, "false");
                t.get(&key, "").entry().is_unchanged_since(&before);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/release/unlocked-changes-nothing",
        claim: "Releasing a key that nobody holds, or a second time, is false and changes nothing",
        source: "kv.md 2.5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            release(t, &key, &session, "w").is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
            acquire(t, &key, &session, "v").is(200, "true");
            release(t, &key, &session, "v").is(200, "true");
            let before = t.get(&key, "").entry();
            release(t, &key, &session, "w").is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/release/overwrites-value-and-flags",
        claim: "A release writes its own value and flags: an empty body makes the value null, and flags fall back to 0",
        source: "kv.md 2.5; traps 4 and 5",
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, &format!("acquire={session}&flags=7"), "v")
                .is(200, "true");
            let held = t.get(&key, "").entry().flags_is(7);
            release(t, &key, &session, "").is(200, "true");
            let free = t.get(&key, "").entry().value_is_null().flags_is(0);
            let free = free.is_unlocked().lock_index_is(1);
            free.is_modified_since(&held);
            acquire(t, &key, &session, "v").is(200, "true");
            t.put(&key, &format!("release={session}&flags=3"), "w")
                .is(200, "true");
            t.get(&key, "").entry().value_is("w").flags_is(3);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/release/frees-at-once",
        claim: "A key that its holder released can be acquired at once, whatever the session's lock-delay",
        source: "kv.md 2.5; trap 21",
        run: |t| {
            let key = t.key("lock");
            let ours = t.session(r#"{"LockDelay":"60s","NodeChecks":[]}"#);
            let theirs = t.session_without_delay();
            acquire(t, &key, &ours, "v").is(200, "true");
            release(t, &key, &ours, "v").is(200, "true");
            acquire(t, &key, &theirs, "v").is(200, "true");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/wakes-a-reader",
        claim: "Acquiring and releasing are changes that end a blocking read of the key",
        source: "kv.md 2.5",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, session) = (t.key("lock"), t.session_without_delay());
            t.put(&key, "", "v").is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.still_blocked(&waiting);
            acquire(t, &key, &session, "v").is(200, "true");
            let held = waiting.answer();
            let index = held.index();
            held.entry().session_is(&session);
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            release(t, &key, &session, "v").is(200, "true");
            waiting.answer().entry().is_unlocked();
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/session-ids-are-found-in-any-case",
        claim: "A session is found by its id in any case, but is stored and compared as it was given",
        source: "kv.md 2.5",
        run: |t| {
            let (key, lower) = (t.key("lock"), t.session_without_delay());
            // An id without letters has no case.
            if !lower.contains(|c: char| c.is_ascii_lowercase()) {
                return;
            }
            let upper = lower.to_uppercase();
            acquire(t, &key, &upper, "v").is(200, "true");
            t.get(&key, "").entry().session_is(&upper);
            acquire(t, &key, &lower, "v").is(200, "false");
            release(t, &key, &lower, "v").is(200, "false");
            release(t, &key, &upper, "v").is(200, "true");
            t.get(&key, "").entry().is_unlocked();
        },
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/delay-comes-before-the-session",
        claim: "While a lock-delay runs every acquire is false, even with an unknown, malformed or empty session",
        source: "kv.md 2.5; trap 20",
        run: |t| {
            let key = t.key("lock");
            let ours = t.session(r#"{"LockDelay":"60s","NodeChecks":[]}"#);
            acquire(t, &key, &ours, "v").is(200, "true");
            t.destroy(&ours);
            let before = t.get(&key, "").entry().is_unlocked();
            let (theirs, unknown) = (t.session_without_delay(), t.unknown_session());
            for session in [theirs.as_str(), &unknown, &ours, "nope", ""] {
                acquire(t, &key, session, "w").is(200, "false");
            }
            t.get(&key, "").entry().is_unchanged_since(&before);
        },
        ..Case::REAL
    },
];
