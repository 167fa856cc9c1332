//! `/v1/operator/raft/configuration`: who has a say, which harnesses wait for.

use serde::Serialize;

use crate::http::api::status;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{GET, Handler::AtOnce, Route, route};

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[route(
    "/v1/operator/raft/configuration",
    GET,
    AtOnce(raft_configuration),
)];

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration<'a> {
    servers: [Server<'a>; 1],
    index: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Server<'a> {
    #[serde(rename = "ID")]
    id: String,
    node: &'a str,
    address: String,
    leader: bool,
    protocol_version: &'static str,
    voter: bool,
}

/// The servers of the cluster: this one, which leads and votes.
pub(crate) fn raft_configuration(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_datacenter()?;
    let config = &request.context.config;
    let configuration = Configuration {
        servers: [Server {
            id: request.context.node_id(),
            node: &config.node_name,
            address: status::rpc_address(config),
            leader: true,
            protocol_version: "3",
            voter: true,
        }],
        index: 0,
    };
    Ok(Reply::json(request, &configuration))
}
