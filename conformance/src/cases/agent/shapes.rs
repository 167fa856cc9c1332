//! What the agent prints of its own checks and services, and what else it does with them (session.md 4.4).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// How long the agent may take to tell the catalog.
const SYNC: Duration = Duration::from_secs(10);

const NEEDS: &[Feature] = &[Feature::AgentRegistration];

/// For claims about everything that the agent has.
const ALONE: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];

/// What is written, and read by nobody: the catalog's, the agent's and the events' ends.
const WRITES: &[&str] = &[
    "/v1/catalog/register",
    "/v1/catalog/deregister",
    "/v1/agent/check/register",
    "/v1/agent/check/deregister/none",
    "/v1/agent/check/pass/none",
    "/v1/agent/check/warn/none",
    "/v1/agent/check/fail/none",
    "/v1/agent/check/update/none",
    "/v1/agent/service/register",
    "/v1/agent/service/deregister/none",
    "/v1/agent/service/maintenance/none",
    "/v1/agent/maintenance",
    "/v1/agent/reload",
    "/v1/event/fire/none",
];

#[track_caller]
fn put(t: &Trial, target: &str, body: &Value) {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    t.api_put(target, body).is(200, "");
}

/// The agent's own check with this id.
#[track_caller]
fn known(t: &Trial, id: &str) -> Value {
    t.api_get("/v1/agent/checks").json()[id].clone()
}

