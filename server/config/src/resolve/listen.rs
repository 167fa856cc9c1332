//! The addresses of HTTP, HTTPS and DNS: `client_addr`, `addresses`, `ports`, and our flags for a free port.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::resolve::Errors;
use crate::resolve::address;
use crate::settings::Settings;
use crate::settings::flags::called;
use crate::{Config, Listener};

/// Consul's port for HTTP.
const DEFAULT_PORT: i64 = 8500;
/// Consul's port for DNS.
const DEFAULT_DNS_PORT: i64 = 8600;
/// The port for HTTPS that Consul's users choose.
const DEFAULT_HTTPS_PORT: i64 = 8501;

/// The ports of an agent; `None` for those that are off, and 0 for free ones.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// That of DNS.
    pub dns: Option<u16>,
    /// That of HTTP.
    pub http: Option<u16>,
    /// That of HTTPS.
    pub https: Option<u16>,
}

impl Ports {
    /// Returns the ports that the settings ask for. Invalid ones go to `errors`.
    pub fn of(settings: &Settings, errors: &mut Errors) -> Self {
        let dns = settings.ports_dns;
        let dns = dns.map(|port| valid_port("ports.dns", port, errors));
        let http = http_port(settings, errors);
        let https = https_port(settings, http, errors);
        let dns = dns.unwrap_or_else(|| dns_port_beside(http));
        Self { dns, http, https }
    }
}

/// Takes the addresses of DNS, HTTP and HTTPS. Returns `client_addr`, their default.
///
/// # Errors
/// Unknown templates, two listeners at one address, and a Unix socket for DNS. Other problems go to `errors`.
pub fn take_listeners(
    settings: &Settings,
    ports: Ports,
    errors: &mut Errors,
    config: &mut Config,
) -> Result<Vec<IpAddr>, String> {
    let client_addresses = client_addresses(settings, errors)?;
    let mut taken = BTreeMap::new();
    let given = hosts_of(
        "addresses.dns",
        &settings.addresses_dns,
        &client_addresses,
        errors,
    )?;
    config.dns.listeners = listeners("DNS", given, ports.dns, &mut taken)?
        .into_iter()
        .map(|listener| match listener {
            Listener::Tcp(address) => Ok(address),
            Listener::Unix(_) => Err("DNS address cannot be a unix socket".to_owned()),
        })
        .collect::<Result<_, _>>()?;
    let given = hosts_of(
        "addresses.http",
        &settings.addresses_http,
        &client_addresses,
        errors,
    )?;
    config.listeners = listeners("HTTP", given, ports.http, &mut taken)?;
    let given = hosts_of(
        "addresses.https",
        &settings.addresses_https,
        &client_addresses,
        errors,
    )?;
    config.https.listeners = listeners("HTTPS", given, ports.https, &mut taken)?;
    Ok(client_addresses)
}

/// Returns where a protocol is served, which is where no other of `taken` is.
fn listeners(
    protocol: &'static str,
    hosts: Vec<Host>,
    port: Option<u16>,
    taken: &mut BTreeMap<SocketAddr, &'static str>,
) -> Result<Vec<Listener>, String> {
    let Some(port) = port else {
        return Ok(Vec::new());
    };
    let mut listeners = Vec::new();
    for host in hosts {
        listeners.push(match host {
            Host::Unix(path) => Listener::Unix(path),
            Host::Ip(address) => {
                let address = SocketAddr::new(address, port);
                let other = taken.insert(address, protocol).filter(|_| port != 0);
                if let Some(other) = other {
                    return Err(format!(
                        "{protocol} address {address} already configured for {other}"
                    ));
                }
                Listener::Tcp(address)
            }
        });
    }
    Ok(listeners)
}

/// Returns the port of HTTP, 0 for a free one, or `None` if HTTP is off: Consul's 0 and negative numbers disable it.
fn http_port(settings: &Settings, errors: &mut Errors) -> Option<u16> {
    let given = settings.ports_http;
    if settings.http_port_ephemeral == Some(true)
        || (settings.port_file.is_some() && given.is_none())
    {
        return Some(0);
    }
    valid_port("ports.http", given.unwrap_or(DEFAULT_PORT), errors)
}

/// Returns the port of DNS that is not asked for: Consul's where HTTP is at Consul's, a free one where HTTP is, and else none,
/// so that several agents fit on one machine.
fn dns_port_beside(http: Option<u16>) -> Option<u16> {
    match http.map(i64::from) {
        Some(0) => Some(0),
        Some(DEFAULT_PORT) => u16::try_from(DEFAULT_DNS_PORT).ok(),
        _ => None,
    }
}

