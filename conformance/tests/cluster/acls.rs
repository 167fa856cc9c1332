//! Who checks a token: the agent that is asked, its server, or the leader (cluster.md 1.12.r2).

use proconsul_conformance::wire::Request;

use crate::agents::{AGENTS, CLIENT, Cluster, HOP, MANAGEMENT, text};
use crate::held;

held! {
    rights_say_who_checks_them
}

/// A token that may do nothing of this, and one that there is not.
const DENIED: &str = "22222222-2222-2222-2222-222222222222";
const UNKNOWN: &str = "33333333-3333-3333-3333-333333333333";

/// A request, its token, and the status and text of its refusal.
type Refused = (&'static str, &'static str, &'static str);

/// What the agent says itself.
const BY_AGENT: &[Refused] = &[
    ("GET operator/keyring?", UNKNOWN, "403 ACL not found"),
    ("GET operator/keyring?", DENIED, "500 Reading keyring den"),
    ("PUT event/fire/e?", DENIED, "403 Permission denied"),
    ("GET snapshot?", DENIED, "403 Permission denied"),
    (
        "GET snapshot?dc=dc9",
        MANAGEMENT,
        "500 No path to datacenter",
    ),
    ("POST acl/rules/translate?", DENIED, "403 Permission denied"),
    ("POST internal/acl/authorize?", UNKNOWN, "403 ACL not found"),
    ("POST acl/logout?", "", "403 ACL not found"),
    ("GET acl/token/self?", UNKNOWN, "403 ACL not found"),
    (
        "GET acl/token/44444444-4444-4444-4444-444444444444?",
        MANAGEMENT,
        "403 ACL not found",
    ),
    (
        "GET acl/policy/44444444-4444-4444-4444-444444444444?",
        MANAGEMENT,
        "403 ACL not found",
    ),
    (
        "GET acl/rules/translate/44444444-4444-4444-4444-444444444444?",
        MANAGEMENT,
        "403 ACL not found",
    ),
    ("GET acl/policy/name/none?", MANAGEMENT, "403 ACL not found"),
    ("PUT acl/clone/none?", MANAGEMENT, "403 Permission denied"),
];

/// What the server says that is asked first.
const BY_SERVER: &[Refused] = &[
    ("GET kv/a?stale", DENIED, "403 Permission denied"),
    (
        "GET health/service/consul?cached",
        UNKNOWN,
        "403 ACL not found",
    ),
    (
        "GET query/none/execute?cached",
        MANAGEMENT,
        "500 Query not found",
    ),
    ("PUT event/fire/e?", UNKNOWN, "500 ACL not found"),
    ("PUT event/fire/large?", MANAGEMENT, "500 1 error occurred"),
    (
        "PUT event/fire/e?dc=dc9",
        MANAGEMENT,
        "500 No path to datacenter",
    ),
    ("GET query?dc=dc9", UNKNOWN, "500 No path to datacenter"),
];

/// What the leader says.
const BY_LEADER: &[Refused] = &[
    ("PUT kv/a?", DENIED, "403 Permission denied"),
    ("GET kv/a?", UNKNOWN, "403 ACL not found"),
    ("GET catalog/nodes?cached", UNKNOWN, "403 ACL not found"),
    ("POST acl/logout?", DENIED, "403 Permission denied"),
    ("GET acl/tokens?", DENIED, "403 Permission denied"),
    (
        "PUT acl/bootstrap?",
        "",
        "403 Permission denied: ACL bootstrap no",
    ),
];

fn rights_say_who_checks_them(cluster: &Cluster) {
    let leader = cluster.leader();
    let [follower, _] = cluster.followers();
    let agents = [leader, follower, CLIENT];
    a_token_is_denied(cluster, leader);
    // The client agent's server may be the leader.
    for (rows, hops) in [
        (BY_AGENT, [0..=0, 0..=0, 0..=0]),
        (BY_SERVER, [0..=0, 0..=0, 1..=1]),
        (BY_LEADER, [0..=0, 1..=1, 1..=2]),
    ] {
        for (agent, hops) in agents.into_iter().zip(hops) {
            // A client agent has no keys.
            let asks = |row: &&Refused| agent != CLIENT || !row.0.contains("keyring");
            for row in rows.iter().filter(asks) {
                let told = refused(cluster, agent, row);
                let case = format!("{}: agent {agent}: {row:?}: {told}", cluster.name);
                assert!(told.replace(HOP, "").starts_with(row.2), "{case}");
                assert!(hops.contains(&told.matches(HOP).count()), "{case}");
            }
        }
    }
}

/// Returns the status and the text.
fn refused(cluster: &Cluster, agent: usize, (asked, token, _): &Refused) -> String {
    let (method, target) = asked.split_once(' ').expect("a method and a target");
    let request = Request::new(method, &format!("/v1/{target}&token={token}"));
    let body = match target {
        "event/fire/large?" => "x".repeat(1000),
        _ => r#"[{"Resource":"key","Access":"read","Segment":"a"}]"#.to_owned(),
    };
    let reply = cluster.ask(
        agent,
        &match method {
            "GET" => request,
            _ => request.body(body),
        },
    );
    format!("{} {}", reply.status, text(&reply))
}

/// Makes a token that may do nothing, and waits until the servers know it.
fn a_token_is_denied(cluster: &Cluster, leader: usize) {
    let rules = ["key", "event"].map(|of| format!("{of}_prefix \"\" {{ policy = \"deny\" }}"));
    let rules = format!("keyring = \"deny\" {}", rules.join(" "));
    let policy = serde_json::json!({ "Name": "nothing", "Rules": rules }).to_string();
    let token =
        serde_json::json!({ "SecretID": DENIED, "Policies": [{ "Name": "nothing" }] }).to_string();
    for (target, body) in [("policy", policy), ("token", token)] {
        let made = cluster.put(
            leader,
            &format!("/v1/acl/{target}?token={MANAGEMENT}"),
            &body,
        );
        assert_eq!(made.status, 200, "{}: {}", cluster.name, text(&made));
    }
    cluster.until("the servers know it", || {
        (0..AGENTS).all(|agent| {
            let read = cluster.get(agent, &format!("/v1/kv/a?stale&token={DENIED}"));
            text(&read).ends_with("Permission denied")
        })
    });
}
