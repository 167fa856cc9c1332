//! Blocking reads (kv.md 5; 1.22.md A5). The clock stands still: a wait ends by a write or by [`Server::advance`].
//!
//! [`Server::advance`]: proconsul::Server::advance

use std::time::Duration;

use proconsul::Version;

use crate::support::{Blocked, Consul, request};

/// The releases at both ends, with a clock that stands still.
fn both() -> [Consul; 2] {
    [Version::V1_8_7, Version::V1_22_0].map(Consul::frozen)
}

const SECOND: Duration = Duration::from_secs(1);

/// Advances until the read is answered, and gives the time that it took. A wait is measured in steps.
fn waited(consul: &Consul, blocked: &mut Blocked, step: Duration) -> Duration {
    let mut waited = Duration::ZERO;
    while !consul.has_answered(blocked) {
        consul.server().advance(step);
        waited += step;
        assert!(waited < Duration::from_secs(3600), "no answer in an hour");
    }
    waited
}

#[test]
fn no_wait_is_five_minutes_ten_are_the_most_and_jitter_comes_on_top() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let index = consul.get("/v1/kv/k").index();
        consul.get("/v1/kv/k?wait=10").is(400, "Invalid wait time");
        for (wait, seconds) in [
            ("", 300),
            ("&wait=0", 300),
            ("&wait=0s", 300),
            ("&wait=-1s", 300),
            ("&wait=16s", 16),
            ("&wait=10m", 600),
            ("&wait=11m", 600),
            ("&wait=24h", 600),
        ] {
            let limit = Duration::from_secs(seconds);
            let mut blocked = consul.block(&format!("/v1/kv/k?index={index}{wait}"));
            let waited = waited(&consul, &mut blocked, limit / 64);
            let most = limit + limit / 16 + limit / 64;
            assert!((limit..=most).contains(&waited), "{wait:?} took {waited:?}");
            blocked.answer();
        }
    }
}

/// The cap holds for what is asked for, and not for the default (seen on Consul 1.8.7).
#[test]
fn default_and_cap_can_be_set() {
    let consul = Consul::frozen_with(|config| {
        config.default_query_time = 4 * SECOND;
        config.max_query_time = 3 * SECOND;
    });
    consul.put("/v1/kv/k", "x");
    let index = consul.get("/v1/kv/k").index();
    for (wait, limit) in [("", 4 * SECOND), ("&wait=10s", 3 * SECOND)] {
        let mut blocked = consul.block(&format!("/v1/kv/k?index={index}{wait}"));
        let waited = waited(&consul, &mut blocked, SECOND / 16);
        assert!(
            waited >= limit && waited <= limit + SECOND / 4,
            "{waited:?}"
        );
        blocked.answer();
    }
}

#[test]
fn a_client_that_goes_away_leaves_the_others_waiting() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let target = format!("/v1/kv/k?index={}", consul.get("/v1/kv/k").index());
        let gone = consul.block(&target);
        let mut stays = consul.block(&target);
        drop(gone);
        consul.get("/v1/kv/k");
        assert!(!consul.has_answered(&mut stays));
        consul.put("/v1/kv/k", "y");
        assert_eq!(stays.answer().code(), 200);
    }
}

/// Seen on 1.8.7: the end of what a client sends does not end its wait. Where a test controls the server it does
/// (tests/control/waits/barriers.rs).
#[test]
fn a_client_that_stops_sending_is_answered() {
    let consul = Consul::frozen_with(|config| config.control = false);
    consul.put("/v1/kv/k", "x");
    let target = format!("/v1/kv/k?raw&index={}", consul.get("/v1/kv/k").index());
    let mut wire = consul.connect();
    wire.send(&request("GET", &target, &[], b""));
    wire.stop_sending();
    consul.get("/v1/status/leader");
    consul.put("/v1/kv/k", "y");
    wire.answer().is(200, "y");
    assert!(wire.is_closed());
}

/// A connection that breaks while its read waits gives back its place, which is all that can be seen of its end.
#[test]
fn a_client_that_breaks_off_waits_no_longer() {
    let consul = Consul::frozen_with(|config| config.http_max_conns_per_client = 2);
    consul.put("/v1/kv/k", "x");
    let target = format!("/v1/kv/k?index={}", consul.get("/v1/kv/k").index());
    let mut wire = consul.connect();
    // What is not read of the first answer makes the system break the connection when it is dropped.
    wire.send(&request("GET", "/v1/status/leader", &[], b""));
    wire.send(&request("GET", &target, &[], b""));
    assert!(wire.waits_for_bytes());
    drop(wire);
    let refused = || {
        let mut wire = consul.connect();
        wire.send(&request("GET", "/v1/status/leader", &[], b""));
        wire.next_answer().is_none_or(|answer| answer.code() != 200)
    };
    assert!(
        (0..1000).any(|_| !refused()),
        "the place is never given back"
    );
}
