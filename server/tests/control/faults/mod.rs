//! What a fault does to a request.

mod in_flight;
mod leader_loss;
#[cfg(feature = "dns")]
mod questions;
mod responses;
mod rules;

use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul::config::Config;
use proconsul::control::Session;
use proconsul::faults::{ConsulError, Cut, Effect, ReportedIndex, Rule};
use proconsul::history::{Filter, Happened, Kind};
use proconsul_engine::BlockedOn;
use proconsul_engine::clock::Rate;
use proconsul_store::timestamp::Timestamp;

use crate::support::{SECOND, ask, frozen, get, held, join, put, raw};

fn error(error: ConsulError) -> Rule {
    // Its hold is another test's.
    Rule::new(Effect::ErrorAfter(error, Duration::ZERO))
}

fn of(version: Version) -> Server {
    let config = Config {
        version,
        ..Config::default()
    };
    let server = Server::builder().config(config).frozen().start();
    server.expect("a free port")
}

#[test]
fn errors_have_the_texts_of_their_version() {
    let anonymous = "Permission denied: anonymous token lacks permission 'key:write' on \"a/b\". \
                     The anonymous token is used implicitly when a request does not specify a token.";
    let refused = "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:8300: connect: connection refused";
    let server_limit = "rate limit exceeded, try again later or against a different server";
    let leader_limit = "rate limit exceeded for operation that can only be performed by the leader, try again later";
    let same = |error, status, text| (error, status, text, text);
    let table = [
        same(ConsulError::NoClusterLeader, 500, "No cluster leader"),
        same(ConsulError::RpcEof, 500, "rpc error making call: EOF"),
        same(ConsulError::RpcConnectionRefused, 500, refused),
        same(ConsulError::NoKnownServers, 500, "No known Consul servers"),
        same(
            ConsulError::LeadershipLost,
            500,
            "leadership lost while committing log",
        ),
        (ConsulError::RateLimited, 429, "", "RPC rate limit exceeded"),
        same(ConsulError::ServerRateLimited, 429, server_limit),
        same(ConsulError::LeaderRateLimited, 503, leader_limit),
        (
            ConsulError::PermissionDenied,
            403,
            "Permission denied",
            anonymous,
        ),
        same(ConsulError::AclNotFound, 403, "ACL not found"),
    ];
    for (version, is_new) in [(Version::V1_8_7, false), (Version::V1_22_0, true)] {
        let server = of(version);
        for (fault, status, old, new) in table.clone() {
            let guard = server.fault(error(fault.clone())).expect("it can match");
            let answer = put(&server, "/v1/kv/a/b", "x");
            let text = if is_new { new } else { old };
            assert_eq!(
                (answer.status, answer.body.as_str()),
                (status, text),
                "{fault:?} {version}"
            );
            assert_eq!(answer.header("X-Consul-Index"), None, "{fault:?}");
            assert_eq!(guard.hits(), 1);
        }
        assert!(server.kv().get("a/b").is_none(), "nothing is applied");
    }
}

#[test]
fn the_connection_limit_closes_without_a_word_before_1_9_and_says_why_since() {
    let old = of(Version::V1_8_7);
    let _guard = old
        .fault(error(ConsulError::TooManyConnections))
        .expect("it can match");
    assert_eq!(raw(&old, "GET", "/v1/kv/k").expect("no reset"), b"");
    let new = of(Version::V1_22_0);
    let _guard = new
        .fault(error(ConsulError::TooManyConnections))
        .expect("it can match");
    let answer = get(&new, "/v1/kv/k");
    assert_eq!(answer.status, 429);
    assert_eq!(answer.header("Content-Type"), Some("text/plain"));
    assert!(
        answer
            .body
            .starts_with("Your IP is issuing too many concurrent connections")
    );
}

