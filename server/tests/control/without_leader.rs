//! What becomes of requests whose leader is silent, and of what an agent does without one (cluster.md 2.5, 3.5, 4.4).

use std::thread::JoinHandle;
use std::time::Duration;

use proconsul::control::BlockedOn;
use proconsul::faults::LeaderLoss;
use proconsul::history::{Filter, Kind};
use proconsul::{Server, Version};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_udp};

use crate::agents::{cluster, get, parked, parked_with, put};
use crate::autopilot::remove_dead_servers;
use crate::support::{Answer, PATIENCE, SECOND, ask_at, join};

/// Sends a read that waits for a change of `k`.
fn blocked(server: &Server, agent: usize) -> JoinHandle<Answer> {
    let index = get(server, agent, "/v1/kv/k").index();
    let target = format!("/v1/kv/k?raw&index={index}&wait=9m");
    parked(server, agent, "GET", &target)
}

/// Another leader does not know of a request that was sent to one that is silent: it fails when its connection is given up, and
/// from 1.15 on a blocking query is asked again then. What is sent to the new leader is answered (cluster.md 3.5, 3.13).
#[test]
fn what_a_silent_leader_was_asked_is_not_answered_by_another() {
    for (version, waited) in [
        (Version::V1_8_7, (500, "rpc error making call: EOF")),
        (Version::V1_22_0, (200, "2")),
    ] {
        let server = Server::builder()
            .version(version)
            .frozen()
            .agents(3)
            .start();
        let server = server.expect("there are free ports");
        put(&server, 0, "/v1/kv/k", "1");
        let waits = blocked(&server, 1);
        server.agent(0).cut();
        let hangs = parked(&server, 1, "PUT", "/v1/kv/lost");
        server.advance(3 * SECOND);
        assert_eq!(put(&server, 1, "/v1/kv/k", "2").body, "true");
        assert_eq!(get(&server, 2, "/v1/kv/k?raw").body, "2");
        server.advance(26 * SECOND);
        let [hung, waited_for] = [hangs, waits].map(join);
        assert_eq!(
            (hung.status, hung.body.as_str()),
            (500, "rpc error making call: EOF"),
            "{version}"
        );
        let waited_for = (waited_for.status, waited_for.body.as_str());
        assert_eq!(waited_for, waited, "{version}");
        assert_eq!(get(&server, 1, "/v1/kv/lost").status, 404);
    }
}

/// A follower that stays cut off does not come to know what the leader does.
#[test]
fn a_blocked_read_is_not_asked_again_without_a_leader() {
    let builder = Server::builder().version(Version::V1_22_0).frozen();
    let server = builder.agents(3).start().expect("there are free ports");
    put(&server, 0, "/v1/kv/k", "1");
    let waits = blocked(&server, 2);
    server.agent(2).cut();
    put(&server, 0, "/v1/kv/k", "2");
    server.advance(40 * SECOND);
    put(&server, 0, "/v1/kv/k", "3");
    server.advance(SECOND);
    assert!(!waits.is_finished());
    server.agent(2).heal();
    assert_eq!(join(waits).body, "3");
}

/// It tells a leader when it has one again (cluster.md 4.4).
#[test]
fn an_agent_without_a_leader_keeps_its_services() {
    let server = cluster();
    remove_dead_servers(&server, false);
    let is_known = || get(&server, 0, "/v1/catalog/service/web").body != "[]";
    put(
        &server,
        2,
        "/v1/agent/service/register",
        r#"{"Name":"old"}"#,
    );
    server.agent(2).cut();
    server.advance(2 * SECOND);
    let registers = parked_with(
        &server,
        2,
        "PUT",
        "/v1/agent/service/register",
        r#"{"Name":"web"}"#,
    );
    server.advance(Duration::from_millis(7100));
    assert_eq!(join(registers).status, 200);
    let deregisters = parked_with(&server, 2, "PUT", "/v1/agent/service/deregister/old", "");
    server.advance(Duration::from_millis(7100));
    assert_eq!(join(deregisters).status, 200);
    let own = get(&server, 2, "/v1/agent/services").body;
    assert!(own.contains("web") && !own.contains("old"), "{own}");
    assert!(!is_known());
    assert_ne!(get(&server, 0, "/v1/catalog/service/old").body, "[]");
    server.agent(2).heal();
    server.advance(Duration::from_millis(1));
    assert!(is_known());
    assert_eq!(get(&server, 0, "/v1/catalog/service/old").body, "[]");
}

