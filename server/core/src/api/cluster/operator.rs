//! `/v1/operator/`: the raft cluster, which is this server, and what is in use (operator.md 2).

use crate::body::query_meta::query_meta;
use crate::failure::{Failure, failures, quoted};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use crate::route::routes;
use proconsul_engine::blocking;
use proconsul_gocompat::json::maps;
use proconsul_store::{CatalogCounts, CatalogUsage, ClusterCommand};
use proconsul_version::{Behaviour, Version};

routes! {
    "/v1/operator/raft/configuration" [GET] asks operator => at_once(raft_configuration);
    "/v1/operator/raft/peer" [DELETE] asks operator => at_once(remove_peer);
    "/v1/operator/raft/transfer-leader" [POST] asks operator => at_once(transfer_leader), since Behaviour::OperatorTransferLeader;
    "/v1/operator/usage" [GET] asks operator => waits(&usage), since Behaviour::OperatorUsage;
    "/v1/operator/utilization" [] => at_once(utilization), since Behaviour::OperatorUtilization;
}

failures! {
    /// No server has this id or address.
    unknown_peer(what: &str, value: &[u8], version: Version) => 500,
        format!("{what} {} was not found in the Raft configuration", quoted(value, version));
    /// The last server cannot be removed.
    last_voter(need: &str) => 500, format!("{need} at least one voter in configuration: {{[]}}");
    /// No other server can lead.
    no_successor() => 500, "cannot find peer";
    /// No server has the id that is to lead.
    unknown_successor(id: &str) => 500, format!("Could not find address for server id {id}");
    /// Only Consul Enterprise measures its utilization.
    no_utilization() => 404, "operator utilization requires Consul Enterprise";
}

/// Neither the id nor the address of a server is given.
const NO_PEER: &str =
    "Must specify either ?id with the server's ID or ?address with IP:port of peer to remove";
/// Both are given.
const TWO_PEERS: &str = "Must specify only one of ?id or ?address";

/// Lists the servers of the cluster.
pub(crate) fn raft_configuration(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    request.authorize()?;
    let store = request.context.engine.snapshot();
    let servers = request.context.servers().map(|(agent, config)| {
        object! {
            "ID" => store.agent(agent).node_id(),
            "Node" => &config.node_name,
            "Address" => config.rpc_address(),
            "Leader" => store.cluster().leader() == Some(agent),
            "ProtocolVersion" => "3",
            "Voter" => store.cluster().votes(agent),
            "LastIndex" if request.has(Behaviour::RaftLastIndex) => store.applied().0,
        }
    });
    let configuration = object! {
        "Servers" => servers.collect::<Vec<_>>(),
        "Index" => 0,
    };
    Ok(Reply::json(request, &configuration))
}

/// Refuses to remove a server: others are unknown, and this one is the last.
fn remove_peer(request: &Request) -> Result<Reply, Failure> {
    let version = request.version();
    let (what, value) = match (request.query.first("id"), request.query.first("address")) {
        (None, None) => return Err(Failure::bad_request(NO_PEER, version)),
        (Some(_), Some(_)) => return Err(Failure::bad_request(TWO_PEERS, version)),
        (Some(id), None) => ("id", id),
        (None, Some(address)) => ("address", address),
    };
    request.check_datacenter()?;
    request.authorize()?;
    let own = match what {
        "id" => request.context.node_id(),
        _ => request.context.config.rpc_address(),
    };
    if value == own.as_bytes() {
        let need = match request.has(Behaviour::RaftTextsLower) {
            true => "need",
            false => "Need",
        };
        return Err(last_voter(need));
    }
    Err(unknown_peer(what, value, version))
}

/// Hands leadership over to another server, if there is one (cluster.md 3.9).
fn transfer_leader(request: &Request) -> Result<Reply, Failure> {
    request.check_datacenter()?;
    request.authorize()?;
    let id = String::from_utf8_lossy(request.query.get("id"));
    let (engine, store) = (&request.context.engine, request.context.engine.snapshot());
    let cluster = store.cluster();
    let id_of = |server: usize| store.agent(server).node_id();
    let servers = || request.context.servers().map(|(server, _)| server);
    if !id.is_empty() && !servers().any(|server| id_of(server) == id) {
        return Err(unknown_successor(&id));
    }
    let may_lead = |server: &usize| {
        let is_meant = id.is_empty() || id_of(*server) == id;
        is_meant && cluster.leader() != Some(*server) && cluster.is_connected(*server)
    };
    let successor = servers().find(may_lead).ok_or_else(no_successor)?;
    let Ok(()) = engine.apply(ClusterCommand::Lead(successor));
    Ok(Reply::json(request, &object! { "Success" => true, }))
}

/// Counts nodes and services. The datacenter of the query is ignored.
async fn usage(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let options = request.read_options()?;
    request.authorize_read()?;
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer(engine, &CatalogUsage, options.wait).await;
    let usage = object! {
        "Usage" => maps::collect([(
            &request.context.config.datacenter,
            counts(&answer.rows, request.version()),
        )]),
        ..query_meta(request, answer.index.0, true, options.consistency.name(), false)
    };
    Ok(Reply::json(request, &usage)
        .with_index(request, answer.index)
        .with_consistency(options.consistency))
}

/// Returns the numbers of one datacenter.
fn counts(counts: &CatalogCounts, version: Version) -> impl serde::Serialize {
    let of_kind = |kind: &str| counts.by_kind.get(kind).copied().unwrap_or_default();
    object! {
        "Services" => counts.services,
        "ServiceInstances" => counts.instances,
        "ConnectServiceInstances" => object! {
            "api-gateway" => of_kind("api-gateway"),
            "connect-native" => counts.native,
            "connect-proxy" => of_kind("connect-proxy"),
            "inference-gateway" if version.has(Behaviour::OperatorUsageInference) => 0,
            "ingress-gateway" => of_kind("ingress-gateway"),
            "mesh-gateway" => of_kind("mesh-gateway"),
            "terminating-gateway" => of_kind("terminating-gateway"),
        },
        "BillableServiceInstances" => counts.billable,
        "Nodes" if version.has(Behaviour::OperatorUsageNodes) => counts.nodes,
    }
}

/// Refuses, as the community edition does.
fn utilization(_: &Request) -> Result<Reply, Failure> {
    Err(no_utilization())
}
