//! Time travel.

mod ends;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use proconsul::control::Session;
use proconsul::history::{Filter, Kind, Record};
use proconsul_engine::BlockedOn;
use proconsul_engine::clock::Rate;

use crate::support::{PATIENCE, SECOND, background, frozen, get, join, parse};

fn texts(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .map(|record| record.what.to_string())
        .collect()
}

#[test]
fn an_advance_tells_what_it_caused_in_order_and_when() {
    let server = frozen();
    let sessions = server.sessions();
    let late = sessions.create(Session::ttl(20 * SECOND)).expect("a node");
    let early = sessions.create(Session::ttl(10 * SECOND)).expect("a node");
    assert_eq!(server.kv().acquire("k", "x", &early), Ok(true));
    let caused = server.advance(60 * SECOND);
    let at: Vec<u64> = caused
        .iter()
        .map(|record| record.at.as_nanos() / 1_000_000_000)
        .collect();
    let kinds: Vec<_> = caused
        .iter()
        .map(|record| record.what.kind().name())
        .collect();
    assert_eq!(
        kinds,
        [
            "session-ended",
            "key-written",
            "released",
            "lock-delay-began",
            "lock-delay-ended",
            "session-ended",
        ]
    );
    assert_eq!(at, [20, 20, 20, 20, 35, 40]);
    assert!(texts(&caused)[5].contains(&late));
    assert_eq!(server.now().as_nanos(), 60_000_000_000);
}

#[test]
fn those_whom_an_advance_wakes_have_been_answered_when_it_returns() {
    let server = frozen();
    let waiting = background(&server, "GET", "/v1/kv/none?index=1000&wait=10s");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    let caused = server.advance(11 * SECOND);
    let last = caused.last().expect("the wait is over");
    assert_eq!(last.what.kind(), Kind::Answer);
    assert_eq!(join(waiting).status, 404);
}

/// The time-out of writing (`http_config.write_timeout`, 15 minutes) concerns requests that wait: a client needs no time of the
/// server's clock between the two halves of a request.
#[test]
fn a_request_that_arrives_while_the_clock_moves_is_answered() {
    let server = frozen();
    let mut wire = TcpStream::connect(server.addr()).expect("it listens");
    wire.set_read_timeout(Some(PATIENCE)).expect("not zero");
    let head = "PUT /v1/kv/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    wire.write_all(head.as_bytes()).expect("it reads");
    let mut continues = *b"HTTP/1.1 100 Continue\r\n\r\n";
    wire.read_exact(&mut continues)
        .expect("it asks for the body");
    server.advance(3600 * SECOND);
    wire.write_all(b"v").expect("it reads");
    let mut bytes = Vec::new();
    wire.read_to_end(&mut bytes).expect("it answers");
    assert_eq!(parse(&bytes).status, 200);
}

#[test]
fn the_next_deadline_is_found_and_reached() {
    let server = frozen();
    assert_eq!(server.next_deadline(), None);
    assert!(server.advance_to_next().is_empty());
    server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    assert_eq!(server.next_deadline(), Some(20 * SECOND));
    let waiting = background(&server, "GET", "/v1/kv/none?index=1000&wait=1s");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    let wait = server.next_deadline().expect("the wait ends");
    assert!((SECOND..SECOND + SECOND / 16).contains(&wait), "{wait:?}");
    server.advance_to_next();
    join(waiting);
    let caused = server.advance_to_next();
    assert_eq!(caused[0].what.kind(), Kind::SessionEnded);
    assert_eq!(server.now().as_nanos(), 20_000_000_000);
}

#[test]
fn a_clock_can_be_stopped_started_and_sped_up() {
    let server = proconsul::Server::start();
    server.freeze();
    let frozen_at = server.now();
    assert_eq!(server.rate(), Rate::FROZEN);
    get(&server, "/v1/status/leader");
    assert_eq!(server.now(), frozen_at);
    server
        .sessions()
        .create(Session::ttl(3600 * SECOND))
        .expect("a node");
    // Two hours in less than a second.
    server.set_rate(Rate::new(100_000.0).expect("a rate"));
    let lapsed = server.wait_for(&Filter::of(Kind::SessionEnded), PATIENCE);
    let lapsed = lapsed.expect("the session lapses");
    assert_eq!(lapsed.at.since(frozen_at), 7200 * SECOND);
    server.resume();
    assert_eq!(server.rate(), Rate::REAL);
    for wrong in [-1.0, 1e-300, 2e6, f64::NAN] {
        Rate::new(wrong).expect_err("no clock runs like that");
    }
}

#[test]
fn a_jump_makes_everything_late() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    assert_eq!(server.kv().acquire("k", "x", &session), Ok(true));
    server.jump(Duration::from_secs(100));
    let ended = server.history(&Filter::of(Kind::SessionEnded));
    assert_eq!(ended[0].at.as_nanos(), 100_000_000_000);
    assert_eq!(server.explain("k").lock_delay_left, Some(15 * SECOND));
}

#[test]
fn time_jumps_by_itself_while_every_client_is_blocked() {
    let server = frozen();
    server.auto_advance(2);
    let one = background(&server, "GET", "/v1/kv/none?index=1000&wait=600s");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    assert_eq!(
        server.now().as_nanos(),
        0,
        "one of two clients is not blocked"
    );
    let two = background(&server, "GET", "/v1/kv/none?index=1000&wait=300s");
    join(two);
    assert!(server.now().as_nanos() >= 300_000_000_000);
    server.stop_auto_advance();
    server.advance(600 * SECOND);
    join(one);
}
