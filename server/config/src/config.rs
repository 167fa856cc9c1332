//! The configuration of a server, resolved.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::acl::AclConfig;
use crate::agents::AgentCounts;
use crate::data::DataFiles;
use crate::datacenters::DatacenterNames;
use crate::definition::{CheckDefinition, Defined, DefinitionRules, ServiceDefinition};
use crate::dns::DnsConfig;
use crate::epoch::Epoch;
use crate::https::HttpsConfig;
use crate::telemetry::TelemetryConfig;
use proconsul_engine::clock::{Clock, Rate};
use proconsul_engine::history::DEFAULT_CAPACITY;
use proconsul_engine::host::Host;
use proconsul_store::ConfigEntry;
use proconsul_version::{Behaviour, Version};

/// The configuration of a server.
///
/// [`Config::default`] is a server inside a test; [`Config::dev`] is one as `consul agent -dev` starts it. The names
/// follow Consul's configuration keys where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The emulated release. Default: [`Version::default`].
    pub version: Version,
    /// What session ids, index salts and jitter are drawn from: the same seed gives the same bytes. Default: `None`, a
    /// fresh seed for every server, which `Server::seed` tells.
    pub seed: Option<u64>,
    /// Whether the clock stands still, at 0, until a test moves it. Default: false.
    pub frozen: bool,
    /// The wall clock at the start of the server's clock, which the server's wall clock follows from then on: in the header
    /// `Date`, the times of tokens, metrics and snapshots. Default: `None`, the machine's wall clock.
    pub epoch: Option<Epoch>,

    /// Name of the agent's node (`node_name`). Default: `proconsul`.
    pub node_name: String,
    /// Name of the machine, as metrics and agent/host show it. Default: `None`, for the name of the node.
    pub host_name: Option<String>,
    /// Id of the agent's node (`node_id`), a UUID in lower case. Default: empty, which stands for
    /// [`Config::node_id_from_seed`] of the server's seed.
    pub node_id: String,
    /// What the node says of itself (`node_meta`). Default: nothing.
    pub node_meta: BTreeMap<String, String>,
    /// The one datacenter there is (`datacenter`), in lower case. Default: `dc1`.
    pub datacenter: String,
    /// The datacenter that owns ACLs and intentions (`primary_datacenter`), as agent/self shows it. Default: `dc1`.
    pub primary_datacenter: String,
    /// Whether this is the development mode (`-dev`), which prints every JSON answer pretty. Default: false.
    pub dev: bool,
    /// Whether the agent is a server and not a client (`server`). Default: true.
    pub server: bool,
    /// How many agents the datacenter has, this one among them. Default: one alone.
    pub agents: AgentCounts,
    /// The names of their nodes, the first as in `node_name`. Default: none, and [`Config::of_agents`] makes them.
    pub agent_names: Vec<String>,
    /// The datacenters that are joined, this one first; see [`Config::join`]. Default: none but this one.
    pub datacenters: DatacenterNames,

    /// Where HTTP is served (`client_addr`, `addresses.http`, `ports.http`); none at all disables it.
    /// Default: a free port of 127.0.0.1.
    pub listeners: Vec<Listener>,
    /// HTTPS (`ports.https`, `tls`). Default: off.
    pub https: HttpsConfig,
    /// DNS (`ports.dns`, `dns_config`, `domain`). Default: off.
    pub dns: DnsConfig,
    /// The address that the node is registered with (`advertise_addr`). Default: 127.0.0.1.
    pub advertise_address: IpAddr,
    /// The address for traffic between servers (`bind_addr`), as agent/self shows it; nothing listens on it.
    /// Default: 127.0.0.1.
    pub bind_address: IpAddr,
    /// The port for RPC between servers (`ports.server`), as status/leader shows it; nothing listens on it.
    /// Default: 8300.
    pub server_port: u16,
    /// The port for gossip in the datacenter (`ports.serf_lan`), as agent/members shows it; nothing listens on it.
    /// Default: 8301.
    pub serf_lan_port: u16,
    /// The port for gossip between datacenters (`ports.serf_wan`), as agent/members shows it, if there is any; nothing
    /// listens on it. Default: 8302.
    pub serf_wan_port: Option<u16>,

    /// The shortest TTL of a session (`session_ttl_min`). Default: 10 s.
    pub session_ttl_min: Duration,
    /// The longest value of a key in bytes (`limits.kv_max_value_size`). Default: 524288.
    pub kv_max_value_size: u64,
    /// The longest body of a transaction in bytes (`limits.txn_max_req_len`). Default: 524288.
    pub txn_max_req_len: u64,
    /// How many connections one client address may hold (`limits.http_max_conns_per_client`); 0 is no limit.
    /// Default: 200.
    pub http_max_conns_per_client: usize,
    /// The longest head of a request in bytes (`http_config.max_header_bytes`). Default: 1 MiB, as in Go.
    pub max_header_bytes: usize,
    /// How long a blocking query waits if it does not say (`default_query_time`), even if that is
    /// longer than `max_query_time`. Default: 300 s.
    pub default_query_time: Duration,
    /// How long a blocking query may wait at most (`max_query_time`). Default: 600 s.
    pub max_query_time: Duration,

    /// The longest output of a check in bytes (`check_output_max_size`). Default: 4096.
    pub check_output_max_size: usize,
    /// How long the catalog may not know a check's output that came without a change of its status
    /// (`check_update_interval`); zero tells it at once. Default: 300 s.
    pub check_update_interval: Duration,
    /// Whether checks with scripts are taken from clients, and are run (`enable_script_checks`). Default: false.
    pub enable_script_checks: bool,
    /// Whether the scripts of this configuration's own checks are run (`enable_local_script_checks`), which the setting
    /// above allows, too. Default: false.
    pub enable_local_script_checks: bool,

    /// Services that the agent registers when it comes up (`service`, `services`). Default: none.
    pub services: Vec<ServiceDefinition>,
    /// Checks that the agent registers when it comes up (`check`, `checks`). Default: none.
    pub checks: Vec<CheckDefinition>,
    /// Configuration entries that are there at the start, as JSON (`config_entries.bootstrap`). Default: none.
    pub config_entries: Vec<String>,

    /// Files with data that the server starts with. Default: none.
    pub data: DataFiles,

    /// Prefixes of paths that are answered with 403 (`http_config.block_endpoints`). Default: none.
    pub block_endpoints: Vec<String>,
    /// Headers added to every answer (`http_config.response_headers`), in the order in which they are sent.
    /// Default: none.
    pub response_headers: Vec<(String, String)>,
    /// The networks from which writing is allowed (`http_config.allow_write_http_from`); none means all.
    /// Default: none.
    pub allow_write_http_from: Vec<Network>,
    /// How long after its request a response may come (`http_config.write_timeout`, since 1.22.4); 0 is no limit. Default: the
    /// release's own.
    pub http_write_timeout: Option<Duration>,
    /// Whether `?cached` is honoured (`http_config.use_cache`). Default: true.
    pub use_cache: bool,
    /// Whether paths may hold characters that cannot be printed (`disable_http_unprintable_char_filter`).
    /// Default: false.
    pub disable_http_unprintable_char_filter: bool,
    /// Whether keys of any form are accepted, with a warning (`disable_kv_key_validation`). Default: false.
    pub disable_kv_key_validation: bool,
    /// Whether reads of a service's health that wait for a change say that they are streamed
    /// (`use_streaming_backend`, since 1.10.1). Default: true.
    pub use_streaming_backend: bool,
    /// Whether WAN addresses are given to other datacenters (`translate_wan_addrs`): one header says so.
    /// Default: false.
    pub translate_wan_addrs: bool,
    /// Whether the endpoints of Connect that are emulated answer (`connect { enabled }`). Default: true; an agent of a release
    /// before 1.14 that is not started with `-dev` has them off.
    pub connect: bool,
    /// Whether profiles are asked for without ACLs (`enable_debug`). Default: false, and true for [`Config::dev`].
    pub enable_debug: bool,
    /// Metrics (`telemetry`). Default: none for Prometheus.
    pub telemetry: TelemetryConfig,
    /// ACLs (`acl`). Default: off.
    pub acl: AclConfig,
    /// Whether the inspection page is served (`ui_config.enabled`). Default: false.
    pub ui: bool,

    /// Whether endpoints that are not emulated are answered as unknown paths; they are answered with 501 else. Default:
    /// false.
    pub strict: bool,

    /// Whether a test may control the server: it keeps a history, takes faults, and serves the control plane.
    /// Default: true, and false for an agent.
    pub control: bool,
    /// How many records the history of a server keeps that a test controls, at least 1; when there are more the oldest
    /// go, and who reads it is told. A record takes some hundred bytes. Default: 100,000.
    pub history_capacity: usize,
    /// A port for the control plane alone, which faults never touch; 0 takes a free one. Default: `None`, which serves
    /// it beside the API.
    pub control_port: Option<u16>,
    /// The addresses of that port. Default: empty, which stands for the addresses at which HTTP is served, and for
    /// 127.0.0.1 where that is at Unix sockets only or nowhere.
    pub control_addresses: Vec<IpAddr>,

    /// Names of hosts under which the control plane may be called, beside IP addresses, `localhost` and names that
    /// nobody can register. A page in a browser that comes from elsewhere is refused. Default: none.
    pub allow_hosts: Vec<String>,

    /// The least important lines that the log shows (`log_level`). Default: info.
    pub log_level: LogLevel,
    /// Whether log lines are JSON objects (`log_json`). Default: false.
    pub log_json: bool,
    /// Where the process id is written while the agent runs (`pid_file`). Default: nowhere.
    pub pid_file: Option<PathBuf>,
}

