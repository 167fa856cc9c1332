//! Alias checks: they follow the checks of another service of the agent, or of a node in the catalog.

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;

/// How long an agent may take to follow.
const SOON: Duration = Duration::from_secs(10);

/// Checks of the node count, so nobody else may have any.
const ALONE: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];

#[track_caller]
fn register(t: &Trial, body: &serde_json::Value) {
    t.api_put("/v1/agent/service/register", body.to_string())
        .is(200, "");
}

/// Polls until a check of the agent has this status and output.
#[track_caller]
fn becomes(t: &Trial, id: &str, status: &str, output: &str) {
    t.eventually("the alias follows", SOON, || {
        let check = t.api_get("/v1/agent/checks").json()[id].clone();
        (check["Status"] == status && check["Output"] == output).then_some(())
    });
}

/// A service with a TTL check, and the id of a check that follows it.
fn followed(t: &Trial) -> (String, String) {
    let (web, side) = (t.agent_service("web"), t.agent_service("side"));
    register(t, &json!({"Name": web, "Check": {"TTL": "1h"}}));
    let check = json!({"Name": "alias", "AliasService": web});
    register(t, &json!({"Name": side, "Check": check}));
    (web, format!("service:{side}"))
}

#[track_caller]
fn report(t: &Trial, verb: &str, service: &str, note: &str) {
    let target = format!("/v1/agent/check/{verb}/service:{service}?note={note}");
    t.api_put(&target, "").is(200, "");
}

/// The cases, in the order of the contract.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/alias/follows-a-service",
        claim: "An alias has the worst status of a service's checks, and says which check that is",
        source: "session.md 4.4.r34",
        needs: ALONE,
        run: |t| {
            let (web, alias) = followed(t);
            let failing = format!("Aliased check \"Service '{web}' check\" failing: ");
            becomes(t, &alias, "critical", &failing);
            report(t, "pass", &web, "");
            becomes(t, &alias, "passing", "All checks passing.");
            report(t, "warn", &web, "hm");
            becomes(t, &alias, "warning", &format!("{failing}hm"));
            report(t, "fail", &web, "bad");
            becomes(t, &alias, "critical", &format!("{failing}bad"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/alias/of-a-service-that-comes",
        claim: "An alias of a service that is not there is critical, of one without checks it passes",
        source: "session.md 4.4.r34",
        needs: ALONE,
        run: |t| {
            let (web, side) = (t.agent_service("web"), t.agent_service("side"));
            let check = json!({"Name": "alias", "AliasService": web});
            register(t, &json!({"Name": side, "Check": check}));
            let alias = format!("service:{side}");
            let missing = format!("Service {web} could not be found on node ");
            becomes(t, &alias, "critical", &missing);
            register(t, &json!({"Name": web}));
            becomes(t, &alias, "passing", "No checks found.");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/alias/of-a-node",
        claim: "An alias of a node in the catalog follows it; the first critical check counts, else the last in warning",
        source: "session.md 4.4.r34",
        needs: ALONE,
        run: |t| {
            let (node, side) = (t.node("ext"), t.agent_service("side"));
            let check = |id: &str, status: &str| {
                json!({"CheckID": id, "Name": format!("n{id}"), "Status": status,
                    "ServiceID": "db", "Output": format!("o{id}")})
            };
            let checks = |status: &str| json!([check("b", status), check("c", status)]);
            let enter = |checks: serde_json::Value| {
                t.register(&json!({"Node": node, "Address": "127.0.0.1",
                    "Service": {"Service": "db"}, "Checks": checks}));
            };
            enter(json!([]));
            let alias = json!({"Name": "alias", "AliasNode": node, "AliasService": "db"});
            register(t, &json!({"Name": side, "Check": alias}));
            let alias = format!("service:{side}");
            becomes(t, &alias, "passing", "No checks found.");
            enter(checks("warning"));
            becomes(t, &alias, "warning", "Aliased check \"nc\" failing: oc");
            enter(checks("critical"));
            becomes(t, &alias, "critical", "Aliased check \"nb\" failing: ob");
            enter(checks("passing"));
            becomes(t, &alias, "passing", "All checks passing.");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/script/exit-codes",
        claim: "The exit code of a script decides: 0 passes, 1 is a warning, everything else is critical",
        source: "session.md 4.4.r35",
        needs: ALONE,
        settings: r#"{"enable_script_checks":true,"check_update_interval":"0s"}"#,
        run: |t| {
            for (line, status, output) in [
                ("echo hi", "passing", "hi\n"),
                ("echo hm; exit 1", "warning", "hm\n"),
                ("echo bad >&2; exit 2", "critical", "bad\n"),
                ("kill -9 $$", "critical", ""),
            ] {
                let id = t.agent_check("script");
                let body = json!({"ID": id, "Name": id, "Interval": "1s",
                    "Status": if status == "critical" { "passing" } else { "critical" },
                    "Args": ["sh", "-c", line]});
                t.api_put("/v1/agent/check/register", body.to_string())
                    .is(200, "");
                becomes(t, &id, status, output);
            }
        },
        ..Case::SHOULD
    },
];
