//! Every case on the emulator, in this process, one trial each: all of them on one profile of each version, and on the other profiles
//! those that can turn out otherwise there.
//! `cargo test -p proconsul-conformance --test emulator -- kv/cas` runs the matching ones.

mod in_process;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul::config::Config;
use proconsul::version::Version;
use proconsul_conformance::deviation::Deviations;
use proconsul_conformance::feature::{Facts, Feature};
use proconsul_conformance::report::console;
use proconsul_conformance::skips::wrongly_skipped;
use proconsul_conformance::{Case, Runner, State, Target, cases};

/// Cases at once. Many of them wait a moment for what must not come.
const THREADS: usize = 32;

/// A version and a mode that are held against cases.
#[derive(Clone, Copy)]
struct Profile {
    name: &'static str,
    version: Version,
    dev: bool,
    /// Whether tests may control the server: nothing that a client sees may differ.
    control: bool,
    cases: Cases,
}

/// Which cases a profile is held against. A version and its mode decide nearly everything apart from each other, so a case that runs on
/// every pair of them says the same again: each version meets all cases in one mode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    /// Every case that says something about such a server.
    All,
    /// The cases about its layout of JSON, which no other profile of its version has, and the first case of every topic (`kv`).
    OfLayout,
    /// The first case of every area (`kv/cas`): nothing may differ, at whatever endpoint.
    OfEveryArea,
}

impl Cases {
    fn chosen(self, facts: &Facts) -> Vec<&'static Case> {
        let mut seen = BTreeSet::new();
        let mut chosen = cases::all();
        // What is skipped is known before: a trial is a case that runs.
        chosen.retain(|case| case.skip_reason(facts).is_none());
        chosen.retain(|case| match self {
            Self::All => true,
            Self::OfLayout => {
                let layout = [Feature::DevMode, Feature::CompactJson];
                let is_of_layout = case.needs.iter().any(|need| layout.contains(need));
                seen.insert(case.id.split('/').next()) || is_of_layout
            }
            Self::OfEveryArea => seen.insert(case.id.rsplit_once('/').map(|(area, _)| area)),
        });
        chosen
    }
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
        cases: Cases::All,
    },
    Profile {
        name: "1.22.0-dev",
        version: Version::V1_22_0,
        dev: true,
        control: false,
        cases: Cases::OfLayout,
    },
    Profile {
        name: "1.8.7",
        version: Version::V1_8_7,
        dev: false,
        control: false,
        cases: Cases::OfLayout,
    },
    Profile {
        name: "1.8.7-dev",
        version: Version::V1_8_7,
        dev: true,
        control: false,
        cases: Cases::All,
    },
    Profile {
        name: "1.22.0-control",
        version: Version::V1_22_0,
        dev: false,
        control: true,
        cases: Cases::OfEveryArea,
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
        for case in profile.cases.chosen(target.facts()) {
            let (target, deviations) = (Arc::clone(&target), deviations.clone());
            let name = format!("{} {}", profile.name, case.id);
            trials.push(Trial::test(name, move || {
                let runner = Runner::new(&target).deviations(deviations);
                let result = runner.run_one(case);
                match result.state {
                    State::Pass | State::Deviation { .. } => Ok(()),
                    State::Skip(reason) => Err(Failed::from(reason)),
                    State::Fail(_) | State::Error(_) => {
                        Err(Failed::from(console::details(&result)))
                    }
                }
            }));
        }
        let name = format!("{} suite/skips", profile.name);
        trials.push(Trial::test(name, move || {
            let absent = profile.absent();
            let mut complaints = wrongly_skipped(target.facts(), &cases::all(), &absent);
            if target.facts().genuine {
                complaints.push("the emulator is taken for a real Consul".to_owned());
            }
            if complaints.is_empty() {
                return Ok(());
            }
            Err(Failed::from(complaints.join("\n")))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
