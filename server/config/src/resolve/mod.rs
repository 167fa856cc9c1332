//! From settings to a configuration: defaults, checks in Consul's order, and warnings.

pub mod acl;
pub mod address;
mod agents;
pub mod amend;
pub mod data;
pub mod dns;
pub mod https;
pub mod listen;
pub mod telemetry;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;

use self::address::IpVersion;
use crate::definition::node_id;
use crate::document::definitions;
use crate::settings::Settings;
use crate::settings::flags::called;
use crate::{Config, LogLevel, Network};
use proconsul_gocompat::duration::{self, DurationQuotes};
use proconsul_version::{Behaviour, Version};

/// The resolved configuration of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The configuration of the server.
    pub config: Config,
    /// `client_addr`, as the banner shows it.
    pub client_addresses: Vec<IpAddr>,
    /// The ports, as the banner shows them; -1 for disabled ones.
    pub ports: ShownPorts,
    /// Whether the server elects itself, as the banner shows it.
    pub bootstrap: bool,
    /// Whether the agent leaves with exit code 0 on SIGINT.
    pub leave_on_interrupt: bool,
    /// Whether the agent leaves with exit code 0 on SIGTERM.
    pub leave_on_terminate: bool,
    /// The file for the address of HTTP, and the name of the flag or variable that set it.
    pub port_file: Option<(PathBuf, String)>,
    /// Whether that address is printed: where a port is free, and only this run knows it.
    pub print_port: bool,
    /// The folder for the certificates of `-https-dev`, if one is given.
    pub https_dev_dir: Option<PathBuf>,
    /// Warnings for the log.
    pub warnings: Vec<String>,
}

/// The ports that the banner shows. That of gRPC is always off: nothing listens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownPorts {
    /// DNS.
    pub dns: i64,
    /// HTTP.
    pub http: i64,
    /// HTTPS.
    pub https: i64,
    /// Gossip within the datacenter.
    pub serf_lan: i64,
    /// Gossip between datacenters.
    pub serf_wan: i64,
}

/// Returns the emulated version, and the warning of [`Version::or_newest`].
///
/// # Errors
/// Our text about an invalid version, or one that is not emulated.
pub fn version(settings: &Settings) -> Result<(Version, Option<String>), String> {
    let Some(text) = &settings.as_version else {
        return Ok((Version::default(), None));
    };
    let named = |text: String| format!("{}: {text}", called("as-version", settings));
    let read = Version::or_newest(text, settings.strict.unwrap_or(false));
    let (version, warning) = read.map_err(|error| named(error.to_string()))?;
    Ok((version, warning.map(named)))
}

/// Applies defaults and checks all settings.
///
/// # Errors
/// Consul's text about the first invalid setting, in some cases about all of them.
pub fn resolve(settings: &Settings) -> Result<Resolved, String> {
    let dev = settings.dev.unwrap_or(false);
    let base = if dev {
        Config::dev()
    } else {
        Config::default()
    };
    let server = settings.server.unwrap_or(dev);
    let control_port = control_port(settings)?;
    let (version, warning) = version(settings)?;
    acl::check_flag(settings)?;
    let mut warnings: Vec<_> = telemetry::warnings(settings).chain(warning).collect();
    let mut config = Config {
        version,
        server,
        control: settings.control.unwrap_or(control_port.is_some()),
        control_port,
        allow_hosts: allow_hosts(settings)?,
        strict: settings.strict.unwrap_or(false),
        ..base
    };

    // In the order of Consul's checks, because only the first failure is shown.
    if !dev {
        config.bind_address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    }
    config.bind_address = bind_address(settings, config.bind_address)?;
    let mut errors = Errors::default();
    let ports = listen::Ports::of(settings, &mut errors);
    config.advertise_address = advertise_address(settings, config.bind_address, &mut errors)?;
    take_datacenter(settings, &mut config)?;
    let bootstrap = bootstrap(settings, &config, &mut warnings)?;
    take_primary_datacenter(settings, &mut config)?;
    agents::take_agents(settings, &mut config)?;
    agents::take_datacenters(settings, &mut config)?;
    check_node_meta(&settings.node_meta)?;
    let client_addresses = listen::take_listeners(settings, ports, &mut errors, &mut config)?;
    config.control_addresses = listen::control_addresses(settings, &client_addresses)?;
    take_collected(settings, errors, &mut config)?;
    config.log_level = log_level(settings, config.log_level)?;
    take_host(&mut config);
    take_node(settings, &mut config)?;
    warnings.extend(undiscoverable(&config.node_name));
    take_repeatable(settings, &mut config)?;
    config.pid_file = path(&settings.pid_file);
    config.connect = config.dev || config.version.has(Behaviour::ConnectByDefault);
    take_values(settings, &mut config);
    https::take_tls(settings, &mut config.https)?;
    warnings.extend(https::warning(&config.https));
    warnings.extend(acl::warnings(settings, &config.acl, version));
    take_definitions(settings, &mut config)?;

    Ok(Resolved {
        print_port: settings.http_port_ephemeral == Some(true) || config.control_port == Some(0),
        ports: shown_ports(settings, ports),
        config,
        client_addresses,
        bootstrap,
        leave_on_interrupt: !settings.skip_leave_on_interrupt.unwrap_or(server),
        leave_on_terminate: settings.leave_on_terminate.unwrap_or(!server),
        port_file: settings
            .port_file
            .as_ref()
            .map(|path| (PathBuf::from(path), called("port-file", settings))),
        https_dev_dir: settings.https_dev_dir.as_ref().map(PathBuf::from),
        warnings,
    })
}

