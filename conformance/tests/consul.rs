//! Every case on a real Consul, one trial each: `cargo test -p proconsul-conformance --test consul -- kv/cas`.
//!
//! Without a Consul (see `fetch-consul`) this says so and passes.
//!
//! One trial more, `suite/skips`, holds what the probes have found against what such an agent has: a probe that does
//! not see a feature would silently skip every case that needs it.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul_conformance::case::feature::Feature;
use proconsul_conformance::report::console;
use proconsul_conformance::report::left_out;
use proconsul_conformance::runner::skips::wrongly_skipped;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::{Case, Runner, State, Target, cases};

/// What the suite's own agent, in development mode and with ACLs off, has not. Everything else the probes must find.
const ABSENT: [Feature; 3] = [Feature::CompactJson, Feature::AclsOn, Feature::MovableClock];

/// Cases that wait for minutes, for an agent that compares itself with the catalog for example: the first to start, so that
/// nobody waits for them alone at the end.
const LONGEST: [&str; 5] = [
    "agent/service/critical-from-the-start",
    "catalog/deregister/own-health-comes-back",
    "catalog/deregister/own-node-comes-back",
    "catalog/register/own-node-is-the-agents",
    "invalidation/at-once/agent-service-critical-for-too-long",
];

/// Most cases wait most of the time. More threads end no sooner on two cores, and slow what cases measure.
const THREADS: usize = 14;

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
    let Some(binary) = left_out::consul() else {
        return ExitCode::SUCCESS;
    };
    let target = match consul::start(&binary, &Agent::default()) {
        Ok(target) => Arc::new(target),
        Err(error) => {
            writeln!(stdout(), "{error}").expect("standard output is open");
            return ExitCode::FAILURE;
        }
    };
    let facts = target.facts().clone();
    let reason = |case: &Case| {
        if case.is_of_another_version(facts.version) {
            return Some("of another version".to_owned());
        }
        let shared = !is_for_a_plain_agent(case);
        shared.then(|| case.skip_reason(&facts)).flatten()
    };
    let (inapplicable, mut run): (Vec<&Case>, Vec<&Case>) = cases::all()
        .into_iter()
        .partition(|case| reason(case).is_some());
    start_longest_first(&mut run);
    let name = format!("a real Consul {}", facts.version);
    left_out::cases(&name, inapplicable.into_iter().filter_map(reason));
    let trials = run.into_iter().map(|case| {
        let (target, binary): (Arc<Target>, _) = (Arc::clone(&target), binary.clone());
        let plain = is_for_a_plain_agent(case);
        Trial::test(case.id, move || {
            let result = if plain {
                let agent = Agent {
                    plain,
                    ..Agent::default()
                };
                let target = consul::start(&binary, &agent);
                let target = target.map_err(|error| Failed::from(error.to_string()))?;
                Runner::new(&target).run_one(case)
            } else {
                Runner::new(&target).run_one(case)
            };
            match result.state {
                State::Pass => Ok(()),
                State::Skip(reason) => Err(Failed::from(reason)),
                State::Fail(_) | State::Deviation { .. } | State::Error(_) => {
                    Err(Failed::from(console::details(&result)))
                }
            }
        })
    });
    let skips = Trial::test("suite/skips", move || {
        let complaints = wrongly_skipped(&facts, &cases::all(), &ABSENT);
        if complaints.is_empty() {
            return Ok(());
        }
        Err(Failed::from(complaints.join("\n")))
    });
    let conclusion = libtest_mimic::run(&arguments, trials.chain([skips]).collect());
    // The exit code is returned, not exited with, so that dropping the target stops the agent.
    conclusion.exit_code()
}

fn start_longest_first(cases: &mut [&Case]) {
    for id in LONGEST {
        let is_a_case = cases::all().iter().any(|case| case.id == id);
        assert!(is_a_case, "{id} is no case any more");
    }
    cases.sort_by_key(|case| !LONGEST.contains(&case.id));
}

/// Whether a case is about agents that are not in development mode: it gets one of its own.
fn is_for_a_plain_agent(case: &Case) -> bool {
    case.needs.contains(&Feature::CompactJson)
}
