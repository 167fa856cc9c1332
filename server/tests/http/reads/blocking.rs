//! Blocking reads (kv.md 5; 1.22.md A5). The clock stands still: a wait ends by a write or by [`Server::advance`].
//!
//! [`Server::advance`]: proconsul::Server::advance

use std::time::Duration;

use proconsul::Version;

use crate::support::{Blocked, Consul, create_session, request};

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
fn what_does_not_block() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let index = consul.get("/v1/kv/k").index();
        for parameters in [
            "wait=1m".to_owned(),
            "index=".to_owned(),
            "index=0&wait=1m".to_owned(),
            format!("index={}", index - 1),
            format!("index=0&index={index}"),
            "index=007".to_owned(),
        ] {
            let answer = consul.get(&format!("/v1/kv/k?{parameters}"));
            assert_eq!(
                (answer.code(), answer.index()),
                (200, index),
                "{parameters}"
            );
        }
        consul.get("/v1/kv/missing?wait=10m").is(404, "");
    }
}

#[test]
fn what_is_no_index() {
    for consul in Consul::both() {
        for index in [
            "abc",
            "-1",
            "1.5",
            "0x1",
            "%2B5",
            "+5",
            "18446744073709551616",
        ] {
            let target = format!("/v1/kv/k?index={index}");
            consul.get(&target).is(400, "Invalid index");
        }
    }
}

#[test]
fn what_is_no_wait() {
    for consul in Consul::both() {
        for wait in [
            "10",
            "1.5",
            "1S",
            "1d",
            "+1s",
            "%201s",
            "99999999h",
            "abc",
            "-",
            "s",
        ] {
            let target = format!("/v1/kv/k?wait={wait}");
            consul.get(&target).is(400, "Invalid wait time");
        }
        for wait in [
            "5ns", "5us", "5%C2%B5s", "5ms", "1.5s", "1h1m1s", "%2B1s", "-1s", "0", "", ".5s",
        ] {
            consul.get(&format!("/v1/kv/k?wait={wait}")).is(404, "");
        }
    }
}

// trap: kv 15
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
fn the_answer_at_the_end_of_the_wait_is_the_last_look() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let index = consul.get("/v1/kv/k").index();
        let mut blocked = consul.block(&format!("/v1/kv/k?index={}&wait=1s", index + 100));
        waited(&consul, &mut blocked, SECOND);
        let answer = blocked.answer();
        assert_eq!((answer.code(), answer.index()), (200, index));
        assert_eq!(answer.head(), consul.get("/v1/kv/k").head());
    }
}