impl Config {
    /// Returns the address at which servers call each other.
    #[must_use]
    pub fn rpc_address(&self) -> String {
        SocketAddr::new(self.advertise_address, self.server_port).to_string()
    }

    /// Returns how long after its request a response may come; `None` for no limit.
    #[must_use]
    pub fn write_timeout(&self) -> Option<Duration> {
        let of_release = match self.version {
            version if version.has(Behaviour::HttpWriteTimeoutShort) => Duration::from_secs(30),
            version if version.has(Behaviour::HttpWriteTimeout) => Duration::from_secs(900),
            _ => Duration::ZERO,
        };
        let limit = self.http_write_timeout.unwrap_or(of_release);
        Some(limit).filter(|limit| !limit.is_zero())
    }

    /// The name of the machine, or of the node where that is not known.
    pub fn host_name(&self) -> &str {
        self.host_name.as_ref().unwrap_or(&self.node_name)
    }

    /// A server as `consul agent -dev` starts it, but on a free port: pretty JSON, the page at `/ui/`, debug lines.
    pub fn dev() -> Config {
        Config {
            dev: true,
            ui: true,
            control: false,
            enable_debug: true,
            log_level: LogLevel::Debug,
            ..Config::default()
        }
    }

    /// Returns the metadata of the agent's node: the configured one and Consul's own.
    pub fn whole_node_meta(&self) -> BTreeMap<String, String> {
        let mut meta = self.node_meta.clone();
        meta.entry("consul-network-segment".to_owned()).or_default();
        if self.version.has(Behaviour::JsonNodeMetaVersion) {
            meta.insert("consul-version".to_owned(), self.version.to_string());
        }
        meta
    }

