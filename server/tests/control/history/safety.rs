//! Whether a lock was safe.

use std::time::Duration;

use proconsul::control::Session;
use proconsul::history::{Interval, Unsafe};
use proconsul_store::timestamp::Timestamp;

use crate::support::{SECOND, frozen};

fn at(seconds: u64) -> Timestamp {
    Timestamp::ZERO.plus(Duration::from_secs(seconds))
}

fn belief(session: &str, from: u64, to: u64) -> Interval {
    Interval {
        session: session.to_owned(),
        from: at(from),
        to: at(to),
    }
}

#[test]
fn a_leader_that_works_on_after_its_session_lapsed_is_found() {
    let server = frozen();
    let sessions = server.sessions();
    let first = sessions.create(Session::ttl(10 * SECOND)).expect("a node");
    let second = sessions.create(Session::default()).expect("a node");
    assert_eq!(server.kv().acquire("l", "", &first), Ok(true));
    server.advance(40 * SECOND);
    assert_eq!(server.kv().acquire("l", "", &second), Ok(true));
    server.advance(10 * SECOND);
    server.assert_lock_safety("l", &[belief(&first, 0, 20), belief(&second, 40, 50)]);

    let paused = belief(&first, 0, 45);
    let late = belief(&second, 40, 50);
    let found = server.check_lock_safety("l", &[late.clone(), paused.clone()]);
    assert_eq!(
        found.expect_err("two believed to hold it"),
        [
            Unsafe::TwoBelievers {
                first: paused.clone(),
                second: late
            },
            Unsafe::BelievedWithoutHolding {
                belief: paused,
                wrong_from: at(20)
            },
        ]
    );
}

#[test]
fn a_belief_before_the_acquire_is_found() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    server.advance(5 * SECOND);
    assert_eq!(server.kv().acquire("l", "", &session), Ok(true));
    let early = belief(&session, 4, 6);
    let found = server.check_lock_safety("l", std::slice::from_ref(&early));
    let wrong_from = at(4);
    assert_eq!(
        found.expect_err("it did not hold it yet"),
        [Unsafe::BelievedWithoutHolding {
            belief: early,
            wrong_from
        }]
    );
}

#[test]
fn a_lock_that_is_let_go_and_acquired_again_at_one_moment_is_held() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    assert_eq!(server.kv().acquire("l", "", &session), Ok(true));
    server.advance(5 * SECOND);
    assert_eq!(server.kv().release("l", "", &session), Ok(true));
    assert_eq!(server.kv().acquire("l", "", &session), Ok(true));
    server.advance(5 * SECOND);
    server.assert_lock_safety("l", &[belief(&session, 5, 10)]);
}

#[test]
#[should_panic(
    expected = "two believed to hold it: a from 0.000s to 2.000s, and b from 1.000s to 3.000s"
)]
fn the_assertion_says_who_was_wrong() {
    let server = frozen();
    server.assert_lock_safety("l", &[belief("a", 0, 2), belief("b", 1, 3)]);
}
