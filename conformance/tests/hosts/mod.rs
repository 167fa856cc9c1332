//! The servers that other programs are run against: the emulator in both profiles, and a real Consul.

use proconsul::config::Config;
use proconsul::version::Version;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::Target;
use proconsul_conformance::target::consul::{self, Agent};

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

/// The emulator of a version, run as `config` says.
pub(crate) fn emulator(name: &'static str, version: Version, config: &Config) -> Host {
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

/// The emulator in both profiles, run as `config` says, and a real Consul if there is one.
pub(crate) fn hosts(config: &Config) -> Vec<Host> {
    let mut hosts = vec![
        emulator("emulator 1.22.0", Version::V1_22_0, config),
        emulator("emulator 1.8.7", Version::V1_8_7, config),
    ];
    if let Some(binary) = left_out::consul() {
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
