//! Every case on the emulator, in this process: once for each profile, one trial each.
//! `cargo test -p proconsul-conformance --test emulator -- kv/cas` runs the matching ones.

mod in_process;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul::config::Config;
use proconsul::version::Version;
use proconsul_conformance::deviation::Deviations;
use proconsul_conformance::feature::Feature;
use proconsul_conformance::report::console;
use proconsul_conformance::skips::wrongly_skipped;
use proconsul_conformance::{Runner, State, Target, cases};

/// Cases at once. Many of them wait a moment for what must not come.
const THREADS: usize = 32;

/// A version and a mode that are held against every case.
#[derive(Clone, Copy)]
struct Profile {
    name: &'static str,
    version: Version,
    dev: bool,
    /// Whether tests may control the server: nothing that a client sees may differ.
    control: bool,
}

impl Profile {
    /// What such a server has not. Everything else the probes must find, lest cases be skipped that nobody misses.
    fn absent(self) -> [Feature; 2] {
        let layout = if self.dev {
            Feature::CompactJson
        } else {
            Feature::DevMode
        };
        [Feature::AclsOn, layout]
    }
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "1.22.0",
        version: Version::V1_22_0,
        dev: false,
        control: false,
    },
    Profile {
        name: "1.22.0-dev",
        version: Version::V1_22_0,
        dev: true,
        control: false,
    },
    Profile {
        name: "1.8.7",
        version: Version::V1_8_7,
        dev: false,
        control: false,
    },
    Profile {
        name: "1.8.7-dev",
        version: Version::V1_8_7,
        dev: true,
        control: false,
    },
    Profile {
        name: "1.22.0-control",
        version: Version::V1_22_0,
        dev: false,
        control: true,
    },
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let deviations =
        Deviations::of_the_emulator(&cases::all()).expect("deviations.toml names cases");
    let mut trials = Vec::new();
    for profile in PROFILES {
        let open = |settings: &str| {
            in_process::open(Config {
                control: profile.control,
                ..in_process::config(settings, profile.version, profile.dev)?
            })
        };
        let target = Target::fresh(&format!("proconsul {}", profile.name), move || open(""));
        let target = target.expect("the emulator starts");
        let target = Arc::new(target.with_own_servers(open));
        for case in cases::all() {
            let (target, deviations) = (Arc::clone(&target), deviations.clone());
            let skipped = case.skip_reason(target.facts()).is_some();
            let name = format!("{} {}", profile.name, case.id);
            let trial = Trial::test(name, move || {
                let runner = Runner::new(&target).deviations(deviations);
                let result = runner.run_one(case);
                match result.state {
                    State::Pass | State::Deviation { .. } => Ok(()),
                    // What may be skipped is known before.
                    State::Skip(reason) => Err(Failed::from(reason)),
                    State::Fail(_) | State::Error(_) => {
                        Err(Failed::from(console::details(&result)))
                    }
                }
            });
            trials.push(trial.with_ignored_flag(skipped));
        }
        let name = format!("{} suite/skips", profile.name);
        trials.push(Trial::test(name, move || {
            let absent = profile.absent();
            let complaints = wrongly_skipped(target.facts(), &cases::all(), &absent);
            if complaints.is_empty() {
                return Ok(());
            }
            Err(Failed::from(complaints.join("\n")))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
