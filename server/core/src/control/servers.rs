//! Servers on demand: one process serves as many isolated ones as a test run needs.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::warn;

use super::Controls;
use proconsul_config::resolve::amend::amended;
use proconsul_config::{AgentCounts, Config, DatacenterNames, Epoch, Listener};
use proconsul_engine::entropy::Entropy;
use proconsul_version::Version;

/// A server that was started on demand. It stops when it is dropped.
pub struct Launched {
    /// The URL of its Consul API.
    pub url: String,
    /// Those of all its agents.
    pub agents: Vec<String>,
    /// Where its control plane is served.
    pub control: String,
    /// The seed with which it can be started again.
    pub seed: u64,
    /// Keeps it running.
    pub server: Box<dyn Any + Send>,
}

/// How servers are started on demand.
#[derive(Debug)]
pub struct OnDemand {
    /// The configuration of their parent: see [`Config::for_server_on_demand`].
    pub config: Arc<Config>,
    /// The addresses at which their parent serves HTTP.
    pub addresses: Vec<IpAddr>,
    /// Starts a server.
    pub launch: fn(Config) -> Result<Launched, String>,
    /// Those that run.
    pub servers: Mutex<Servers>,
}

/// The settings in which a server on demand differs from its parent; everything unset is inherited.
///
/// The parent's version, node name, datacenter, addresses, limits, services, checks, strictness and all other settings
/// are inherited. Its seed, its ports, its pid file and its state are not: a server on demand has a seed that follows
/// from its parent's and its own number, and listens at a free port of all addresses at which its parent serves HTTP.
/// If the parent has a port for its control plane, so has the new server, a free one.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewServer {
    /// Settings as a configuration file gives them: an object of Consul's keys, in JSON or HCL, such as
    /// `{"node_name": "n2", "limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file
    /// more; keys that Consul does not know are refused, and so are keys that concern the process (`log_level`,
    /// `pid_file`). What the fields below say wins.
    pub(crate) settings: Option<String>,
    /// The emulated release; the newest one for one that is not known, unless the server is strict.
    pub(crate) version: Option<String>,
    /// The numbers of its agents.
    pub(crate) agents: Option<AgentCounts>,
    /// The datacenters that are joined.
    pub(crate) datacenters: Option<DatacenterNames>,
    /// The seed.
    pub(crate) seed: Option<u64>,
    /// Whether its clock is frozen from the start.
    pub(crate) frozen: Option<bool>,
    /// The wall clock at its start.
    pub(crate) epoch: Option<Epoch>,
    /// Whether endpoints that are not emulated are answered as unknown paths.
    pub(crate) strict: Option<bool>,
    /// How many records its history keeps, at least 1.
    pub(crate) history_capacity: Option<usize>,
    /// The one address at which it serves HTTP, and its control plane if that has a port of its own.
    pub(crate) address: Option<IpAddr>,
    /// The port at which it serves HTTP; 0 takes a free one.
    pub(crate) http_port: Option<u16>,
    /// The port of its control plane, even if its parent has no such port; 0 takes a free one.
    pub(crate) control_port: Option<u16>,
}

/// A server that was started on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "control-http",
    derive(schemars::JsonSchema, serde::Serialize)
)]
#[cfg_attr(
    feature = "control-http",
    schemars(rename = "Listed", deny_unknown_fields)
)]
pub(crate) struct Started {
    /// The server's id, for `DELETE /servers/{id}`.
    pub(crate) id: u64,
    /// The URL of its Consul API.
    pub(crate) url: String,
    /// The URLs of the Consul API of all its agents, the one above first.
    pub(crate) agents: Vec<String>,
    /// The URL of its control plane.
    pub(crate) control: String,
    /// The seed with which it can be started again.
    pub(crate) seed: u64,
}

/// Why a server on demand was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotStarted {
    /// Invalid settings; a sentence says why.
    Settings(String),
    /// The server could not listen or get a thread; with the error's text.
    Start(String),
}

impl fmt::Display for NotStarted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotStarted::Settings(text) | NotStarted::Start(text) => formatter.write_str(text),
        }
    }
}

