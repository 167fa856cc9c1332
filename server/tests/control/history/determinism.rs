//! The same seed and the same calls give the same history, byte for byte.

use std::time::Duration;

use proconsul::Server;
use proconsul::faults::{ConsulError, Effect, LeaderLoss, Rule};
use proconsul_engine::BlockedOn;

use crate::support::{PATIENCE, SECOND, ask, background, held, join, put};

fn history_of_a_run(seed: u64) -> String {
    let server = Server::builder()
        .seed(seed)
        .frozen()
        .start()
        .expect("a free port");
    let rule = Rule::new(Effect::Error(ConsulError::RpcEof)).chance(0.3, seed);
    let _guard = server
        .fault(rule.key_prefix("flaky/"))
        .expect("it can match");
    let body = ask(&server, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#).body;
    let session = body.split('"').nth(3).expect("an id").to_owned();
    put(&server, &format!("/v1/kv/lock?acquire={session}"), "x");
    for number in 0..20 {
        put(&server, &format!("/v1/kv/flaky/{number}"), "x");
    }
    let index = server.index();
    let short = background(&server, "GET", "/v1/kv/none?wait=3s&index=9999");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    let lock = background(&server, "GET", &format!("/v1/kv/lock?index={index}"));
    server
        .wait_blocked(&BlockedOn::Anything, 2, PATIENCE)
        .expect("both block");
    server.advance(Duration::from_secs(60));
    join(short);
    join(lock);
    server.checkpoint("a");
    put(&server, "/v1/kv/lock", "y");
    server.rollback("a").expect("it is there");
    server.advance(20 * SECOND);
    catalog_and_queries(&server);
    let state = server.dump();
    lose_and_find_a_leader(&server);
    server.load(&state).expect("it is a state of this server");
    server.advance(100 * SECOND);
    put(&server, "/v1/session/create", "{}");
    format!("{}{}", server.history_text(), server.dump())
}

/// Checks that expire and end their service, and a query with an id of chance.
fn catalog_and_queries(server: &Server) {
    let service = r#"{"Name":"web","Check":{"TTL":"10s","DeregisterCriticalServiceAfter":"1m"}}"#;
    put(server, "/v1/agent/service/register", service);
    put(server, "/v1/agent/check/pass/service:web?note=fine", "");
    let query = r#"{"Name":"q","Service":{"Service":"web"}}"#;
    ask(server, "POST", "/v1/query", query);
    put(server, "/v1/event/fire/deploy", "now");
    server.catalog().delete_node("proconsul");
    server.advance(SECOND);
}

/// Waits for a leader are of chance, too.
fn lose_and_find_a_leader(server: &Server) {
    server.lose_leader(LeaderLoss::quorum_lost());
    server.advance(SECOND);
    let request = held(server, "GET", "/v1/kv/lock");
    server.advance(14 * SECOND);
    assert_eq!(join(request).status, 500);
    server.find_leader();
}

#[test]
fn ten_runs_have_one_history() {
    let first = history_of_a_run(7);
    for _ in 1..10 {
        assert_eq!(history_of_a_run(7), first);
    }
    assert_ne!(history_of_a_run(8), first, "the seed is used");
}

#[test]
fn a_thousand_servers_live_in_one_process() {
    let servers: Vec<Server> = (0..1000).map(|_| Server::start()).collect();
    for server in [&servers[0], &servers[500], &servers[999]] {
        let session = server
            .sessions()
            .create(proconsul::control::Session::default());
        let target = format!("/v1/kv/lock?acquire={}", session.expect("a node"));
        assert_eq!(put(server, &target, "x").body, "true");
    }
    let ports: std::collections::BTreeSet<_> = servers.iter().map(|server| server.addr()).collect();
    assert_eq!(ports.len(), 1000);
}