/// A report of each kind, with a word to its output.
#[track_caller]
fn report(t: &Trial, kind: &str, id: &str, word: &str) {
    match kind {
        "update" => put(
            t,
            &format!("/v1/agent/check/update/{id}"),
            &json!({"Status": "passing", "Output": word}),
        ),
        verb => put(
            t,
            &format!("/v1/agent/check/{verb}/{id}?note={word}"),
            &Value::Null,
        ),
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/shape/empty",
        claim: "Without services and checks of its own the agent has an empty object of each, and no index",
        source: "session.md 4.4",
        needs: ALONE,
        run: |t| {
            for path in ["/v1/agent/checks", "/v1/agent/services"] {
                t.api_get(path)
                    .is(200, "{}")
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader")
                    .has_no_header("X-Consul-Lastcontact");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/shape/before-1-9",
        claim: "The agent prints its services without indexes and its checks with indexes of 0, by id, with these fields in this order",
        source: "session.md 4.4",
        until: Some(Version::V1_9),
        needs: ALONE,
        run: |t| {
            t.not_compared("what goes into the hash is an affair of the server");
            let body = json!({"ID": "i", "Name": "n", "Tags": ["t"], "Meta": {"a": "b"}, "Port": 8,
                "Weights": {"Passing": 2, "Warning": 1}, "Check": {"CheckID": "c", "Name": "own", "TTL": "1h", "Notes": "x"}});
            put(t, "/v1/agent/service/register", &body);
            let body =
                json!({"ID": "a", "Name": "b", "TTL": "1h", "ServiceID": "i", "Status": "warning"});
            put(t, "/v1/agent/check/register", &body);
            let node = &t.facts().node;
            let check = |id: &str, name: &str, status: &str, notes: &str| {
                format!(
                    r#""{id}":{{"Node":"{node}","CheckID":"{id}","Name":"{name}","Status":"{status}","Notes":"{notes}","Output":"","ServiceID":"i","ServiceName":"n","ServiceTags":["t"],"Type":"ttl","Definition":{{}},"CreateIndex":0,"ModifyIndex":0}}"#
                )
            };
            let (added, own) = (
                check("a", "b", "warning", ""),
                check("c", "own", "critical", "x"),
            );
            t.api_get("/v1/agent/checks")
                .is(200, &format!("{{{added},{own}}}"));
            let service = r#""ID":"i","Service":"n","Tags":["t"],"Meta":{"a":"b"},"Port":8,"Address":"","Weights":{"Passing":2,"Warning":1},"EnableTagOverride":false"#;
            t.api_get("/v1/agent/services")
                .is(200, &format!("{{\"i\":{{{service}}}}}"))
                .has_no_header("X-Consul-Index");
            let answer = t.api_get("/v1/agent/service/i");
            let hash = answer
                .header("X-Consul-Contenthash")
                .unwrap_or_default()
                .to_owned();
            answer.is(200, &format!("{{{service},\"ContentHash\":\"{hash}\"}}"));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/method/writes-are-put",
        claim: "Whatever is written to the catalog, the agent and the events is written by PUT: GET and POST are 405",
        source: "session.md 4.1, 4.4, 0.1",
        run: |t| {
            for path in WRITES {
                for method in ["GET", "POST", "DELETE"] {
                    t.send(&Request::new(method, path))
                        .is(405, &format!("method {method} not allowed"))
                        .header_is("Allow", "OPTIONS,PUT");
                }
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/every-report-starts-the-ttl-anew",
        claim: "pass, warn, fail and update start the TTL of a check anew, and a registration starts it",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let kinds = ["none", "pass", "warn", "fail", "update"];
            let ids = kinds.map(|kind| t.agent_check(kind));
            let said = |id: &str| known(t, id)["Output"].clone();
            t.in_time(Duration::from_millis(4500), || {
                t.in_time(Duration::from_secs(3), || {
                    for id in &ids {
                        // What an attempt that was too slow has left; as a rule there is nothing.
                        let path = format!("/v1/agent/check/deregister/{id}");
                        t.api_put(&path, "").status_is_one_of(&[200, 404]);
                        let body = json!({"Name": id, "TTL": "3s", "Status": "passing"});
                        put(t, "/v1/agent/check/register", &body);
                    }
                    t.pass(Duration::from_secs(2));
                    t.same("without a report", said(&ids[0]), json!(""));
                });
                for (kind, id) in kinds.iter().zip(&ids).skip(1) {
                    report(t, kind, id, "word");
                }
                t.pass(Duration::from_secs(2));
                for id in &ids[1..] {
                    t.same("the output in time", said(id), json!("word"));
                }
            });
            t.same("without a report", said(&ids[0]), json!("TTL expired"));
            t.pass(Duration::from_secs(1));
            let expired = "TTL expired (last output before timeout follows): word";
            for id in &ids[1..] {
                t.eventually("the TTL is over", SYNC, || {
                    (said(id) == expired && known(t, id)["Status"] == "critical").then_some(())
                });
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/update-to-every-status",
        claim: "update sets passing, warning and critical with their output, and no other status",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("c");
            put(
                t,
                "/v1/agent/check/register",
                &json!({"Name": id, "TTL": "1h"}),
            );
            let path = format!("/v1/agent/check/update/{id}");
            for status in ["passing", "warning", "critical"] {
                put(t, &path, &json!({"Status": status, "Output": status}));
                let check = known(t, &id);
                t.same("Status", check["Status"].clone(), json!(status));
                t.same("Output", check["Output"].clone(), json!(status));
            }
            t.api_put(&path, r#"{"Status":"bogus"}"#)
                .is(400, "Invalid check status: 'bogus'");
            t.same("Status", known(t, &id)["Status"].clone(), json!("critical"));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/names-given-to-its-checks",
        claim: "A check of a service keeps a name that is given to it, and has its service's name and tags",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("s");
            let body = json!({"Name": id, "ID": id, "Tags": ["t"], "Check": {"TTL": "1h", "Name": "given", "Notes": "why"}});
            put(t, "/v1/agent/service/register", &body);
            let path = format!("/v1/health/checks/{id}");
            let checks = t.eventually("the catalog has the check", SYNC, || {
                let checks = t.api_get(&path).list();
                (checks.len() == 1).then_some(checks)
            });
            let check = &checks[0];
            for (field, expected) in [
                ("CheckID", json!(format!("service:{id}"))),
                ("Name", json!("given")),
                ("Notes", json!("why")),
                ("ServiceID", json!(id)),
                ("ServiceName", json!(id)),
                ("ServiceTags", json!(["t"])),
                ("Type", json!("ttl")),
            ] {
                t.same(field, check[field].clone(), expected);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/health/reasons",
        claim: "How a service does is said in a header, too: passing, warning or critical",
        source: "session.md 4.4",
        needs: ALONE,
        run: |t| {
            put(
                t,
                "/v1/agent/service/register",
                &json!({"Name": "s", "Check": {"TTL": "1h"}}),
            );
            for (verb, status, reason) in [
                ("pass", 200, "passing"),
                ("warn", 429, "warning"),
                ("fail", 503, "critical"),
            ] {
                report(t, verb, "service:s", "word");
                t.api_get("/v1/agent/health/service/id/s")
                    .status_is(status)
                    .header_is("X-Consul-Reason", reason)
                    .field_is("/AggregatedStatus", reason);
                t.api_get("/v1/agent/health/service/name/s")
                    .status_is(status)
                    .header_is("X-Consul-Reason", reason)
                    .field_is("/0/AggregatedStatus", reason);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/maintenance/check-of-the-node",
        claim: "Maintenance of the node is a critical check with a name of its own and the reason as its notes; on has to be a truth value",
        source: "session.md 4.4",
        needs: ALONE,
        run: |t| {
            let path = "/v1/agent/maintenance";
            t.api_put(&format!("{path}?enable=x"), "")
                .is(400, "Invalid value for enable: \"x\"");
            put(
                t,
                &format!("{path}?enable=true&reason=why%20not"),
                &Value::Null,
            );
            let check = t.eventually("the catalog knows", SYNC, || {
                t.api_get("/v1/health/state/critical").list().pop()
            });
            for (field, expected) in [
                ("CheckID", "_node_maintenance"),
                ("Name", "Node Maintenance Mode"),
                ("Status", "critical"),
                ("Notes", "why not"),
                ("ServiceID", ""),
                ("Type", "maintenance"),
            ] {
                t.same(field, check[field].clone(), json!(expected));
            }
        },
        ..Case::MUST
    },
];
