//! The servers that other programs are run against: the emulator in both profiles, and a real Consul.

use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::target::site::Site;

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
    Consul(Site),
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
    hosts_of(config, &Agent::default())
}

/// The same, where the real Consul has settings of its own.
pub(crate) fn hosts_of(config: &Config, agent: &Agent) -> Vec<Host> {
    let mut hosts = vec![
        emulator("emulator 1.22.0", Version::V1_22_0, config),
        emulator("emulator 1.8.7", Version::V1_8_7, config),
    ];
    if let Some(binary) = left_out::consul() {
        let site = consul::start_unasked(&binary, agent);
        let site = site.unwrap_or_else(|error| panic!("{error}"));
        hosts.push(Host {
            name: "consul",
            address: site.address().host.clone(),
            _keep: Keep::Consul(site),
        });
    }
    hosts
}

/// The token that may do everything on the servers of [`hosts_with_acls`].
#[allow(dead_code, reason = "not all tests use ACLs")]
pub(crate) const MANAGEMENT: &str = "11111111-1111-4111-8111-111111111111";

/// The emulator in both profiles and a real Consul, which allow nothing without a token.
#[allow(dead_code, reason = "not all tests use ACLs")]
pub(crate) fn hosts_with_acls() -> Vec<Host> {
    let mut config = Config::dev();
    config.acl.enabled = true;
    config.acl.default_policy = "deny".to_owned();
    config.acl.tokens.initial_management = MANAGEMENT.to_owned();
    let settings = format!(
        r#"{{"acl": {{"enabled": true, "default_policy": "deny", "tokens": {{"master": "{MANAGEMENT}"}}}}}}"#
    );
    let agent = Agent {
        settings,
        ..Agent::default()
    };
    hosts_of(&config, &agent)
}