/// The servers that were started on demand.
#[derive(Default)]
pub struct Servers {
    last: u64,
    running: BTreeMap<u64, (Started, Box<dyn Any + Send>)>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} servers", self.running.len())
    }
}

impl Controls {
    /// Starts another server in this process.
    ///
    /// # Errors
    /// See [`NotStarted`]. Nothing was started.
    pub(crate) fn start_server(&self, new: &NewServer) -> Result<Started, NotStarted> {
        let mut config = self.config_of(new).map_err(NotStarted::Settings)?;
        let id = {
            let mut servers = self.on_demand.servers.lock();
            servers.last += 1;
            servers.last
        };
        let seed = new
            .seed
            .unwrap_or_else(|| Entropy::child_seed(self.seed, id));
        config.seed = Some(seed);
        let launched = (self.on_demand.launch)(config).map_err(NotStarted::Start)?;
        let started = Started {
            id,
            url: launched.url,
            agents: launched.agents,
            control: launched.control,
            seed: launched.seed,
        };
        let running = (started.clone(), launched.server);
        self.on_demand.servers.lock().running.insert(id, running);
        Ok(started)
    }

    /// Returns the configuration of a new server, except its seed.
    fn config_of(&self, new: &NewServer) -> Result<Config, String> {
        let on_demand = &self.on_demand;
        let mut config = on_demand.config.for_server_on_demand(&on_demand.addresses);
        // First, since they decide which keys are accepted.
        config.strict = new.strict.unwrap_or(config.strict);
        if let Some(version) = &new.version {
            let read = Version::or_newest(version, config.strict);
            let (version, warning) = read.map_err(|error| format!("version: {error}"))?;
            config.version = version;
            if let Some(warning) = warning {
                warn!(target: "agent", "{warning}");
            }
        }
        if let Some(settings) = &new.settings {
            config = amended(config, settings)?;
        }
        config.agents = new.agents.unwrap_or(config.agents);
        if let Some(datacenters) = &new.datacenters {
            config.join(datacenters.clone());
        }
        config.frozen = new.frozen.unwrap_or(config.frozen);
        config.epoch = new.epoch.or(config.epoch);
        config.history_capacity = new.history_capacity.unwrap_or(config.history_capacity);
        config.control_port = new.control_port.or(config.control_port);
        if let Some(address) = new.address {
            config.control_addresses.clear();
            config.listeners = vec![Listener::Tcp(SocketAddr::new(address, 0))];
        }
        if let Some(port) = new.http_port {
            for listener in &mut config.listeners {
                if let Listener::Tcp(address) = listener {
                    address.set_port(port);
                }
            }
        }
        config.check_definitions()?;
        Ok(config)
    }

    /// Returns the running servers that were started on demand.
    pub(crate) fn servers(&self) -> Vec<Started> {
        let servers = self.on_demand.servers.lock();
        let running = servers.running.values();
        running.map(|(started, _)| started.clone()).collect()
    }