/// session.md 0.9: a read that fails inside still has the headers of one, but for KV.
#[test]
fn failed_reads_of_sessions_and_catalog_carry_headers_and_those_of_keys_do_not() {
    let server = frozen();
    let _guard = server
        .fault(error(ConsulError::NoClusterLeader))
        .expect("it can match");
    for path in ["/v1/session/list", "/v1/catalog/nodes"] {
        let answer = get(&server, path);
        assert_eq!(answer.status, 500);
        assert_eq!(
            answer.header("X-Consul-KnownLeader"),
            Some("false"),
            "{path}"
        );
        assert_eq!(answer.index(), 1);
    }
    assert_eq!(
        get(&server, "/v1/kv/k").header("X-Consul-KnownLeader"),
        None
    );
}

#[test]
fn consul_takes_its_time_to_say_that_there_is_no_leader() {
    let server = of(Version::V1_8_7);
    let rule = Rule::new(Effect::Error(ConsulError::NoClusterLeader));
    let _guard = server.fault(rule).expect("it can match");
    let request = held(&server, "GET", "/v1/kv/k");
    server.advance(Duration::from_secs(7));
    assert!(!request.is_finished());
    server.advance(Duration::from_millis(300));
    assert_eq!(join(request).body, "No cluster leader");
    // Since 1.15 it takes up to 13.5 s (1.22.md A6.4).
    let server = of(Version::V1_22_0);
    let rule = Rule::new(Effect::Error(ConsulError::NoClusterLeader));
    let _guard = server.fault(rule).expect("it can match");
    let request = held(&server, "GET", "/v1/kv/k");
    server.advance(Duration::from_millis(6999));
    assert!(!request.is_finished());
    server.advance(Duration::from_millis(7000));
    assert_eq!(join(request).body, "No cluster leader");
}

#[test]
fn a_delay_before_the_write_and_one_after_it_differ_in_what_others_see() {
    for (effect, is_applied) in [
        (Effect::DelayBefore(SECOND), false),
        (Effect::DelayAfter(SECOND), true),
    ] {
        let server = frozen();
        let _guard = server
            .fault(Rule::new(effect).method("PUT"))
            .expect("it can match");
        let request = held(&server, "PUT", "/v1/kv/k");
        assert_eq!(server.kv().get("k").is_some(), is_applied);
        server.advance(SECOND);
        assert_eq!(join(request).body, "true");
        assert!(server.kv().get("k").is_some());
    }
}

#[test]
fn a_write_can_be_applied_and_its_answer_lost() {
    let server = frozen();
    let rule = Rule::new(Effect::AppliedThen(Cut::Close))
        .key_prefix("job")
        .times(1);
    let guard = server.fault(rule).expect("it can match");
    assert_eq!(raw(&server, "PUT", "/v1/kv/job").expect("no reset"), b"");
    assert!(server.kv().get("job").is_some());
    assert_eq!(guard.hits(), 1);
    assert_eq!(put(&server, "/v1/kv/job", "2").body, "true");
}

#[test]
fn an_empty_reply_applies_nothing() {
    let server = frozen();
    let _guard = server
        .fault(Rule::new(Effect::Cut(Cut::Close)))
        .expect("it can match");
    assert_eq!(raw(&server, "PUT", "/v1/kv/k").expect("no reset"), b"");
    assert!(server.kv().get("k").is_none());
}

#[test]
fn a_request_that_hangs_goes_on_for_ever() {
    let server = frozen();
    let _guard = server
        .fault(Rule::new(Effect::Hang).times(1))
        .expect("it can match");
    let request = held(&server, "PUT", "/v1/kv/k");
    server.advance(Duration::from_secs(3600));
    assert!(!request.is_finished() && server.kv().get("k").is_none());
    drop(server);
    request
        .join()
        .expect_err("the server is gone without an answer");
}

