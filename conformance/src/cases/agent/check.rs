//! The agent's own checks: how they are registered, reported and read (session.md 4.4, 1.22.md B4.4).
//!
//! The agent's changes reach the catalog a little later, so every effect there is polled for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::answer::Answer;

/// How long the agent may take to tell the catalog.
const SYNC: Duration = Duration::from_secs(10);

const NEEDS: &[Feature] = &[Feature::AgentRegistration];

const REGISTER: &str = "/v1/agent/check/register";

#[track_caller]
fn register(t: &Trial, body: &Value) {
    t.api_put(REGISTER, body.to_string()).is(200, "");
}

#[track_caller]
fn refused(t: &Trial, body: &str, status: u16, text: &str) {
    t.api_put(REGISTER, body).is(status, text);
}

/// The agent's own check with this id.
#[track_caller]
fn known(t: &Trial, id: &str) -> Value {
    t.api_get("/v1/agent/checks").status_is(200).json()[id].clone()
}

/// Polls until the catalog's check has this field.
#[track_caller]
fn in_catalog(t: &Trial, id: &str, field: &str, expected: &str) -> Value {
    let path = format!("/v1/health/node/{}", t.facts().node);
    t.eventually("the catalog knows the check so", SYNC, || {
        let checks = t.api_get(&path).list();
        let found = checks.into_iter().find(|check| check["CheckID"] == id);
        found.filter(|check| check[field] == expected)
    })
}

#[track_caller]
fn report(t: &Trial, verb: &str, id: &str, query: &str) -> Answer {
    t.api_put(&format!("/v1/agent/check/{verb}/{id}{query}"), "")
}

