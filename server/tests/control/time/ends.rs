//! Time at its end, and a century on the way there: nothing loops, whatever hangs on the clock.

use std::time::Duration;

use proconsul::Server;
use proconsul::control::Session;
use proconsul::history::Happened;
use proconsul_engine::BlockedOn;
use proconsul_store::timestamp::Timestamp;

use crate::support::{PATIENCE, SECOND, ask, background, frozen, get, join, put};

/// The longest duration that Go can tell.
const LONGEST: Duration = Duration::from_nanos(i64::MAX.unsigned_abs());
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

fn registered(server: &Server, what: &str, body: &str) {
    let answer = put(server, &format!("/v1/agent/{what}/register"), body);
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// A server on which something of everything hangs that happens by itself.
fn furnished() -> Server {
    let server = frozen();
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    let session = session.expect("a node");
    assert_eq!(server.kv().acquire("lock", "x", &session), Ok(true));
    server.kv().put("gone", "x");
    server.kv().delete("gone");
    registered(
        &server,
        "service",
        r#"{"Name":"web","Check":{"TTL":"10s","DeregisterCriticalServiceAfter":"1m"}}"#,
    );
    registered(
        &server,
        "check",
        r#"{"Name":"node","TTL":"10s","DeregisterCriticalServiceAfter":"1m"}"#,
    );
    write_to_own_node(&server);
    server
}

/// The agent undoes it when it next looks.
fn write_to_own_node(server: &Server) {
    let body = r#"{"Node":"proconsul","Address":"127.0.0.1","Service":{"Service":"foreign"}}"#;
    let answer = put(server, "/v1/catalog/register", body);
    assert_eq!(answer.body, "true");
}

/// A check that is run every ten seconds, at a port where nobody listens.
fn run_at_intervals(server: &Server) {
    registered(
        server,
        "check",
        r#"{"Name":"asked","TCP":"127.0.0.1:1","Interval":"10s"}"#,
    );
}

/// All that can be done goes on; what would happen later never does.
fn lives_at_the_end_of_time(server: &Server) {
    assert_eq!(server.now(), Timestamp::END);
    assert_eq!(server.next_deadline(), None);
    assert_eq!(put(server, "/v1/kv/k", "1").body, "true");
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    let session = session.expect("a node");
    assert_eq!(server.kv().acquire("another", "x", &session), Ok(true));
    server.sessions().expire(&session).expect("it is there");
    server.kv().delete("k");
    write_to_own_node(server);
    let service = r#"{"Name":"late","Check":{"TTL":"10s","DeregisterCriticalServiceAfter":"1m"}}"#;
    registered(server, "service", service);
    put(server, "/v1/agent/check/fail/service:late", "");
    run_at_intervals(server);
    server.checkpoint("end");
    server.rollback("end").expect("it is there");
    let state = server.dump();
    server.load(&state).expect("it is a state of this server");
    assert_eq!(server.next_deadline(), None);
    assert_eq!(get(server, "/v1/kv/none?index=1000&wait=1s").status, 404);
    let index = server.index();
    server.advance(LONGEST);
    server.jump(LONGEST);
    server.advance_to_next();
    assert_eq!(server.index(), index, "nothing happens any more");
}

#[test]
fn an_advance_to_the_end_of_time_comes_there() {
    let server = furnished();
    let waiting = background(&server, "GET", "/v1/kv/none?index=1000&wait=10m");
    let blocked = server.wait_blocked(&BlockedOn::Anything, 1, PATIENCE);
    blocked.expect("it blocks");
    let caused = server.advance(Duration::MAX);
    assert_eq!(join(waiting).status, 404);
    let words: Vec<String> = caused
        .iter()
        .map(|record| record.what.to_string())
        .collect();
    for what in ["its TTL ran out", "lock-delay is over", "the TTL of check"] {
        assert!(words.iter().any(|words| words.contains(what)), "{words:#?}");
    }
    assert!(!get(&server, "/v1/agent/services").body.contains("web"));
    lives_at_the_end_of_time(&server);
}

#[test]
fn jumps_to_the_end_of_time_and_beyond_come_there() {
    let server = furnished();
    run_at_intervals(&server);
    server.jump(LONGEST);
    server.jump(LONGEST);
    lives_at_the_end_of_time(&server);
}

#[test]
fn a_client_that_waits_when_time_ends_is_answered() {
    let server = frozen();
    server.jump(LONGEST - 5 * SECOND);
    let waiting = background(&server, "GET", "/v1/kv/none?index=1000&wait=10s");
    let blocked = server.wait_blocked(&BlockedOn::Anything, 1, PATIENCE);
    blocked.expect("it blocks");
    server.advance(60 * SECOND);
    assert_eq!(join(waiting).status, 404);
}

/// A check that is run at intervals has a deadline every ten seconds. An advance stops at ten thousand of them, and the
/// check is run once more at its end.
#[test]
fn a_century_of_runs_is_not_gone_through() {
    let server = frozen();
    run_at_intervals(&server);
    let session = server.sessions().create(Session::ttl(CENTURY / 4));
    session.expect("a node");
    let caused = server.advance(CENTURY);
    let is_run = |what: &Happened| matches!(what, Happened::CatalogChanged { change } if change.contains("was run"));
    let runs = caused.iter().filter(|record| is_run(&record.what)).count();
    assert!((9_000..10_010).contains(&runs), "{runs}");
    let is_lapse = |what: &Happened| matches!(what, Happened::SessionEnded { .. });
    let lapse = caused.iter().find(|record| is_lapse(&record.what));
    let lapsed = lapse.expect("it lapses").at.since(Timestamp::ZERO);
    assert_eq!(lapsed, CENTURY / 2, "all happens at its own time");
    assert_eq!(server.now(), Timestamp::ZERO.plus(CENTURY));
    let next = server.next_deadline().expect("the check is run again");
    assert!(next <= 10 * SECOND, "{next:?}");
}

/// Looks at what has been critical for too long, and comparisons with the catalog, have no effect for most of a century.
#[test]
fn a_century_of_looks_that_find_nothing_is_not_gone_through() {
    let server = frozen();
    let service =
        r#"{"Name":"web","Check":{"TTL":"10s","DeregisterCriticalServiceAfter":"876000h"}}"#;
    registered(&server, "service", service);
    // Until the catalog knows why it is critical, too.
    server.advance(600 * SECOND);
    let next = server.next_deadline().expect("the service goes one day");
    assert!(next > CENTURY - 660 * SECOND, "{next:?}");
    let caused = server.advance(CENTURY + 60 * SECOND);
    assert!(caused.is_empty() || caused.len() < 5, "{caused:#?}");
    assert!(!get(&server, "/v1/agent/services").body.contains("web"));
    write_to_own_node(&server);
    let undone = server.next_deadline().expect("the agent looks");
    assert!(undone <= 120 * SECOND, "{undone:?}");
    server.advance(180 * SECOND);
    let services = ask(&server, "GET", "/v1/catalog/services", "").body;
    assert!(!services.contains("foreign"), "{services}");
}