    /// Returns the tagged addresses of the agent's node.
    pub fn tagged_addresses(&self) -> BTreeMap<String, String> {
        let address = self.advertise_address.to_string();
        let family = if self.advertise_address.is_ipv4() {
            ["lan_ipv4", "wan_ipv4"]
        } else {
            ["lan_ipv6", "wan_ipv6"]
        };
        let names = ["lan", "wan"].into_iter().chain(family);
        let mut addresses = BTreeMap::new();
        addresses.extend(names.map(|name| (name.to_owned(), address.clone())));
        addresses
    }

    /// What holds for all definitions of services and checks.
    pub fn definition_rules(&self) -> DefinitionRules {
        DefinitionRules {
            version: self.version,
            output_limit: self.check_output_max_size,
            scripts: self.enable_script_checks,
        }
    }

    /// What becomes of the services and checks of this configuration.
    pub fn defined(&self) -> Defined {
        let rules = DefinitionRules {
            scripts: self.enable_script_checks || self.enable_local_script_checks,
            ..self.definition_rules()
        };
        crate::definition::defined(&self.services, &self.checks, rules)
    }

    /// Returns the configuration entries that are there at the start, or Consul's sentence about the first flaw.
    pub fn entries(&self) -> Result<Vec<ConfigEntry>, String> {
        let entries = self.config_entries.iter().enumerate();
        let entries = entries.map(|(at, text)| {
            let entry = crate::entry::of_text(text, self.version);
            entry.map_err(|error| format!("config_entries.bootstrap[{at}]: {error}"))
        });
        entries.collect()
    }