/// Returns a path, unless it is empty.
fn path(given: &Option<String>) -> Option<PathBuf> {
    let path = given.as_ref().filter(|path| !path.is_empty());
    path.map(PathBuf::from)
}

/// Returns the host names of the control plane. One argument may list several.
fn allow_hosts(settings: &Settings) -> Result<Vec<String>, String> {
    let names = settings
        .allow_hosts
        .iter()
        .flat_map(|names| names.split(','));
    let name = |name: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if name.is_empty() || !name.bytes().all(letter) {
            return Err(format!(
                "-allow-host: {name:?} is not the name of a host; expected one such as consul.example, without a port"
            ));
        }
        Ok(name.to_owned())
    };
    names.map(|text| name(text.trim())).collect()
}

/// Returns the port of the control plane. An address without a port takes a free one.
fn control_port(settings: &Settings) -> Result<Option<u16>, String> {
    let free = settings.control_addr.as_ref().map(|_| 0);
    let Some(port) = settings.control_port.or(free) else {
        return Ok(None);
    };
    if settings.control == Some(false) {
        let name = if settings.control_port.is_some() {
            "control-port"
        } else {
            "control-addr"
        };
        return Err(format!(
            "{} is false, and {} asks for the control plane: leave one of them out",
            called("control", settings),
            called(name, settings)
        ));
    }
    let invalid = |_| {
        let name = called("control-port", settings);
        format!("{name}: invalid port: {port}, expected 0 to 65535")
    };
    let port = u16::try_from(port).map_err(invalid);
    port.map(Some)
}

/// Sets what makes a run repeatable: the seed, whether the clock stands still at the start, and the time of day then.
fn take_repeatable(settings: &Settings, config: &mut Config) -> Result<(), String> {
    config.seed = settings.seed;
    config.frozen = settings.frozen.unwrap_or(false);
    if config.frozen && !config.control {
        let name = called("frozen", settings);
        return Err(format!(
            "{name}: no test could move the clock; add -control"
        ));
    }
    let epoch = settings.epoch.as_ref().map(|text| text.parse());
    let named = |text: String| format!("{}: {text}", called("epoch", settings));
    config.epoch = epoch.transpose().map_err(named)?;
    Ok(())
}

pub(crate) fn take_datacenter(settings: &Settings, config: &mut Config) -> Result<(), String> {
    if let Some(name) = &settings.datacenter {
        config.datacenter = name.to_lowercase();
    }
    check_datacenter("datacenter", &config.datacenter)
}

pub(crate) fn take_primary_datacenter(
    settings: &Settings,
    config: &mut Config,
) -> Result<(), String> {
    let primary = settings
        .primary_datacenter
        .as_ref()
        .or(settings.acl_datacenter.as_ref())
        .unwrap_or(&config.datacenter);
    config.primary_datacenter = primary.to_lowercase();
    check_datacenter("acl_datacenter", &config.primary_datacenter)
}

