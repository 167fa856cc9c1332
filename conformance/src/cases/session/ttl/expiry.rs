//! What a TTL does (session.md 3.4). Which ones there are is in `input`.

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::check;
use crate::cases::support::session::{LIST, info, is_gone, lives, renew_path, try_session};

/// How late a session may lapse, and be noticed.
const SLACK: Duration = Duration::from_secs(5);

/// How long before its lapse a session is looked at: what is a hiccup to a loaded machine must be shorter.
const MARGIN: Duration = Duration::from_millis(1500);
/// A shorter TTL would leave no time before the margin.
const SHORTEST: Duration = Duration::from_secs(3);

/// A session whose TTL is as short as the server and the margin allow, with these further JSON fields.
#[track_caller]
fn short_lived(t: &Trial, fields: &str) -> (Duration, String) {
    let ttl = t.shortest_ttl().0.max(SHORTEST);
    let seconds = ttl.as_secs();
    let session = t.session(&format!(
        r#"{{"TTL":"{seconds}s","NodeChecks":[]{fields}}}"#
    ));
    (ttl, session)
}

/// The session lapses about now.
#[track_caller]
fn lapses(t: &Trial, session: &str) {
    t.eventually("the session lapses", SLACK, || {
        t.api_get(&info(session)).list().is_empty().then_some(())
    });
}

