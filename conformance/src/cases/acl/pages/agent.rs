//! Rights on the agent, its services and its checks, and on events (acl.md 7.r15 to 7.r27).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{NOBODY, ROOT, SETTINGS, put, ready, token, with};
use crate::wire::Request;

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: SETTINGS,
    ..Case::MUST
};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/agent/itself-needs-a-right",
        claim: "Reading the agent or its machine, and changing what it is, needs a right on the agent or the operator",
        source: "acl.md 7.r15, 7.r16, 7.r17, 7.r18, 7.r19, 2.5, 2.11.r1",
        run: |t| {
            ready(t);
            let requests = [
                Request::get("/v1/agent/self"),
                Request::get("/v1/agent/metrics"),
                Request::get("/v1/agent/host"),
                Request::put("/v1/agent/reload", ""),
                Request::put("/v1/agent/join/nowhere.invalid", ""),
                Request::put("/v1/agent/leave", ""),
                Request::put("/v1/agent/force-leave/nobody", ""),
                Request::put("/v1/agent/maintenance?enable=true", ""),
                Request::put("/v1/agent/token/nothing", "{}"),
            ];
            for request in &requests {
                t.send(request).says(403, "Permission denied");
                with(t, NOBODY, request).says(403, "ACL not found");
            }
            let maintenance = Request::put("/v1/agent/maintenance?enable=false", "");
            with(t, ROOT, &maintenance).is(200, "");
        },
        ..BASE
    },
    Case {
        id: "acl/agent/lists-are-filtered",
        claim: "Members, services and checks of the agent are left out for who may not read them",
        source: "acl.md 7.r20, 7.r21",
        run: |t| {
            let limited = prepared(t);
            let read = |token: &str, path: &str| {
                with(t, token, &Request::get(&format!("/v1/agent/{path}"))).status_is(200)
            };
            for (path, nothing) in [
                ("members", json!([])),
                ("services", json!({})),
                ("checks", json!({})),
            ] {
                t.same(path, read("", path).json(), nothing);
            }
            let ids = |path: &str| {
                let shown = read(&limited, path).json();
                let ids = shown.as_object().cloned().unwrap_or_default();
                ids.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
            };
            t.same("the services", ids("services"), vec!["seen".to_owned()]);
            t.same("the checks", ids("checks"), vec!["service:seen".to_owned()]);
            for path in ["members", "services", "checks"] {
                let request = Request::get(&format!("/v1/agent/{path}"));
                with(t, NOBODY, &request).says(403, "ACL not found");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/agent/services-are-read-with-a-right",
        claim: "A service of the agent and its health need the right to read it; an unknown name does, too, an unknown id does not",
        source: "acl.md 7.r22, 7.r23",
        run: |t| {
            let limited = prepared(t);
            let read = |token: &str, path: &str| {
                with(t, token, &Request::get(&format!("/v1/agent/{path}")))
            };
            for path in [
                "service/hidden",
                "health/service/id/hidden",
                "health/service/name/hidden",
                "health/service/name/none",
            ] {
                read(&limited, path).says(403, "Permission denied");
                read(NOBODY, path).says(403, "ACL not found");
            }
            read(&limited, "service/seen").status_is(200);
            read(&limited, "service/none").status_is(404);
            read(&limited, "health/service/id/none").status_is(404);
            read(NOBODY, "service/none").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/agent/services-are-changed-with-a-right",
        claim: "Services and checks of the agent are changed with the right to write the service, or the node",
        source: "acl.md 7.r24, 7.r25, 7.r26",
        run: |t| {
            let limited = prepared(t);
            let ask = |token: &str, path: &str, body: &Value| {
                let body = if body.is_null() {
                    String::new()
                } else {
                    body.to_string()
                };
                with(t, token, &Request::put(&format!("/v1/agent/{path}"), body))
            };
            let nothing = Value::Null;
            for (path, body) in [
                ("service/register", json!({"Name": "new"})),
                ("service/register", json!({"Name": "mine", "ID": "hidden"})),
                ("service/deregister/seen", nothing.clone()),
                ("service/maintenance/seen?enable=true", nothing.clone()),
                ("check/register", json!({"Name": "c", "TTL": "1h"})),
                (
                    "check/register",
                    json!({"Name": "c", "TTL": "1h", "ServiceID": "seen"}),
                ),
                (
                    "check/register",
                    json!({"Name": "c", "TTL": "1h", "ServiceID": "mine", "ID": "service:hidden"}),
                ),
                ("check/pass/service:seen", nothing.clone()),
                ("check/warn/of-node", nothing.clone()),
                ("check/update/service:seen", json!({"Status": "passing"})),
                ("check/deregister/of-node", nothing.clone()),
            ] {
                let refused = ask(&limited, path, &body);
                // There is no service `mine` yet, which later releases tell first.
                if body["ServiceID"] == "mine" && t.since(Version::V1_22) {
                    refused.is(404, "ServiceID \"mine\" does not exist");
                } else {
                    refused.says(403, "Permission denied");
                }
                ask(NOBODY, path, &body).says(403, "ACL not found");
            }
            ask(&limited, "service/register", &json!({"Name": "mine"})).is(200, "");
            let check = json!({"Name": "c", "TTL": "1h", "ServiceID": "mine"});
            ask(&limited, "check/register", &check).is(200, "");
            ask(&limited, "check/pass/c", &nothing).is(200, "");
            ask(&limited, "service/deregister/mine", &nothing).is(200, "");
        },
        ..BASE
    },
    Case {
        id: "acl/agent/a-missing-right-is-named",
        claim: "A denied change of the agent's services and checks says which right is missing on what",
        source: "acl.md 2.11.r5, 7.r25, 7.r26",
        until: Some(Version::V1_9),
        run: |t| {
            let limited = prepared(t);
            let ask =
                |path: &str| with(t, &limited, &Request::put(&format!("/v1/agent/{path}"), ""));
            ask("service/deregister/hidden")
                .is(403, "Permission denied: Missing service:write on hidden");
            ask("check/pass/service:hidden")
                .is(403, "Permission denied: Missing service:write on hidden");
            let over = json!({"Name": "mine", "ID": "hidden"}).to_string();
            with(
                t,
                &limited,
                &Request::put("/v1/agent/service/register", over),
            )
            .is(403, "Permission denied: Missing service:write on mine");
            ask("service/deregister/none").is(500, "Unknown service {\"none\" {}}");
            ask("service/deregister/").is(500, "Unknown service {\"\" {}}");
            ask("check/deregister/none").is(500, "Unknown check \"none\"");
            ask("check/pass/none").is(500, "Unknown check \"none\"");
        },
        ..BASE
    },
    Case {
        id: "acl/agent/checks-keep-the-name-of-their-service",
        claim: "A check is changed with a right on the name that its service had when the check was registered",
        source: "acl.md 7.r26",
        until: Some(Version::V1_9),
        run: |t| {
            let limited = prepared(t);
            let ask = |token: &str, path: &str, body: &str| {
                with(t, token, &Request::put(&format!("/v1/agent/{path}"), body))
            };
            let check = r#"{"Name": "c", "TTL": "1h", "ServiceID": "moving"}"#;
            ask(
                ROOT,
                "service/register",
                r#"{"ID": "moving", "Name": "mine"}"#,
            )
            .is(200, "");
            ask(ROOT, "check/register", check).is(200, "");
            ask(
                ROOT,
                "service/register",
                r#"{"ID": "moving", "Name": "hidden"}"#,
            )
            .is(200, "");
            ask(&limited, "check/pass/c", "").is(200, "");
            ask(&limited, "check/register", check)
                .is(403, "Permission denied: Missing service:write on hidden");
            ask(&limited, "check/deregister/c", "").is(200, "");
        },
        ..BASE
    },
    Case {
        id: "acl/agent/definitions-are-checked-in-order",
        claim: "Names and statuses of a definition are checked before the token, the rest between token and right",
        source: "acl.md 2.9, 2.10",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let ask = |token: &str, path: &str, body: &str| {
                with(
                    t,
                    token,
                    &Request::put(&format!("/v1/agent/{path}/register"), body),
                )
            };
            for token in [NOBODY, ""] {
                ask(token, "service", "{}").says(400, "Missing service name");
                ask(token, "service", "{").says(400, "Request decode failed: unexpected EOF");
                ask(token, "check", "{}").says(400, "Missing check name");
                let status = r#"{"Name": "x", "TTL": "1h", "Status": "bad"}"#;
                ask(token, "check", status).says(400, "Bad check status");
            }
            let invalid = r#"{"Name": "a", "Check": {"Interval": "1s"}}"#;
            ask(NOBODY, "service", invalid).says(403, "ACL not found");
            ask("", "service", invalid).says(400, "Invalid check: ");
            with(t, NOBODY, &Request::get("/v1/agent/services?filter=bad"))
                .says(403, "ACL not found");
            ask(NOBODY, "check", r#"{"Name": "x"}"#).says(403, "ACL not found");
            ask("", "check", r#"{"Name": "x"}"#).says(400, "Invalid check: ");
        },
        ..BASE
    },
    Case {
        id: "acl/event/firing-and-reading",
        claim: "Firing an event needs a right on its name, and a list leaves out what may not be read",
        source: "acl.md 7.r27, 2.6, 2.11.r6, trap 14",
        run: |t| {
            let limited = prepared(t);
            let fire = |token: &str, path: &str| {
                with(
                    t,
                    token,
                    &Request::put(&format!("/v1/event/fire/{path}"), ""),
                )
            };
            fire(ROOT, "hidden").status_is(200);
            t.settle();
            let list = |token: &str| with(t, token, &Request::get("/v1/event/list"));
            list(&limited)
                .is(200, "[]")
                .header_is("X-Consul-Index", "1");
            fire(&limited, "hidden").is(403, "Permission denied");
            fire("", "mine").is(403, "Permission denied");
            fire(NOBODY, "mine").is(500, "ACL not found");
            fire(NOBODY, "mine?node=(").says(500, "Invalid node filter: ");
            fire(&limited, "mine").status_is(200);
            t.settle();
            let shown = list(&limited).list();
            let names: Vec<_> = shown.iter().map(|event| event["Name"].clone()).collect();
            t.same("the events", names, vec![json!("mine")]);
            list(NOBODY).says(403, "ACL not found");
        },
        ..BASE
    },
];

/// Registers services that a limited token may not read, may read, and checks of them and of the node, and returns the
/// token's secret. Of services and events it may write `mine`.
fn prepared(t: &Trial) -> String {
    ready(t);
    for (path, body) in [
        ("service", json!({"Name": "seen", "Check": {"TTL": "1h"}})),
        ("service", json!({"Name": "hidden", "Check": {"TTL": "1h"}})),
        ("check", json!({"Name": "of-node", "TTL": "1h"})),
    ] {
        let target = format!("/v1/agent/{path}/register");
        with(t, ROOT, &Request::put(&target, body.to_string())).is(200, "");
    }
    let rules = r#"service "seen" { policy = "read" } service "mine" { policy = "write" }
        event "mine" { policy = "write" }"#;
    put(
        t,
        "policy",
        &json!({"Name": "limited", "Rules": rules}).to_string(),
    )
    .status_is(200);
    token(t, &json!({"Policies": [{"Name": "limited"}]})).1
}
