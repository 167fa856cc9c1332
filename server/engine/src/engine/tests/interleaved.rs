//! Every order in which the steps of a wait and of the writes that should end it can fall.
//!
//! The engine's steps are atomic: each happens under its one lock, or is the telling of those who are woken. Between
//! any two of them the scheduler may go on with another thread, and it goes through all the choices that there are.
//! The clock stands still, so a wait that is never told is found as a deadlock.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use shuttle::scheduler::{DfsScheduler, RandomScheduler, Scheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, Runner, future};

use super::{
    Clock, Engine, Key, KvList, KvVerb, SessionList, Version, answer, create_session, engine, get,
    nobody_waits, put, value, wait_past, write,
};
use proconsul_store::{Answer, Entry, Index, Read, SessionDestroy};

thread_local! {
    /// Whether this thread runs under the scheduler.
    static SCHEDULED: Cell<bool> = const { Cell::new(false) };
}

/// Lets the scheduler go on with another thread, if there is one.
pub(crate) fn between_steps() {
    if SCHEDULED.get() {
        thread::yield_now();
    }
}

/// Runs `threads` on an engine of their own once for every order of their steps.
fn in_every_order(version: Version, threads: impl Fn(&Arc<Engine>) + Send + Sync + 'static) {
    let make = move || engine(version, Clock::frozen());
    in_every_order_of(make, threads);
}

pub(super) fn in_every_order_of(
    make: impl Fn() -> Engine + Send + Sync + 'static,
    threads: impl Fn(&Arc<Engine>) + Send + Sync + 'static,
) {
    let orders = in_orders(DfsScheduler::new(None, false), make, threads);
    assert!(orders > 100, "there are orders to try: {orders}");
}

/// The same for a fixed choice out of more orders than can be run.
fn in_many_orders(version: Version, threads: impl Fn(&Arc<Engine>) + Send + Sync + 'static) {
    let make = move || engine(version, Clock::frozen());
    in_many_orders_of(make, threads);
}

pub(super) fn in_many_orders_of(
    make: impl Fn() -> Engine + Send + Sync + 'static,
    threads: impl Fn(&Arc<Engine>) + Send + Sync + 'static,
) {
    in_orders(RandomScheduler::new_from_seed(1, 3000), make, threads);
}

fn in_orders(
    scheduler: impl Scheduler + 'static,
    make: impl Fn() -> Engine + Send + Sync + 'static,
    threads: impl Fn(&Arc<Engine>) + Send + Sync + 'static,
) -> usize {
    SCHEDULED.set(true);
    Runner::new(scheduler, Config::new()).run(move || {
        let engine = Arc::new(make());
        threads(&engine);
        assert!(
            nobody_waits(&engine),
            "all have been answered, or have gone"
        );
    })
}

/// Starts a thread that works on an engine.
pub(super) fn start(
    engine: &Arc<Engine>,
    work: impl FnOnce(&Arc<Engine>) + Send + 'static,
) -> JoinHandle<()> {
    let engine = Arc::clone(engine);
    thread::spawn(move || work(&engine))
}

pub(super) fn end(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("the thread does not panic");
    }
}

/// Waits, again and again with the index of the last answer, until an answer is the one.
fn wait_until<R: Read<Refused = Infallible>>(
    engine: &Engine,
    read: &R,
    is_it: impl Fn(&Answer<R::Rows>) -> bool,
) {
    let mut known = Index(1);
    loop {
        let Ok(answer) = future::block_on(answer(engine, read, wait_past(known.0)));
        assert!(
            answer.index > known,
            "no wait is over before its index is passed"
        );
        if is_it(&answer) {
            return;
        }
        known = answer.index;
    }
}

#[test]
fn a_key_is_waited_for_while_its_neighbour_is_written() {
    in_every_order(Version::V1_22_0, |engine| {
        let wanted = start(engine, |engine| put(engine, "wanted", "1"));
        let neighbour = start(engine, |engine| put(engine, "want", "1"));
        wait_until(engine, &get("wanted"), |answer| {
            value(&answer.rows).is_some()
        });
        end([wanted, neighbour]);
    });
}

