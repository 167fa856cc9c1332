//! An acquire that is in flight while the holder's session ends (session.md 3.3.r6).

use proconsul::Server;
use proconsul::control::Session;
use proconsul::faults::{Effect, Rule, RuleError};
use proconsul::history::Unsafe;
use proconsul_engine::BlockedOn;
use proconsul_store::timestamp::Timestamp;

use crate::support::{PATIENCE, SECOND, background, frozen, join, put};

/// A server on which the first of two sessions holds `lock` until it lapses after 20 s.
fn with_a_holder() -> (Server, String) {
    let server = frozen();
    let sessions = server.sessions();
    let first = sessions.create(Session::ttl(10 * SECOND)).expect("a node");
    let second = sessions.create(Session::default()).expect("a node");
    assert_eq!(server.kv().acquire("lock", "", &first), Ok(true));
    (server, second)
}

#[test]
fn it_takes_the_key_during_the_lock_delay() {
    let (server, second) = with_a_holder();
    let rule = Rule::new(Effect::AcquireInFlight)
        .key_prefix("lock")
        .times(1);
    let guard = server.fault(rule).expect("it can match");
    assert_eq!(put(&server, "/v1/kv/lock", "x").body, "true");
    assert_eq!(guard.hits(), 0, "only an acquire is hit");

    let target = format!("/v1/kv/lock?acquire={second}");
    let request = background(&server, "PUT", &target);
    let blocked = server.wait_blocked(&BlockedOn::prefix("lock"), 1, PATIENCE);
    blocked.expect("the holder's session has not ended");
    server.advance(20 * SECOND);
    assert_eq!(join(request).body, "true");
    let explained = server.explain("lock");
    assert_eq!(explained.holder, Some(second.clone()));
    assert_eq!(explained.lock_delay_left, Some(15 * SECOND));
    let text = server.history_text();
    assert!(
        text.contains(
            "answered 200 (fault: rule 1: acquire in flight while the holder's session ends)"
        ),
        "{text}"
    );
    // The lock was not safe, and whoever asks is told so.
    let found = server.check_lock_safety("lock", &[]);
    let slipped = Unsafe::AcquiredInLockDelay {
        session: second.clone(),
        at: Timestamp::ZERO.plus(20 * SECOND),
    };
    assert_eq!(found, Err(vec![slipped]));

    // The lock-delay goes on for all others.
    let release = format!("/v1/kv/lock?release={second}");
    assert_eq!(put(&server, &release, "").body, "true");
    let answer = put(&server, &target, "");
    let refused = Some("lock-delay, 15000 ms left");
    assert_eq!(
        (answer.body.as_str(), answer.header("X-Proconsul-Refused")),
        ("false", refused)
    );
}

#[test]
fn one_that_comes_into_the_lock_delay_or_finds_no_other_holder_is_handled_as_always() {
    let (server, second) = with_a_holder();
    let _guard = server
        .fault(Rule::new(Effect::AcquireInFlight))
        .expect("it can match");
    let acquire = |key: &str| put(&server, &format!("/v1/kv/{key}?acquire={second}"), "").body;
    assert_eq!(acquire("free"), "true");
    assert_eq!(acquire("free"), "true", "it holds the key itself");
    server.advance(20 * SECOND);
    assert_eq!(acquire("lock"), "false", "the lock-delay has begun");
    server.advance(15 * SECOND);
    assert_eq!(acquire("lock"), "true");
    assert_eq!(server.check_lock_safety("lock", &[]), Ok(()));
}

#[test]
fn the_holders_release_ends_its_wait() {
    let (server, second) = with_a_holder();
    let _guard = server
        .fault(Rule::new(Effect::AcquireInFlight))
        .expect("it can match");
    let request = background(&server, "PUT", &format!("/v1/kv/lock?acquire={second}"));
    let blocked = server.wait_blocked(&BlockedOn::prefix("lock"), 1, PATIENCE);
    blocked.expect("the holder's session has not ended");
    let first = server.explain("lock").holder.expect("it has a holder");
    // Does not end it: the key keeps its holder.
    server.kv().acquire("lock", "x", &first).expect("a session");
    assert_eq!(
        put(&server, &format!("/v1/kv/lock?release={first}"), "").body,
        "true"
    );
    assert_eq!(join(request).body, "true");
    assert_eq!(server.check_lock_safety("lock", &[]), Ok(()));
}

#[test]
fn a_rule_for_requests_that_acquire_nothing_is_refused() {
    let rule = Rule::new(Effect::AcquireInFlight).method("GET");
    let refused = frozen().fault(rule).expect_err("it can never match");
    assert_eq!(refused, RuleError::AcquiresOnly("GET".to_owned()));
}
