//! Every trigger that is pulled at the agent (session.md 3.1, 4.4) with every effect of a session's end (3.2), all under one index.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::invalidation::{
    BOTH, Bound, CHECKS, NEEDS_OF_AGENT, SERVICES, ends_at_once, index_of, index_of_check, put,
    session_bound_to,
};
use crate::cases::support::session::{info, lives};

/// How long the agent may take to tell the catalog, and for what the leader does at its leisure.
const SYNC: Duration = Duration::from_secs(10);

/// A check of the agent's own, known to the catalog, to which a session is to be bound.
#[track_caller]
fn own_check(t: &Trial, name: &str, ttl: &str) -> Bound {
    let check = t.agent_check(name);
    let body = json!({"ID": check, "Name": check, "TTL": ttl, "Status": "passing"});
    put(t, "/v1/agent/check/register", &body);
    known(t, &check)
}

/// A service of the agent's own with one check; its id is the check's without its beginning.
#[track_caller]
fn own_service(t: &Trial, name: &str) -> Bound {
    let service = t.agent_service(name);
    let check = json!({"TTL": "1h", "Status": "passing"});
    let body = json!({"ID": service, "Name": service, "Check": check});
    put(t, "/v1/agent/service/register", &body);
    known(t, &format!("service:{service}"))
}

/// Waits until the catalog knows the check.
#[track_caller]
fn known(t: &Trial, check: &str) -> Bound {
    t.destroy(&session_bound_to(t, check));
    Bound {
        node: t.facts().node.clone(),
        checks: vec![check.to_owned()],
        ttl: String::new(),
    }
}

/// The service of its only check.
fn service_of(bound: &Bound) -> &str {
    let check = &bound.checks[0];
    check.strip_prefix("service:").unwrap_or(check)
}