/// A session lapses on time although `act` was done with it shortly before.
#[track_caller]
fn lapses_despite(t: &Trial, act: impl Fn(&str)) {
    let (ttl, session) = short_lived(t, r#","LockDelay":"0s""#);
    t.pass(ttl * 2 - MARGIN);
    act(&session);
    t.pass(MARGIN);
    // Had the act renewed it, it would live for more than one TTL from here.
    t.eventually("the session lapses", ttl, || {
        t.api_get(&info(&session)).list().is_empty().then_some(())
    });
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/ttl/lives-for-twice-its-ttl",
        claim: "A session that nobody renews lives for twice its TTL: shortly before that it is there, then it is gone",
        source: "session.md 3.4.r1, 3.4.r4, 7.1, trap 1",
        run: |t| {
            // Longer than elsewhere, so that the margin is a small part of it.
            let ttl = t.shortest_ttl().0.max(Duration::from_secs(6));
            let session = t.in_time(ttl * 2, || {
                let session = t.session(&format!(r#"{{"TTL":"{}s"}}"#, ttl.as_secs()));
                t.pass(ttl * 2 - MARGIN);
                lives(t, &session);
                session
            });
            t.pass(MARGIN);
            lapses(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/renewal-starts-it-again",
        claim: "A renewal gives the session twice its TTL from then on",
        source: "session.md 3.4.r2, 7.1, trap 2",
        run: |t| {
            let (ttl, session) = short_lived(t, "");
            t.pass(ttl * 2 - MARGIN);
            t.api_put(&renew_path(&session), "").status_is(200);
            t.pass(ttl * 2 - MARGIN);
            lives(t, &session);
            t.pass(MARGIN);
            lapses(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/renewal-in-any-case",
        claim: "A renewal by the id in upper case gives the session itself twice its TTL from then on",
        source: "session.md 2, 3.4",
        run: |t| {
            let (ttl, session) = short_lived(t, "");
            t.pass(ttl * 2 - MARGIN);
            t.api_put(&renew_path(&session.to_uppercase()), "")
                .field_is("/0/ID", session.as_str());
            t.pass(ttl * 2 - MARGIN);
            lives(t, &session);
            t.pass(MARGIN);
            lapses(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/ttl/renewal-after-one-ttl",
        claim: "A renewal that comes later than one TTL, but before twice that time, is in time",
        source: "session.md 3.4.r2, trap 1",
        run: |t| {
            let ttl = t.shortest_ttl().0.max(SHORTEST);
            t.in_time(ttl * 2, || {
                let (ttl, session) = short_lived(t, "");
                t.pass(ttl * 2 - MARGIN);
                t.api_put(&renew_path(&session), "")
                    .field_is("/0/ID", session.as_str());
            });
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/renewal-after-the-lapse",
        claim: "A session that has lapsed cannot be renewed",
        source: "session.md 3.4.r3",
        run: |t| {
            let (ttl, session) = short_lived(t, "");
            t.pass(ttl * 2);
            lapses(t, &session);
            t.api_put(&renew_path(&session), "")
                .is(404, &format!("Session id '{session}' not found"));
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/locking-does-not-renew",
        claim: "Acquiring and releasing with a session does not renew it",
        source: "session.md 3.4.r2, trap 2",
        run: |t| {
            let key = t.key("lock");
            lapses_despite(t, |session| {
                t.put(&key, &format!("acquire={session}"), "v")
                    .is(200, "true");
                t.put(&key, &format!("acquire={session}"), "w")
                    .is(200, "true");
                t.put(&key, &format!("release={session}"), "v")
                    .is(200, "true");
                t.put(&key, &format!("acquire={session}"), "v")
                    .is(200, "true");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/writing-does-not-renew",
        claim: "Writing a key that a session holds does not renew it",
        source: "session.md 3.4.r2, trap 2",
        run: |t| {
            let key = t.key("lock");
            lapses_despite(t, |session| {
                t.put(&key, &format!("acquire={session}"), "v")
                    .is(200, "true");
                t.put(&key, "", "w").is(200, "true");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/reading-does-not-renew",
        claim: "Reading a session does not renew it",
        source: "session.md 3.4.r2, trap 2",
        run: |t| {
            lapses_despite(t, |session| {
                lives(t, session);
                t.api_get(LIST).status_is(200);
                t.api_get(&format!("{}?consistent", info(session)))
                    .status_is(200);
            });
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/zero-never-lapses",
        claim: "A session whose TTL is zero or empty never lapses, renewed or not",
        source: "session.md 3.4.r4",
        run: |t| {
            let sessions = ["", "0", "0s"].map(|ttl| t.session(&format!(r#"{{"TTL":"{ttl}"}}"#)));
            t.api_put(&renew_path(&sessions[1]), "").status_is(200);
            t.pass(t.shortest_ttl().0 * 5 / 2);
            for session in &sessions {
                lives(t, session);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/checks-count-beside-it",
        claim: "A session with a TTL is bound to the serfHealth of its node as any other, and ends with it long before its time",
        source: "session.md 3.4.r4",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            let body = json!({"Node": node, "TTL": "1h", "LockDelay": "0s"}).to_string();
            // The leader takes such a node away within a minute; both ends show the same.
            let session = t.eventually("the node keeps its serfHealth", SLACK, || {
                check(t, &node, "serfHealth", "passing");
                let session = try_session(t, &body)?;
                let shown = t.api_get(&info(&session)).list();
                let bound = shown.first()?["NodeChecks"] == json!(["serfHealth"]);
                bound.then_some(session)
            });
            check(t, &node, "serfHealth", "critical");
            is_gone(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/lapse-is-a-destruction",
        claim: "A lapse releases what the session held, under its lock-delay, and moves the index of session reads",
        source: "session.md 3.4.r3",
        run: |t| {
            let key = t.key("lock");
            let (ttl, session) = short_lived(t, r#","LockDelay":"60s""#);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let held = t
                .get(&key, "")
                .entry()
                .session_is(&session)
                .lock_index_is(1);
            t.pass(ttl * 2);
            lapses(t, &session);
            let released = t
                .get(&key, "")
                .entry()
                .value_is("v")
                .is_unlocked()
                .lock_index_is(1)
                .is_modified_since(&held);
            let index = t.api_get(LIST).index();
            t.check(
                index >= released.modify_index,
                format!("the index of session reads is {index}, older than {released:?}"),
            );
            t.put(&key, &format!("acquire={}", t.session_without_delay()), "w")
                .is(200, "false");
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/lapse-deletes",
        claim: "A lapse deletes what the session held when its behavior is delete",
        source: "session.md 3.1, 3.4.r3",
        run: |t| {
            let key = t.key("lock");
            let (ttl, session) = short_lived(t, r#","LockDelay":"0s","Behavior":"delete""#);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.pass(ttl * 2);
            lapses(t, &session);
            let answer = waiting.answer().is(404, "");
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/each-lapse-is-its-own",
        claim: "Sessions of the same age lapse one by one, each under a raft index of its own, and all on time",
        source: "session.md 3.4.r1, 3.4.r3",
        run: |t| {
            t.not_compared("which of them lapses first is left to chance");
            let create = |_| short_lived(t, r#","LockDelay":"0s""#);
            let (ttls, sessions): (Vec<Duration>, Vec<String>) = (0..12).map(create).unzip();
            for (number, session) in sessions.iter().enumerate() {
                let key = t.key(&format!("lock{number}"));
                t.put(&key, &format!("acquire={session}"), "v")
                    .is(200, "true");
            }
            t.pass(ttls[0] * 2);
            for session in &sessions {
                lapses(t, session);
            }
            let entries = t.get(&t.key(""), "recurse").entries();
            let mut indexes: Vec<u64> = entries
                .into_iter()
                .map(|entry| entry.is_unlocked().modify_index)
                .collect();
            indexes.sort_unstable();
            indexes.dedup();
            t.same("the number of indexes", indexes.len(), sessions.len());
        },
        ..Case::REAL
    },
    Case {
        id: "session/ttl/destroyed-before-the-lapse",
        claim: "A session that was destroyed does not lapse again: a key that another acquired meanwhile stays held",
        source: "session.md 3.4",
        run: |t| {
            let key = t.key("lock");
            let (ttl, session) = short_lived(t, r#","LockDelay":"0s""#);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            t.destroy(&session);
            let other = t.session_without_delay();
            t.put(&key, &format!("acquire={other}"), "w")
                .is(200, "true");
            let held = t.get(&key, "").entry();
            t.pass(ttl * 5 / 2);
            is_gone(t, &session);
            t.get(&key, "")
                .entry()
                .session_is(&other)
                .is_unchanged_since(&held);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/upper-case-renewal-counts",
        claim: "A renewal under the id in upper case starts the session's TTL again",
        source: "session.md 2, 3.4; seen on 1.8.7 (1.22.md B2 takes it for lost before 1.11.0)",
        run: |t| {
            let (ttl, session) = short_lived(t, "");
            t.pass(ttl * 2 - MARGIN);
            t.api_put(&renew_path(&session.to_uppercase()), "")
                .field_is("/0/ID", session.as_str());
            t.pass(ttl * 2 - MARGIN);
            lives(t, &session);
            t.pass(MARGIN);
            lapses(t, &session);
        },
        ..Case::REAL
    },
];
