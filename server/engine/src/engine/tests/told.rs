//! What observers see, and what waiters get while the state is replaced.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use shuttle::future::block_on;

use super::super::barrier;
use super::interleaved::{end, in_every_order_of, start};
use super::{
    Clock, Engine, Index, Key, KvList, Version, create_session, engine, get, observed, put,
};
use crate::engine::WakeReason;
use crate::history::{Filter, Happened, Kind};
use proconsul_store::Answer;
use proconsul_store::timestamp::Timestamp;

const MINUTE: Duration = Duration::from_secs(60);

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Nobody but a reader of the state finds that a session has lapsed: who waits for it is told all the same.
#[test]
fn what_a_look_at_the_state_makes_happen_is_told_to_who_waits_for_it() {
    in_every_order_of(observed, |engine| {
        create_session(engine, MINUTE);
        let lookers = [(); 2].map(|()| {
            start(engine, |engine| {
                let lapsed = Timestamp::ZERO.plus(10 * MINUTE);
                engine.clock().advance_to(lapsed);
                let _ = engine.snapshot();
            })
        });
        let lapse = Filter::of(Kind::SessionEnded);
        let lapse = block_on(engine.wait_until(barrier::recorded(&lapse), MINUTE));
        lapse.expect("it lapses");
        end(lookers);
    });
}

/// A request that was told before it waits does not show up as blocked.
#[test]
fn who_is_told_before_it_waits_does_not_wait() {
    let engine = Arc::new(observed());
    let call = engine
        .begin_call(None, "GET", "/v1/kv/a")
        .expect("observed");
    let (read, until) = (get("a"), Timestamp::ZERO.plus(MINUTE));
    let (since, Ok(Answer { reads, .. })) = engine.read_in_era(&read);
    let mut waiter = Engine::of_call(Some(call.id()), || {
        engine.waiter(false, &read, Index(1), until, since)
    });
    assert!(!waiter.waits_for(&reads), "it has to look again");
    put(&engine, "a", "1");
    assert!(waiter.waits_for(&reads));
    let mut wait = pin!(waiter.wait());
    assert_eq!(poll(&mut wait), Poll::Ready(WakeReason::LookAgain));
    assert!(engine.history(&Filter::of(Kind::Blocked)).is_empty());
    assert!(engine.blocked().is_empty());
}

/// A request that has looked and does not wait yet when the state is replaced is answered as those are that wait.
#[test]
fn who_looked_before_the_state_was_replaced_is_answered() {
    let engine = engine(Version::V1_22_0, Clock::frozen());
    let read = KvList(Key::new("a"));
    put(&engine, "a", "1");
    engine.checkpoint("old");
    put(&engine, "a", "2");
    let (since, Ok(Answer { index, .. })) = engine.read_in_era(&read);
    assert!(engine.rollback("old"));
    let until = Timestamp::ZERO.plus(MINUTE);
    let mut waiter = engine.waiter(false, &read, index, until, since);
    let Ok(Answer { reads, .. }) = engine.read(&read);
    assert!(!waiter.waits_for(&reads), "it has to look again");
    assert!(waiter.waits_for(&reads));
    let mut wait = pin!(waiter.wait());
    assert_eq!(poll(&mut wait), Poll::Ready(WakeReason::AnswerNow));
}

/// The clock is past the end of a wait, and nobody has noticed yet: what is recorded then is not older than what was
/// recorded before.
#[test]
fn nothing_is_recorded_in_the_past() {
    let engine = Arc::new(observed());
    let call = engine.begin_call(None, "GET", "/v1/kv/a?index=9");
    let call = call.expect("the engine is observed");
    let (read, until) = (get("a"), Timestamp::from_nanos(100));
    let (since, Ok(Answer { reads, .. })) = engine.read_in_era(&read);
    let mut waiter = Engine::of_call(Some(call.id()), || {
        engine.waiter(false, &read, Index(9), until, since)
    });
    assert!(!waiter.waits_for(&reads) && waiter.waits_for(&reads));
    let mut wait = pin!(waiter.wait());
    assert!(poll(&mut wait).is_pending());
    engine.clock().advance_to(Timestamp::from_nanos(150));
    put(&engine, "b", "1");
    engine.auto_advance(Some(1));
    assert!(
        engine.auto_advance_if_all_blocked(),
        "the wait is the next deadline"
    );
    let records = engine.history(&Filter::all());
    let times: Vec<u64> = records.iter().map(|record| record.at.as_nanos()).collect();
    assert!(times.is_sorted(), "{records:#?}");
    assert_eq!(times.last(), Some(&150));
}

#[test]
fn what_a_request_records_follows_from_it() {
    let engine = Arc::new(observed());
    let call = engine.begin_call(None, "PUT", "/v1/session/create");
    let call = call.expect("the engine is observed");
    let renewed = || Happened::SessionRenewed {
        session: "s".to_owned(),
    };
    Engine::of_call(Some(call.id()), || engine.record(renewed()));
    engine.record(renewed());
    let request = engine.history(&Filter::of(Kind::Request))[0].number;
    let records = engine.history(&Filter::of(Kind::SessionRenewed));
    let causes: Vec<_> = records.iter().map(|record| record.cause).collect();
    assert_eq!(causes, [Some(request), None]);
}
