//! `session/create`: name, node and behavior, and what is checked before what.

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::cases::support::session::{Shown, info, lives, of_node};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/name/printed-html-safe",
        claim: "A name is stored as sent and printed with <, >, & and line separators escaped",
        source: "session.md 1.1; kv.md 1.3",
        run: |t| {
            let session = t.session("{\"Name\":\"<b>&\\u2028\u{e9}\\\"\\\\\\n\"}");
            let shown = Shown {
                name: r#"\u003cb\u003e\u0026\u2028é\"\\\n"#,
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
            t.api_get(&info(&session))
                .field_is("/0/Name", "<b>&\u{2028}é\"\\\n");
        },
        ..Case::REAL
    },
    Case {
        id: "session/name/need-not-be-unique",
        claim: "Any number of sessions may have the same name on the same node",
        source: "session.md 1.1",
        run: |t| {
            let (one, other) = (
                t.session(r#"{"Name":"twin"}"#),
                t.session(r#"{"Name":"twin"}"#),
            );
            for session in [one, other] {
                let shown = Shown {
                    name: "twin",
                    ..Shown::of(t, &session)
                };
                shown.is_stored(t);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/node/must-be-registered",
        claim: "A node that the catalog does not know is 500",
        source: "session.md 1.1, 7.1, trap 5",
        run: |t| {
            let body = json!({"Node": t.node("unknown"), "NodeChecks": []}).to_string();
            t.create_session(&body)
                .says(500, "Missing node registration");
        },
        ..Case::MUST
    },
    Case {
        id: "session/node/must-not-be-empty",
        claim: "A Node that is given and empty is 500, though leaving it out means the agent's own",
        source: "session.md 1.1, 7.1, trap 5",
        run: |t| {
            t.create_session(r#"{"Node":""}"#)
                .is(500, "Must provide Node");
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/node/any-case-finds-it",
        claim: "The agent's node is found by its name in any case, and shown in the spelling that was sent",
        source: "session.md 1.1, trap 14",
        run: |t| {
            let loud = t.facts().node.to_uppercase();
            let session = t.session(&json!({"Node": loud}).to_string());
            let shown = Shown {
                node: &loud,
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/node/of-the-catalog",
        claim: "A session may belong to any node of the catalog",
        source: "session.md 1.1, trap 28",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let session = t.session(&json!({"Node": node, "NodeChecks": []}).to_string());
            let shown = Shown {
                node: &node,
                node_checks: "[]",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
            shown.is_alone_in(t.api_get(&of_node(&node)));
        },
        ..Case::MUST
    },
    Case {
        id: "session/node/without-serf-health",
        claim: "A node that only the catalog knows has no serfHealth, so the default checks are missing there",
        source: "session.md 1.4, trap 28",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            t.create_session(&json!({"Node": node}).to_string())
                .says(500, "Missing check 'serfHealth' registration");
        },
        ..Case::MUST
    },
    Case {
        id: "session/behavior/release-and-delete",
        claim: "Behavior is release or delete, and release when nothing is said",
        source: "session.md 1.1",
        run: |t| {
            for (body, behavior) in [
                (r#"{"Behavior":"release"}"#, "release"),
                (r#"{"Behavior":"delete"}"#, "delete"),
                (r#"{"Behavior":""}"#, "release"),
                (r#"{"Behavior":null}"#, "release"),
            ] {
                let session = t.session(body);
                let shown = Shown {
                    behavior,
                    ..Shown::of(t, &session)
                };
                shown.is_stored(t);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/behavior/anything-else-is-500",
        claim: "Any other behavior is 500, also one that differs only in case",
        source: "session.md 1.1, trap 5",
        run: |t| {
            for behavior in ["Delete", "RELEASE", "x", " release"] {
                t.create_session(&json!({"Behavior": behavior}).to_string())
                    .is(500, &format!("Invalid Behavior setting '{behavior}'"));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/order/decoding-comes-first",
        claim: "A lock-delay or a field that cannot be read wins over everything else that is wrong",
        source: "session.md 1.1",
        run: |t| {
            for field in [r#""LockDelay":"x""#, r#""Name":1"#] {
                t.create_session(&format!(
                    r#"{{"Node":"","Behavior":"x","TTL":"x",{field}}}"#
                ))
                .says(400, "Request decode failed: ");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/order/node-behavior-ttl-store",
        claim: "An empty node wins over a wrong behavior, that over a wrong TTL, that over an unknown node, that over an unknown check",
        source: "session.md 1.1",
        run: |t| {
            let mut body = json!({"Node": "", "Behavior": "x", "TTL": "x", "NodeChecks": ["nope"]});
            t.create_session(&body.to_string())
                .is(500, "Must provide Node");
            body["Node"] = json!(t.node("unknown"));
            t.create_session(&body.to_string())
                .is(500, "Invalid Behavior setting 'x'");
            body["Behavior"] = json!("delete");
            t.create_session(&body.to_string())
                .says(500, "Session TTL 'x' invalid: ");
            body["TTL"] = json!("");
            t.create_session(&body.to_string())
                .says(500, "Missing node registration");
            body["Node"] = json!(t.facts().node);
            t.create_session(&body.to_string())
                .says(500, "Missing check 'nope' registration");
        },
        ..Case::REAL
    },
    Case {
        id: "session/node/holds-many-sessions",
        claim: "One node may have any number of sessions at once",
        source: "session.md 3.5.r11",
        run: |t| {
            let sessions = t.together(8, |_| [t.session("{}"), t.session("{}"), t.session("{}")]);
            for session in sessions.iter().flatten() {
                lives(t, session);
            }
        },
        ..Case::MUST
    },
];
