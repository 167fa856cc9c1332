//! `catalog/deregister`, and what comes back by itself (session.md 4.3).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::{check, deregister, register, service_check};
use crate::cases::support::session::{is_gone, lives, try_session};

const NEEDS: &[Feature] = &[Feature::Registration];
const OWN_SERVER: &[Feature] = &[Feature::OwnServer, Feature::Registration];
const SOURCE: &str = "session.md 4.3";
const DEREGISTER: &str = "/v1/catalog/deregister";

/// The ids of the node's checks, in order.
#[track_caller]
fn checks(t: &Trial, node: &str) -> Vec<String> {
    let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
    let id = |check: &serde_json::Value| check["CheckID"].as_str().unwrap_or_default().to_owned();
    checks.iter().map(id).collect()
}

/// A node with the check `ok`, and the service `svc` with the check `svcok`.
#[track_caller]
fn furnished(t: &Trial) -> String {
    let node = t.register_node("n");
    check(t, &node, "ok", "passing");
    service_check(t, &node, "svc", "svcok", "passing");
    node
}

/// After `what` is taken off the agent's own node no session can be created there, because of `text`; within the minute in which the
/// leader looks after its nodes it is all there again.
#[track_caller]
fn comes_back(t: &Trial, what: &serde_json::Value, text: &str) {
    let node = t.facts().node.clone();
    let session = t.session("{}");
    deregister(t, &node, what);
    is_gone(t, &session);
    // The agent or the leader may put a part of it back at any moment, by their own clocks.
    t.eventually("it is still missing", Duration::from_secs(5), || {
        let answer = t.create_session("{}");
        if answer.status() == 500 && answer.text().contains(text) {
            return Some(());
        }
        deregister(t, &node, what);
        None
    });
    t.pass(Duration::from_secs(61));
    let session = t.eventually("the node is there again", Duration::from_secs(30), || {
        try_session(t, "{}")
    });
    lives(t, &session);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/deregister/bodies",
        claim: "A deregistration needs a node; one that is empty, cut off or has unknown fields is 400",
        source: "session.md 4.3, 0.13, trap 9",
        needs: NEEDS,
        run: |t| {
            for body in ["{}", "null", r#"{"ServiceID":"s"}"#] {
                t.api_put(DEREGISTER, body).is(500, "Must provide node");
            }
            t.api_put(DEREGISTER, "")
                .is(400, "Request decode failed: EOF");
            t.api_put(DEREGISTER, "{")
                .is(400, "Request decode failed: unexpected EOF");
            for body in [
                "[]",
                r#"{"Node":5}"#,
                r#"{"Address":5}"#,
                r#"{"CheckID":[]}"#,
            ] {
                t.api_put(DEREGISTER, body)
                    .says(400, "Request decode failed: json: cannot unmarshal ");
            }
            let node = t.register_node("n");
            for (field, value) in [
                ("Bogus", json!(1)),
                ("Service", json!("s")),
                ("ID", json!("")),
            ] {
                let body = json!({"Node": node, field: value}).to_string();
                let text = format!("Request decode failed: json: unknown field \"{field}\"");
                t.api_put(DEREGISTER, body).says(400, &text);
            }
            let body = json!({"Node": node, "Datacenter": "none"}).to_string();
            t.api_put(DEREGISTER, body).is(500, "No path to datacenter");
            t.api_get(&format!("/v1/catalog/node/{node}"))
                .field_is("/Node/Node", node);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/deregister/what-is-not-there",
        claim: "Deregistering a node, a service or a check that is not there is answered true",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (furnished(t), t.node("missing"));
            deregister(t, &missing, &json!({}));
            deregister(t, &missing, &json!({"ServiceID": "svc"}));
            deregister(t, &missing, &json!({"CheckID": "ok"}));
            deregister(t, &node, &json!({"ServiceID": "none"}));
            deregister(t, &node, &json!({"CheckID": "none"}));
            t.same(
                "the checks",
                checks(t, &node),
                vec!["ok".to_owned(), "svcok".to_owned()],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/deregister/service-before-check",
        claim: "Of a service and a check the service is deregistered, with its own checks, and nothing else",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = furnished(t);
            deregister(
                t,
                &node,
                &json!({"ServiceID": "svc", "CheckID": "ok", "Address": "127.0.0.9"}),
            );
            t.same("the checks", checks(t, &node), vec!["ok".to_owned()]);
            let shown = t.api_get(&format!("/v1/catalog/node/{node}"));
            shown
                .field_is("/Services", json!({}))
                .field_is("/Node/Address", "127.0.0.1");
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/deregister/one-check",
        claim: "A check is deregistered alone, found by its id in any case on a node named in any case",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = furnished(t);
            deregister(t, &node.to_uppercase(), &json!({"CheckID": "SVCOK"}));
            t.same("the checks", checks(t, &node), vec!["ok".to_owned()]);
            let shown = t.api_get(&format!("/v1/catalog/node/{node}"));
            shown.field_is("/Services/svc/Service", "svc");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/deregister/node-with-all",
        claim: "A node is deregistered with its services and checks, and is new when it is registered again",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = furnished(t);
            let path = format!("/v1/catalog/node/{node}");
            let created = t.api_get(&path).json()["Node"]["CreateIndex"].as_u64();
            deregister(t, &node, &json!({}));
            t.api_get(&path).is(200, "null");
            t.same("the checks", checks(t, &node), Vec::new());
            register(t, &node, &json!({}));
            let again = t.api_get(&path).field_is("/Services", json!({}));
            t.grew(
                "CreateIndex",
                created,
                again.json()["Node"]["CreateIndex"].as_u64(),
            );
            t.same("the checks", checks(t, &node), Vec::new());
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/deregister/own-node-comes-back",
        claim: "Without the agent's own node there are no sessions, until the leader enters it again within a minute",
        source: SOURCE,
        needs: OWN_SERVER,
        run: |t| comes_back(t, &json!({}), "Missing node registration"),
        ..Case::REAL
    },
    Case {
        id: "catalog/deregister/own-health-comes-back",
        claim: "Without the serfHealth of the agent's own node there are no sessions, until the leader enters it again within a minute",
        source: SOURCE,
        needs: OWN_SERVER,
        run: |t| {
            let text = "Missing check 'serfHealth' registration";
            comes_back(t, &json!({"CheckID": "serfHealth"}), text);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/own-health-critical",
        claim: "While the serfHealth of the agent's own node is critical there are no sessions",
        source: "session.md 4.3",
        needs: OWN_SERVER,
        run: |t| {
            let check = json!({"CheckID": "serfHealth", "Name": "Serf Health Status", "Status": "critical"});
            let body = json!({"Node": t.facts().node, "SkipNodeUpdate": true, "Check": check});
            // The leader puts it right within a minute of its own choice.
            t.eventually("it is still critical", Duration::from_secs(5), || {
                t.register(&body);
                let answer = t.create_session("{}");
                let text = "Check 'serfHealth' is in critical state";
                (answer.status() == 500 && answer.text().contains(text)).then_some(())
            });
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/own-node-is-the-agents",
        claim: "What only the catalog knows on the agent's own node goes within two minutes, with the sessions that are bound to it",
        source: "session.md 4.3, trap 27",
        needs: OWN_SERVER,
        run: |t| {
            let node = t.facts().node.clone();
            let part = json!({
                "Node": node, "SkipNodeUpdate": true, "Service": {"Service": "foreign"},
                "Checks": [
                    {"CheckID": "foreign", "Name": "c", "Status": "passing"},
                    {"CheckID": "of-service", "Name": "c", "Status": "passing", "ServiceID": "foreign"},
                ],
            });
            let bound = json!({"NodeChecks": ["foreign"]}).to_string();
            let what = "the agent does not look at its node in between";
            let (session, other) = t.eventually(what, Duration::from_secs(5), || {
                t.register(&part);
                let made = t.create_session(&bound);
                let made = (made.status() == 200).then(|| made.json())?;
                let (session, other) = (made["ID"].as_str()?.to_owned(), t.session("{}"));
                let found = t.api_get(&format!("/v1/session/info/{session}"));
                (found.json()[0]["ID"] == *session).then_some((session, other))
            });
            t.pass(Duration::from_secs(121));
            t.eventually(
                "the agent looks at its node",
                Duration::from_secs(10),
                || (checks(t, &node) == ["serfHealth"]).then_some(()),
            );
            is_gone(t, &session);
            lives(t, &other);
            t.api_get("/v1/catalog/service/foreign").is(200, "[]");
        },
        ..Case::REAL
    },
];
