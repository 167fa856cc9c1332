//! ACLs that change: before a request, while it is blocked, and under the agent.

use std::thread::JoinHandle;
use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul::control::AclError;
use proconsul::faults::{AclChange, Effect, Moment, Rule, RuleError};
use proconsul::history::{Filter, Kind};
use serde_json::{Value, json};

use crate::acl::tokens::{BOTH, ask_with, started};
use crate::over_http::face::{call, parsed};
use crate::support::{Answer, PATIENCE, ask, get, held, join, put};

const CATALOG: &str = r#"node_prefix "" { policy = "read" } service_prefix "" { policy = "read" } key_prefix "" { policy = "read" }"#;

/// Starts a blocking read with a token and a fault that hits it while it is blocked.
fn blocked_read(server: &Server, token: &str, path: &str) -> JoinHandle<Answer> {
    let index = get(server, &format!("{path}?token=root")).index();
    let target = format!("{path}?index={index}&wait=60s&token={token}");
    held(server, "GET", &target)
}

fn registered(server: &Server, service: &str) {
    let body = json!({ "Node": format!("n-{service}"), "Address": "127.0.0.1", "Service": { "Service": service } });
    let target = "/v1/catalog/register?token=root";
    assert_eq!(put(server, target, &body.to_string()).status, 200);
}

/// acl.md 10.4, 10.5: keys keep the rights with which the read began, the catalog looks at them again.
#[test]
fn a_token_is_revoked_while_a_read_is_blocked() {
    for version in BOTH {
        let server = started(version);
        put(&server, "/v1/kv/app/a?token=root", "x");
        let revoked = || Effect::ChangeAcls(AclChange::Revoke(Moment::Blocked));
        for (path, expected) in [("/v1/kv/app/a", 200), ("/v1/catalog/nodes", 403)] {
            let token = server.acl().token(CATALOG).expect("these are rules");
            let guard = server.fault(Rule::new(revoked()).path(path));
            let guard = guard.expect("the server has ACLs");
            let read = blocked_read(&server, &token.secret, path);
            // The first one read the index, and did not block.
            assert_eq!(guard.hits(), 2);
            let own = server.acl().explain(&token.secret, "key:read", "");
            assert_eq!(own, Err(AclError::UnknownToken(token.secret.clone())));
            put(&server, "/v1/kv/app/a?token=root", "y");
            registered(&server, path.rsplit('/').next().expect("it has a part"));
            assert_eq!(join(read).status, expected, "{path} as {version}");
        }
    }
}

/// acl.md 10.5, 11: a policy that is emptied meanwhile filters what the next change would show.
#[test]
fn a_policy_changes_while_a_read_is_blocked() {
    for version in BOTH {
        let server = started(version);
        let token = server.acl().token(CATALOG).expect("these are rules");
        let emptied = Effect::ChangeAcls(AclChange::Rules(Moment::Blocked, String::new()));
        let rule = Rule::new(emptied).path("/v1/catalog/nodes");
        let _guard = server.fault(rule).expect("the server has ACLs");
        let read = blocked_read(&server, &token.secret, "/v1/catalog/nodes");
        registered(&server, "web");
        let answer = join(read);
        assert_eq!(
            (answer.status, answer.body.trim()),
            (200, "[]"),
            "{version}"
        );
    }
}

/// The third renewal finds that its token was revoked, as one that an operator has deleted.
#[test]
fn a_token_is_revoked_before_a_request() {
    let server = started(Version::V1_22_0);
    let rules = r#"session_prefix "" { policy = "write" }"#;
    let token = server.acl().token(rules).expect("these are rules");
    let rule = Rule::new(Effect::ChangeAcls(AclChange::Revoke(Moment::Arrival)));
    let _guard = server.fault(rule.method("PUT").path("/v1/session/renew/").nth(3));
    let created = ask_with(&server, &token.secret, "PUT", "/v1/session/create");
    assert_eq!(created.status, 400, "the body is no JSON");
    let created = put(
        &server,
        &format!("/v1/session/create?token={}", token.secret),
        "",
    );
    let id = parsed(&created)["ID"]
        .as_str()
        .expect("it has one")
        .to_owned();
    let renew = format!("/v1/session/renew/{id}?token={}", token.secret);
    let statuses: Vec<_> = (0..3).map(|_| put(&server, &renew, "").status).collect();
    assert_eq!(statuses, [200, 200, 403]);
    let of = |kind| server.history(&Filter::of(kind));
    assert_eq!(of(Kind::TokenUnknown).len(), 1);
    let text = server.history_text();
    assert!(text.contains("(fault: rule 1: token revoked)"), "{text}");
}

