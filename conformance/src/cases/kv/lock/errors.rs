//! Acquiring with something that is no session: 500, in words that changed twice (kv.md 2.5).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::lock::{acquire, release};

/// Before the words of the store, since 1.10 (1.22.md F, kv.fsm_prefix).
const APPLY: &str = "raft apply failed: ";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/acquire/without-a-session-is-500",
        claim: "Acquiring with a session that does not exist, is malformed or empty is 500, and the key is not written",
        source: "kv.md 2.5; trap 20",
        run: |t| {
            let (missing, existing) = (t.key("missing"), t.key("existing"));
            t.put(&existing, "", "v").is(200, "true");
            let before = t.get(&existing, "").entry();
            let unknown = t.unknown_session();
            for session in [unknown.as_str(), "nope", ""] {
                acquire(t, &missing, session, "w").status_is(500);
                acquire(t, &existing, session, "w").status_is(500);
            }
            t.get(&missing, "").is(404, "");
            t.get(&existing, "").entry().is_unchanged_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/unknown-session-words",
        claim: "The text about an unknown or destroyed session quotes its id",
        source: "kv.md 2.5",
        until: Some(Version::V1_10),
        run: |t| unknown_session(t, ""),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/unknown-session-words-since-1-10",
        claim: "The text about an unknown or destroyed session quotes its id behind `raft apply failed: `",
        source: "1.22.md A2 [H]",
        since: Version::V1_10,
        run: |t| unknown_session(t, APPLY),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/missing-session-words",
        claim: "An empty session is refused as missing, also by release",
        source: "kv.md 2.5",
        until: Some(Version::V1_10),
        run: |t| missing_session(t, ""),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/missing-session-words-since-1-10",
        claim: "An empty session is refused as missing, also by release, behind `raft apply failed: `",
        source: "1.22.md A2 [H]",
        since: Version::V1_10,
        run: |t| missing_session(t, APPLY),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/malformed-session-words",
        claim: "A session id that is no UUID is refused in the words of the index of sessions",
        source: "kv.md 2.5",
        until: Some(Version::V1_10),
        run: |t| malformed_session(t, ""),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/malformed-session-words-since-1-10",
        claim: "A session id that is no UUID is refused in the words of the index of sessions, behind `raft apply failed: `",
        source: "1.22.md A2 [H]",
        since: Version::V1_10,
        until: Some(Version::V1_11),
        run: |t| malformed_session(t, APPLY),
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/malformed-session-words-since-1-11",
        claim: "A session id that is no UUID is as unknown as any other",
        source: "1.22.md A2 [H]",
        since: Version::V1_11,
        run: |t| {
            for session in ["nope", "ZZZZZZZZ-0000-4000-8000-000000000000", "a b"] {
                let text = format!("{APPLY}invalid session \"{session}\"");
                acquire(t, &t.key("lock"), &session.replace(' ', "%20"), "v").is(500, &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/acquire/refusal-burns-an-index",
        claim: "Acquiring with an unknown session consumes a raft index: the next change is at least two on",
        source: "kv.md 2.5; trap 22",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").index();
            let unknown = t.unknown_session();
            acquire(t, &t.key("lock"), &unknown, "v").status_is(500);
            t.put(&key, "", "w").is(200, "true");
            t.grew("ModifyIndex", before + 1, t.get(&key, "").index());
        },
        ..Case::REAL
    },
];

fn unknown_session(t: &Trial, before: &str) {
    let (key, unknown) = (t.key("lock"), t.unknown_session());
    let words = |id: &str| format!("{before}invalid session \"{id}\"");
    acquire(t, &key, &unknown, "v").is(500, &words(&unknown));
    let upper = unknown.to_uppercase();
    acquire(t, &key, &upper, "v").is(500, &words(&upper));
    let destroyed = t.session_without_delay();
    t.destroy(&destroyed);
    acquire(t, &key, &destroyed, "v").is(500, &words(&destroyed));
}

fn missing_session(t: &Trial, before: &str) {
    let words = format!("{before}missing session");
    let key = t.key("lock");
    acquire(t, &key, "", "v").is(500, &words);
    t.put(&key, "acquire", "v").is(500, &words);
    release(t, &key, "", "v").is(500, &words);
    t.get(&key, "").is(404, "");
}

fn malformed_session(t: &Trial, before: &str) {
    let key = t.key("lock");
    let lookup = format!("{before}failed session lookup: index error: ");
    acquire(t, &key, "nope", "v").is(500, &format!("{lookup}UUID must be 36 characters"));
    let not_hex = "ZZZZZZZZ-0000-4000-8000-000000000000";
    acquire(t, &key, not_hex, "v").is(
        500,
        &format!("{lookup}Invalid UUID: encoding/hex: invalid byte: U+005A 'Z'"),
    );
}