/// What is read while a key is missing depends on its neighbours in 1.8.7, so the waiter has to register anew.
#[test]
fn a_key_is_waited_for_though_what_it_hangs_on_changes() {
    in_every_order(Version::V1_8_7, |engine| {
        let writer = start(engine, |engine| {
            put(engine, "want", "1");
            put(engine, "wanted", "1");
        });
        wait_until(engine, &get("wanted"), |answer| {
            value(&answer.rows).is_some()
        });
        end([writer]);
    });
}

#[test]
fn a_key_is_waited_for_that_goes_and_comes_back() {
    in_every_order(Version::V1_22_0, |engine| {
        put(engine, "a", "1");
        let writer = start(engine, |engine| {
            write(engine, "a", KvVerb::Delete);
            put(engine, "a", "2");
        });
        wait_until(engine, &get("a"), |answer| {
            value(&answer.rows).is_some_and(|value| value == "2")
        });
        end([writer]);
    });
}

#[test]
fn a_prefix_is_waited_for_until_all_is_under_it() {
    in_every_order(Version::V1_22_0, |engine| {
        let writer = start(engine, |engine| {
            put(engine, "p/1", "1");
            put(engine, "p/2", "1");
        });
        let read = KvList(Key::new("p/"));
        wait_until(engine, &read, |answer| answer.rows.len() == 2);
        end([writer]);
    });
}

#[test]
fn the_end_of_sessions_answers_who_waits_for_the_list() {
    in_every_order(Version::V1_22_0, |engine| {
        let sessions = [(); 2].map(|()| create_session(engine, Duration::ZERO));
        let destroyer = start(engine, |engine| {
            for id in sessions {
                let destroyed = engine.apply(SessionDestroy(id));
                destroyed.expect("a session can be destroyed");
            }
        });
        wait_until(engine, &SessionList, |answer| answer.rows.is_empty());
        end([destroyer]);
    });
}

#[test]
fn one_write_answers_all_who_wait() {
    in_many_orders(Version::V1_22_0, |engine| {
        let is_there = |answer: &Answer<Option<Entry>>| value(&answer.rows).is_some();
        let wait = move |engine: &Arc<Engine>| wait_until(engine, &get("a"), is_there);
        let threads = [start(engine, wait), start(engine, wait)];
        let writer = start(engine, |engine| put(engine, "a", "1"));
        wait(engine);
        end(threads.into_iter().chain([writer]));
    });
}

/// Whatever a test does to the state as a whole: what is written meanwhile is not lost.
#[test]
fn a_write_falls_before_or_after_what_is_done_to_the_state_as_a_whole() {
    let operations: [fn(&Arc<Engine>); 4] = [
        |engine| engine.lower_indexes(1),
        |engine| engine.restart(None),
        |engine| assert!(!engine.set_check_status("n1", "missing", "critical")),
        |engine| {
            let known = engine.expire_session("00000000-0000-0000-0000-000000000000");
            known.expect_err("there is no such session");
        },
    ];
    for operation in operations {
        let orders = in_orders(
            DfsScheduler::new(None, false),
            || engine(Version::V1_22_0, Clock::frozen()),
            move |engine| {
                let writer = start(engine, |engine| put(engine, "a", "1"));
                let operator = start(engine, operation);
                end([writer, operator]);
                let row = engine.snapshot().row(&Key::new("a")).cloned();
                assert!(row.is_some(), "the write was acknowledged");
            },
        );
        assert!(orders > 2, "there are orders to try: {orders}");
    }
}

#[test]
fn who_goes_while_a_write_tells_them_is_forgotten() {
    in_every_order(Version::V1_22_0, |engine| {
        put(engine, "a", "1");
        let writer = start(engine, |engine| {
            put(engine, "a", "2");
            put(engine, "a", "3");
        });
        {
            let read = get("a");
            let mut waiting = pin!(answer(engine, &read, wait_past(2)));
            let mut context = Context::from_waker(Waker::noop());
            let _ = waiting.as_mut().poll(&mut context);
        }
        end([writer]);
    });
}