/// Applies the settings whose errors Consul collects.
pub fn take_collected(
    settings: &Settings,
    mut errors: Errors,
    config: &mut Config,
) -> Result<(), String> {
    let networks = networks(&settings.allow_write_http_from, &mut errors);
    config.allow_write_http_from.extend(networks);
    acl::check_times(settings, &mut errors);
    telemetry::take_retention(settings, &mut errors, &mut config.telemetry);
    dns::take_dns(settings, &mut errors, &mut config.dns)?;
    let mut duration = |key, text| duration_of(key, text, &mut errors);
    let default_query_time = duration("default_query_time", settings.default_query_time.as_deref());
    if let Some(time) = default_query_time.filter(|time| *time >= 0) {
        config.default_query_time = nanoseconds(time);
    }
    if let Some(time) = duration("max_query_time", settings.max_query_time.as_deref()) {
        config.max_query_time = nanoseconds(time);
    }
    // 0 means unset in Go.
    let session_ttl_min = duration("session_ttl_min", settings.session_ttl_min.as_deref());
    if let Some(time) = session_ttl_min.filter(|time| *time != 0) {
        config.session_ttl_min = nanoseconds(time);
    }
    let write = settings.http_write_timeout.as_deref();
    let write_timeout = duration("http_config.write_timeout", write);
    config.http_write_timeout = write_timeout.map(nanoseconds);
    let handshake = duration(
        "limits.https_handshake_timeout",
        settings.https_handshake_timeout.as_deref(),
    );
    if let Some(time) = handshake {
        config.https.handshake_timeout = nanoseconds(time);
    }
    let update = duration(
        "check_update_interval",
        settings.check_update_interval.as_deref(),
    );
    if let Some(time) = update {
        config.check_update_interval = nanoseconds(time);
    }
    // Consul's text is not known (2.1.md 1.r6).
    if write_timeout.is_some_and(|time| (1..1_000_000_000).contains(&time)) {
        let given = write.unwrap_or_default();
        errors.push(format!(
            "http_config.write_timeout: {given} is less than 1s"
        ));
    }
    errors.into_result()
}

/// Takes the name of the machine, where the system says it, also for the node.
fn take_host(config: &mut Config) {
    #[cfg(not(feature = "machine"))]
    let _ = config;
    #[cfg(feature = "machine")]
    if let Ok(name) = hostname::get() {
        config.node_name = name.to_string_lossy().into_owned();
        config.host_name = Some(config.node_name.clone());
    }
}

pub(crate) fn take_node(settings: &Settings, config: &mut Config) -> Result<(), String> {
    agents::take_node_name(settings, config)?;
    if let Some(id) = settings.node_id.as_ref().filter(|id| !id.is_empty()) {
        if let Some(flaw) = node_id::flaw(id) {
            return Err(format!(
                "failed to setup node ID: specified NodeID is invalid: {flaw}"
            ));
        }
        config.node_id = id.to_lowercase();
    }
    config.node_meta.extend(settings.node_meta.clone());
    Ok(())
}

/// Adds the services, checks and configuration entries of the configuration.
pub fn take_definitions(settings: &Settings, config: &mut Config) -> Result<(), String> {
    let mut errors = Errors::default();
    for tree in &settings.services {
        match definitions::service(tree) {
            Ok(service) => config.services.push(service),
            Err(error) => errors.push(error),
        }
    }
    for tree in &settings.checks {
        match definitions::check(tree) {
            Ok(check) => config.checks.push(check),
            Err(error) => errors.push(error),
        }
    }
    let entries = settings.config_entries.iter();
    config.config_entries = entries
        .map(|tree| tree.to_plain_json().to_string())
        .collect();
    if let Err(error) = config.entries() {
        errors.push(error);
    }
    errors.into_result()
}

