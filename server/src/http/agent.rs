//! `/v1/agent/` and `/v1/status/`: what the agent says of itself (session.md 4.1, 4.5; 1.22.md B4.4).

use serde_json::{Map, Value, json};

use super::reply::Reply;
use super::request::Request;
use crate::config::Config;
use crate::version::{BUILD_DATE, Behaviour};

/// The address of the leader: this agent's RPC address.
pub(crate) fn leader(request: &Request) -> Reply {
    Reply::json(request, &rpc_address(&request.context.config))
}

/// The addresses of all servers.
pub(crate) fn peers(request: &Request) -> Reply {
    Reply::json(request, &[rpc_address(&request.context.config)])
}

fn rpc_address(config: &Config) -> String {
    std::net::SocketAddr::new(config.advertise_address, config.server_port).to_string()
}

/// All members of the cluster: this agent.
pub(crate) fn members(request: &Request) -> Reply {
    Reply::json(request, &[member(request)])
}

/// What the agent is and how it was configured; of the statistics, those that tools look at.
pub(crate) fn this_agent(request: &Request) -> Reply {
    let config = &request.context.config;
    let version = config.version.to_string();
    let applied = request.context.engine.snapshot().applied().to_string();
    let answer = json!({
        "Config": own_config(request),
        "DebugConfig": debug_config(config),
        "Coord": {"Vec": [0, 0, 0, 0, 0, 0, 0, 0], "Error": 1.5, "Adjustment": 0, "Height": 0.000_01},
        "Member": member(request),
        "Stats": {
            "agent": {"check_monitors": "0", "check_ttls": "0", "checks": "0", "services": "0"},
            "build": {"prerelease": "", "revision": "", "version": version},
            "consul": {
                "acl": "disabled",
                "bootstrap": "false",
                "known_datacenters": "1",
                "leader": "true",
                "leader_addr": rpc_address(config),
                "server": config.server.to_string(),
            },
            "raft": {"applied_index": applied, "commit_index": applied, "last_log_index": applied,
                "num_peers": "0", "state": "Leader"},
            "runtime": {"arch": std::env::consts::ARCH, "os": std::env::consts::OS},
            "serf_lan": {"failed": "0", "health_score": "0", "left": "0", "members": "1"},
            "serf_wan": {"failed": "0", "health_score": "0", "left": "0", "members": "1"},
        },
        "Meta": own_meta(config),
    });
    Reply::json(request, &answer)
}

fn own_config(request: &Request) -> Value {
    let config = &request.context.config;
    let mut own = Map::new();
    own.insert("Datacenter".into(), config.datacenter.clone().into());
    if request.has(Behaviour::JsonAgentSelfPrimaryDatacenter) {
        let primary = config.primary_datacenter.clone();
        own.insert("PrimaryDatacenter".into(), primary.into());
    }
    own.insert("NodeName".into(), config.node_name.clone().into());
    own.insert("NodeID".into(), config.node_id.clone().into());
    own.insert("Revision".into(), "".into());
    own.insert("Server".into(), config.server.into());
    own.insert("Version".into(), config.version.to_string().into());
    if request.has(Behaviour::JsonAgentSelfBuildDate) {
        own.insert("BuildDate".into(), BUILD_DATE.into());
    }
    if request.has(Behaviour::JsonAgentSelfBindAddress) {
        own.insert("BindAddr".into(), config.bind_address.to_string().into());
    }
    own.into()
}

/// The settings that clients read from here and find nowhere else.
fn debug_config(config: &Config) -> Value {
    let nanoseconds = crate::go::duration::format(
        i64::try_from(config.session_ttl_min.as_nanos()).unwrap_or(i64::MAX),
    );
    json!({
        "Datacenter": config.datacenter,
        "DevMode": config.dev,
        "KVMaxValueSize": config.kv_max_value_size,
        "NodeName": config.node_name,
        "PrimaryDatacenter": config.primary_datacenter,
        "ServerMode": config.server,
        "SessionTTLMin": nanoseconds,
        "TxnMaxReqLen": config.txn_max_req_len,
    })
}

/// What the node says of itself.
fn own_meta(config: &Config) -> Value {
    let mut meta = config.node_meta.clone();
    meta.insert("consul-network-segment".into(), String::new());
    json!(meta)
}

fn member(request: &Request) -> Value {
    let config = &request.context.config;
    let mut tags = json!({
        "acls": "0",
        "build": format!("{}:", config.version),
        "dc": config.datacenter,
        "ft_fs": "1",
        "id": config.node_id,
        "port": config.server_port.to_string(),
        "raft_vsn": "3",
        "role": "consul",
        "segment": "",
        "vsn": "2",
        "vsn_max": "3",
        "vsn_min": "2",
    });
    if let Some(port) = config.serf_wan_port {
        tags["wan_join_port"] = port.to_string().into();
    }
    json!({
        "Name": config.node_name,
        "Addr": config.advertise_address.to_string(),
        "Port": config.serf_lan_port,
        "Tags": tags,
        "Status": 1,
        "ProtocolMin": 1,
        "ProtocolMax": 5,
        "ProtocolCur": 2,
        "DelegateMin": 2,
        "DelegateMax": 5,
        "DelegateCur": 4,
    })
}