/// A TTL check of an hour.
#[track_caller]
fn ttl_check(t: &Trial, name: &str) -> String {
    let id = t.agent_check(name);
    register(t, &json!({"ID": id, "Name": id, "TTL": "1h"}));
    id
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/check/starts-critical",
        claim: "A check of the agent that is registered without a Status is critical, with the agent and in the catalog",
        source: "session.md 4.4, trap 26",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            t.same("status", known(t, &id)["Status"].clone(), json!("critical"));
            let row = in_catalog(t, &id, "Status", "critical");
            t.same("type", row["Type"].clone(), json!("ttl"));
            t.same("service", row["ServiceID"].clone(), json!(""));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/named-by-its-name",
        claim: "A check of the agent without an ID goes by its name",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("named");
            register(t, &json!({"Name": id, "TTL": "1h", "Notes": "n"}));
            t.same("id", known(t, &id)["CheckID"].clone(), json!(id));
            t.same("notes", known(t, &id)["Notes"].clone(), json!("n"));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/checks/json-before-1-10",
        claim: "agent/checks prints a check with exactly these fields, without indexes and without an index header",
        source: "session.md 4.4",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "json");
            let answer = t
                .api_get("/v1/agent/checks")
                .has_no_header("X-Consul-Index");
            let expected = json!({
                "Node": t.facts().node, "CheckID": id, "Name": id, "Status": "critical", "Notes": "",
                "Output": "", "ServiceID": "", "ServiceName": "", "ServiceTags": [], "Type": "ttl",
                "Definition": {}, "CreateIndex": 0, "ModifyIndex": 0,
            });
            t.same("the check", answer.json()[&id].clone(), expected);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/register-refusals",
        claim: "A check that cannot be run is refused: no name, an unknown status, a TTL and an interval, neither of the two",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            refused(t, "", 400, "Request decode failed: EOF");
            refused(t, "{}", 400, "Missing check name");
            refused(t, "null", 400, "Missing check name");
            refused(
                t,
                r#"{"Name":"c","TTL":"0s","Status":"x"}"#,
                400,
                "Bad check status",
            );
            let both = r#"{"Name":"c","TTL":"1h","Interval":"1h","HTTP":"http://x"}"#;
            refused(
                t,
                both,
                400,
                "Invalid check: Interval and TTL cannot both be specified",
            );
            for neither in [
                r#"{"Name":"c"}"#,
                r#"{"Name":"c","Interval":"1h"}"#,
                r#"{"Name":"c","TTL":"-1s"}"#,
            ] {
                refused(
                    t,
                    neither,
                    400,
                    "Invalid check: TTL must be > 0 for TTL checks",
                );
            }
            let alias = r#"{"Name":"c","AliasService":"x","TTL":"1s"}"#;
            refused(
                t,
                alias,
                400,
                "Invalid check: TTL must be not be set for Alias checks",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/interval-is-needed-before-1-10",
        claim: "A check that asks somebody needs an interval, even beside a TTL",
        source: "session.md 4.4",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let text = "Invalid check: Interval must be > 0 for Script, HTTP, or TCP checks";
            for body in [
                r#"{"Name":"c","HTTP":"http://x"}"#,
                r#"{"Name":"c","TCP":"x:1","Interval":"-1s"}"#,
                r#"{"Name":"c","GRPC":"x:1","Interval":"0s"}"#,
                r#"{"Name":"c","HTTP":"http://x","TTL":"1h"}"#,
            ] {
                refused(t, body, 400, text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/interval-is-needed-since-1-14",
        claim: "A check that asks somebody needs an interval, says a text that names all such checks",
        source: "1.22.md B4.4",
        since: Version::V1_14,
        needs: NEEDS,
        run: |t| {
            let text = "Invalid check: Interval must be > 0 for Script, HTTP, H2PING, TCP, UDP or OSService checks";
            refused(t, r#"{"Name":"c","HTTP":"http://x"}"#, 400, text);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/check/decoding",
        claim: "The body of a registration knows names in two spellings and no others, and minds what is no duration",
        source: "session.md 0.13, 4.4; seen on 1.8.7; session.md trap 9",
        needs: NEEDS,
        run: |t| {
            for unknown in [
                "CheckID",
                "Script",
                "Output",
                "Definition",
                "Type",
                "success_before_passing",
            ] {
                let body = json!({"Name": "c", "TTL": "1h", unknown: "x"}).to_string();
                let text = format!("Request decode failed: json: unknown field \"{unknown}\"");
                refused(t, &body, 400, &text);
            }
            for wrong in ["x", "10", ""] {
                let body = json!({"Name": "c", "TTL": wrong}).to_string();
                t.api_put(REGISTER, body)
                    .says(400, "Request decode failed: time: ");
            }
            let id = t.agent_check("snake");
            register(
                t,
                &json!({"id": id, "name": id, "ttl": 3_600_000_000_000_u64, "tls_skip_verify": true,
                    "deregister_critical_service_after": "5m", "service_id": ""}),
            );
            t.same("type", known(t, &id)["Type"].clone(), json!("ttl"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/types",
        claim: "The type of a check follows from what it asks: http before tcp",
        source: "session.md 4.2, 4.4",
        needs: NEEDS,
        run: |t| {
            let address = "127.0.0.1:9";
            for (name, fields, kind) in [
                ("h", json!({"HTTP": "http://127.0.0.1:9/"}), "http"),
                ("t", json!({"TCP": address}), "tcp"),
                ("g", json!({"GRPC": address}), "grpc"),
                (
                    "ht",
                    json!({"HTTP": "http://127.0.0.1:9/", "TCP": address}),
                    "http",
                ),
                ("gt", json!({"GRPC": address, "TCP": address}), "grpc"),
            ] {
                let id = t.agent_check(name);
                let mut body = fields;
                body["Name"] = json!(id);
                body["Interval"] = json!("1h");
                register(t, &body);
                t.same("type", known(t, &id)["Type"].clone(), json!(kind));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/of-an-unknown-service-before-1-11",
        claim: "A check of a service that the agent does not have is refused with 500",
        source: "session.md 4.4",
        until: Some(Version::V1_11),
        needs: NEEDS,
        run: |t| {
            let body = r#"{"Name":"c","TTL":"1h","ServiceID":"none"}"#;
            refused(t, body, 500, "ServiceID \"none\" does not exist");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/of-an-unknown-service-since-1-11",
        claim: "A check of a service that the agent does not have is refused with 404",
        source: "1.22.md B4.4",
        since: Version::V1_11,
        needs: NEEDS,
        run: |t| {
            let body = r#"{"Name":"c","TTL":"1h","ServiceID":"none"}"#;
            refused(t, body, 404, "ServiceID \"none\" does not exist");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/reports",
        claim: "pass, warn, fail and update set status and output, which reach the catalog with a new status",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            for (verb, status) in [
                ("pass", "passing"),
                ("warn", "warning"),
                ("fail", "critical"),
            ] {
                report(t, verb, &id, &format!("?note=said%20{verb}")).is(200, "");
                t.same(
                    "output",
                    known(t, &id)["Output"].clone(),
                    json!(format!("said {verb}")),
                );
                let row = in_catalog(t, &id, "Status", status);
                t.same(
                    "output",
                    row["Output"].clone(),
                    json!(format!("said {verb}")),
                );
            }
            let body = json!({"Status": "passing", "Output": "by update"}).to_string();
            t.api_put(&format!("/v1/agent/check/update/{id}"), body)
                .is(200, "");
            in_catalog(t, &id, "Output", "by update");
            report(t, "pass", &id, "").is(200, "");
            t.same("output", known(t, &id)["Output"].clone(), json!(""));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/update-refusals",
        claim: "update takes three statuses, and no other field than status and output",
        source: "session.md 4.4, trap 9",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            let path = format!("/v1/agent/check/update/{id}");
            t.api_put(&path, "").is(400, "Request decode failed: EOF");
            t.api_put(&path, "{}").is(400, "Invalid check status: ''");
            let text = "Invalid check status: 'maintenance'";
            t.api_put(&path, r#"{"Status":"maintenance"}"#)
                .is(400, text);
            let unknown = "Request decode failed: json: unknown field \"Foo\"";
            t.api_put(&path, r#"{"Status":"passing","Foo":1}"#)
                .is(400, unknown);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/unknown-before-1-11",
        claim: "A report of an unknown check is 500 and speaks of its TTL; deregistering one succeeds, unless it has no id",
        source: "session.md 4.4",
        until: Some(Version::V1_11),
        needs: NEEDS,
        run: |t| {
            for verb in ["pass", "warn", "fail"] {
                report(t, verb, "none", "")
                    .is(500, "CheckID \"none\" does not have associated TTL");
                report(t, verb, "", "").is(500, "CheckID \"\" does not have associated TTL");
            }
            report(t, "deregister", "none", "").is(200, "");
            report(t, "deregister", "", "").is(500, "CheckID missing");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/unknown-since-1-12",
        claim: "A report of an unknown check and its deregistration are 404, and say that the id is meant",
        source: "1.22.md B4.4",
        since: Version::V1_12,
        needs: NEEDS,
        run: |t| {
            let text = "Unknown check ID \"none\". Ensure that the check ID is passed, not the check name.";
            for verb in ["pass", "warn", "fail", "deregister"] {
                report(t, verb, "none", "").is(404, text);
                report(t, verb, "", "").is(404, &text.replace("none", ""));
            }
            t.api_put("/v1/agent/check/update/none", r#"{"Status":"passing"}"#)
                .is(404, text);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/nobody-reports-what-is-run",
        claim: "A check that is run takes no reports",
        source: "session.md 4.4; 1.22.md B4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("run");
            register(
                t,
                &json!({"Name": id, "TCP": "127.0.0.1:9", "Interval": "1h"}),
            );
            let text = format!("CheckID \"{id}\" does not have associated TTL");
            report(t, "pass", &id, "").is(500, &text);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/registered-again",
        claim: "A check that is registered again keeps status and output, and takes everything else",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            report(t, "pass", &id, "?note=kept").is(200, "");
            register(
                t,
                &json!({"Name": id, "TTL": "1h", "Status": "critical", "Notes": "new"}),
            );
            let row = in_catalog(t, &id, "Notes", "new");
            t.same("status", row["Status"].clone(), json!("passing"));
            t.same("output", row["Output"].clone(), json!("kept"));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/output-is-cut",
        claim: "An output of more than 4096 bytes, or than the check allows, is cut and says so",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("short");
            register(t, &json!({"Name": id, "TTL": "1h", "OutputMaxSize": 10}));
            report(t, "pass", &id, &format!("?note={}", "x".repeat(20)));
            let cut = "xxxxxxxxxx ... (captured 10 of 20 bytes)";
            t.same("output", known(t, &id)["Output"].clone(), json!(cut));
            let id = ttl_check(t, "long");
            report(t, "pass", &id, &format!("?note={}", "x".repeat(4096)));
            t.same(
                "output",
                known(t, &id)["Output"].clone(),
                json!("x".repeat(4096)),
            );
            report(t, "pass", &id, &format!("?note={}", "x".repeat(4097)));
            let cut = format!("{} ... (captured 4096 of 4097 bytes)", "x".repeat(4096));
            t.same("output", known(t, &id)["Output"].clone(), json!(cut));
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/output-limit",
        claim: "A check has less of its output kept than the agent's 4096 bytes, and not more",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("c");
            register(t, &json!({"Name": id, "TTL": "1h", "OutputMaxSize": 5000}));
            report(t, "pass", &id, &format!("?note={}", "x".repeat(4097)));
            let cut = format!("{} ... (captured 4096 of 4097 bytes)", "x".repeat(4096));
            t.same("output", known(t, &id)["Output"].clone(), json!(cut));
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/output-alone-comes-later",
        claim: "An output without a new status does not reach the catalog at once",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            report(t, "pass", &id, "?note=first");
            in_catalog(t, &id, "Output", "first");
            report(t, "pass", &id, "?note=second");
            t.settle();
            in_catalog(t, &id, "Output", "first");
            t.same("output", known(t, &id)["Output"].clone(), json!("second"));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/check/ttl-expires",
        claim: "A TTL that is over makes the check critical and says what was last said; a report starts it anew",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_check("c");
            register(t, &json!({"Name": id, "TTL": "2s", "Status": "passing"}));
            t.pass(Duration::from_secs(2));
            in_catalog(t, &id, "Output", "TTL expired");
            report(t, "pass", &id, "?note=fine").is(200, "");
            in_catalog(t, &id, "Status", "passing");
            t.pass(Duration::from_secs(2));
            let said = "TTL expired (last output before timeout follows): fine";
            in_catalog(t, &id, "Output", said);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/deregistered",
        claim: "A deregistered check is gone from the agent and from the catalog",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = ttl_check(t, "c");
            in_catalog(t, &id, "Status", "critical");
            report(t, "deregister", &id, "").is(200, "");
            t.same("the check", known(t, &id), Value::Null);
            let path = format!("/v1/health/node/{}", t.facts().node);
            t.eventually("the catalog forgets the check", SYNC, || {
                let checks = t.api_get(&path).list();
                (!checks.iter().any(|check| check["CheckID"] == id.as_str())).then_some(())
            });
        },
        ..Case::MUST
    },
    Case {
        id: "agent/check/of-the-operating-system-since-1-22",
        claim: "A check of a service of the operating system is not implemented but on Windows",
        source: "session.md 4.4.r19",
        since: Version::V1_22,
        run: |t| {
            let check = json!({"Name": t.agent_check("c"), "OSService": "s", "Interval": "1s"});
            t.api_put("/v1/agent/check/register", check.to_string())
                .is(500, "not implemented");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/check/filter-is-held-against-checks",
        claim: "What a filter names is looked for in the agent's checks; without one it may name anything",
        source: "session.md 4.4.r37",
        needs: &[Feature::OwnServer],
        run: |t| {
            let filtered = |filter: &str| t.api_get(&format!("/v1/agent/checks?filter={filter}"));
            filtered("Bogus==1").is(200, "{}");
            filtered("(").says(
                500,
                "Failed to create boolean expression evaluator: 1:2 (1): no match found",
            );
            register(t, &json!({"Name": "a", "TTL": "1h"}));
            filtered("Bogus==1").is(500, "Selector \"Bogus\" is not valid");
            filtered("Name==a+or+Bogus==1").is(500, "Selector \"Bogus\" is not valid");
            filtered("Name==b").is(200, "{}");
        },
        ..Case::REAL
    },
];