/// Applies the settings that need no check.
pub fn take_values(settings: &Settings, config: &mut Config) {
    macro_rules! take {
        ($($field:ident)*) => { $(take!($field: settings.$field);)* };
        ($field:ident: $value:expr) => { config.$field = $value.unwrap_or(config.$field) };
    }
    take! {
        disable_http_unprintable_char_filter disable_kv_key_validation enable_debug enable_local_script_checks enable_script_checks
        kv_max_value_size log_json translate_wan_addrs txn_max_req_len use_cache use_streaming_backend
    }
    take!(connect: settings.connect_enabled);
    take!(ui: settings.ui_config_enabled);
    // The older key only switches the page on in later releases (1.22.md A6.r13).
    let turns_off = !config.version.has(Behaviour::UiKeyOnlyTurnsOn);
    take!(ui: settings.ui.filter(|on| *on || turns_off));
    let size = |given: Option<i64>| given.and_then(|size| usize::try_from(size).ok());
    take!(check_output_max_size: size(settings.check_output_max_size));
    take!(max_header_bytes: size(settings.max_header_bytes).filter(|bytes| *bytes > 0));
    // A negative limit means no limit, as 0 does.
    let connections = settings.http_max_conns_per_client;
    take!(http_max_conns_per_client: connections.map(|limit| usize::try_from(limit).unwrap_or(0)));
    take!(server_port: port(settings.ports_server));
    take!(serf_lan_port: port(settings.ports_serf_lan));
    take!(serf_wan_port: settings.ports_serf_wan.map(|given| port(Some(given))));
    config
        .block_endpoints
        .extend(settings.block_endpoints.clone());
    acl::take_acl(settings, &mut config.acl);
    telemetry::take_telemetry(settings, &mut config.telemetry);
    let mut headers: BTreeMap<_, _> = std::mem::take(&mut config.response_headers)
        .into_iter()
        .collect();
    headers.extend(settings.response_headers.clone());
    config.response_headers = headers.into_iter().collect();
}

/// A list of errors in Consul's form.
#[derive(Default)]
pub struct Errors(Vec<String>);

impl Errors {
    /// Adds an error.
    pub fn push(&mut self, error: String) {
        self.0.push(error);
    }

    /// Returns all errors as one text, if there are any.
    pub fn into_result(self) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (count, noun) = (
            self.0.len(),
            if self.0.len() == 1 { "error" } else { "errors" },
        );
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|error| format!("\t* {error}\n"))
            .collect();
        Err(format!("{count} {noun} occurred:\n{}\n", lines.concat()))
    }
}

fn check_datacenter(key: &str, name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err(format!("{key} cannot be empty"));
    }
    let allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    if !name.chars().all(allowed) {
        return Err(format!(
            "{key} cannot be {name:?}. Please use only [a-z0-9-_]"
        ));
    }
    Ok(())
}

/// Checks the metadata of the node against Consul's limits.
pub fn check_node_meta(meta: &BTreeMap<String, String>) -> Result<(), String> {
    match proconsul_store::meta::flaw(meta) {
        Some(flaw) => Err(format!("node_meta invalid: {flaw}")),
        None => Ok(()),
    }
}

fn bootstrap(
    settings: &Settings,
    config: &Config,
    warnings: &mut Vec<String>,
) -> Result<bool, String> {
    let (dev, server) = (config.dev, config.server);
    let expected = settings.bootstrap_expect.unwrap_or(0);
    if expected < 0 {
        return Err(format!(
            "bootstrap_expect cannot be {expected}. Must be greater than or equal to zero"
        ));
    }
    if expected > 1 && dev {
        return Err("'bootstrap_expect > 0' not allowed in dev mode".to_owned());
    }
    if expected > 1 && settings.bootstrap == Some(true) {
        return Err(
            "'bootstrap_expect > 0' and 'bootstrap = true' are mutually exclusive".to_owned(),
        );
    }
    let bootstrap = settings.bootstrap.unwrap_or(false) || expected == 1;
    if bootstrap && !server {
        return Err("'bootstrap = true' requires 'server = true'".to_owned());
    }
    if expected > 1 && !server {
        return Err("'bootstrap_expect > 0' requires 'server = true'".to_owned());
    }
    if expected == 1 {
        warnings
            .push("BootstrapExpect is set to 1; this is the same as Bootstrap mode.".to_owned());
    }
    if bootstrap {
        warnings.push("bootstrap = true: do not enable unless necessary".to_owned());
    }
    if expected > 1 {
        warnings.push(format!(
            "bootstrap_expect > 0: expecting {expected} servers"
        ));
    }
    if !dev && !bootstrap {
        warnings.push(
            "Consul would wait for other servers now; proconsul is the only one, and leads at once"
                .to_owned(),
        );
    }
    Ok(bootstrap)
}

