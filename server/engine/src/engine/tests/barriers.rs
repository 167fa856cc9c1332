//! Barriers and advances: nothing that they wait for is missed, in any order of steps, and each record is looked at once.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use shuttle::future::block_on;
use tokio::runtime::Builder;

use super::super::observe::barrier::{self, Unseen};
use super::super::{Advance, BlockedOn, OpenCall, WhyUnmet};
use super::interleaved::{end, in_every_order_of, in_many_orders_of, start};
use super::{Engine, answer, get, observed, put, wait_past};
use crate::history::{Filter, Happened, History, Kind};
use crate::sync::either;
use proconsul_store::Index;
use proconsul_store::timestamp::Timestamp;
use proconsul_testing::within;

/// A wait for something that comes is over long before. A wake-up that was lost is found as a deadlock.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A request that reads a key and is blocked past index 2, for a minute of the engine's clock.
fn request(engine: &Arc<Engine>) {
    let open = engine
        .begin_call(None, "GET", "/v1/kv/a?index=2")
        .expect("the engine is observed");
    let read = get("a");
    let mut reading = pin!(answer(engine, &read, wait_past(2)));
    let answered = block_on(poll_fn(|task| {
        Engine::of_call(Some(open.id()), || reading.as_mut().poll(task))
    }));
    answered.expect("a key can be read");
}

#[test]
fn a_record_is_waited_for_while_others_are_written() {
    in_every_order_of(observed, |engine| {
        let writers = ["other", "wanted"];
        let writers = writers.map(|key| start(engine, move |engine| put(engine, key, "1")));
        let wanted = Filter::of(Kind::KeyWritten).key("wanted");
        let record = block_on(engine.wait_until(barrier::recorded(&wanted), PATIENCE));
        record.expect("it is written");
        end(writers);
    });
}

#[test]
fn a_request_is_seen_blocked_and_then_idle() {
    in_many_orders_of(observed, |engine| {
        put(engine, "a", "1");
        let reader = start(engine, request);
        let on_key = BlockedOn::prefix("a");
        let blocked = block_on(engine.wait_until(barrier::blocked(&on_key, 1), PATIENCE));
        assert_eq!(blocked.expect("it blocks").len(), 1);
        put(engine, "a", "2");
        let idle = block_on(engine.wait_until(barrier::idle(), PATIENCE));
        idle.expect("it is answered");
        assert_eq!(engine.open_requests(), 0);
        end([reader]);
    });
}

/// Otherwise the clock goes on, or the next request is sent, before it has seen the change.
#[test]
fn a_request_with_a_change_to_look_at_does_not_rest() {
    in_many_orders_of(observed, |engine| {
        let changed = engine.cluster_changed();
        let held = start(engine, |engine| {
            let open = engine.begin_call(None, "GET", "/v1/kv/a");
            let (changed, id) = (engine.cluster_changed(), open.as_ref().map(OpenCall::id));
            let changes = changed.next();
            block_on(Engine::in_call(id, async {
                engine.looks_at(&changes);
                either(engine.hold_until(None), changes).await;
            }));
        });
        let hold = Filter::of(Kind::Held);
        let is_held = block_on(engine.wait_until(barrier::recorded(&hold), PATIENCE));
        is_held.expect("it is held");
        changed.notify();
        block_on(engine.wait_until(barrier::idle(), PATIENCE)).expect("it is answered");
        assert_eq!(engine.open_requests(), 0);
        end([held]);
    });
}

/// A stream may run for ever.
#[test]
fn a_request_that_runs_is_not_waited_for_after_a_change() {
    let engine = Arc::new(observed());
    let open = engine.begin_call(None, "GET", "/v1/agent/monitor");
    let (changed, id) = (engine.cluster_changed(), open.as_ref().map(OpenCall::id));
    Engine::of_call(id, || engine.looks_at(&changed.next()));
    changed.notify();
    assert!(!engine.lock().calls.any_woken());
}

#[test]
fn an_advance_returns_when_those_whom_it_wakes_are_answered() {
    in_many_orders_of(observed, |engine| {
        put(engine, "a", "1");
        let reader = start(engine, request);
        let on_key = BlockedOn::Anything;
        let blocked = block_on(engine.wait_until(barrier::blocked(&on_key, 1), PATIENCE));
        blocked.expect("it blocks");
        let caused = block_on(engine.advance(Advance::By(Duration::from_secs(70))));
        let last = caused.last().map(|record| record.what.kind());
        assert_eq!(last, Some(Kind::Answer));
        end([reader]);
    });
}

#[test]
fn a_barrier_ends_when_the_server_stops() {
    in_every_order_of(observed, |engine| {
        let others = [
            start(engine, |engine| put(engine, "a", "1")),
            start(engine, |engine| engine.close()),
        ];
        let unmet =
            block_on(engine.wait_until(barrier::blocked(&BlockedOn::Anything, 1), PATIENCE));
        let unmet = unmet.expect_err("nobody blocks");
        assert_eq!(unmet.why, WhyUnmet::ServerStopped);
        end(others);
    });
}

/// Pairs of threads that go on only when the other has written: one wake-up lost, and both stand.
#[test]
fn no_wake_up_is_lost_between_threads_that_wait_for_each_other() {
    let engine = observed();
    let pair = |engine: &Engine, pair: usize, own: &str, others: &str| {
        let theirs = Filter::of(Kind::KeyWritten).key(format!("{pair}/{others}"));
        let mut seen = 0;
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        for round in 0..200 {
            // A value that is there already would be no write.
            let write = || put(engine, &format!("{pair}/{own}"), &round.to_string());
            if own == "ping" {
                write();
            }
            let filter = theirs.clone().after(seen);
            let wait = engine.wait_until(barrier::recorded(&filter), PATIENCE);
            let record = runtime.block_on(within(Duration::from_secs(60), wait));
            let record = record.expect("a wake-up was lost");
            seen = record.expect("the other one writes").number;
            if own == "pong" {
                write();
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 0..4 {
            let engine = &engine;
            scope.spawn(move || pair(engine, number, "ping", "pong"));
            scope.spawn(move || pair(engine, number, "pong", "ping"));
        }
    });
}

#[test]
fn a_wait_looks_at_each_record_once() {
    let mut history = History::keeping(3);
    let note = |history: &mut History| {
        let action = "something".to_owned();
        history.push(
            Timestamp::ZERO,
            Index(1),
            None,
            Happened::Control { action },
        );
    };
    let mut unseen = Unseen::after(1);
    let mut numbers = |history: &History| {
        let records = unseen.of(history);
        records.map(|record| record.number).collect::<Vec<_>>()
    };
    assert!(numbers(&history).is_empty());
    note(&mut history);
    note(&mut history);
    assert_eq!(numbers(&history), [2], "the first is left out");
    assert!(numbers(&history).is_empty());
    note(&mut history);
    note(&mut history);
    assert_eq!(numbers(&history), [3, 4]);
    history.clear();
    note(&mut history);
    assert_eq!(numbers(&history), [5]);
}
