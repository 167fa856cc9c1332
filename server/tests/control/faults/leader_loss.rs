//! The loss of the leader, row by row as it was measured on clusters of real Consuls.

use std::ops::RangeInclusive;
use std::time::Duration;

use proconsul::Server;
use proconsul::faults::{LeaderLoss, Phase};
use proconsul::history::{Kind, Record};
use proconsul_engine::BlockedOn;

use crate::support::{Answer, PATIENCE, SECOND, background, get, held, join, put};

/// The releases before and since waits for a leader grow (1.22.md A6.4), with how long such a wait is in all. The first
/// was measured on 1.8.7.
fn generations() -> [(Server, RangeInclusive<Duration>); 2] {
    let milliseconds = Duration::from_millis;
    [
        ("1.8.7", milliseconds(7000)..=milliseconds(7300)),
        ("1.22.0", milliseconds(7000)..=milliseconds(13_600)),
    ]
    .map(|(version, holds)| (frozen_as(version), holds))
}

fn frozen_as(version: &str) -> Server {
    let version = version.parse().expect("it is a version");
    let server = Server::builder().version(version).frozen().start();
    server.expect("a free port")
}

/// Moves the clock until a request is answered.
fn advance_to_answer(server: &Server) {
    let is_answer = |record: &Record| record.what.kind() == Kind::Answer;
    let mut steps = (0..20).map(|_| server.advance_to_next());
    let answered = steps.any(|caused| caused.iter().any(is_answer));
    assert!(answered, "some steps on, it is answered");
}

/// When a request that is held is answered, and what with.
fn answered_after(server: &Server, method: &str, target: &str) -> (Duration, Answer) {
    let began = server.now();
    let request = held(server, method, target);
    advance_to_answer(server);
    (server.now().since(began), join(request))
}

fn assert_no_leader(
    server: &Server,
    holds: &RangeInclusive<Duration>,
    method: &str,
    target: &str,
) -> Answer {
    let (after, answer) = answered_after(server, method, target);
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (500, "No cluster leader"),
        "{target}"
    );
    assert!(holds.contains(&after), "{target}: {after:?}");
    answer
}

#[test]
fn a_cluster_that_never_had_a_leader() {
    for (server, holds) in generations() {
        never_had_a_leader(&server, &holds);
    }
}

fn never_had_a_leader(server: &Server, holds: &RangeInclusive<Duration>) {
    server.lose_leader(LeaderLoss::never_elected());
    assert_eq!(get(server, "/v1/status/leader").body, "\"\"");
    assert_eq!(get(server, "/v1/status/peers").body, "[]");
    assert_eq!(get(server, "/v1/agent/self").status, 200);
    for (method, target) in [
        ("GET", "/v1/kv/k"),
        ("GET", "/v1/kv/k?stale"),
        ("GET", "/v1/kv/k?consistent"),
        ("PUT", "/v1/kv/k"),
        ("DELETE", "/v1/kv/k"),
        (
            "PUT",
            "/v1/session/destroy/00000000-0000-0000-0000-000000000001",
        ),
        ("PUT", "/v1/session/create"),
    ] {
        let answer = assert_no_leader(server, holds, method, target);
        assert_eq!(answer.header("X-Consul-KnownLeader"), None, "{target}");
    }
    for target in ["/v1/session/list", "/v1/catalog/nodes"] {
        let answer = assert_no_leader(server, holds, "GET", target);
        assert_eq!(
            answer.header("X-Consul-KnownLeader"),
            Some("false"),
            "{target}"
        );
    }
}

#[test]
fn a_request_that_is_held_goes_on_when_there_is_a_leader() {
    let server = frozen_as("1.8.7");
    server.lose_leader(LeaderLoss::never_elected());
    let request = held(&server, "PUT", "/v1/kv/k");
    server.find_leader();
    assert_eq!(join(request).body, "true");
    assert_eq!(server.now().as_nanos(), 0);
}

/// It looks again only after its wait, and the waits grow.
#[test]
fn since_1_15_a_request_that_is_held_may_notice_a_leader_late() {
    let server = frozen_as("1.22.0");
    server.lose_leader(LeaderLoss::never_elected());
    let request = held(&server, "PUT", "/v1/kv/k");
    server.advance(3 * SECOND);
    server.find_leader();
    let found = server.now();
    server.wait_idle(PATIENCE).expect("it is held");
    assert!(server.kv().get("k").is_none());
    advance_to_answer(&server);
    let late = server.now().since(found);
    assert!(late > Duration::ZERO && late < 4 * SECOND, "{late:?}");
    assert_eq!(join(request).body, "true");
}

#[test]
fn since_1_15_a_read_with_an_index_waits_its_own_wait_longer_for_a_leader() {
    let [(old, old_holds), (new, _)] = generations();
    for server in [&old, &new] {
        server.lose_leader(LeaderLoss::never_elected());
    }
    let target = "/v1/kv/k?index=5&wait=10s";
    assert_no_leader(&old, &old_holds, "GET", target);
    let holds = 17 * SECOND..=24 * SECOND;
    assert_no_leader(&new, &holds, "GET", target);
}