pub(crate) fn bind_address(settings: &Settings, default: IpAddr) -> Result<IpAddr, String> {
    let Some(text) = &settings.bind_addr else {
        return Ok(default);
    };
    let expanded = address::expand(text).map_err(|error| format!("bind_addr: {error}"))?;
    match expanded.split_whitespace().collect::<Vec<_>>()[..] {
        [one] => one.parse().map_err(|_| "bind_addr cannot be empty".to_owned()),
        [] => Err("bind_addr cannot be empty".to_owned()),
        _ => Err("bind_addr cannot contain multiple addresses. Use 'addresses.{dns,http,https}' instead.".to_owned()),
    }
}

pub(crate) fn advertise_address(
    settings: &Settings,
    bind_address: IpAddr,
    errors: &mut Errors,
) -> Result<IpAddr, String> {
    let of_this_machine = || match bind_address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address::of_this_machine(IpVersion::Four),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address::of_this_machine(IpVersion::Six),
        given => given,
    };
    let Some(text) = settings
        .advertise_addr
        .as_ref()
        .filter(|text| !text.trim().is_empty())
    else {
        return Ok(of_this_machine());
    };
    let expanded = address::expand(text).map_err(|error| format!("advertise_addr: {error}"))?;
    match expanded.trim().parse::<IpAddr>() {
        Ok(address) if address.is_unspecified() => {
            Err("Advertise address cannot be 0.0.0.0, :: or [::]".to_owned())
        }
        Ok(address) => Ok(address),
        Err(_) => {
            // Once for the LAN and once for the WAN.
            errors.push(format!("advertise_addr: invalid ip address: {expanded}"));
            errors.push(format!("advertise_addr: invalid ip address: {expanded}"));
            Ok(bind_address)
        }
    }
}

fn networks(texts: &[String], errors: &mut Errors) -> Vec<Network> {
    let mut networks = Vec::new();
    for text in texts {
        let network = text.split_once('/').and_then(|(address, prefix)| {
            Network::new(address.parse().ok()?, prefix.parse().ok()?)
        });
        match network {
            Some(network) => networks.push(network),
            None => errors.push(format!("allow_write_http_from: invalid cidr: {text}")),
        }
    }
    networks
}

/// Parses a duration into nanoseconds. An invalid one replaces all errors before it, as in Consul.
fn duration_of(key: &str, text: Option<&str>, errors: &mut Errors) -> Option<i64> {
    let text = text?;
    match duration::parse(text) {
        Ok(nanoseconds) => Some(nanoseconds),
        Err(error) => {
            let error = error.message(DurationQuotes::Bare);
            *errors = Errors(vec![format!("{key}: invalid duration: {text:?}: {error}")]);
            None
        }
    }
}

fn nanoseconds(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

fn port(port: Option<i64>) -> Option<u16> {
    port.and_then(|port| u16::try_from(port).ok())
        .filter(|port| *port > 0)
}

fn undiscoverable(name: &str) -> Option<String> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let warning = || {
        format!(
            "Node name {name:?} will not be discoverable via DNS due to invalid characters. \
             Valid characters include all alpha-numerics and dashes."
        )
    };
    (!name.chars().all(allowed)).then(warning)
}

fn log_level(settings: &Settings, default: LogLevel) -> Result<LogLevel, String> {
    let Some(text) = &settings.log_level else {
        return Ok(default);
    };
    match &text.to_uppercase()[..] {
        "TRACE" => Ok(LogLevel::Trace),
        "DEBUG" => Ok(LogLevel::Debug),
        "INFO" => Ok(LogLevel::Info),
        "WARN" => Ok(LogLevel::Warn),
        "ERR" | "ERROR" => Ok(LogLevel::Error),
        _ => Err(format!(
            "Invalid log level: {text}. Valid log levels are: [TRACE DEBUG INFO WARN ERR ERROR]"
        )),
    }
}

fn shown_ports(settings: &Settings, ports: listen::Ports) -> ShownPorts {
    let served = |port: Option<u16>| port.map_or(-1, i64::from);
    let shown = |port: Option<i64>, default: i64| match port.unwrap_or(default) {
        off if off <= 0 => -1,
        port => port,
    };
    ShownPorts {
        dns: served(ports.dns),
        http: served(ports.http),
        https: served(ports.https),
        serf_lan: shown(settings.ports_serf_lan, 8301),
        serf_wan: shown(settings.ports_serf_wan, 8302),
    }
}

#[cfg(test)]
mod tests;
