//! Every case on the emulator, in this process: once for each profile, one trial each.
//! `cargo test -p proconsul-conformance --test emulator -- kv/cas` runs the matching ones.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use proconsul::config::{Config, LogLevel};
use proconsul::version::Version;
use proconsul_conformance::report::console;
use proconsul_conformance::target::Site;
use proconsul_conformance::time::Clock;
use proconsul_conformance::wire::Address;
use proconsul_conformance::{Runner, State, Target, ToolError, cases};

/// A version and a mode that are held against every case.
#[derive(Clone, Copy)]
struct Profile {
    name: &'static str,
    version: Version,
    dev: bool,
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "1.22.0",
        version: Version::V1_22_0,
        dev: false,
    },
    Profile {
        name: "1.22.0-dev",
        version: Version::V1_22_0,
        dev: true,
    },
    Profile {
        name: "1.8.7",
        version: Version::V1_8_7,
        dev: false,
    },
    Profile {
        name: "1.8.7-dev",
        version: Version::V1_8_7,
        dev: true,
    },
];

/// The clock of a server in this process: waiting costs nothing.
#[derive(Debug)]
struct ServerClock(Arc<proconsul::Server>);

impl Clock for ServerClock {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        self.0.advance(duration);
        Ok(())
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

/// A server of its own for each case, so that a case can move the clock.
fn open(profile: Profile) -> Result<Site, ToolError> {
    let config = Config {
        version: profile.version,
        dev: profile.dev,
        ui: profile.dev,
        log_level: LogLevel::Error,
        ..Config::default()
    };
    let server = proconsul::Server::builder().config(config).start();
    let server = Arc::new(server.map_err(|error| ToolError(error.to_string()))?);
    let address = Address::parse(&server.addr().to_string()).map_err(ToolError)?;
    let clock = ServerClock(Arc::clone(&server));
    Ok(Site::new(address).with_clock(clock).keeping(server))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for profile in PROFILES {
        let target = Target::fresh(&format!("proconsul {}", profile.name), || open(*profile));
        let target = Arc::new(target.expect("the emulator starts"));
        for case in cases::all() {
            let target = Arc::clone(&target);
            let skipped = case.skip_reason(target.facts()).is_some();
            let name = format!("{} {}", profile.name, case.id);
            let trial = Trial::test(name, move || {
                let result = Runner::new(&target).run_one(case);
                match result.state {
                    State::Pass | State::Skip(_) => Ok(()),
                    State::Fail(_) | State::Deviation { .. } | State::Error(_) => {
                        Err(Failed::from(console::details(&result)))
                    }
                }
            });
            trials.push(trial.with_ignored_flag(skipped));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