/// Other requests, and other agents, do not wait (cluster.md 4.4.r3).
#[test]
fn what_an_agent_without_a_leader_keeps_is_read_in_turn() {
    let server = cluster();
    server.agent(2).cut();
    server.advance(2 * SECOND);
    let register = |service| parked_with(&server, 2, "PUT", "/v1/agent/service/register", service);
    let first = register(r#"{"Name":"first"}"#);
    let target = "/v1/agent/service/first";
    let read = parked(&server, 2, "GET", target);
    let second = register(r#"{"Name":"second"}"#);
    for target in ["/v1/agent/members", "/v1/status/peers"] {
        assert_eq!(get(&server, 2, target).status, 200, "{target}");
    }
    assert_eq!(get(&server, 0, target).status, 404);
    server.advance(Duration::from_millis(7100));
    assert_eq!(join(first).status, 200);
    assert_eq!(join(read).status, 200);
    assert!(!second.is_finished());
    server.advance(Duration::from_millis(7100));
    assert_eq!(join(second).status, 200);
    // A leader is there for all who wait.
    let waits = [r#"{"Name":"third"}"#, r#"{"Name":"fourth"}"#].map(register);
    server.agent(2).heal();
    for waits in waits {
        assert_eq!(join(waits).status, 200);
    }
}

/// The leader that was silent has heard nothing of it.
#[test]
fn a_blocked_read_waits_on_when_its_leader_is_back() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    let waits = blocked(&server, 2);
    server.agent(2).cut();
    server.advance(10 * SECOND);
    server.agent(2).heal();
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it waits again");
    server.advance(30 * SECOND);
    put(&server, 0, "/v1/kv/k", "2");
    assert_eq!(join(waits).body, "2");
}

/// It waits for them until it gives them up. A service can be registered at it all the same (cluster.md 5.23).
#[test]
fn a_client_agent_gives_up_silent_servers() {
    let server = Server::builder().version(Version::V1_8_7).frozen().dns();
    let server = server.agents_and_clients(3, 1).start().expect("free ports");
    put(&server, 0, "/v1/kv/k", "1");
    let mut waits = vec![blocked(&server, 3)];
    let held = Filter::of(Kind::Held).after(server.last_record());
    server.agent(0).pause();
    server
        .wait_for(&held, PATIENCE)
        .expect("its leader is silent");
    server.agent(1).pause();
    server.agent(2).pause();
    let targets = [
        "kv/k",
        "kv/k?stale",
        "status/leader",
        "catalog/datacenters",
        "query",
    ];
    waits.extend(targets.map(|target| parked(&server, 3, "GET", &format!("/v1/{target}"))));
    waits.push(parked(&server, 3, "PUT", "/v1/event/fire/e"));
    assert_eq!(get(&server, 3, "/v1/agent/self").status, 200);
    let service = r#"{"Name":"own"}"#;
    let registers = parked_with(&server, 3, "PUT", "/v1/agent/service/register", service);
    server.advance(27 * SECOND);
    assert!(waits.iter().all(|waits| !waits.is_finished()));
    server.advance(SECOND);
    for waits in waits {
        is_refused(&join(waits), "rpc error making call: EOF");
    }
    assert_eq!(join(registers).status, 200);
    for target in targets {
        let refused = get(&server, 3, &format!("/v1/{target}"));
        is_refused(&refused, "No known Consul servers");
    }
    let of_read = get(&server, 3, "/v1/health/service/own");
    assert_eq!(of_read.header("X-Consul-KnownLeader"), Some("false"));
    assert!(get(&server, 3, "/v1/agent/services").body.contains("own"));
    assert!(fails_dns(&server));
    server.agent(1).resume();
    server.agent(2).resume();
    server.advance(10 * SECOND);
    assert_eq!(get(&server, 3, "/v1/kv/k?raw").body, "1");
    assert!(!fails_dns(&server));
}

/// Each is refused by the servers' port, also what a server would answer without a leader.
#[test]
fn a_client_agent_gives_up_dead_servers() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    let waits = blocked(&server, 3);
    for number in [2, 1, 0] {
        server.kill_agent(number).expect("it closes");
    }
    is_refused(&join(waits), "rpc error making call: EOF");
    let targets =
        ["kv/k?stale", "status/peers", "kv/k?dc=dc2"].map(|target| format!("/v1/{target}"));
    for target in &targets {
        let refused = get(&server, 3, target);
        let says = "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:0->";
        assert!(refused.body.starts_with(says), "{target}: {}", refused.body);
    }
    let registered = put(
        &server,
        3,
        "/v1/agent/service/register",
        r#"{"Name":"own"}"#,
    );
    assert_eq!(registered.status, 200);
    server.advance(37 * SECOND);
    for target in &targets {
        is_refused(&get(&server, 3, target), "No known Consul servers");
    }
}

/// Also one that is cut off itself, until it reaches them again.
#[test]
fn a_client_agent_that_is_cut_off_waits_for_servers() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    server.agent(3).cut();
    let stale = parked(&server, 3, "GET", "/v1/kv/k?stale&raw");
    put(&server, 0, "/v1/kv/k", "2");
    server.advance(SECOND);
    server.agent(3).heal();
    assert_eq!(join(stale).body, "2");
}

