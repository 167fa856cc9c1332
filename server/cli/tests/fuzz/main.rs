//! Requests that nobody chose, to every route and to every call of the control plane: deep, long, broken and sound, odd
//! methods, queries and headers, several on a connection, and connections that are cut. The server is a debug build in a
//! process of its own, with half a megabyte of stack for each thread. It must not end, panic, fall silent or grow, and others
//! are answered meanwhile.
//!
//! `cargo test` sends some thousand, always the same. For more of them, and others each time:
//!
//! ```text
//! PROCONSUL_FUZZ_REQUESTS=1000000 cargo test -p proconsul-cli --test fuzz -- --nocapture
//! ```
//!
//! `PROCONSUL_FUZZ_SEED` has a run repeated. What fails is made smaller before it is shown.

#![expect(
    clippy::print_stdout,
    reason = "who waits for a long run is told how it goes, and with which seed"
)]

mod bodies;
mod bystander;
mod child;
mod control;
mod depth;
mod requests;
mod run;
mod texts;
mod wire;

use std::cell::RefCell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestRunner};

use bystander::LONGEST;
use run::Run;

/// How many requests `cargo test` sends.
const FEW: u64 = 3_000;
/// How many are sent between two looks at the memory, on average.
const BATCH: u64 = 100;
/// After how many batches something is said about a long run.
const NEWS: usize = 500;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}")))
}

#[test]
fn no_request_brings_the_server_down() {
    let wanted = number("PROCONSUL_FUZZ_REQUESTS");
    let fresh = || wanted.map_or(0, |_| fastrand::u64(..));
    let seed = number("PROCONSUL_FUZZ_SEED").unwrap_or_else(fresh);
    let wanted = wanted.unwrap_or(FEW);
    println!("{wanted} requests with PROCONSUL_FUZZ_SEED={seed}");
    let config = Config {
        cases: u32::try_from(wanted / BATCH).unwrap_or(u32::MAX).max(1),
        rng_seed: RngSeed::Fixed(seed),
        rng_algorithm: RngAlgorithm::ChaCha,
        failure_persistence: None,
        max_shrink_iters: 200,
        // In milliseconds. A server that hangs is waited for each time.
        max_shrink_time: 180_000,
        ..Config::default()
    };
    // Half of the batches leave the server's clock, leader and answers alone, so that all that waits is a fault.
    let share = prop_oneof![Just(0_u8), 1_u8..60].no_shrink();
    let seeds = vec(any::<u64>().no_shrink(), 1..2 * BATCH as usize);
    let run = RefCell::new(Run::start());
    let result = TestRunner::new(config).run(&(share, seeds), |(share, seeds)| {
        let mut run = run.borrow_mut();
        let outcome = run.batch(share, &seeds);
        if run.memory.len() % NEWS == NEWS - 1 {
            println!("{} requests sent, {:?} KiB", run.sent, run.memory.last());
        }
        outcome.map_err(|complaint| {
            run.restart();
            TestCaseError::fail(complaint)
        })
    });
    let mut run = run.into_inner();
    println!("{} requests, by status: {:?}", run.sent, run.statuses);
    if let Err(error) = result {
        panic!("PROCONSUL_FUZZ_SEED={seed}: {error}");
    }
    let wait = run.longest_wait();
    println!("the longest wait of a bystander: {} ms", wait.as_millis());
    assert!(wait < LONGEST, "a request holds others up for {wait:?}");
    let figures = growth(&run.memory);
    println!("memory in KiB: {figures:?}");
    assert!(!figures.is_growing(), "the memory grows: {figures:?}");
    assert_eq!(run.never_drawn(), [""; 0]);
    assert!(run.statuses[&200] > run.sent / 10, "many are sound");
}

/// Nothing that is due at the end of time or later happens, and nobody waits for it.
#[test]
fn no_request_brings_a_server_down_whose_time_is_over() {
    let mut rng = fastrand::Rng::with_seed(0);
    let mut run = Run::start();
    run.end_time().expect("time can end");
    for _ in 0..20 {
        let seeds: Vec<u64> = (0..50).map(|_| rng.u64(..)).collect();
        let outcome = run.batch(20, &seeds);
        assert_eq!(outcome, Ok(()));
    }
}

/// The usual memory in the third and in the fourth quarter of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Growth {
    third: u64,
    fourth: u64,
}

impl Growth {
    /// Whether there was more of it at the end than chance explains: what an allocator keeps comes and goes.
    fn is_growing(self) -> bool {
        self.fourth > self.third + self.third / 10 + 8 * 1024
    }
}

fn growth(samples: &[u64]) -> Growth {
    let quarter = samples.len() / 4;
    let median = |part: &[u64]| {
        let mut sorted = part.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    Growth {
        third: median(&samples[2 * quarter..3 * quarter]),
        fourth: median(&samples[3 * quarter..]),
    }
}

#[test]
fn memory_that_grows_is_noticed() {
    let steady: Vec<u64> = (0..400)
        .map(|sample| 50_000 + 9_000 * (sample % 3))
        .collect();
    assert!(!growth(&steady).is_growing());
    let warming: Vec<u64> = (0..400)
        .map(|sample| 100_000.min(20_000 + sample * 800))
        .collect();
    assert!(!growth(&warming).is_growing());
    let leaking: Vec<u64> = (0..400).map(|sample| 50_000 + 300 * sample).collect();
    assert!(growth(&leaking).is_growing());
}