    /// Stops a server that was started on demand. Returns whether it was running.
    pub(crate) fn stop_server(&self, id: u64) -> bool {
        // Not under the lock: stopping waits for the server's thread.
        let stopped = self.on_demand.servers.lock().running.remove(&id);
        stopped.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::control::{Addresses, Controls};
    use crate::new_engine;
    use proconsul_engine::host::ManualHost;

    fn epoch() -> Epoch {
        "2026-01-01T00:00:00Z".parse().expect("a time")
    }

    fn parent() -> Controls {
        let config = Config {
            kv_max_value_size: 7,
            strict: true,
            frozen: true,
            epoch: Some(epoch()),
            datacenter: "dcx".to_owned(),
            primary_datacenter: "dcx".to_owned(),
            ..Config::default()
        };
        let config = Arc::new(config.with_seed(7));
        let host = Arc::new(ManualHost::new(Duration::ZERO));
        let engine = new_engine(host, &config, 7, |_| ());
        let on_demand = OnDemand {
            config: Arc::clone(&config),
            addresses: vec![[127, 0, 0, 1].into()],
            launch: |config| {
                Ok(Launched {
                    url: String::new(),
                    agents: Vec::new(),
                    control: String::new(),
                    seed: config.seed.expect("it has one"),
                    server: Box::new(()),
                })
            },
            servers: Mutex::default(),
        };
        let addresses = Addresses {
            of_agents: Vec::new(),
            api: Vec::new(),
            others: Vec::new(),
            https: Vec::new(),
            dns: Vec::new(),
            control: None,
        };
        Controls::new(&engine, &config, 7, addresses, on_demand)
    }

    #[test]
    fn everything_is_inherited_that_two_servers_can_share() {
        let parent = parent();
        let config = parent.config_of(&NewServer::default());
        let expected = Config {
            kv_max_value_size: 7,
            strict: true,
            frozen: true,
            epoch: Some(epoch()),
            datacenter: "dcx".to_owned(),
            primary_datacenter: "dcx".to_owned(),
            ..Config::default()
        };
        assert_eq!(config, Ok(expected));
    }

    #[test]
    fn each_setting_can_be_given_and_what_is_said_beside_them_wins() {
        let epoch = "2027-01-01T00:00:00Z".parse().ok();
        let new = NewServer {
            frozen: Some(false),
            epoch,
            settings: Some(r#"{"node_name": "n2", "limits": {"txn_max_req_len": 9}}"#.to_owned()),
            version: Some("1.8.7".to_owned()),
            strict: Some(false),
            history_capacity: Some(5),
            address: Some([127, 0, 0, 2].into()),
            http_port: Some(4000),
            control_port: Some(0),
            ..NewServer::default()
        };
        let config = parent().config_of(&new).expect("all of it fits");
        let expected = Config {
            node_name: "n2".to_owned(),
            txn_max_req_len: 9,
            version: Version::new(1, 8, 7),
            strict: false,
            history_capacity: 5,
            frozen: false,
            epoch,
            listeners: vec![Listener::Tcp(([127, 0, 0, 2], 4000).into())],
            control_port: Some(0),
            kv_max_value_size: 7,
            datacenter: "dcx".to_owned(),
            primary_datacenter: "dcx".to_owned(),
            ..Config::default()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn the_newest_version_stands_for_one_that_is_not_known_unless_the_server_is_strict() {
        let of = |strict| {
            let new = NewServer {
                version: Some("1.23.1".to_owned()),
                strict,
                ..NewServer::default()
            };
            parent().config_of(&new).map(|config| config.version)
        };
        assert_eq!(of(Some(false)), Ok(Version::V2_1_0));
        let text = "version: Consul 1.23.1 is not known (1.8.0 to 1.22, 2.0 and 2.1 are)";
        assert_eq!(of(None), Err(text.to_owned()), "its parent is strict");
    }

    /// Two runs of a test with one seed have the same servers on demand.
    #[test]
    fn seeds_follow_from_the_parents_and_the_number() {
        let seeds = || {
            let parent = parent();
            let start = |new: &NewServer| parent.start_server(new).expect("a free port").seed;
            let given = NewServer {
                seed: Some(3),
                ..NewServer::default()
            };
            [
                start(&NewServer::default()),
                start(&given),
                start(&NewServer::default()),
            ]
        };
        let [first, given, third] = seeds();
        assert_eq!(seeds(), [first, given, third]);
        assert_eq!(given, 3);
        assert!(first != 7 && third != 7 && first != third);
    }

    #[test]
    fn settings_that_cannot_be_start_nothing() {
        let parent = parent();
        let refused = |settings: &str| {
            let new = NewServer {
                settings: Some(settings.to_owned()),
                ..NewServer::default()
            };
            match parent.start_server(&new) {
                Err(NotStarted::Settings(text)) => text,
                other => panic!("{settings}: {other:?}"),
            }
        };
        assert!(refused(r#"{"zork": 1}"#).contains("invalid config key zork"));
        assert_eq!(
            refused(r#"{"acl": {"enabled": true, "default_policy": "DENY"}}"#),
            "Unsupported default ACL policy: DENY"
        );
        assert!(refused(r#"{"service": {"port": 1}}"#).contains("Service name missing"));
        assert_eq!(parent.servers(), []);
    }
}
