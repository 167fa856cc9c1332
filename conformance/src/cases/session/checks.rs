//! `session/create`: which checks a session is bound to.
//!
//! The checks stand on a catalog node of the case's own. A check called serfHealth on such a node makes the leader take the node away
//! within a minute (serf does not know it), so what needs one is asked for until it is there, and its end is the only thing looked at.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, register, service_check};
use crate::cases::support::session::{Shown, info, is_gone, lives, try_session};

/// How long the leader may go on taking such a node away.
const KEPT: Duration = Duration::from_secs(5);

/// A node with the passing checks `ok` and, of its service `svc`, `svcok`.
#[track_caller]
fn node_with_checks(t: &Trial) -> String {
    let node = t.register_node("n");
    check(t, &node, "ok", "passing");
    service_check(t, &node, "svc", "svcok", "passing");
    node
}

/// A session of that node with these fields.
#[track_caller]
fn session_on(t: &Trial, node: &str, fields: &Value) -> String {
    t.session(&body_on(node, fields))
}

fn body_on(node: &str, fields: &Value) -> String {
    let mut body = fields.clone();
    body["Node"] = json!(node);
    body.to_string()
}

/// What a session of that node shows that has no checks at all.
fn unbound<'a>(t: &'a Trial, node: &'a str, session: &'a str) -> Shown<'a> {
    Shown {
        node,
        node_checks: "[]",
        ..Shown::of(t, session)
    }
}