/// A transaction that only reads, of a server without a leader. One that writes waits for a leader (cluster.md 4.4.r2).
#[test]
fn a_transaction_of_reads_may_be_stale() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    server.advance(SECOND);
    server.agent(1).cut();
    server.advance(3 * SECOND);
    let get = r#"[{"KV":{"Verb":"get","Key":"k"}}]"#;
    let stale = put(&server, 1, "/v1/txn?stale", get);
    assert_eq!(stale.status, 200, "{}", stale.body);
    assert!(stale.body.contains(r#""Value":"MQ==""#), "{}", stale.body);
    assert_eq!(stale.header("X-Consul-KnownLeader"), Some("false"));
    let broken = put(&server, 1, "/v1/txn?stale", "{");
    assert_eq!(broken.status, 400, "{}", broken.body);
    let set = r#"[{"KV":{"Verb":"set","Key":"k","Value":"Mg=="}}]"#;
    let others = [("/v1/txn?stale", set), ("/v1/txn", get)];
    let waits = others.map(|(target, body)| parked_with(&server, 1, "PUT", target, body));
    server.advance(8 * SECOND);
    for waits in waits {
        is_refused(&join(waits), "No cluster leader");
    }
}

/// Whether the client agent answers a question of DNS with `SERVFAIL`.
fn fails_dns(server: &Server) -> bool {
    let question = DnsQuestion::new("own.service.consul", "A").bytes();
    let answer = ask_over_udp(server.agent(3).dns_addr(), &question);
    let answer = DnsAnswer::read(&answer.expect("it answers"));
    answer.head.starts_with("SERVFAIL")
}

fn is_refused(answer: &Answer, text: &str) {
    assert_eq!((answer.status, answer.body.as_str()), (500, text));
}

/// What an agent checks itself it refuses at once, and what the leader checks waits for one (cluster.md 3.22).
#[test]
fn bad_input_is_refused_without_a_leader() {
    let server = cluster();
    server.agent(2).cut();
    server.advance(3 * SECOND);
    let begun = server.now();
    for (method, target, body, status, says) in [
        ("GET", "/v1/kv/k?index=x", "", 400, "Invalid index"),
        (
            "PUT",
            "/v1/txn",
            "{",
            400,
            "Failed to parse body: unexpected EOF",
        ),
        (
            "PUT",
            "/v1/agent/service/register",
            "{}",
            400,
            "Missing service name",
        ),
        ("GET", "/v1/health/node/", "", 400, "Missing node name"),
    ] {
        let refused = ask_at(server.agent(2).addr(), method, target, body);
        assert_eq!(
            (refused.status, refused.body.as_str()),
            (status, says),
            "{target}"
        );
    }
    assert_eq!(server.now(), begun);
    let waits = parked_with(&server, 2, "PUT", "/v1/kv/k?cas=0", "x");
    server.advance(Duration::from_millis(7100));
    assert_eq!(join(waits).status, 500);
    // The same of a lone server.
    let lone = Server::builder().frozen().start().expect("a free port");
    lone.lose_leader(LeaderLoss::never_elected());
    let refused = ask_at(lone.addr(), "PUT", "/v1/session/create", "{");
    assert_eq!(refused.status, 400, "{}", refused.body);
}