/// An election that takes longer than Consul waits is no better than none.
#[test]
fn an_election_can_take_too_long() {
    for (server, holds) in generations() {
        server.lose_leader(LeaderLoss::begins(Phase::Electing, 60 * SECOND));
        assert_no_leader(&server, &holds, "PUT", "/v1/kv/k");
    }
}

#[test]
fn the_leader_dies_and_another_is_elected() {
    let milliseconds = Duration::from_millis;
    for (version, held) in [
        // Measured.
        ("1.8.7", milliseconds(1160)..=milliseconds(1160)),
        ("1.22.0", milliseconds(1160)..=milliseconds(3063)),
    ] {
        leader_dies(&frozen_as(version), &held);
    }
}

fn leader_dies(server: &Server, held: &RangeInclusive<Duration>) {
    server.kv().put("k", "1");
    let index = server.index();
    let pending = [
        format!("/v1/kv/k?index={index}"),
        format!("/v1/kv/k?consistent&index={index}"),
    ]
    .map(|target| background(server, "GET", &target));
    let stale = background(
        server,
        "GET",
        &format!("/v1/kv/k?stale&wait=1s&index={index}"),
    );
    server
        .wait_blocked(&BlockedOn::prefix("k"), 3, PATIENCE)
        .expect("all block");
    server.lose_leader(LeaderLoss::leader_killed());

    for interrupted in pending.map(join) {
        assert_eq!(
            (interrupted.status, interrupted.body.as_str()),
            (500, "rpc error making call: EOF")
        );
    }
    assert_eq!(
        put(server, "/v1/kv/k", "2").body,
        "rpc error making call: EOF"
    );
    let refused = "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:8300: connect: connection refused";
    assert_eq!(put(server, "/v1/kv/k", "2").body, refused);
    assert_eq!(
        get(server, "/v1/status/leader").body,
        "\"127.0.0.1:8300\"",
        "the dead one"
    );
    assert_eq!(get(server, "/v1/kv/k?raw&stale").body, "1");
    server.advance(Duration::from_millis(1999));
    assert_eq!(get(server, "/v1/kv/k").body, refused);
    assert_eq!(join(stale).status, 200, "its wait was over in time");

    server.advance(Duration::from_millis(1));
    let (after, elected) = answered_after(server, "PUT", "/v1/kv/k");
    assert!(held.contains(&after), "{after:?}");
    assert_eq!(elected.body, "true");
    assert_eq!(get(server, "/v1/kv/k").status, 200);
}

#[test]
fn the_leader_loses_its_quorum() {
    for (server, holds) in generations() {
        quorum_lost(&server, &holds);
    }
}

fn quorum_lost(server: &Server, holds: &RangeInclusive<Duration>) {
    server.kv().put("k", "1");
    let index = server.index();
    let pending = background(server, "GET", &format!("/v1/kv/k?wait=60s&index={index}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.lose_leader(LeaderLoss::quorum_lost());
    let (after, lost) = answered_after(server, "PUT", "/v1/kv/k");
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
        assert_no_leader(server, holds, method, target);
    }
    for target in ["/v1/kv/k?raw&stale", "/v1/kv/k?raw&max_stale=1s"] {
        let stale = get(server, target);
        assert_eq!((stale.status, stale.body.as_str()), (200, "1"));
        assert_eq!(stale.header("X-Consul-KnownLeader"), Some("false"));
        let passed = server.now().as_nanos() / 1_000_000;
        assert_eq!(
            stale.header("X-Consul-LastContact"),
            Some(passed.to_string().as_str())
        );
    }
    assert_eq!(get(server, "/v1/status/leader").body, "\"\"");
    // What the ex-leader had pending runs on, and knows nothing of it.
    server.advance(Duration::from_secs(64));
    let pending = join(pending);
    assert_eq!(pending.status, 200);
    assert_eq!(pending.header("X-Consul-KnownLeader"), Some("true"));
    assert_eq!(pending.header("X-Consul-LastContact"), Some("0"));
    server.find_leader();
    assert_eq!(put(server, "/v1/kv/k", "2").body, "true");
}

#[test]
fn an_agent_that_starts_holds_what_comes_before_its_leader() {
    let milliseconds = Duration::from_millis;
    for (version, held) in [
        // Measured.
        ("1.8.7", milliseconds(250)..=milliseconds(250)),
        ("1.22.0", milliseconds(250)..=milliseconds(1313)),
    ] {
        let server = frozen_as(version);
        server.lose_leader(LeaderLoss::starting());
        let (after, answer) = answered_after(&server, "PUT", "/v1/kv/k");
        assert!(held.contains(&after), "{version}: {after:?}");
        assert_eq!(answer.body, "true");
    }
}

#[test]
fn phases_can_be_put_together() {
    let server = frozen_as("1.8.7");
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
