//! The servers that other programs are run against: the emulator in both profiles, and a real Consul.

use std::io::{Write, stderr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proconsul::config::Config;
use proconsul::version::Version;
use proconsul_conformance::consul::{self, Agent};
use proconsul_conformance::target::Target;

/// A server that programs are run against.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) address: String,
    _keep: Keep,
}

/// Stops the server when it is dropped.
#[expect(dead_code, reason = "kept for its drop")]
enum Keep {
    Emulator(proconsul::Server),
    Consul(Target),
}

pub(crate) fn say(line: &str) {
    // Past the capture of the test harness: it must be seen.
    writeln!(stderr(), "{line}").expect("standard error is open");
}

fn emulator(name: &'static str, version: Version, config: &Config) -> Host {
    let config = Config {
        version,
        ..config.clone()
    };
    let server = proconsul::Server::builder().config(config).start();
    let server = server.expect("the emulator starts");
    Host {
        name,
        address: server.addr().to_string(),
        _keep: Keep::Emulator(server),
    }
}

pub(crate) fn consul_binary() -> Option<PathBuf> {
    let binary = consul::find();
    if binary.is_none() {
        say("skipped: no consul (run conformance/fetch-consul or set CONSUL_BIN)");
    }
    binary
}

/// The emulator in both profiles, run as `config` says, and a real Consul if there is one.
pub(crate) fn hosts(config: &Config) -> Vec<Host> {
    let mut hosts = vec![
        emulator("emulator 1.22.0", Version::V1_22_0, config),
        emulator("emulator 1.8.7", Version::V1_8_7, config),
    ];
    if let Some(binary) = consul_binary() {
        let target = consul::start(&binary, &Agent::default());
        let target = target.unwrap_or_else(|error| panic!("{error}"));
        let address = target.shared_address().expect("one agent for all");
        hosts.push(Host {
            name: "consul",
            address: address.host.clone(),
            _keep: Keep::Consul(target),
        });
    }
    hosts
}

/// Whether a program is there; says so if not.
pub(crate) fn has(program: &str) -> bool {
    has_with(program, "--version")
}

/// The same for a program that tells its version in another way.
pub(crate) fn has_with(program: &str, version: &str) -> bool {
    let found = Command::new(program)
        .arg(version)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        say(&format!("skipped: no {program}"));
    }
    found
}
