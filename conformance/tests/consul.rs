//! Every case on a real Consul, one trial each: `cargo test -p proconsul-conformance --test consul -- kv/cas`.
//!
//! Without a Consul (see `fetch-consul`) this says so and passes.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul_conformance::consul::{self, Agent};
use proconsul_conformance::report::console;
use proconsul_conformance::{Runner, State, Target, cases};

/// Most cases wait most of the time.
const THREADS: usize = 48;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    if arguments.list {
        let trials = cases::all()
            .iter()
            .map(|case| Trial::test(case.id, || Ok(())))
            .collect();
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    let Some(binary) = consul::find() else {
        writeln!(
            stdout(),
            "skipped: no consul (run conformance/fetch-consul or set CONSUL_BIN)"
        )
        .expect("standard output is open");
        return ExitCode::SUCCESS;
    };
    let target = match consul::start(&binary, &Agent::default()) {
        Ok(target) => Arc::new(target),
        Err(error) => {
            writeln!(stdout(), "{error}").expect("standard output is open");
            return ExitCode::FAILURE;
        }
    };
    let trials = cases::all().into_iter().map(|case| {
        let target: Arc<Target> = Arc::clone(&target);
        let skipped = case.skip_reason(target.facts()).is_some();
        Trial::test(case.id, move || {
            let result = Runner::new(&target).run_one(case);
            match result.state {
                State::Pass | State::Skip(_) => Ok(()),
                State::Fail(_) | State::Deviation { .. } | State::Error(_) => {
                    Err(Failed::from(console::details(&result)))
                }
            }
        })
        .with_ignored_flag(skipped)
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    // The exit code is returned, not exited with, so that dropping the target stops the agent.
    conclusion.exit_code()
}
