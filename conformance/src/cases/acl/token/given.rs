//! The token that a request has, and when it is looked at (acl.md 1, 2).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{
    ANONYMOUS, BASE, NOBODY, ROOT, SETTINGS, delete, get, granted, ready, text, token, with,
};
use crate::wire::Request;

/// A server on which a request without a token may do everything.
const MANAGING: &str = r#"{"acl": {"enabled": true, "default_policy": "deny", "tokens":
    {"master": "root", "default": "root"}}}"#;
/// A server on which requests without a token have one that there is not.
const MISTAKEN: &str = r#"{"acl": {"enabled": true, "default_policy": "deny", "tokens":
    {"master": "11111111-1111-4111-8111-111111111111", "default": "none"}}}"#;
/// A server with nothing but ACLs.
const BARE: &str = r#"{"acl": {"enabled": true}}"#;
/// A server with a token for its agent alone.
const RECOVERY: &str = r#"{"acl": {"enabled": true, "default_policy": "deny", "tokens":
    {"master": "11111111-1111-4111-8111-111111111111", "agent_master": "44444444-4444-4444-8444-444444444444"}}}"#;
const AGENT: &str = "44444444-4444-4444-8444-444444444444";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/token/default-of-the-agent",
        claim: "A request without a token has the agent's default token, which may be any string; `anonymous` is the anonymous one all the same",
        source: "acl.md 1.8, 1.9, 2.1, 2.3",
        settings: MANAGING,
        run: |t| {
            t.eventually("ACLs are known", Duration::from_secs(10), || {
                let own = t.api_get("/v1/acl/token/self");
                (own.status() == 200).then_some(())
            });
            t.api_get("/v1/acl/token/self")
                .field_is("/SecretID", "root");
            t.api_put("/v1/acl/policy", r#"{"Name":"p1"}"#)
                .status_is(200);
            t.api_put("/v1/kv/k", "v").is(200, "true");
            for request in [
                Request::get("/v1/kv/k").header("X-Consul-Token", ""),
                Request::get("/v1/kv/k?token="),
                Request::get("/v1/kv/k").header("Authorization", "Basic x"),
                Request::get("/v1/kv/k?Token=none"),
            ] {
                t.send(&request).status_is(200);
            }
            with(t, "anonymous", &Request::get("/v1/kv/k")).says(403, "Permission denied");
            with(t, "anonymous", &Request::get("/v1/acl/token/self"))
                .field_is("/AccessorID", ANONYMOUS);
        },
        ..BASE
    },
    Case {
        id: "acl/token/default-that-is-unknown",
        claim: "Where the agent's default token is unknown, every request without a token is",
        source: "acl.md 1.9, 2.5",
        settings: MISTAKEN,
        run: |t| {
            ready(t);
            for path in [
                "kv/k",
                "kv/?keys",
                "session/list",
                "catalog/nodes",
                "agent/self",
            ] {
                t.api_get(&format!("/v1/{path}")).is(403, "ACL not found");
            }
            t.api_put("/v1/kv/k", "v").is(403, "ACL not found");
            t.api_get("/v1/status/leader").status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/token/allowed-by-default",
        claim: "With ACLs and no settings everything but ACLs works without a token, but not with an unknown one",
        source: "acl.md 1.10, 1.2, 2.5",
        settings: BARE,
        run: |t| {
            t.eventually("there is a leader", Duration::from_secs(10), || {
                (t.api_get("/v1/status/leader").text().len() > 2).then_some(())
            });
            t.api_put("/v1/kv/k", "v").is(200, "true");
            t.api_get("/v1/kv/?keys").status_is(200);
            t.api_get("/v1/agent/self").status_is(200);
            t.api_get("/v1/acl/policies").says(403, "Permission denied");
            t.api_get("/v1/snapshot").says(403, "Permission denied");
            for path in ["kv/k", "agent/self", "session/list"] {
                let read = Request::get(&format!("/v1/{path}"));
                with(t, NOBODY, &read).says(403, "ACL not found");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/token/names-of-roots",
        claim: "The names of the old system's built-in tokens cannot be resolved",
        source: "acl.md 2.4",
        run: |t| {
            ready(t);
            for name in ["allow", "deny", "manage"] {
                for path in [
                    "kv/k",
                    "kv/?keys",
                    "session/list",
                    "catalog/nodes",
                    "agent/self",
                    "acl/policies",
                ] {
                    let read = Request::get(&format!("/v1/{path}"));
                    with(t, name, &read).is(500, "Cannot resolve root ACL");
                }
                with(t, name, &Request::put("/v1/kv/k", "v")).is(500, "Cannot resolve root ACL");
            }
            with(t, "Deny", &Request::get("/v1/kv/k")).says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/token/deleted",
        claim: "A deleted token is unknown on the next request, wherever it is given",
        source: "acl.md 2.5, 10.1",
        run: |t| {
            ready(t);
            let (accessor, secret) = granted(t, "p", "key_prefix \"\" { policy = \"write\" }");
            let requests = [
                Request::put("/v1/kv/k", "v").header("X-Consul-Token", &secret),
                Request::put(&format!("/v1/kv/k?token={secret}"), "v"),
                Request::put("/v1/kv/k", "v").header("Authorization", &format!("Bearer {secret}")),
            ];
            for request in &requests {
                t.send(request).is(200, "true");
            }
            delete(t, &format!("token/{accessor}")).is(200, "true");
            for request in &requests {
                t.send(request).says(403, "ACL not found");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/token/without-policies",
        claim: "A token without policies is valid and has the rights of the default policy",
        source: "acl.md 2.7, 4.18",
        run: |t| {
            ready(t);
            let (_, secret) = token(t, &json!({}));
            with(t, &secret, &Request::get("/v1/kv/k")).says(403, "Permission denied");
            with(t, &secret, &Request::get("/v1/kv/?keys")).is(200, "[]");
            let (_, rich) = granted(t, "p", "key_prefix \"\" { policy = \"read\" }");
            with(t, &rich, &Request::get("/v1/kv/k")).is(404, "");
            let policy = get(t, "policy/name/p");
            let path = format!("policy/{}", text(&policy, "/ID"));
            delete(t, &path).is(200, "true");
            with(t, &rich, &Request::get("/v1/kv/k")).says(403, "Permission denied");
        },
        ..BASE
    },
    Case {
        id: "acl/token/of-the-agent-alone",
        claim: "The agent's own token reads and writes the agent and reads events, and is unknown elsewhere",
        source: "acl.md 2.8, 13.r16",
        until: Some(Version::V1_9),
        settings: RECOVERY,
        run: |t| {
            t.not_compared("what the agent says of itself varies");
            ready(t);
            for path in [
                "agent/self",
                "agent/members",
                "agent/services",
                "event/list",
            ] {
                let read = Request::get(&format!("/v1/{path}"));
                with(t, AGENT, &read).status_is(200);
            }
            with(t, AGENT, &Request::put("/v1/agent/reload", "")).status_is(200);
            for path in [
                "kv/k",
                "catalog/nodes",
                "session/list",
                "acl/token/self",
                "internal/ui/nodes",
            ] {
                let read = Request::get(&format!("/v1/{path}"));
                with(t, AGENT, &read).is(403, "ACL not found");
            }
            with(
                t,
                AGENT,
                &Request::put("/v1/agent/service/register", r#"{"Name":"web"}"#),
            )
            .says(403, "Permission denied");
        },
        ..BASE
    },
    Case {
        id: "acl/token/of-the-agent-since-1-22",
        claim: "The agent's own token is known everywhere by a name, and reads all nodes",
        source: "acl.md 2.8, 13.r16",
        since: Version::V1_22,
        settings: RECOVERY,
        run: |t| {
            ready(t);
            let read = |path: &str| with(t, AGENT, &Request::get(&format!("/v1/{path}")));
            read("agent/self").status_is(200);
            read("catalog/nodes").status_is(200);
            let node = t.facts().node.clone();
            let name = format!("token with AccessorID 'agent-recovery:{node}'");
            read("kv/a").is(
                403,
                &format!("Permission denied: {name} lacks permission 'key:read' on \"a\""),
            );
            read("acl/token/self").status_is(403);
        },
        ..BASE
    },
    Case {
        id: "acl/order/before-the-token",
        claim: "Methods, missing parts of paths, parameters of reads, JSON, numbers and datacenters are looked at before the token",
        source: "acl.md 2.9",
        settings: SETTINGS,
        run: |t| {
            ready(t);
            let get = |path: &str| Request::get(&format!("/v1/{path}"));
            let put = |path: &str, body: &'static str| Request::put(&format!("/v1/{path}"), body);
            for (status, request) in [
                (405, Request::new("POST", "/v1/kv/k")),
                (404, get("nothing")),
                (400, get("kv/")),
                (400, get("kv/k?index=x")),
                (400, get("kv/k?stale&consistent")),
                (400, get("session/list?wait=x")),
                (400, get("session/info/")),
                (400, get("session/node/")),
                (400, put("session/destroy/", "")),
                (400, put("session/create", "{")),
                (400, get("catalog/service/")),
                (400, get("catalog/node/")),
                (400, get("health/state/")),
                (400, get("health/node/")),
                (400, put("catalog/register", "{")),
                (400, put("catalog/deregister", "{")),
                (400, put("event/fire/", "")),
                (400, put("agent/maintenance", "")),
                (400, put("agent/service/register", "{")),
                (400, put("txn", "{")),
                (500, put("kv/k?flags=x", "v")),
                (500, put("kv/k?cas=x", "v")),
                (500, get("kv/k?dc=other")),
                (500, put("kv/k?dc=other", "v")),
                (500, get("session/list?dc=other")),
                (500, get("catalog/nodes?dc=other")),
                (500, put("session/create?dc=other", "{}")),
                (404, get(&format!("query/{NOBODY}"))),
            ] {
                let what = format!("{} {}", request.method, request.target);
                let answer = with(t, NOBODY, &request);
                t.same(&what, answer.status(), status);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/order/after-the-token",
        claim: "What needs the state, and the flaws of sessions, transactions, definitions and queries, is looked at after the token",
        source: "acl.md 2.10",
        run: |t| {
            ready(t);
            let put = |path: &str, body: &'static str| Request::put(&format!("/v1/{path}"), body);
            for request in [
                put("catalog/register", r#"{"Node":""}"#),
                put("txn", "[]"),
                put("txn", r#"[{"KV":{"Verb":"nope","Key":"k"}}]"#),
                put("agent/check/pass/none", ""),
                put("agent/check/deregister/none", ""),
                put("agent/service/deregister/none", ""),
                put(
                    "agent/service/register",
                    r#"{"Name":"a","Check":{"Interval":"1s"}}"#,
                ),
                put("agent/token/bogus", "{}"),
                put("session/create", r#"{"TTL":"x"}"#),
                put("session/create", r#"{"Behavior":"x"}"#),
                put(&format!("session/renew/{NOBODY}"), ""),
                put(&format!("session/destroy/{NOBODY}"), ""),
                put("kv/k?acquire=x", "v"),
                Request::new("POST", "/v1/query").body("{}"),
            ] {
                with(t, NOBODY, &request).says(403, "ACL not found");
            }
            with(t, ROOT, &put("agent/token/bogus", "{}")).is(404, "Token \"bogus\" is unknown");
        },
        ..BASE
    },
    Case {
        id: "acl/blocking/sessions-outlive-their-token",
        claim: "A session stays alive and keeps its lock when the token that made it is deleted, and the end of its check still ends it",
        source: "acl.md 10.8, 11.6",
        run: |t| {
            ready(t);
            let register = |status: &str| {
                let body = json!({"Node": "own", "Address": "127.0.0.1", "Check": {"CheckID": "c", "Status": status}});
                with(
                    t,
                    ROOT,
                    &Request::put("/v1/catalog/register", body.to_string()),
                )
                .is(200, "true");
            };
            register("passing");
            let rules =
                "session_prefix \"\" { policy = \"write\" } key_prefix \"\" { policy = \"write\" }";
            let (accessor, secret) = granted(t, "p", rules);
            let body = json!({"Node": "own", "NodeChecks": ["c"], "LockDelay": "0s"});
            let made = Request::put("/v1/session/create", body.to_string());
            let session = text(&with(t, &secret, &made).status_is(200), "/ID");
            let acquire = Request::put(&format!("/v1/kv/k?acquire={session}"), "v");
            with(t, &secret, &acquire).is(200, "true");
            delete(t, &format!("token/{accessor}")).is(200, "true");
            let key = || with(t, ROOT, &Request::get("/v1/kv/k")).entry();
            key().session_is(&session);
            with(t, ROOT, &acquire).is(200, "true");
            register("critical");
            key().is_unlocked();
        },
        ..BASE
    },
    Case {
        id: "acl/agent/registrations-reach-the-catalog",
        claim: "A service that is registered with a right on it reaches the catalog with its check, though the agent has no token",
        source: "acl.md 11.3",
        run: |t| {
            ready(t);
            let (_, secret) = granted(t, "p", "service \"web\" { policy = \"write\" }");
            let body = json!({"Name": "web", "Check": {"TTL": "1h", "Status": "passing"}});
            let register = Request::put("/v1/agent/service/register", body.to_string());
            with(t, &secret, &register).status_is(200);
            let shown = t.eventually("it is in the catalog", Duration::from_secs(10), || {
                let shown = with(t, ROOT, &Request::get("/v1/health/checks/web")).list();
                (!shown.is_empty()).then_some(shown)
            });
            t.same("the check", shown[0]["Status"].clone(), json!("passing"));
            with(t, ROOT, &Request::get("/v1/catalog/service/web"))
                .field_is("/0/ServiceName", "web");
        },
        ..BASE
    },
];
