//! Who makes an error: the agent that is asked, or the leader (cluster.md 1.12, 3.22).

use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::Request;

use crate::agents::{AGENTS, CLIENT, Cluster, HOP, SECOND, answered, text};
use crate::held;
use crate::lost::runs;

held! {
    errors_say_who_passed_them_on
    errors_of_the_agent_have_no_prefix
}

/// One prefix for each hop.
fn errors_say_who_passed_them_on(cluster: &Cluster) {
    let leader = cluster.leader();
    let refused = |agent| text(&cluster.put(agent, "/v1/session/create", r#"{"Node":"none"}"#));
    let plain = "Missing node registration";
    let [follower, _] = cluster.followers();
    let stale = cluster.put(follower, "/v1/session/create?stale", r#"{"Node":"none"}"#);
    assert_eq!(text(&stale), refused(follower), "{}", cluster.name);
    for agent in 0..AGENTS {
        let hops = refused(agent).matches(HOP).count();
        assert!(refused(agent).ends_with(plain));
        match agent {
            _ if agent == leader => assert_eq!(hops, 0, "{}", cluster.name),
            CLIENT => assert!((1..=2).contains(&hops), "{}", cluster.name),
            _ => assert_eq!(hops, 1, "{}: agent {agent}", cluster.name),
        }
        // No server asks the leader.
        let stale = text(&cluster.get(agent, "/v1/session/info/x?stale"));
        let hops = stale.matches(HOP).count();
        assert_eq!(
            hops,
            usize::from(agent == CLIENT),
            "{}: {stale}",
            cluster.name
        );
        let gone = "/v1/session/renew/adf4238a-882b-9ddc-4a9d-5b6758e4159e";
        let own = text(&cluster.put(agent, gone, ""));
        assert!(own.starts_with("Session id '"), "{}: {own}", cluster.name);
    }
}

/// What the agent that is asked refuses itself has the same text whoever leads.
fn errors_of_the_agent_have_no_prefix(cluster: &Cluster) {
    let [follower, _] = cluster.followers();
    let is = |request: &Request, status, says: &str| {
        let refused = cluster.ask(follower, request);
        let refused = (refused.status, text(&refused));
        let asked = &request.target;
        assert_eq!(
            refused,
            (status, says.to_owned()),
            "{}: {asked}",
            cluster.name
        );
    };
    let number = r#"strconv.ParseUint: parsing "x": invalid syntax"#;
    let entry = r#"{"Kind":"service-defaults","Name":"a"}"#;
    for (target, body, says) in [
        ("kv/k?cas=x", "x", number),
        ("config?cas=x", entry, number),
        ("snapshot?stale", "x", "stale not allowed for restore"),
    ] {
        is(&Request::put(&format!("/v1/{target}"), body), 500, says);
    }
    for (target, says) in [
        (
            "query/x/execute?limit=a",
            r#"Bad limit: strconv.Atoi: parsing "a": invalid syntax"#,
        ),
        (
            "connect/intentions/match?by=source",
            "required query parameter 'name' not set",
        ),
        (
            "connect/intentions/match?by=source&name=a/b/c",
            r#"name "a/b/c" is invalid: input can contain at most one '/'"#,
        ),
    ] {
        is(&Request::get(&format!("/v1/{target}")), 500, says);
    }
    // An intention is looked for by the leader.
    let unknown = "/v1/connect/intentions/00000000-0000-0000-0000-000000000001";
    is(
        &Request::get(unknown),
        500,
        "rpc error making call: Intention not found",
    );
    let leader = cluster.get(cluster.leader(), unknown);
    cluster.is(&leader, 404, "Intention not found");
    is(
        &Request::get("/v1/connect/intentions/nope"),
        400,
        "Bad request: rpc error making call: failed intention lookup: index error: UUID must be 36 characters",
    );
}

/// Method, target and body of what an agent refuses itself, and the status and text of its answer.
const OF_AGENT: &[(&str, &str, &str, u16, &str)] = &[
    (
        "PUT",
        "kv/k?acquire=a&release=b",
        "x",
        400,
        "Conflicting flags: acquire=a&release=b",
    ),
    (
        "PUT",
        "kv/k?cas=x",
        "x",
        500,
        "strconv.ParseUint: parsing \"x\": invalid syntax",
    ),
    ("PUT", "kv/", "x", 400, "Missing key name"),
    (
        "PUT",
        "session/create",
        "{",
        400,
        "Request decode failed: unexpected EOF",
    ),
    (
        "PUT",
        "txn",
        "{",
        400,
        "Failed to parse body: unexpected EOF",
    ),
    (
        "PUT",
        "agent/service/register",
        "{}",
        400,
        "Missing service name",
    ),
    (
        "PUT",
        "connect/intentions",
        "",
        405,
        "method PUT not allowed",
    ),
    (
        "PUT",
        "agent/check/pass/none",
        "",
        500,
        "CheckID \"none\" does not have associated TTL",
    ),
    ("PUT", "agent/service/deregister/none", "", 200, ""),
    ("PUT", "agent/check/deregister/none", "", 200, ""),
    ("PUT", "agent/maintenance?enable=false", "", 200, ""),
    ("GET", "kv/k?index=x", "", 400, "Invalid index"),
    ("GET", "health/state/", "", 400, "Missing check state"),
    (
        "GET",
        "connect/intentions/match?by=x",
        "",
        500,
        "'by' parameter must be one of 'source' or 'destination'",
    ),
];

/// An agent refuses at once what it checks itself, and answers at once what changes nothing. What a leader checks waits for one.
pub(crate) fn bad_input_needs_no_leader(cluster: &mut Cluster) {
    let lone = (0..CLIENT).find(|agent| runs(cluster, *agent));
    let lone = lone.expect("a server runs");
    let name = cluster.name;
    let begun = Stopwatch::start();
    for (method, target, body, status, says) in OF_AGENT {
        let mut request = Request::put(&format!("/v1/{target}"), body);
        request.method = (*method).to_owned();
        let refused = cluster.ask(lone, &request);
        let refused = (refused.status, text(&refused));
        assert_eq!(refused, (*status, (*says).to_owned()), "{name}: {target}");
    }
    cluster.took(
        "refusals of an agent",
        begun.elapsed(),
        Duration::ZERO..4 * SECOND,
    );
    let begun = Stopwatch::start();
    let waits = [
        ("session/create", r#"{"TTL":"1s"}"#),
        ("catalog/register", "{}"),
    ];
    let waits = waits
        .map(|(target, body)| cluster.sent(lone, &Request::put(&format!("/v1/{target}"), body)));
    for waits in waits {
        cluster.is(&answered(waits), 500, "No cluster leader");
    }
    cluster.took(
        "refusals of a leader",
        begun.elapsed(),
        6 * SECOND..10 * SECOND,
    );
}
