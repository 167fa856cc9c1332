//! Waiting for a moment instead of sleeping.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use proconsul::control::Session;
use proconsul::history::{Filter, Happened, Kind};
use proconsul_engine::BlockedOn;

use crate::support::{PATIENCE, SECOND, background, frozen, get, join, put, request};

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn clients_are_seen_blocked_with_what_they_wait_for() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    let waiting = [
        background(&server, "GET", "/v1/kv/a/x?index=500"),
        background(&server, "GET", "/v1/kv/a/?recurse&index=600"),
        background(
            &server,
            "GET",
            &format!("/v1/session/info/{session}?index=700"),
        ),
        background(&server, "GET", "/v1/health/service/web?index=800"),
    ];
    let found = server.wait_blocked(&BlockedOn::prefix("a/"), 2, PATIENCE);
    let mut indexes: Vec<_> = found
        .expect("two block")
        .iter()
        .map(|blocked| blocked.min_index.0)
        .collect();
    indexes.sort_unstable();
    assert_eq!(indexes, [500, 600]);
    let on_session = BlockedOn::Session(session);
    let found = server
        .wait_blocked(&on_session, 1, PATIENCE)
        .expect("one blocks");
    assert_eq!(found[0].min_index.0, 700);
    let on_service = BlockedOn::Service("web".to_owned());
    let found = server
        .wait_blocked(&on_service, 1, PATIENCE)
        .expect("one blocks");
    assert_eq!(found[0].target, "/v1/health/service/web?index=800");
    server
        .wait_blocked(&BlockedOn::Anything, 4, PATIENCE)
        .expect("all block");
    server.advance(1000 * SECOND);
    for waiting in waiting {
        join(waiting);
    }
    assert!(server.blocked().is_empty());
}

#[test]
fn a_barrier_that_is_not_met_says_what_was_blocked_instead() {
    let server = frozen();
    let waiting = background(&server, "GET", "/v1/kv/b?index=500");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    let unmet = server.wait_blocked(&BlockedOn::prefix("a/"), 2, SHORT);
    assert_eq!(
        unmet.expect_err("nobody reads it").to_string(),
        "timed out after 20ms waiting for 2 requests blocked on keys under \"a/\"; \
         blocked were request 1 on key \"b\" past index 500"
    );
    server.advance(1000 * SECOND);
    join(waiting);
    let unmet = server.wait_blocked(&BlockedOn::Anything, 1, SHORT);
    let text = unmet.expect_err("nobody is left").to_string();
    assert!(text.ends_with("nobody was blocked"), "{text}");
}

#[test]
fn what_happened_before_the_wait_counts_unless_it_is_left_out() {
    let server = frozen();
    server.kv().put("k", "1");
    let written = Filter::of(Kind::KeyWritten).key("k");
    let first = server.wait_for(&written, PATIENCE).expect("it is there");
    let later = written.after(first.number);
    let unmet = server.wait_for(&later, SHORT).expect_err("no other yet");
    assert!(
        unmet
            .to_string()
            .contains("kind key-written, key \"k\", after record"),
        "{unmet}"
    );
    let control = server.clone();
    let waiter = std::thread::spawn(move || control.wait_for(&later, PATIENCE));
    server.kv().put("k", "2");
    let second = waiter.join().expect("no panic").expect("it comes");
    assert!(second.number > first.number);
}

#[test]
fn a_server_is_idle_when_all_are_answered_or_blocked() {
    let server = frozen();
    let waiting = background(&server, "GET", "/v1/kv/b?index=500");
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    get(&server, "/v1/kv/b");
    server.wait_idle(PATIENCE).expect("nobody is at work");
    server.advance(1000 * SECOND);
    join(waiting);
}

#[test]
fn a_barrier_does_not_outlive_its_server() {
    let server = frozen();
    let control = server.clone();
    let waiter = std::thread::spawn(move || {
        control.wait_blocked(&BlockedOn::Anything, 1, Duration::from_secs(3600))
    });
    drop(server);
    waiter
        .join()
        .expect("no panic")
        .expect_err("nobody ever blocks");
}

/// A thousand clients that wait for keys to come make no write dearer (1.22.md A5).
#[test]
fn who_waits_for_a_missing_key_is_not_woken_by_its_neighbours() {
    let server = frozen();
    let waiting = background(&server, "GET", "/v1/kv/a/none?index=1");
    server
        .wait_blocked(&BlockedOn::prefix("a/"), 1, PATIENCE)
        .expect("one blocks");
    for key in ["a/nobody", "a/non", "b"] {
        put(&server, &format!("/v1/kv/{key}"), "x");
    }
    assert!(server.history(&Filter::of(Kind::Woken)).is_empty());
    put(&server, "/v1/kv/a/none", "x");
    join(waiting);
    assert_eq!(server.history(&Filter::of(Kind::Woken)).len(), 1);
}

/// Whoever closes the connection of a blocked read is blocked no more: the next barrier must not count it.
#[test]
fn a_client_that_hangs_up_is_not_counted() {
    let server = frozen();
    let mut client = TcpStream::connect(server.addr()).expect("the server listens");
    let read = request("GET", "/v1/kv/a?index=1", &[], "");
    client.write_all(read.as_bytes()).expect("the server reads");
    let on_key = BlockedOn::prefix("a");
    server
        .wait_blocked(&on_key, 1, PATIENCE)
        .expect("one blocks");
    drop(client);
    let ended = server.wait_for(&Filter::of(Kind::Answer), PATIENCE);
    assert!(matches!(
        ended.expect("it ends").what,
        Happened::Answer { status: None, .. }
    ));
    assert!(server.blocked().is_empty());
    // One that hangs up at once has asked all the same.
    let mut client = TcpStream::connect(server.addr()).expect("the server listens");
    let write = request("PUT", "/v1/kv/a", &["Connection: close"], "x");
    client
        .write_all(write.as_bytes())
        .expect("the server reads");
    client.shutdown(Shutdown::Write).expect("it is open");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("it is answered");
    assert!(answer.ends_with("true"), "{answer}");
}