/// A call about the check ends everything at once, under the check's own index.
#[track_caller]
fn by_call(t: &Trial, call: impl Fn(&str) -> (String, Value)) {
    ends_at_once(
        t,
        BOTH,
        |behavior| own_check(t, behavior, "1h"),
        |bound, _| {
            let (path, body) = call(&bound.checks[0]);
            put(t, &path, &body);
        },
        |bound| index_of_check(t, &bound.node, &bound.checks[0]),
    );
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "invalidation/at-once/agent-check-failed",
        claim: "A check of the agent that is failed takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            by_call(t, |check| {
                (format!("/v1/agent/check/fail/{check}"), Value::Null)
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-check-updated",
        claim: "A check of the agent that is updated to critical takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            by_call(t, |check| {
                let body = json!({"Status": "critical", "Output": "gone"});
                (format!("/v1/agent/check/update/{check}"), body)
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-check-times-out",
        claim: "A TTL check of the agent that nobody updates takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            ends_at_once(
                t,
                BOTH,
                |behavior| own_check(t, behavior, "6s"),
                |_, _| t.pass(Duration::from_secs(6)),
                |bound| index_of_check(t, &bound.node, &bound.checks[0]),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-check-deregistered",
        claim: "A check that is taken off the agent takes its sessions, their keys and queries with it, all under the index of the checks",
        source: "session.md 3.1.r4, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            ends_at_once(
                t,
                BOTH,
                |behavior| own_check(t, behavior, "1h"),
                |bound, _| {
                    let path = format!("/v1/agent/check/deregister/{}", bound.checks[0]);
                    put(t, &path, &Value::Null);
                },
                |_| index_of(t, CHECKS),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-service-deregistered",
        claim: "A service that is taken off the agent takes the sessions of its checks, their keys and queries with it, all under the index of the services",
        source: "session.md 3.1.r5, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            ends_at_once(
                t,
                BOTH,
                |behavior| own_service(t, behavior),
                |bound, _| {
                    let path = format!("/v1/agent/service/deregister/{}", service_of(bound));
                    put(t, &path, &Value::Null);
                },
                |_| index_of(t, SERVICES),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-checks-replaced",
        claim: "A check that a service loses with ?replace-existing-checks takes its sessions, their keys and queries with it, all under the index of the checks",
        source: "session.md 3.1.r4, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            ends_at_once(
                t,
                BOTH,
                |behavior| own_service(t, behavior),
                |bound, _| {
                    let service = service_of(bound);
                    let path = "/v1/agent/service/register?replace-existing-checks";
                    put(t, path, &json!({"ID": service, "Name": service}));
                },
                |_| index_of(t, CHECKS),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/agent-service-critical-for-too-long",
        claim: "A service that DeregisterCriticalServiceAfter takes off the agent takes the sessions of its other checks with it, their keys and queries, all under the index of the services",
        source: "session.md 3.1.r5, 3.2, 5, 4.4",
        needs: NEEDS_OF_AGENT,
        run: |t| {
            ends_at_once(
                t,
                // In real time this is a minute and a half.
                &["release"],
                |_| {
                    let service = t.agent_service("reaped");
                    let checks = json!([
                        {"CheckID": format!("{service}-good"), "TTL": "1h", "Status": "passing"},
                        {"CheckID": format!("{service}-bad"), "TTL": "1h", "Status": "passing",
                         "DeregisterCriticalServiceAfter": "1m"},
                    ]);
                    let body = json!({"ID": service, "Name": service, "Checks": checks});
                    put(t, "/v1/agent/service/register", &body);
                    known(t, &format!("{service}-good"))
                },
                |bound, _| {
                    let bad = bound.checks[0].replace("-good", "-bad");
                    put(t, &format!("/v1/agent/check/fail/{bad}"), &Value::Null);
                    // The floor of a minute, and the half minute between two looks.
                    t.pass(Duration::from_secs(91));
                },
                |_| index_of(t, SERVICES),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/critical-from-the-start",
        claim: "A service whose check is reported critical is deregistered after a minute at least; one whose check only begins critical, and a check of no service, are not",
        source: "session.md 4.4",
        needs: &[Feature::AgentRegistration],
        run: |t| {
            let (service, other) = (t.agent_service("begins"), t.agent_service("reported"));
            let unbound = t.agent_check("of-no-service");
            let check = |id: &str| json!({"CheckID": id, "TTL": "1h", "DeregisterCriticalServiceAfter": "5s"});
            for service in [&service, &other] {
                let body = json!({"ID": service, "Name": service, "Check": check(service)});
                put(t, "/v1/agent/service/register", &body);
            }
            let body =
                json!({"Name": unbound, "TTL": "1h", "DeregisterCriticalServiceAfter": "5s"});
            put(t, "/v1/agent/check/register", &body);
            for id in [&other, &unbound] {
                put(t, &format!("/v1/agent/check/fail/{id}"), &Value::Null);
            }
            let services = || t.api_get("/v1/agent/services").json();
            // Two looks of the agent, half a minute apart, are before the floor of a minute.
            t.pass(Duration::from_secs(45));
            t.check(services().get(&other).is_some(), "it went too early");
            t.pass(Duration::from_secs(46));
            t.eventually("the service that is reported critical goes", SYNC, || {
                services().get(&other).is_none().then_some(())
            });
            t.check(
                services().get(&service).is_some(),
                "the other one went, too",
            );
            let checks = t.api_get("/v1/agent/checks").json();
            t.check(checks.get(&unbound).is_some(), "the check went, too");
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/agent/reload-drops-what-clients-registered",
        claim: "In development mode a reload takes away what clients registered, and the sessions bound to it; others live on",
        source: "session.md 3.1.r9, 4.4",
        needs: &[
            Feature::OwnServer,
            Feature::AgentRegistration,
            Feature::DevMode,
        ],
        run: |t| {
            let bound = own_check(t, "c", "1h");
            own_service(t, "s");
            let session = session_bound_to(t, &bound.checks[0]);
            let other = t.session("{}");
            t.api_put("/v1/agent/reload", "").is(200, "");
            t.eventually("the session ends", SYNC, || {
                t.api_get(&info(&session)).list().is_empty().then_some(())
            });
            lives(t, &other);
            for path in ["/v1/agent/checks", "/v1/agent/services"] {
                t.api_get(path).is(200, "{}");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/no-trigger/maintenance-of-a-service",
        claim: "Maintenance of a service ends no session, neither one bound to its check nor one bound to the node",
        source: "session.md 3.1.r9, 4.4",
        needs: &[Feature::AgentRegistration],
        run: |t| {
            let bound = own_service(t, "s");
            let sessions = [session_bound_to(t, &bound.checks[0]), t.session("{}")];
            let path = format!(
                "/v1/agent/service/maintenance/{}?enable=",
                service_of(&bound)
            );
            put(t, &format!("{path}true"), &Value::Null);
            let check = format!("_service_maintenance:{}", service_of(&bound));
            t.eventually("the catalog knows of it", SYNC, || {
                let found = index_of_check(t, &bound.node, &check);
                (found > 0).then_some(())
            });
            for session in &sessions {
                lives(t, session);
            }
            put(t, &format!("{path}false"), &Value::Null);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/maintenance-of-the-agents-node",
        claim: "Maintenance of the agent's node ends none of its sessions, and more of them can be made",
        source: "session.md 3.1.r9, trap 25",
        needs: &[Feature::OwnServer, Feature::AgentRegistration],
        run: |t| {
            let before = t.session("{}");
            put(t, "/v1/agent/maintenance?enable=true", &Value::Null);
            t.eventually("the catalog knows of it", SYNC, || {
                let found = index_of_check(t, &t.facts().node, "_node_maintenance");
                (found > 0).then_some(())
            });
            for session in [before, t.session("{}")] {
                lives(t, &session);
            }
        },
        ..Case::MUST
    },
];
