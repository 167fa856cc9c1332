//! How the numbers of a session's lock-delay act on its keys (session.md 1.2, 3.3). The rest of what it does is in `lock_delay`.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::session::takes_raft_indexes;
use crate::wire::answer::Answer;

/// How long before its end a lock-delay is looked at: what is a hiccup to a loaded machine must be shorter.
const MARGIN: Duration = Duration::from_millis(1500);
/// How late a lock-delay may end, and be noticed.
const SLACK: Duration = Duration::from_secs(5);

fn acquire(t: &Trial, key: &str, session: &str) -> Answer {
    t.put(key, &format!("acquire={session}"), "v")
}

/// A key whose holder, created from `body`, was destroyed.
#[track_caller]
fn left_by(t: &Trial, body: &str) -> String {
    let key = t.key("lock");
    let session = t.session(body);
    acquire(t, &key, &session).is(200, "true");
    t.destroy(&session);
    key
}

/// A session that was created from `body` and destroyed keeps nobody from its key.
#[track_caller]
fn leaves_no_delay(t: &Trial, body: &str) {
    let key = left_by(t, body);
    acquire(t, &key, &t.session_without_delay()).is(200, "true");
    t.delete(&key, "").is(200, "true");
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/lock-delay/number-acts-as-seconds",
        claim: "A lock-delay of the number 3 keeps others from the key for three seconds",
        source: "session.md 1.2, 3.3.r4, 7.1, trap 3, 3.2.r5",
        run: |t| {
            let key = left_by(t, r#"{"LockDelay":3}"#);
            let session = t.session_without_delay();
            acquire(t, &key, &session).is(200, "false");
            t.pass(Duration::from_secs(3) - MARGIN);
            acquire(t, &key, &session).is(200, "false");
            t.pass(MARGIN);
            t.eventually("the lock-delay ends", SLACK, || {
                let acquired = acquire(t, &key, &session).status_is(200).text();
                (acquired.trim() == "true").then_some(())
            });
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/microsecond-is-over-at-once",
        claim: "A lock-delay of the number 1000, a microsecond, is over before the next request",
        source: "session.md 1.2, 3.3, trap 3",
        run: |t| leaves_no_delay(t, r#"{"LockDelay":1000}"#),
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/millisecond-is-over-soon",
        claim: "A lock-delay of a millisecond is over a fifth of a second later: it is not rounded to anything coarser",
        source: "session.md 3.3.r4",
        run: |t| {
            let key = left_by(t, r#"{"LockDelay":"1ms"}"#);
            t.pass(Duration::from_millis(200));
            acquire(t, &key, &t.session_without_delay()).is(200, "true");
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/negative-acts-as-none",
        claim: "A negative lock-delay, which is shown as it was sent, acts as none",
        source: "session.md 1.2, trap 4",
        run: |t| {
            leaves_no_delay(t, r#"{"LockDelay":"-1s"}"#);
            leaves_no_delay(t, r#"{"LockDelay":-1}"#);
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/neighbours-are-free",
        claim: "Keys below, above and beside a key under its lock-delay can be acquired",
        source: "session.md 3.3.r3, 3.2.r5",
        run: |t| {
            let key = left_by(t, r#"{"LockDelay":"60s"}"#);
            let session = t.session_without_delay();
            for neighbour in ["lock/child", "loc", "lock2", "lock/"] {
                acquire(t, &t.key(neighbour), &session).is(200, "true");
            }
            acquire(t, &key, &session).is(200, "false");
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/older-sessions-wait-too",
        claim: "A session that was there before the holder fell is held off as a new one, and so is one without a lock-delay of its own",
        source: "session.md 3.3.r1, trap 21",
        run: |t| {
            let older = t.session_without_delay();
            let key = left_by(t, r#"{"LockDelay":"60s"}"#);
            for session in [older, t.session_without_delay(), t.session("{}")] {
                acquire(t, &key, &session).is(200, "false");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/refusal-takes-no-raft-index",
        claim: "An acquire that the lock-delay refuses changes nothing and takes no raft index",
        source: "session.md 3.3.r1, trap 22",
        needs: &[Feature::OwnServer],
        run: |t| {
            let key = left_by(t, r#"{"LockDelay":"60s"}"#);
            let session = t.session_without_delay();
            let before = t.get(&key, "").entry();
            takes_raft_indexes(t, 0, || {
                t.put(&key, &format!("acquire={session}&flags=7"), "other")
                    .is(200, "false");
            });
            t.get(&key, "").entry().is_unchanged_since(&before);
        },
        ..Case::REAL
    },
];
