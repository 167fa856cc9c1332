//! `/v1/operator/raft/configuration`: the voters, which test harnesses wait for.

use crate::http::api::cluster::status;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::version::Behaviour;

routes! {
    "/v1/operator/raft/configuration" [GET] asks operator => at_once(raft_configuration);
}

/// Lists the servers of the cluster: this one, the leader and a voter.
pub(crate) fn raft_configuration(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    request.authorize()?;
    let config = &request.context.config;
    let server = object! {
        "ID" => request.context.node_id(),
        "Node" => &config.node_name,
        "Address" => status::rpc_address(config),
        "Leader" => true,
        "ProtocolVersion" => "3",
        "Voter" => true,
        "LastIndex" if request.has(Behaviour::RaftLastIndex) =>
            request.context.engine.snapshot().applied().0,
    };
    let configuration = object! {
        "Servers" => [server],
        "Index" => 0,
    };
    Ok(Reply::json(request, &configuration))
}
