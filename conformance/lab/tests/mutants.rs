//! Every mutant of the emulator is found out by a case: one trial each.
//! `cargo test -p proconsul-lab --test mutants -- wake/` runs the matching ones.

#[path = "../../tests/in_process/mod.rs"]
mod in_process;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul::Version;
use proconsul_conformance::Target;
use proconsul_lab::mutate::{self, Fate};

/// Mutants at once. Most of their cases wait most of the time.
const THREADS: usize = 24;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let target = Target::fresh("proconsul", || {
        in_process::open(in_process::config("", Version::V1_8_7, true)?)
    });
    let target = Arc::new(target.expect("the emulator starts"));
    let trials = mutate::all().into_iter().map(|mutant| {
        let target = Arc::clone(&target);
        Trial::test(mutant.name, move || {
            let verdict = mutate::hunt(&target, mutant).map_err(|error| Failed::from(error.0))?;
            match verdict.fate {
                Fate::Killed { .. } => Ok(()),
                Fate::Survived => Err(Failed::from(format!("no case finds out: {}", mutant.what))),
            }
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
