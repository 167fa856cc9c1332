//! `/v1/status/`: the leader and its peers (session.md 4.5, cluster.md 1.22).

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::routes;

routes! {
    "/v1/status/leader" [GET] => at_once(leader);
    "/v1/status/peers" [GET] => at_once(peers);
}

/// Shows the RPC address of the leader.
pub(crate) fn leader(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    Ok(Reply::json(
        request,
        &request.context.leader().rpc_address(),
    ))
}

/// Lists the addresses of all servers.
pub(crate) fn peers(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    let servers = request.context.servers();
    let peers: Vec<String> = servers.map(|(_, config)| config.rpc_address()).collect();
    Ok(Reply::json(request, &peers))
}
