//! `/v1/status/`: who leads, which is this agent (session.md 4.5).

use crate::config::Config;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{GET, Handler::AtOnce, Route, route};

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/status/leader", GET, AtOnce(leader)),
    route("/v1/status/peers", GET, AtOnce(peers)),
];

/// The address of the leader: this agent's RPC address.
pub(crate) fn leader(request: &Request) -> Result<Reply, Failure> {
    check_status_request(request)?;
    Ok(Reply::json(request, &rpc_address(&request.context.config)))
}

/// The addresses of all servers.
pub(crate) fn peers(request: &Request) -> Result<Reply, Failure> {
    check_status_request(request)?;
    let peers = [rpc_address(&request.context.config)];
    Ok(Reply::json(request, &peers))
}

/// Looks at the parameters of a read, though there is nothing to wait for.
fn check_status_request(request: &Request) -> Result<(), Failure> {
    request.read_options()?;
    request.check_datacenter()
}

pub(crate) fn rpc_address(config: &Config) -> String {
    std::net::SocketAddr::new(config.advertise_address, config.server_port).to_string()
}