#[test]
fn a_fault_of_acls_needs_acls_and_rules() {
    let revoked = Rule::new(Effect::ChangeAcls(AclChange::Revoke(Moment::Arrival)));
    let error = Server::start().fault(revoked).map(|_| ());
    assert_eq!(error, Err(RuleError::Acls(AclError::Off.to_string())));
    let server = started(Version::V1_22_0);
    let changed = |moment| Effect::ChangeAcls(AclChange::Rules(moment, "key".to_owned()));
    let error = server
        .fault(Rule::new(changed(Moment::Arrival)))
        .map(|_| ());
    assert!(matches!(error, Err(RuleError::Acls(_))), "{error:?}");
    let write = Effect::ChangeAcls(AclChange::Revoke(Moment::Blocked));
    let error = server.fault(Rule::new(write).method("PUT")).map(|_| ());
    assert_eq!(error, Err(RuleError::ReadsOnly("PUT".to_owned())));
    for effect in [
        json!({ "kind": "revoke-token", "when": "blocked" }),
        json!({ "kind": "change-rules", "rules": "" }),
    ] {
        let body = json!({ "effect": effect, "path": "/v1/event/", "times": 1 });
        let installed = call(&server, "POST", "/faults", &body.to_string());
        assert_eq!(installed.status, 200, "{}", installed.body);
    }
}

/// acl.md 10.6: since reads of instances are streamed, a deleted token ends one at once, without index headers; an
/// emptied policy shows when the time is up.
#[test]
fn a_streamed_read_ends_when_its_token_is_deleted() {
    let server = started(Version::V1_22_0);
    registered(&server, "web");
    let path = "/v1/health/service/web";
    let token = server.acl().token(CATALOG).expect("these are rules");
    let read = blocked_read(&server, &token.secret, path);
    server
        .acl()
        .revoke(&token.accessor)
        .expect("there is such a token");
    let answer = join(read);
    assert_eq!((answer.status, &*answer.body), (403, "ACL not found"));
    assert_eq!(answer.header("X-Consul-Index"), None);

    let token = server.acl().token(CATALOG).expect("these are rules");
    let read = blocked_read(&server, &token.secret, path);
    let changed = server.acl().change_rules(&token.accessor, "");
    changed.expect("the token has a policy");
    server.wait_idle(PATIENCE).expect("it stays blocked");
    assert_eq!(server.blocked().len(), 1);
    server.advance(Duration::from_secs(70));
    let answer = join(read);
    assert_eq!((answer.status, answer.body.trim()), (200, "[]"));
    assert_eq!(answer.header("X-Consul-Query-Backend"), Some("streaming"));
    assert_eq!(answer.header("X-Consul-Knownleader"), Some("false"));
}

/// acl.md 10.5: without streams nothing happens before the next change.
#[test]
fn a_read_of_instances_waits_on_for_a_change_on_early_releases() {
    let server = started(Version::V1_8_7);
    registered(&server, "web");
    let token = server.acl().token(CATALOG).expect("these are rules");
    let read = blocked_read(&server, &token.secret, "/v1/health/service/web");
    server
        .acl()
        .revoke(&token.accessor)
        .expect("there is such a token");
    server.wait_idle(PATIENCE).expect("it stays blocked");
    assert_eq!(server.blocked().len(), 1);
    registered(&server, "web2");
    let body = json!({ "Node": "n-web", "Address": "127.0.0.1", "Service": { "Service": "web", "Port": 7 } });
    put(
        &server,
        "/v1/catalog/register?token=root",
        &body.to_string(),
    );
    assert_eq!(join(read).status, 403);
}

