//! `/v1/agent/join/`. The only cluster is the agent's own, so only its own address can be joined.

use std::net::IpAddr;

use crate::api::agent::failure;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_config::Config;
use proconsul_gocompat::number;
use proconsul_version::Behaviour;

/// Joins a cluster. Any address but the agent's own fails as if no agent listened there (texts seen on 1.8.7). Nothing
/// is dialled, and no name is resolved.
pub(crate) fn join(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let config = &request.context.config;
    let of_area = if request.query.has("wan") {
        config.serf_wan_port
    } else {
        Some(config.serf_lan_port)
    };
    let asked = request.rest_text();
    match problem(&asked, config, of_area) {
        None => Ok(Reply::done(request)),
        Some(words) => Err(failure::not_joined(&words)),
    }
}

/// Returns Consul's text about an address that cannot be joined; `None` for the agent's own. `of_area` is the agent's
/// port for the LAN or WAN, if it has one.
fn problem(asked: &str, config: &Config, of_area: Option<u16>) -> Option<String> {
    // The name of a node may stand before its address.
    let address = asked.split_once('/').map_or(asked, |(_, address)| address);
    let (host, port) = host_and_port(address);
    let port = match port.map(number::parse_port).transpose() {
        Ok(port) => port.or(of_area).unwrap_or_default(),
        Err(error) => return Some(format!("Failed to resolve {asked}: {error}")),
    };
    let Some(ip) = resolved(host, config) else {
        return Some(format!(
            "Failed to resolve {asked}: lookup {host}: no such host"
        ));
    };
    if is_own(ip, config) && of_area == Some(port) {
        return None;
    }
    let socket = std::net::SocketAddr::new(ip, port);
    let joined = if config.version.has(Behaviour::AgentJoinNamesPort) {
        socket.to_string()
    } else {
        ip.to_string()
    };
    Some(format!(
        "Failed to join {joined}: dial tcp {socket}: connect: connection refused"
    ))
}

/// Splits an address into host and port. An IPv6 address may have brackets, and needs them before a port.
fn host_and_port(address: &str) -> (&str, Option<&str>) {
    let bracketed = address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    if let Some((host, rest)) = bracketed {
        return (host, rest.strip_prefix(':'));
    }
    match address.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (address, None),
    }
}

/// Resolves a host. Of names, only `localhost` and the agent's own are known.
fn resolved(host: &str, config: &Config) -> Option<IpAddr> {
    if host == "localhost" {
        return Some(IpAddr::from([127, 0, 0, 1]));
    }
    if host == config.node_name {
        return Some(config.advertise_address);
    }
    host.parse().ok()
}

fn is_own(ip: IpAddr, config: &Config) -> bool {
    let bound = config.bind_address;
    ip == config.advertise_address || ip == bound || (bound.is_unspecified() && ip.is_loopback())
}