#[test]
fn the_index_of_a_read_can_be_another_one() {
    let server = frozen();
    server.kv().put("a", "1");
    let true_index = server.index().0;
    let report = |index, prefix: &str| {
        let rule = Rule::new(Effect::ReportIndex(index))
            .key_prefix(prefix)
            .times(1);
        server.fault(rule).expect("it can match").keep();
    };
    report(ReportedIndex::Exactly(0), "a");
    assert_eq!(ask(&server, "GET", "/v1/kv/b", "").index(), true_index);
    assert_eq!(get(&server, "/v1/kv/a").index(), 0);
    report(ReportedIndex::Back(3), "a");
    assert_eq!(get(&server, "/v1/kv/a").index(), true_index - 3);
    report(ReportedIndex::Back(1000), "a");
    assert_eq!(get(&server, "/v1/kv/a").index(), 1);
    assert_eq!(get(&server, "/v1/kv/a").index(), true_index);
}

#[test]
fn stale_reads_can_come_from_the_past() {
    let server = frozen();
    server.kv().put("k", "old");
    server.checkpoint("past");
    server.kv().put("k", "new");
    let effect = Effect::ReadFrom {
        checkpoint: "past".to_owned(),
        last_contact: Duration::from_millis(1500),
    };
    let _guard = server.fault(Rule::new(effect)).expect("it can match");
    let stale = get(&server, "/v1/kv/k?raw&stale");
    assert_eq!(stale.body, "old");
    assert_eq!(stale.header("X-Consul-LastContact"), Some("1500"));
    assert_eq!(stale.index() + 1, server.index().0);
    assert_eq!(get(&server, "/v1/kv/k?raw").body, "new");
    let register = r#"{"Node":"n","Address":"10.0.0.1","Service":{"Service":"late"}}"#;
    put(&server, "/v1/catalog/register", register);
    for (consistency, is_there) in [("cached", false), ("stale", false), ("consistent", true)] {
        let target = format!("/v1/health/service/late?{consistency}");
        let shown = get(&server, &target).body;
        assert_eq!(shown.contains("late"), is_there, "{consistency}: {shown}");
    }
}

/// What a rule reads stays as it was, whatever becomes of time and of the checkpoint.
#[test]
fn what_stale_reads_come_from_never_changes() {
    let server = frozen();
    let check = r#"{"Name":"c","TTL":"10s","DeregisterCriticalServiceAfter":"1m"}"#;
    put(&server, "/v1/agent/check/register", check);
    put(&server, "/v1/agent/check/pass/c", "");
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    let session = session.expect("a node");
    assert_eq!(server.kv().acquire("k", "old", &session), Ok(true));
    server.checkpoint("past");
    let effect = Effect::ReadFrom {
        checkpoint: "past".to_owned(),
        last_contact: SECOND,
    };
    let _guard = server.fault(Rule::new(effect)).expect("it can match");
    let seen = || {
        let reads = [
            "health/node/proconsul",
            "kv/k",
            "session/list",
            "agent/checks",
        ];
        reads.map(|read| get(&server, &format!("/v1/{read}?stale")).body)
    };
    let before = seen();
    server.advance(3600 * SECOND);
    assert_eq!(seen(), before, "as time passes");
    server.checkpoint("past");
    assert_eq!(seen(), before, "when the checkpoint is taken anew");
    server.delete_checkpoint("past").expect("it is there");
    assert_eq!(seen(), before, "when it is deleted");
    server.reset();
    assert_eq!(seen(), before, "after a reset");
}

#[test]
fn the_history_says_which_fault_hit_a_request() {
    let server = frozen();
    let _guard = server
        .fault(error(ConsulError::RpcEof))
        .expect("it can match");
    get(&server, "/v1/kv/k");
    let answers = server.history(&Filter::of(Kind::Answer));
    let Happened::Answer { status, fault, .. } = &answers[0].what else {
        panic!("not an answer: {}", answers[0])
    };
    assert_eq!(*status, Some(500));
    assert_eq!(fault.as_deref(), Some("rule 1: rpc-eof after 0ns"));
}