/// A session with these fields shows `node_checks`, `service_checks` and `checks`, and falls with each of the checks `falls_with` on its own.
#[track_caller]
fn shows_and_falls(t: &Trial, fields: &Value, lists: [Option<&str>; 3], falls_with: &[&str]) {
    let [node_checks, service_checks, checks] = lists;
    for (number, critical) in falls_with.iter().enumerate() {
        let node = t.node(&format!("n{number}"));
        let (session, stored) = t.eventually("the node keeps its serfHealth", KEPT, || {
            check(t, &node, "serfHealth", "passing");
            check(t, &node, "ok", "passing");
            service_check(t, &node, "svc", "svcok", "passing");
            let session = try_session(t, &body_on(&node, fields))?;
            let stored = t.api_get(&info(&session));
            (!stored.list().is_empty()).then_some((session, stored))
        });
        let shown = Shown {
            node: &node,
            node_checks: node_checks.unwrap_or("null"),
            service_checks: service_checks.unwrap_or("null"),
            checks,
            ..Shown::of(t, &session)
        };
        shown.is_alone_in(stored);
        if *critical == "svcok" {
            service_check(t, &node, "svc", "svcok", "critical");
        } else {
            check(t, &node, critical, "critical");
        }
        is_gone(t, &session);
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/checks/none",
        claim: "Empty NodeChecks bind a session to nothing, and so do empty or null Checks; all show NodeChecks as []",
        source: "session.md 1.4, trap 11",
        run: |t| {
            for body in [
                r#"{"NodeChecks":[]}"#,
                r#"{"Checks":[]}"#,
                r#"{"Checks":null}"#,
            ] {
                let session = t.session(body);
                let node = &t.facts().node;
                unbound(t, node, &session).is_stored(t);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/null-is-shown-as-null",
        claim: "NodeChecks of null are shown as null, not as [] and not as the default",
        source: "session.md 1.4, trap 11",
        run: |t| {
            let session = t.session(r#"{"NodeChecks":null}"#);
            let shown = Shown {
                node_checks: "null",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/serf-health-moves-to-node-checks",
        claim: "Checks of serfHealth alone are shown as NodeChecks, and Checks not at all",
        source: "session.md 1.4, trap 12",
        run: |t| {
            let session = t.session(r#"{"Checks":["serfHealth"]}"#);
            Shown::of(t, &session).is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/empty-service-checks",
        claim: "Empty ServiceChecks are shown as [] and leave the default NodeChecks",
        source: "session.md 1.4, trap 13",
        run: |t| {
            let session = t.session(r#"{"ServiceChecks":[]}"#);
            let shown = Shown {
                service_checks: "[]",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/must-exist",
        claim: "A check that the node does not have is 500 with its id in quotes, in each of the three lists",
        source: "session.md 1.4, 7.1, trap 5",
        until: Some(Version::V1_22),
        run: |t| {
            for (body, missing) in [
                (r#"{"NodeChecks":["nope"]}"#, "nope"),
                (r#"{"NodeChecks":["serfHealth","nope"]}"#, "nope"),
                (r#"{"NodeChecks":[""]}"#, ""),
                (r#"{"Checks":["nope"]}"#, "nope"),
                (r#"{"ServiceChecks":[{"ID":"nope"}]}"#, "nope"),
            ] {
                t.create_session(body)
                    .says(500, &format!("Missing check '{missing}' registration"));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/checked-in-the-order-of-lists",
        claim: "Of several missing checks the first of Checks is named, then of NodeChecks, then of ServiceChecks",
        source: "session.md 1.1",
        run: |t| {
            let service = r#""ServiceChecks":[{"ID":"three"}]"#;
            t.create_session(&format!(
                r#"{{{service},"NodeChecks":["two"],"Checks":["one","four"]}}"#
            ))
            .says(500, "Missing check 'one' registration");
            t.create_session(&format!(r#"{{{service},"NodeChecks":["two"]}}"#))
                .says(500, "Missing check 'two' registration");
            t.create_session(&format!(r#"{{{service}}}"#))
                .says(500, "Missing check 'three' registration");
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/must-not-be-critical",
        claim: "A session cannot be bound to a check that is critical",
        source: "session.md 1.4, 7.1, trap 5",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            check(t, &node, "crit", "critical");
            t.create_session(&body_on(&node, &json!({"NodeChecks": ["ok", "crit"]})))
                .says(500, "Check 'crit' is in critical state");
            session_on(t, &node, &json!({"NodeChecks": ["ok"]}));
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/any-other-status-will-do",
        claim: "A check that is in warning, or in a status that no agent knows, may hold a session",
        source: "session.md 1.4, trap 25",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            for status in ["warning", "maintenance", "nonsense", "CRITICAL"] {
                check(t, &node, "c", status);
                let session = session_on(t, &node, &json!({"NodeChecks": ["c"]}));
                lives(t, &session);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/node-maintenance-does-not-matter",
        claim: "A node in maintenance takes sessions, only none that are bound to the maintenance check itself",
        source: "session.md 1.4, trap 25",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            check(t, &node, "_node_maintenance", "critical");
            session_on(t, &node, &json!({"NodeChecks": ["ok"]}));
            t.create_session(&body_on(
                &node,
                &json!({"NodeChecks": ["_node_maintenance"]}),
            ))
            .says(500, "Check '_node_maintenance' is in critical state");
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/node-checks-replace-the-default",
        claim: "NodeChecks bind to what they name and not to serfHealth, also beside Checks of serfHealth alone",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            // The node has no serfHealth, so a session that needed it could not be created.
            let node = node_with_checks(t);
            for fields in [
                json!({"NodeChecks": ["ok"]}),
                json!({"Checks": ["serfHealth"], "NodeChecks": ["ok"]}),
            ] {
                let session = session_on(t, &node, &fields);
                let shown = Shown {
                    node_checks: r#"["ok"]"#,
                    ..unbound(t, &node, &session)
                };
                shown.is_stored(t);
                check(t, &node, "ok", "critical");
                is_gone(t, &session);
                check(t, &node, "ok", "passing");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/default-is-serf-health",
        claim: "A session of which nothing is said about checks falls with the serfHealth of its node",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            shows_and_falls(
                t,
                &json!({}),
                [Some(r#"["serfHealth"]"#), None, None],
                &["serfHealth"],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/checks-keep-serf-health",
        claim: "Checks bind beside serfHealth, which is added as NodeChecks",
        source: "session.md 1.4, trap 12",
        needs: &[Feature::Registration],
        run: |t| {
            let lists = [Some(r#"["serfHealth"]"#), None, Some(r#"["ok"]"#)];
            shows_and_falls(t, &json!({"Checks": ["ok"]}), lists, &["ok", "serfHealth"]);
            let lists = [
                Some(r#"["serfHealth"]"#),
                None,
                Some(r#"["serfHealth","ok"]"#),
            ];
            let fields = json!({"Checks": ["serfHealth", "ok"]});
            shows_and_falls(t, &fields, lists, &["ok", "serfHealth"]);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/service-checks-keep-serf-health",
        claim: "ServiceChecks bind beside the default NodeChecks",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            let lists = [
                Some(r#"["serfHealth"]"#),
                Some(r#"[{"ID":"svcok","Namespace":""}]"#),
                None,
            ];
            let fields = json!({"ServiceChecks": [{"ID": "svcok"}]});
            shows_and_falls(t, &fields, lists, &["svcok", "serfHealth"]);
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/empty-node-checks-drop-checks",
        claim: "Beside empty NodeChecks, Checks are forgotten: the session is bound to nothing",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let session = session_on(t, &node, &json!({"Checks": ["ok"], "NodeChecks": []}));
            unbound(t, &node, &session).is_stored(t);
            check(t, &node, "ok", "critical");
            lives(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/empty-checks-wipe-node-checks",
        claim: "Empty Checks wipe out NodeChecks: the session is bound to nothing",
        source: "session.md 1.4, trap 11",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let session = session_on(t, &node, &json!({"Checks": [], "NodeChecks": ["ok"]}));
            unbound(t, &node, &session).is_stored(t);
            check(t, &node, "ok", "critical");
            lives(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/empty-checks-leave-service-checks",
        claim: "Beside empty Checks, ServiceChecks bind all the same",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let fields = json!({"Checks": [], "ServiceChecks": [{"ID": "svcok"}]});
            let session = session_on(t, &node, &fields);
            let shown = Shown {
                service_checks: r#"[{"ID":"svcok","Namespace":""}]"#,
                ..unbound(t, &node, &session)
            };
            shown.is_stored(t);
            check(t, &node, "ok", "critical");
            lives(t, &session);
            service_check(t, &node, "svc", "svcok", "critical");
            is_gone(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/namespace-of-a-service-check",
        claim: "The Namespace of a service check is stored and shown, and otherwise ignored",
        source: "session.md 1.1",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let fields =
                json!({"NodeChecks": [], "ServiceChecks": [{"ID": "svcok", "Namespace": "far"}]});
            let session = session_on(t, &node, &fields);
            let shown = Shown {
                service_checks: r#"[{"ID":"svcok","Namespace":"far"}]"#,
                ..unbound(t, &node, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/any-case-finds-them",
        claim: "Checks are found by their id in any case, and shown in the spelling that was sent",
        source: "session.md 1.4, trap 14",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let session = session_on(t, &node, &json!({"NodeChecks": ["OK"]}));
            let shown = Shown {
                node_checks: r#"["OK"]"#,
                ..unbound(t, &node, &session)
            };
            shown.is_stored(t);
            check(t, &node, "ok", "critical");
            is_gone(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/named-twice",
        claim: "A check may be named twice, and is shown twice",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let session = session_on(t, &node, &json!({"NodeChecks": ["ok", "ok"]}));
            let shown = Shown {
                node_checks: r#"["ok","ok"]"#,
                ..unbound(t, &node, &session)
            };
            shown.is_stored(t);
            check(t, &node, "ok", "critical");
            is_gone(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/one-pool",
        claim: "A check of a service may stand in NodeChecks, and one of the node in ServiceChecks",
        source: "session.md 1.4",
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let by_service = session_on(t, &node, &json!({"NodeChecks": ["svcok"]}));
            let fields = json!({"NodeChecks": [], "ServiceChecks": [{"ID": "ok"}]});
            let by_node = session_on(t, &node, &fields);
            service_check(t, &node, "svc", "svcok", "critical");
            is_gone(t, &by_service);
            lives(t, &by_node);
            check(t, &node, "ok", "critical");
            is_gone(t, &by_node);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/session-typed-check-follows",
        claim: "A check of type session is passing while a session of its name lives on its node, and critical once that is destroyed",
        source: "1.22.md B3 (since 1.21.0 [D])",
        since: Version::new(1, 21, 0),
        needs: &[Feature::Registration],
        run: |t| {
            let node = node_with_checks(t);
            let definition = json!({"SessionName": "follow"});
            let typed = json!({"CheckID": "typed", "Name": "typed", "Type": "session", "Status": "critical", "Definition": definition});
            register(t, &node, &json!({"Check": typed}));
            let status = || {
                let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
                let found = checks.iter().find(|check| check["CheckID"] == "typed");
                found.map(|check| (check["Status"].clone(), check["Output"].clone()))
            };
            let fields = json!({"Name": "follow", "NodeChecks": ["typed"], "LockDelay": 0});
            let session = session_on(t, &node, &fields);
            let in_force = format!("Session '{session}' in force");
            t.same(
                "the check",
                status(),
                Some((json!("passing"), json!(in_force))),
            );
            t.destroy(&session);
            let invalid = format!("Session '{session}' is invalid");
            t.same(
                "the check",
                status(),
                Some((json!("critical"), json!(invalid))),
            );
        },
        ..Case::REAL
    },
];
