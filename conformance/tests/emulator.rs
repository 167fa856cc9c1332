//! Every case on the emulator, in this process, one trial each: all of them on one profile of 1.8.7 and of 1.22.0, those about releases
//! in between on these, and on other profiles those that can turn out otherwise there.
//! `cargo test -p proconsul-conformance --test emulator -- kv/cas` runs the matching ones.

mod in_process;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::case::feature::{Facts, Feature};
use proconsul_conformance::report::console;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::runner::skips::wrongly_skipped;
use proconsul_conformance::{Case, Runner, State, Target, Version as SuiteVersion, cases};

/// Cases at once. Many of them wait a moment for what must not come.
const THREADS: usize = 32;

/// A version and a mode that are held against cases.
#[derive(Clone)]
struct Profile {
    name: String,
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
    /// The cases about releases between the two that meet all cases.
    Between,
}

/// Whether a case says nothing of the releases that meet all cases.
fn is_between(case: &Case) -> bool {
    [SuiteVersion::new(1, 8, 7), SuiteVersion::V1_22]
        .iter()
        .all(|version| case.is_of_another_version(*version))
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
            Self::Between => is_between(case) && case.since == facts.version,
            Self::OfEveryArea => seen.insert(case.id.rsplit_once('/').map(|(area, _)| area)),
        });
        chosen
    }
}

impl Profile {
    /// What such a server has not. Everything else the probes must find, lest cases be skipped that nobody misses.
    fn absent(&self) -> [Feature; 2] {
        let layout = if self.dev {
            Feature::CompactJson
        } else {
            Feature::DevMode
        };
        [Feature::AclsOn, layout]
    }
}

fn profiles() -> Vec<Profile> {
    let profile = |name: &str, version, dev, control, cases| Profile {
        name: name.to_owned(),
        version,
        dev,
        control,
        cases,
    };
    let mut profiles = vec![
        profile("1.22.0", Version::V1_22_0, false, false, Cases::All),
        profile("1.22.0-dev", Version::V1_22_0, true, false, Cases::OfLayout),
        profile("1.8.7", Version::V1_8_7, false, false, Cases::OfLayout),
        profile("1.8.7-dev", Version::V1_8_7, true, false, Cases::All),
        profile("2.1.0", Version::V2_1_0, false, false, Cases::All),
        profile(
            "1.22.0-control",
            Version::V1_22_0,
            false,
            true,
            Cases::OfEveryArea,
        ),
    ];
    let cases = cases::all();
    let between = cases.iter().filter(|case| is_between(case));
    let versions: BTreeSet<String> = between.map(|case| case.since.to_string()).collect();
    profiles.extend(versions.iter().map(|name| {
        let version = name.parse().expect("the emulator knows the release");
        profile(name, version, false, false, Cases::Between)
    }));
    profiles
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let deviations =
        Deviations::of_the_emulator(&cases::all()).expect("deviations.toml names cases");
    let mut trials = Vec::new();
    for profile in profiles() {
        let (version, dev, control) = (profile.version, profile.dev, profile.control);
        let open = move |settings: &str| {
            in_process::open(Config {
                control,
                ..in_process::config(settings, version, dev)?
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