    /// Consul's sentence about the first service, check or configuration entry of this configuration that is invalid.
    pub fn check_definitions(&self) -> Result<(), String> {
        self.entries()?;
        let wrong = self.defined().wrong;
        wrong.map_or(Ok(()), |wrong| Err(wrong.text))
    }

    /// Returns this configuration as a server with this seed runs with it: the seed is set, and so is the node id.
    pub fn with_seed(&self, seed: u64) -> Config {
        let mut config = Config {
            seed: Some(seed),
            ..self.clone()
        };
        if config.node_id.is_empty() {
            config.node_id = Config::node_id_from_seed(seed);
        }
        config
    }

    /// Returns the clock of a server with this configuration, at its start in `host`.
    pub fn clock(&self, host: Arc<dyn Host>) -> Clock {
        let rate = if self.frozen {
            Rate::FROZEN
        } else {
            Rate::REAL
        };
        Clock::new(host, rate, self.epoch.map(Epoch::since_unix))
    }

    /// Returns what a server on demand of a server with this configuration inherits: everything, but for what two
    /// servers cannot share. It has no seed, its node's id follows from the one that it gets, its ports are free ones,
    /// it serves neither HTTPS nor DNS, and the pid file stays the process's. `addresses` are those at which its parent serves HTTP.
    pub fn for_server_on_demand(&self, addresses: &[IpAddr]) -> Config {
        let seed = self.seed.unwrap_or_default();
        let node_id = if self.node_id == Config::node_id_from_seed(seed) {
            String::new()
        } else {
            self.node_id.clone()
        };
        let free = |address: &IpAddr| Listener::Tcp(SocketAddr::new(*address, 0));
        Config {
            seed: None,
            node_id,
            listeners: addresses.iter().map(free).collect(),
            https: HttpsConfig::default(),
            dns: DnsConfig {
                listeners: Vec::new(),
                ..self.dns.clone()
            },
            control_port: self.control_port.map(|_| 0),
            pid_file: None,
            ..self.clone()
        }
    }

    /// Returns the addresses, without ports, at which HTTP is served over TCP, each once; 127.0.0.1 if there are no
    /// such addresses.
    pub fn http_addresses(&self) -> Vec<IpAddr> {
        let mut addresses = Vec::new();
        for listener in &self.listeners {
            match listener {
                Listener::Tcp(address) if !addresses.contains(&address.ip()) => {
                    addresses.push(address.ip());
                }
                Listener::Tcp(_) | Listener::Unix(_) => {}
            }
        }
        if addresses.is_empty() {
            addresses.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        addresses
    }

    /// The node id that belongs to a seed: a version 4 UUID, so that every client takes it for one.
    pub fn node_id_from_seed(seed: u64) -> String {
        let high = (mixed(seed) & 0xffff_ffff_ffff_0fff) | 0x4000;
        let low = (mixed(!seed) & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

/// Spreads close seeds far apart (the finalizer of SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl Default for Config {
    /// A server inside a test: not `-dev`, a free port of 127.0.0.1, datacenter `dc1`.
    fn default() -> Config {
        const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Config {
            version: Version::default(),
            seed: None,
            frozen: false,
            epoch: None,
            node_name: "proconsul".to_owned(),
            host_name: None,
            node_id: String::new(),
            node_meta: BTreeMap::new(),
            datacenter: "dc1".to_owned(),
            primary_datacenter: "dc1".to_owned(),
            dev: false,
            server: true,
            agents: AgentCounts::default(),
            agent_names: Vec::new(),
            datacenters: DatacenterNames::default(),
            listeners: vec![Listener::Tcp(SocketAddr::new(LOCALHOST, 0))],
            https: HttpsConfig::default(),
            dns: DnsConfig::default(),
            advertise_address: LOCALHOST,
            bind_address: LOCALHOST,
            server_port: 8300,
            serf_lan_port: 8301,
            serf_wan_port: Some(8302),
            session_ttl_min: Duration::from_secs(10),
            kv_max_value_size: 512 * 1024,
            txn_max_req_len: 512 * 1024,
            http_max_conns_per_client: 200,
            max_header_bytes: 1 << 20,
            default_query_time: Duration::from_secs(300),
            max_query_time: Duration::from_secs(600),
            check_output_max_size: 4096,
            check_update_interval: Duration::from_secs(300),
            enable_script_checks: false,
            enable_local_script_checks: false,
            services: Vec::new(),
            config_entries: Vec::new(),
            checks: Vec::new(),
            data: DataFiles::default(),
            block_endpoints: Vec::new(),
            response_headers: Vec::new(),
            allow_write_http_from: Vec::new(),
            http_write_timeout: None,
            use_cache: true,
            disable_http_unprintable_char_filter: false,
            disable_kv_key_validation: false,
            use_streaming_backend: true,
            translate_wan_addrs: false,
            connect: true,
            enable_debug: false,
            telemetry: TelemetryConfig::default(),
            acl: AclConfig::default(),
            ui: false,
            control: true,
            history_capacity: DEFAULT_CAPACITY,
            control_port: None,
            control_addresses: Vec::new(),
            allow_hosts: Vec::new(),
            strict: false,
            log_level: LogLevel::Info,
            log_json: false,
            pid_file: None,
        }
    }
}

/// A place where HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listener {
    /// A TCP address; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket at this path, as `addresses.http = "unix:///path"` asks for.
    Unix(PathBuf),
}

/// How important a log line is, in Consul's names: each level shows itself and those above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Things that went wrong.
    Error,
    /// Things that may be wrong.
    Warn,
    /// What the agent does.
    Info,
    /// Every request.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// Returns Consul's name of the level.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Error => "ERROR",
            LogLevel::Warn => "WARN",
            LogLevel::Info => "INFO",
            LogLevel::Debug => "DEBUG",
            LogLevel::Trace => "TRACE",
        }
    }
}

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// An address in the range.
    address: IpAddr,
    /// How many leading bits all addresses of the range share.
    prefix: u8,
}

