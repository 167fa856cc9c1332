//! Many who write while a test does to the server all that it can: no write that was answered `true` is lost.
//!
//! Eight threads write (six in the process, two over HTTP), two more take the control operations in random order, and
//! six clients wait for changes over HTTP. Afterwards the history, replayed, has to come to what the server holds:
//!
//! * every write that was answered `true` is in the history, and what the history says is there is there, unless a
//!   control operation whose purpose it is to remove it came after;
//! * indexes and times go back only where an operation says so;
//! * waiters see the end state.
//!
//! `cargo test` runs it for some seconds. For as long as asked, and with another seed:
//!
//! ```text
//! PROCONSUL_WRITERS_SECONDS=600 cargo test -p proconsul --test control writers -- --nocapture
//! PROCONSUL_WRITERS_SEED=7 cargo test -p proconsul --test control writers
//! ```
//!
//! The seed decides what is done, not how the threads interleave: repeat a failing seed some times.

mod controllers;
mod model;
mod waiters;
mod work;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use fastrand::Rng;
use proconsul::Server;
use proconsul::Version;
use proconsul::history::Filter;
use proconsul_os::time::{elapsed, machine_seed};

use self::model::{Model, replay};
use self::work::{Writer, Written};
use crate::support::{Answer, PATIENCE, parse};

const WRITERS: usize = 8;
/// How many of them write over HTTP.
const OVER_HTTP: usize = 2;
/// How many calls each of them makes in a round.
const CALLS: usize = 120;
/// How many keys there are from the start, which nobody writes: they make all that goes through the keys take longer.
const BALLAST: usize = 2_000;

/// One server, and what its threads share.
struct Scene {
    server: Server,
    version: Version,
    writers_left: AtomicUsize,
    /// What each load went over to, in order.
    loads: Mutex<Vec<Model>>,
    lowerings: Lowerings,
    failed: AtomicBool,
}

/// How many operations that may lower indexes were begun, and how many of them are over.
#[derive(Default)]
struct Lowerings {
    begun: AtomicU64,
    over: AtomicU64,
}

impl Lowerings {
    fn during<T>(&self, operation: impl FnOnce() -> T) -> T {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let done = operation();
        self.over.fetch_add(1, Ordering::SeqCst);
        done
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the output of a test is shown when it fails"
)]
#[test]
fn no_write_that_was_acknowledged_is_lost() {
    let seconds = number_of("PROCONSUL_WRITERS_SECONDS").unwrap_or(4);
    let seed = number_of("PROCONSUL_WRITERS_SEED").unwrap_or_else(machine_seed);
    let end = elapsed() + Duration::from_secs(seconds);
    let mut calls = 0;
    let mut rounds = 0;
    // Both kinds of release, however slow the machine is.
    while rounds < 2 || elapsed() < end {
        let version = [Version::V1_22_0, Version::V1_8_7][usize::from(rounds % 2 == 1)];
        let seed = seed.wrapping_add(rounds);
        println!("PROCONSUL_WRITERS_SEED={seed} repeats this round, on {version}");
        calls += round(version, seed);
        rounds += 1;
    }
    println!("{rounds} rounds, {calls} writes acknowledged, none lost");
}

fn number_of(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    let number = value.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable}={value} is not a number")))
}

/// Lets everybody loose on a server of its own. How many writes were acknowledged.
fn round(version: Version, seed: u64) -> usize {
    let server = Server::builder().version(version).seed(seed).start();
    let scene = Scene {
        server: server.expect("a free port"),
        version,
        writers_left: AtomicUsize::new(WRITERS),
        loads: Mutex::default(),
        lowerings: Lowerings::default(),
        failed: AtomicBool::new(false),
    };
    let first = Model::of(&scene.server);
    let mark = scene.server.last_record();
    for number in 0..BALLAST {
        scene.server.kv().put(format!("ballast/{number}"), "x");
    }
    let written = std::thread::scope(|scope| everybody(scope, &scene, seed));
    let server = &scene.server;
    server.wait_idle(PATIENCE).expect("all calls end");
    server.freeze();
    let records = server.history(&Filter::all().after(mark));
    assert_eq!(server.lost_records(), 0, "the history is complete");
    let came_to = replay(
        &records,
        first,
        &scene.loads.lock().expect("no thread panicked"),
        &written,
    );
    came_to.assert_is(&Model::of(server));
    written.values().map(|written| written.sure).sum()
}

/// Runs all threads to their end. What was written to which key.
fn everybody<'scope>(
    scope: &'scope Scope<'scope, '_>,
    scene: &'scope Scene,
    seed: u64,
) -> BTreeMap<String, Written> {
    let _failing = EndsWaits(scene);
    let waiters = waiters::start(scope, scene);
    let writers: Vec<ScopedJoinHandle<'_, _>> = (0..WRITERS)
        .map(|number| {
            let random = Rng::with_seed(seed ^ ((number as u64 + 1) << 32));
            scope.spawn(move || {
                let _left = Left(&scene.writers_left);
                Writer::new(scene, number, random).write(CALLS)
            })
        })
        .collect();
    let controllers = [0, 1].map(|number| {
        let random = Rng::with_seed(seed ^ ((number + 100) << 32));
        scope.spawn(move || controllers::control(scene, number == 0, random))
    });
    let written = writers
        .into_iter()
        .flat_map(|writer| writer.join().expect("the writer does not panic"))
        .collect();
    for controller in controllers {
        controller.join().expect("the controller does not panic");
    }
    waiters.see_the_end(scene);
    written
}

/// Ends all waits when the test fails: threads that wait would keep it from reporting.
struct EndsWaits<'a>(&'a Scene);

impl Drop for EndsWaits<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::SeqCst);
            // The test has failed already.
            let _ = self.0.server.refuse_connections();
        }
    }
}

/// An answer, if all of it came: a server that restarts cuts it off anywhere.
fn whole(bytes: &[u8]) -> Option<Answer> {
    let head_ends = bytes.windows(4).any(|four| four == b"\r\n\r\n");
    let answer = head_ends.then(|| parse(bytes))?;
    let is_whole = match answer.header("Content-Length") {
        Some(length) => length == answer.body.len().to_string(),
        None => answer.body.ends_with("0\r\n\r\n"),
    };
    is_whole.then_some(answer)
}

/// Says at its end, however that comes, that a writer has gone.
struct Left<'a>(&'a AtomicUsize);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