#[test]
fn a_refused_acquire_says_why_in_a_header() {
    let server = frozen();
    let sessions = server.sessions();
    let holder = sessions.create(Session::default()).expect("a node");
    let other = sessions.create(Session::default()).expect("a node");
    assert_eq!(server.kv().acquire("k", "", &holder), Ok(true));
    let acquire = || put(&server, &format!("/v1/kv/k?acquire={other}"), "");
    let refused = acquire();
    let because = format!("held by {holder}");
    assert_eq!(
        refused.header("X-Proconsul-Refused"),
        Some(because.as_str())
    );
    sessions.expire(&holder).expect("it is there");
    server.advance(SECOND);
    let refused = acquire();
    assert_eq!(
        refused.header("X-Proconsul-Refused"),
        Some("lock-delay, 14000 ms left")
    );
}

#[test]
fn a_connection_can_be_reset_before_or_after_the_write() {
    for (effect, is_applied) in [
        (Effect::Cut(Cut::Reset), false),
        (Effect::AppliedThen(Cut::Reset), true),
    ] {
        let server = frozen();
        let _guard = server.fault(Rule::new(effect)).expect("it can match");
        let reset = raw(&server, "PUT", "/v1/kv/k").expect_err("it is reset");
        assert_eq!(reset.kind(), std::io::ErrorKind::ConnectionReset);
        assert_eq!(server.kv().get("k").is_some(), is_applied);
    }
}

#[test]
fn a_body_can_be_cut_off() {
    let server = frozen();
    server.kv().put("k", "value");
    let rule = Rule::new(Effect::AppliedThen(Cut::After(3)));
    let _guard = server.fault(rule).expect("it can match");
    let answer = get(&server, "/v1/kv/k?raw");
    assert_eq!(
        (answer.header("Content-Length"), answer.body.as_str()),
        (Some("5"), "val")
    );
}

/// N11: nothing said that such a request waits for a clock that stands.
#[test]
fn a_request_that_is_held_is_shown_with_the_clock_that_it_waits_for() {
    let server = frozen();
    let rule = Rule::new(Effect::DelayBefore(20 * SECOND));
    let _guard = server.fault(rule).expect("it can match");
    let request = held(&server, "PUT", "/v1/kv/k");
    let text = server.history_text();
    let line = "request 1: held for 20s of the server's clock, which stands still until the test moves it \
                (fault: rule 1: held for 20s)";
    assert!(text.contains(line), "{text}");
    let all_held = server.held();
    let [one] = &all_held[..] else {
        panic!("{all_held:?}");
    };
    let until = Timestamp::ZERO.plus(20 * SECOND);
    assert_eq!((one.target.as_str(), one.until), ("/v1/kv/k", Some(until)));
    let blocked = get(&server, "/proconsul/v1/blocked").body;
    let shown = r#""held":[{"request":1,"client":"127.0.0.1","target":"/v1/kv/k","fault":"rule 1: held for 20s","since_ms":0,"#;
    assert!(
        blocked.contains(shown) && blocked.contains(r#""until_ms":20000"#),
        "{blocked}"
    );
    let unmet = server.wait_blocked(&BlockedOn::Anything, 1, Duration::ZERO);
    assert_eq!(
        unmet
            .expect_err("a request that is held is not blocked")
            .to_string(),
        "timed out after 0ns waiting for 1 requests blocked on anything; nobody was blocked; a fault holds request 1 on /v1/kv/k \
         until 20.000s (rule 1: held for 20s)"
    );
    server.advance(20 * SECOND);
    assert_eq!(join(request).status, 200);
    assert!(server.held().is_empty());

    server.set_rate(Rate::MAX);
    put(&server, "/v1/kv/k", "x");
    let text = server.history_text();
    assert!(
        text.contains("request 2: held for 20s (fault: rule 1: held for 20s)"),
        "{text}"
    );
}