impl Network {
    /// Returns the addresses that share their first `prefix` bits with `address`; `None` if `address` has fewer bits.
    pub fn new(address: IpAddr, prefix: u8) -> Option<Network> {
        let bits = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        (prefix <= bits).then_some(Network { address, prefix })
    }

    /// Returns whether `address` is in the range. An IPv4 address in IPv6 form counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let different = u32::from(own) ^ u32::from(other);
                different.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let different = u128::from(own) ^ u128::from(other);
                different.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str, prefix: u8) -> Network {
        Network::new(address.parse().expect("the test gives an address"), prefix)
            .expect("the test gives a prefix that fits")
    }

    fn contains(network: Network, address: &str) -> bool {
        network.contains(address.parse().expect("the test gives an address"))
    }

    #[test]
    fn a_network_holds_the_addresses_that_share_its_prefix() {
        let ten = network("10.1.2.3", 8);
        assert!(contains(ten, "10.255.0.1") && contains(ten, "::ffff:10.0.0.1"));
        assert!(!contains(ten, "11.0.0.0") && !contains(ten, "::1"));
        assert!(contains(network("127.0.0.1", 32), "127.0.0.1"));
        assert!(!contains(network("127.0.0.1", 32), "127.0.0.2"));
        assert!(contains(network("0.0.0.0", 0), "192.0.2.7"));
        let six = network("2001:db8::", 32);
        assert!(contains(six, "2001:db8:ffff::1") && !contains(six, "2001:db9::"));
    }

    #[test]
    fn a_prefix_longer_than_the_address_is_no_network() {
        assert_eq!(Network::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 33), None);
        assert_eq!(Network::new("::1".parse().expect("an address"), 129), None);
    }

    #[test]
    fn node_ids_are_random_uuids_that_follow_from_the_seed() {
        let ids: Vec<String> = (0..100).map(Config::node_id_from_seed).collect();
        for id in &ids {
            let form: String = id
                .chars()
                .map(|letter| {
                    if letter.is_ascii_hexdigit() {
                        'x'
                    } else {
                        letter
                    }
                })
                .collect();
            assert_eq!(form, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
            assert_eq!(&id[14..15], "4", "{id} has the version of a random UUID");
            assert!(
                matches!(&id[19..20], "8" | "9" | "a" | "b"),
                "{id} has the variant of a UUID"
            );
        }
        assert_eq!(ids[7], Config::node_id_from_seed(7));
        let different: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
    }

    #[test]
    fn dev_differs_from_the_default_in_five_values() {
        let dev = Config::dev();
        assert!(dev.dev && dev.ui && !dev.control && dev.enable_debug);
        assert_eq!(dev.log_level, LogLevel::Debug);
        let default = Config {
            dev: false,
            ui: false,
            control: true,
            enable_debug: false,
            log_level: LogLevel::Info,
            ..dev
        };
        assert_eq!(default, Config::default());
    }
}