/// Returns the port of HTTPS, or `None` if it is off, as it is unless it is asked for. With `-https-dev` it is that which
/// Consul's documents use, or a free one where that of HTTP is.
fn https_port(settings: &Settings, http: Option<u16>, errors: &mut Errors) -> Option<u16> {
    match settings.ports_https {
        None if !asks_for_certificates(settings) => None,
        None if http == Some(0) => Some(0),
        given => valid_port("ports.https", given.unwrap_or(DEFAULT_HTTPS_PORT), errors),
    }
}

/// Whether certificates are to be made for HTTPS.
pub fn asks_for_certificates(settings: &Settings) -> bool {
    settings
        .https_dev
        .unwrap_or(settings.https_dev_dir.is_some())
}

fn valid_port(key: &str, port: i64, errors: &mut Errors) -> Option<u16> {
    if port <= 0 {
        return None;
    }
    let valid = u16::try_from(port);
    valid
        .map_err(|_| errors.push(format!("{key}: invalid port: {port}")))
        .ok()
}

/// Returns the addresses of the control port: its own, or else those of HTTP; empty without a control port.
///
/// # Errors
/// Our text about an invalid list of addresses.
pub fn control_addresses(
    settings: &Settings,
    client_addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, String> {
    let Some(text) = &settings.control_addr else {
        let has_port = settings.control_port.is_some();
        return Ok(if has_port {
            client_addresses.to_vec()
        } else {
            Vec::new()
        });
    };
    let name = called("control-addr", settings);
    let expanded = address::expand(text).map_err(|error| format!("{name}: {error}"))?;
    let address = |text: &str| {
        let address = text.parse();
        address.map_err(|_| {
            format!("{name}: invalid ip address: {text}; the port is given by -control-port")
        })
    };
    let addresses: Vec<_> = expanded
        .split_whitespace()
        .map(address)
        .collect::<Result<_, _>>()?;
    if addresses.is_empty() {
        return Err(format!(
            "{name}: expected an ip address, or several with blanks between them"
        ));
    }
    Ok(addresses)
}

/// Returns a warning if other machines reach the control plane: no token guards it.
pub fn open_control(config: &Config) -> Option<String> {
    let addresses = match config.control_port {
        Some(_) if !config.control_addresses.is_empty() => config.control_addresses.clone(),
        _ => config.http_addresses(),
    };
    let mut others = addresses.iter().filter(|address| !address.is_loopback());
    let address = others.next().filter(|_| config.control)?;
    Some(format!(
        "The control plane is served at {address}: whoever reaches it changes everything and reads the secrets of all \
         tokens (GET /proconsul/v1/state) without a token; -control-addr=127.0.0.1 serves it to this machine alone, at \
         a port of its own"
    ))
}

fn client_addresses(settings: &Settings, errors: &mut Errors) -> Result<Vec<IpAddr>, String> {
    let Some(text) = &settings.client_addr else {
        return Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    };
    let host = |text: &str| text.parse().ok();
    hosts("client_addr", text, host, errors)
}

enum Host {
    Ip(IpAddr),
    Unix(PathBuf),
}

/// Returns the hosts of a setting, or the default.
fn hosts_of(
    key: &str,
    given: &Option<String>,
    default: &[IpAddr],
    errors: &mut Errors,
) -> Result<Vec<Host>, String> {
    let given = given.as_ref();
    let Some(addresses) = given.filter(|addresses| !addresses.trim().is_empty()) else {
        return Ok(default.iter().copied().map(Host::Ip).collect());
    };
    let host = |text: &str| match text.strip_prefix("unix://") {
        Some(path) => Some(Host::Unix(PathBuf::from(path))),
        None => text.parse().ok().map(Host::Ip),
    };
    hosts(key, addresses, host, errors)
}

/// Parses a list of hosts. As in Consul, `errors` gets only the first invalid one.
fn hosts<H>(
    key: &str,
    list: &str,
    host: impl Fn(&str) -> Option<H>,
    errors: &mut Errors,
) -> Result<Vec<H>, String> {
    let expanded = address::expand(list).map_err(|error| format!("{key}: {error}"))?;
    let mut hosts = Vec::new();
    for text in expanded.split_whitespace() {
        let Some(host) = host(text) else {
            errors.push(if text.starts_with("unix://") {
                format!("{key} cannot be a unix socket")
            } else {
                format!("{key}: invalid ip address: {text}")
            });
            break;
        };
        hosts.push(host);
    }
    Ok(hosts)
}