#[test]
fn a_change_ends_the_wait() {
    for consul in both() {
        let session = create_session(&consul, r#"{"LockDelay":"0s"}"#);
        let changes: [(&str, String, &str); 6] = [
            ("PUT", "/v1/kv/k".to_owned(), "y"),
            ("PUT", "/v1/kv/k?flags=5".to_owned(), "y"),
            ("PUT", format!("/v1/kv/k?acquire={session}"), "y"),
            ("PUT", format!("/v1/kv/k?release={session}"), "y"),
            (
                "PUT",
                "/v1/txn".to_owned(),
                r#"[{"KV":{"Verb":"set","Key":"k","Value":"eg=="}}]"#,
            ),
            ("DELETE", "/v1/kv/k".to_owned(), ""),
        ];
        consul.put("/v1/kv/k", "x");
        for (method, target, body) in changes {
            let before = consul.get("/v1/kv/k").index();
            let reads = ["k?", "k?recurse&", "?keys&", "?recurse&"].map(|read| {
                let index = consul.get(&format!("/v1/kv/{read}")).index();
                consul.block(&format!("/v1/kv/{read}index={index}"))
            });
            consul.ask_with(method, &target, &[], body.as_bytes());
            for mut read in reads {
                let answer = read.answer();
                assert!(answer.index() > before, "{method} {target}");
            }
        }
    }
}

#[test]
fn destroying_the_holder_ends_the_wait_for_its_keys() {
    for consul in both() {
        for behavior in ["release", "delete"] {
            let session = create_session(&consul, &format!(r#"{{"Behavior":"{behavior}"}}"#));
            let key = format!("/v1/kv/{behavior}");
            consul
                .put(&format!("{key}?acquire={session}"), "x")
                .is(200, "true");
            let index = consul.get(&key).index();
            let mut blocked = consul.block(&format!("{key}?index={index}"));
            consul.put(&format!("/v1/session/destroy/{session}"), "");
            let answer = blocked.answer();
            let code = if behavior == "release" { 200 } else { 404 };
            assert_eq!(answer.code(), code);
            assert!(answer.index() > index);
            assert!(!answer.text().contains("Session"));
        }
    }
}

#[test]
fn what_changes_nothing_ends_no_wait() {
    for consul in both() {
        let session = create_session(&consul, r#"{"TTL":"1h"}"#);
        consul.put(&format!("/v1/kv/k?acquire={session}"), "x");
        let index = consul.get("/v1/kv/k").index();
        let mut single = consul.block(&format!("/v1/kv/k?index={index}"));
        let mut list = consul.block(&format!("/v1/kv/k?recurse&index={index}"));
        consul
            .put(&format!("/v1/kv/k?acquire={session}"), "x")
            .is(200, "true");
        consul.put("/v1/kv/k?cas=1", "y").is(200, "false");
        consul.put("/v1/kv/other", "y").is(200, "true");
        consul.delete("/v1/kv/other").is(200, "true");
        consul.delete("/v1/kv/missing").is(200, "true");
        consul.put(&format!("/v1/session/renew/{session}"), "");
        let failing = r#"[{"KV":{"Verb":"set","Key":"k","Value":"eg=="}},
            {"KV":{"Verb":"cas","Key":"k","Index":1}}]"#;
        assert_eq!(consul.put("/v1/txn", failing).code(), 409);
        assert!(!consul.has_answered(&mut single) && !consul.has_answered(&mut list));
        consul.put("/v1/kv/k", "now").is(200, "true");
        assert_eq!(single.answer().code(), 200);
        assert_eq!(list.answer().code(), 200);
    }
}

#[test]
fn a_deleted_key_is_404_with_the_index_of_the_deletion() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let index = consul.get("/v1/kv/k").index();
        let mut blocked = consul.block(&format!("/v1/kv/k?index={index}"));
        consul.delete("/v1/kv/k");
        let answer = blocked.answer();
        assert_eq!((answer.code(), answer.index()), (404, index + 1));
    }
}

#[test]
fn a_missing_key_appears() {
    for consul in both() {
        consul.put("/v1/kv/other", "x");
        let index = consul.get("/v1/kv/k").index();
        let mut blocked = consul.block(&format!("/v1/kv/k?raw&index={index}"));
        consul.put("/v1/kv/k", "there");
        blocked.answer().is(200, "there");
    }
}

/// Older versions may answer early (kv.md 5.4): with 404 and a larger index.
#[test]
fn a_missing_key_keeps_blocking_through_other_writes_since_1_12() {
    let consul = Consul::frozen(Version::V1_22_0);
    consul.put("/v1/kv/other", "x");
    let index = consul.get("/v1/kv/k").index();
    let mut blocked = consul.block(&format!("/v1/kv/k?index={index}&wait=1s"));
    for value in ["1", "2", "3"] {
        consul.put("/v1/kv/other", value);
        assert!(!consul.has_answered(&mut blocked));
    }
    waited(&consul, &mut blocked, SECOND);
    let answer = blocked.answer();
    assert_eq!((answer.code(), answer.index()), (404, index + 3));
}

#[test]
fn sessions_are_waited_for() {
    for consul in both() {
        let first = create_session(&consul, "{}");
        let list = consul.get("/v1/session/list");
        let index = list.index();
        let targets = [
            format!("/v1/session/list?index={index}"),
            format!("/v1/session/node/proconsul?index={index}"),
        ];
        let mut waiting: Vec<Blocked> = targets.iter().map(|target| consul.block(target)).collect();
        let mut info = consul.block(&format!("/v1/session/info/{first}?index={index}"));
        create_session(&consul, "{}");
        for blocked in &mut waiting {
            assert_eq!(blocked.answer().index(), index + 1);
        }
        assert!(
            !consul.has_answered(&mut info),
            "another session is no news of this one"
        );
        consul.put(&format!("/v1/session/destroy/{first}"), "");
        let gone = info.answer();
        gone.is(200, "[]");
        assert_eq!(gone.index(), index + 2);
    }
}

#[test]
fn a_ttl_that_runs_out_ends_the_wait() {
    for consul in both() {
        let session = create_session(&consul, r#"{"TTL":"10s"}"#);
        consul.put(&format!("/v1/kv/k?acquire={session}"), "x");
        let index = consul.get("/v1/kv/k").index();
        let mut blocked = consul.block(&format!("/v1/kv/k?index={index}"));
        consul.server().advance(19 * SECOND);
        assert!(!consul.has_answered(&mut blocked));
        consul.server().advance(SECOND);
        let answer = blocked.answer();
        assert_eq!((answer.code(), answer.index()), (200, index + 1));
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
/// (tests/control/barriers.rs).
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

#[test]
fn a_hundred_waiters_are_all_answered() {
    for consul in both() {
        consul.put("/v1/kv/k", "x");
        let target = format!("/v1/kv/k?raw&index={}", consul.get("/v1/kv/k").index());
        let waiting: Vec<Blocked> = (0..100).map(|_| consul.block(&target)).collect();
        consul.put("/v1/kv/k", "news");
        for mut blocked in waiting {
            blocked.answer().is(200, "news");
        }
    }
}
