//! Locks and elections while things go wrong: three contenders, one fault per run, time driven by the test.
//!
//! A run is a seed: the kind of fault, its moments and the contenders' pauses follow from it. `PROCONSUL_SAFETY_RUNS`
//! says how many there are (default 34, each fault with each recipe once); 1,000 of them take minutes:
//! `PROCONSUL_SAFETY_RUNS=1000 cargo test -p proconsul-client --test safety`. `PROCONSUL_SAFETY_SEED=n` repeats one.

mod contender;
mod fault;
mod time;
mod world;

use contender::Care;
use fault::Fault;
use world::{Recipe, World};

/// A number from the environment.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("the variable is a number"))
}

fn world(seed: u64, care: Care) -> World {
    let faults = Fault::ALL.len() as u64;
    let at = usize::try_from(seed % faults).expect("there are few faults");
    let recipe = if (seed / faults).is_multiple_of(2) {
        Recipe::Lock
    } else {
        Recipe::Election
    };
    World::new(seed, Fault::ALL[at], recipe, care)
}

#[test]
fn locks_and_elections_are_safe_under_every_fault_and_go_on_after_it() {
    let seeds = match variable("PROCONSUL_SAFETY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..variable("PROCONSUL_SAFETY_RUNS").unwrap_or(2 * Fault::ALL.len() as u64),
    };
    for seed in seeds {
        let outcome = world(seed, Care::Full).run();
        if let Err(wrong) = outcome.safety().and_then(|()| outcome.progress()) {
            panic!("PROCONSUL_SAFETY_SEED={seed}: {wrong}");
        }
    }
}

/// The checker bites: what a contender does that works on under a lost lock is found.
#[test]
fn a_contender_that_does_not_look_whether_its_lock_is_lost_is_found() {
    for fault in [Fault::SessionExpires, Fault::ConnectionsRefused] {
        let found = (0..10).any(|seed| {
            let world = World::new(seed, fault, Recipe::Lock, Care::NeverLooks);
            world.run().safety().is_err()
        });
        assert!(found, "{fault:?}: nobody was found to work on");
    }
}
