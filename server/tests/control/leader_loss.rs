//! The loss of the leader, row by row as it was measured on clusters of real Consuls.

use std::time::Duration;

use proconsul::Server;
use proconsul::engine::BlockedOn;
use proconsul::faults::{LeaderLoss, Phase};

use crate::support::{Answer, PATIENCE, background, frozen, get, held, join, put};

/// When a request that is held is answered, and what with.
fn answered_after(server: &Server, method: &str, target: &str) -> (Duration, Answer) {
    let began = server.now();
    let request = held(server, method, target);
    server.advance_to_next();
    (server.now().since(began), join(request))
}

fn assert_no_leader(server: &Server, method: &str, target: &str) -> Answer {
    let (after, answer) = answered_after(server, method, target);
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (500, "No cluster leader"),
        "{target}"
    );
    let measured = Duration::from_millis(7000)..=Duration::from_millis(7300);
    assert!(measured.contains(&after), "{target}: {after:?}");
    answer
}

#[test]
fn a_cluster_that_never_had_a_leader() {
    let server = frozen();
    server.lose_leader(LeaderLoss::never_elected());
    assert_eq!(get(&server, "/v1/status/leader").body, "\"\"");
    assert_eq!(get(&server, "/v1/status/peers").body, "[]");
    assert_eq!(get(&server, "/v1/agent/self").status, 200);
    for (method, target) in [
        ("GET", "/v1/kv/k"),
        ("GET", "/v1/kv/k?stale"),
        ("GET", "/v1/kv/k?consistent"),
        ("PUT", "/v1/kv/k"),
        ("DELETE", "/v1/kv/k"),
        ("PUT", "/v1/txn"),
        ("PUT", "/v1/session/create"),
    ] {
        let answer = assert_no_leader(&server, method, target);
        assert_eq!(answer.header("X-Consul-KnownLeader"), None, "{target}");
    }
    for target in ["/v1/session/list", "/v1/catalog/nodes"] {
        let answer = assert_no_leader(&server, "GET", target);
        assert_eq!(
            answer.header("X-Consul-KnownLeader"),
            Some("false"),
            "{target}"
        );
    }
}

#[test]
fn a_request_that_is_held_goes_on_when_there_is_a_leader() {
    let server = frozen();
    server.lose_leader(LeaderLoss::never_elected());
    let request = held(&server, "PUT", "/v1/kv/k");
    server.find_leader();
    assert_eq!(join(request).body, "true");
    assert_eq!(server.now().as_nanos(), 0);
}

#[test]
fn the_leader_dies_and_another_is_elected() {
    let server = frozen();
    server.kv().put("k", "1");
    let index = server.index();
    let pending = background(&server, "GET", &format!("/v1/kv/k?index={index}"));
    let stale = background(
        &server,
        "GET",
        &format!("/v1/kv/k?stale&wait=1s&index={index}"),
    );
    server
        .wait_blocked(&BlockedOn::prefix("k"), 2, PATIENCE)
        .expect("both block");
    server.lose_leader(LeaderLoss::leader_killed());

    let interrupted = join(pending);
    assert_eq!(
        (interrupted.status, interrupted.body.as_str()),
        (500, "rpc error making call: EOF")
    );
    assert_eq!(
        put(&server, "/v1/kv/k", "2").body,
        "rpc error making call: EOF"
    );
    let refused = "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:8300: connect: connection refused";
    assert_eq!(put(&server, "/v1/kv/k", "2").body, refused);
    assert_eq!(
        get(&server, "/v1/status/leader").body,
        "\"127.0.0.1:8300\"",
        "the dead one"
    );
    assert_eq!(get(&server, "/v1/kv/k?raw&stale").body, "1");
    server.advance(Duration::from_millis(1999));
    assert_eq!(get(&server, "/v1/kv/k").body, refused);
    assert_eq!(join(stale).status, 200, "its wait was over in time");

    server.advance(Duration::from_millis(1));
    let (after, elected) = answered_after(&server, "PUT", "/v1/kv/k");
    assert_eq!(
        (after, elected.body.as_str()),
        (Duration::from_millis(1160), "true")
    );
    assert_eq!(get(&server, "/v1/kv/k").status, 200);
}

#[test]
fn the_leader_loses_its_quorum() {
    let server = frozen();
    server.kv().put("k", "1");
    let index = server.index();
    let pending = background(&server, "GET", &format!("/v1/kv/k?wait=60s&index={index}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.lose_leader(LeaderLoss::quorum_lost());
    let (after, lost) = answered_after(&server, "PUT", "/v1/kv/k");
    assert_eq!(
        (after, lost.status, lost.body.as_str()),
        (
            Duration::from_millis(500),
            500,
            "leadership lost while committing log"
        )
    );
    for (method, target) in [
        ("GET", "/v1/kv/k"),
        ("GET", "/v1/kv/k?consistent"),
        (
            "PUT",
            "/v1/session/renew/adf4238a-882b-9ddc-4a9d-5b6758e4159e",
        ),
    ] {
        assert_no_leader(&server, method, target);
    }
    for target in ["/v1/kv/k?raw&stale", "/v1/kv/k?raw&max_stale=1s"] {
        let stale = get(&server, target);
        assert_eq!((stale.status, stale.body.as_str()), (200, "1"));
        assert_eq!(stale.header("X-Consul-KnownLeader"), Some("false"));
        let passed = server.now().as_nanos() / 1_000_000;
        assert_eq!(
            stale.header("X-Consul-LastContact"),
            Some(passed.to_string().as_str())
        );
    }
    assert_eq!(get(&server, "/v1/status/leader").body, "\"\"");
    // What the ex-leader had pending runs on, and knows nothing of it.
    server.advance(Duration::from_secs(64));
    let pending = join(pending);
    assert_eq!(pending.status, 200);
    assert_eq!(pending.header("X-Consul-KnownLeader"), Some("true"));
    assert_eq!(pending.header("X-Consul-LastContact"), Some("0"));
    server.find_leader();
    assert_eq!(put(&server, "/v1/kv/k", "2").body, "true");
}

#[test]
fn an_agent_that_starts_holds_what_comes_before_its_leader() {
    let server = frozen();
    server.lose_leader(LeaderLoss::starting());
    let (after, answer) = answered_after(&server, "PUT", "/v1/kv/k");
    assert_eq!(
        (after, answer.body.as_str()),
        (Duration::from_millis(250), "true")
    );
}

#[test]
fn phases_can_be_put_together() {
    let server = frozen();
    let second = Duration::from_secs(1);
    let loss = LeaderLoss::begins(Phase::Electing, second).then(Phase::Unreachable, second);
    server.lose_leader(loss);
    let (after, answer) = answered_after(&server, "PUT", "/v1/kv/k");
    assert_eq!(
        (after, answer.body.as_str()),
        (second, "rpc error making call: EOF")
    );
    server.advance(second);
    assert_eq!(put(&server, "/v1/kv/k", "").body, "true");
}
