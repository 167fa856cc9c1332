//! What ends a session through the agent's own checks and services (session.md 3.1, 4.4).
//!
//! The agent's changes reach the catalog a little later, so every effect is polled for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::invalidation::{SYNC, put, session_bound_to};
use crate::cases::support::session::{info, lives};

const NEEDS: &[Feature] = &[Feature::AgentRegistration];

#[track_caller]
fn ends(t: &Trial, session: &str) {
    t.eventually("the session ends", SYNC, || {
        t.api_get(&info(session)).list().is_empty().then_some(())
    });
}

/// A check of the agent's own that passes until it is told otherwise, and a session bound to it.
#[track_caller]
fn check_with_session(t: &Trial, ttl: &str) -> (String, String) {
    let check = t.agent_check("c");
    put(
        t,
        "/v1/agent/check/register",
        &json!({"ID": check, "Name": check, "TTL": ttl, "Status": "passing"}),
    );
    let session = session_bound_to(t, &check);
    (check, session)
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "invalidation/agent/check-fails",
        claim: "A TTL check of the agent that is failed ends the sessions bound to it; a warning before that does not",
        source: "session.md 3.1.r2, trap 25",
        needs: NEEDS,
        run: |t| {
            let (check, session) = check_with_session(t, "1h");
            put(t, &format!("/v1/agent/check/warn/{check}"), &Value::Null);
            let other = session_bound_to(t, &check);
            lives(t, &session);
            put(t, &format!("/v1/agent/check/fail/{check}"), &Value::Null);
            ends(t, &session);
            ends(t, &other);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/agent/check-times-out",
        claim: "A TTL check of the agent that nobody updates goes critical after its TTL and ends the sessions bound to it",
        source: "session.md 3.1.r2, 4.4",
        needs: NEEDS,
        run: |t| {
            let (_, session) = check_with_session(t, "3s");
            lives(t, &session);
            t.pass(Duration::from_secs(3));
            ends(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/agent/check-deregistered",
        claim: "A check that is taken off the agent ends the sessions bound to it",
        source: "session.md 3.1.r4",
        needs: NEEDS,
        run: |t| {
            let (check, session) = check_with_session(t, "1h");
            put(
                t,
                &format!("/v1/agent/check/deregister/{check}"),
                &Value::Null,
            );
            ends(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/agent/check-is-critical-at-first",
        claim: "A check of the agent that is registered without a Status is critical, and holds no session",
        source: "session.md 4.4, trap 26",
        needs: NEEDS,
        run: |t| {
            let check = t.agent_check("c");
            let body = json!({"ID": check, "Name": check, "TTL": "1h"});
            put(t, "/v1/agent/check/register", &body);
            let body = json!({"NodeChecks": [check]}).to_string();
            let text = format!("Check '{check}' is in critical state");
            t.eventually("the catalog knows the check as critical", SYNC, || {
                let answer = t.create_session(&body).status_is(500);
                answer.text().contains(&text).then_some(())
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/agent/service-deregistered",
        claim: "A service that is taken off the agent ends the sessions bound to its check",
        source: "session.md 3.1.r5, 4.4",
        needs: NEEDS,
        run: |t| {
            let service = t.agent_service("s");
            let check = json!({"TTL": "1h", "Status": "passing"});
            let body = json!({"ID": service, "Name": service, "Check": check});
            put(t, "/v1/agent/service/register", &body);
            let session = session_bound_to(t, &format!("service:{service}"));
            put(
                t,
                &format!("/v1/agent/service/deregister/{service}"),
                &Value::Null,
            );
            ends(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/agent/service-replaced",
        claim: "A service that is registered again without its check keeps it, and loses it with ?replace-existing-checks",
        source: "session.md 3.1.r4, 4.4",
        needs: NEEDS,
        run: |t| {
            let service = t.agent_service("s");
            let check = json!({"TTL": "1h", "Status": "passing"});
            let body = json!({"ID": service, "Name": service, "Check": check});
            let path = "/v1/agent/service/register";
            put(t, path, &body);
            let session = session_bound_to(t, &format!("service:{service}"));
            let bare = json!({"ID": service, "Name": service});
            put(t, path, &bare);
            let witness = session_bound_to(t, &format!("service:{service}"));
            lives(t, &session);
            put(t, &format!("{path}?replace-existing-checks"), &bare);
            ends(t, &session);
            ends(t, &witness);
        },
        ..Case::MUST
    },
];
