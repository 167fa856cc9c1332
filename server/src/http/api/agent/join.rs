//! `/v1/agent/join/`: the cluster that can be joined is the agent's own, at its own address; nobody else listens anywhere.

use std::net::IpAddr;

use crate::config::Config;
use crate::go::number;
use crate::http::api::agent::failure;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;

/// Joins a cluster. An address that is not the agent's own refuses the connection, as it does where no agent is
/// (texts seen on 1.8.7); nothing is dialled and no name is looked up.
pub(crate) fn join(request: &Request) -> Result<Reply, Failure> {
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

/// Why nobody can be joined at an address, as Consul says it; none if it is the agent's own. The port of the area is none
/// where the agent has none for it.
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
    Some(format!(
        "Failed to join {ip}: dial tcp {socket}: connect: connection refused"
    ))
}

/// The host of an address, and the port if it has one. An address of the sixth version may stand in brackets, and has to
/// where a port follows.
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

/// The address of a host; of names only the agent's own are known.
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