/// acl.md 2.12: the body of an executed query says that rows were removed.
#[test]
fn an_executed_query_says_in_its_body_that_rows_were_removed() {
    let server = started(Version::V1_22_0);
    registered(&server, "web");
    let query = json!({ "Name": "q", "Service": { "Service": "web" } }).to_string();
    let created = ask(&server, "POST", "/v1/query?token=root", &query);
    assert_eq!(created.status, 200);
    let rules = r#"query_prefix "" { policy = "read" }"#;
    let token = server.acl().token(rules).expect("these are rules").secret;
    let executed = |token: &str| {
        let answer = get(&server, &format!("/v1/query/q/execute?token={token}"));
        let told = answer.header("X-Consul-Results-Filtered-By-Acls").is_some();
        let body = parsed(&answer);
        let nodes = body["Nodes"].as_array().expect("a list").len();
        (nodes, told, body["ResultsFilteredByACLs"].clone())
    };
    assert_eq!(executed("root"), (1, false, json!(false)));
    assert_eq!(executed(&token), (0, true, json!(true)));
}

/// Returns the agent's own node and the names of its services, as the catalog has them.
fn own_node(server: &Server) -> (Value, Vec<String>) {
    let path = format!("/v1/catalog/node/{}?token=root", server.node_name());
    let found = parsed(&get(server, &path));
    let services = found["Services"].as_object().expect("there are some");
    (found["Node"].clone(), services.keys().cloned().collect())
}

fn give_to_agent(server: &Server, token: &str) {
    let body = json!({ "Token": token }).to_string();
    let set = put(server, "/v1/agent/token/agent?token=root", &body);
    assert_eq!(set.status, 200);
}

/// acl.md 11.5: at once, as on 1.8.7.
#[test]
fn an_agent_that_gets_a_token_tells_the_catalog_of_its_node() {
    for version in BOTH {
        let server = started(version);
        assert_eq!(own_node(&server).0["TaggedAddresses"], Value::Null);
        let reader = server.acl().token(CATALOG).expect("these are rules");
        give_to_agent(&server, &reader.secret);
        assert_eq!(own_node(&server).0["TaggedAddresses"], Value::Null);
        give_to_agent(&server, "root");
        let (node, _) = own_node(&server);
        assert!(node["TaggedAddresses"]["lan"].is_string(), "{node}");
        assert!(node["Meta"]["consul-network-segment"].is_string(), "{node}");
    }
}

/// acl.md 11.4: a late agent deregisters with its own token alone.
#[test]
fn a_service_stays_in_the_catalog_if_the_agent_may_not_deregister_it() {
    for (version, stays) in [(Version::V1_8_7, false), (Version::V1_22_0, true)] {
        let server = started(version);
        let web = json!({ "Name": "web", "Check": { "TTL": "1h" } }).to_string();
        let register = || {
            let target = "/v1/agent/service/register?token=root";
            assert_eq!(put(&server, target, &web).status, 200);
        };
        let deregister = || {
            let target = "/v1/agent/service/deregister/web?token=root";
            assert_eq!(put(&server, target, "").status, 200);
        };
        let is_there = || own_node(&server).1.contains(&"web".to_owned());
        register();
        assert!(is_there());
        deregister();
        assert_eq!(is_there(), stays, "{version}");
        let local = get(&server, "/v1/agent/services?token=root");
        assert_eq!(local.body.trim(), "{}");
        // Neither time nor a dump changes that.
        server.advance(Duration::from_secs(600));
        server.load(&server.dump()).expect("the state fits");
        server.advance(Duration::from_secs(600));
        assert_eq!(is_there(), stays, "{version}");
        give_to_agent(&server, "root");
        assert!(!is_there());
        register();
        deregister();
        assert!(!is_there());
    }
}
