//! `/v1/agent/`: the agent itself (session.md 4.1, 4.5; 1.22.md B4.4).

pub(crate) mod change;
pub(crate) mod cluster;
pub(crate) mod failure;
pub(crate) mod health;
pub(crate) mod join;
pub(crate) mod local;
pub(crate) mod wire;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::Config;
use crate::http::api::coordinate;
use crate::http::api::status;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::version::{BUILD_DATE, Behaviour};

routes! {
    "/v1/agent/self" [GET] => at_once(|request| Ok(this_agent(request)));
    "/v1/agent/members" [GET] => at_once(members);
    "/v1/agent/reload" [PUT] => at_once(change::reload);
    "/v1/agent/maintenance" [PUT] => at_once(change::node_maintenance);
    "/v1/agent/metrics" [GET] => at_once(cluster::metrics);
    "/v1/agent/host" [GET] => at_once(|request| Ok(cluster::host(request)));
    "/v1/agent/version" [GET] => at_once(|request| Ok(cluster::version(request))), since Behaviour::AgentVersion;
    "/v1/agent/join/" [PUT] => at_once(join::join);
    "/v1/agent/leave" [PUT] => at_once(|request| Ok(cluster::leave(request)));
    "/v1/agent/force-leave/" [PUT] => at_once(cluster::force_leave);
    "/v1/agent/token/" [PUT] => at_once(|_| cluster::token());
    "/v1/agent/checks" [GET] => at_once(local::checks);
    "/v1/agent/check/register" [PUT] => waits(change::register_check);
    "/v1/agent/check/deregister/" [PUT] => at_once(change::deregister_check);
    "/v1/agent/check/pass/" [PUT] => at_once(|request| change::report(request, "passing"));
    "/v1/agent/check/warn/" [PUT] => at_once(|request| change::report(request, "warning"));
    "/v1/agent/check/fail/" [PUT] => at_once(|request| change::report(request, "critical"));
    "/v1/agent/check/update/" [PUT] => waits(change::update);
    "/v1/agent/services" [GET] => at_once(local::services);
    "/v1/agent/health/service/id/" [GET] => at_once(health::by_id);
    "/v1/agent/health/service/name/" [GET] => at_once(health::by_name);
    "/v1/agent/service/register" [PUT] => waits(change::register_service);
    "/v1/agent/service/deregister/" [PUT] => at_once(change::deregister_service);
    "/v1/agent/service/maintenance/" [PUT] => at_once(change::service_maintenance);
    "/v1/agent/service/" [GET] => waits(&local::service);
}

/// The value of `?segment` that means all segments.
const ALL_SEGMENTS: &[u8] = b"_all";

/// Lists the members of the cluster, or of the pool of all datacenters: this agent.
pub(crate) fn members(request: &Request) -> Result<Reply, Failure> {
    let named = |segment: &[u8]| !segment.is_empty() && segment != ALL_SEGMENTS;
    let segment = named(request.query.get("segment"));
    if request.query.get("wan").is_empty() {
        if segment {
            return Err(failure::no_segments());
        }
        return Ok(Reply::json(request, &[member(request)]));
    }
    if segment {
        return Err(failure::segment_of_wan());
    }
    Ok(Reply::json(request, &Vec::from_iter(wan_member(request))))
}

/// Shows the agent and its configuration, with the statistics that tools read.
pub(crate) fn this_agent(request: &Request) -> Reply {
    let answer = object! {
        "Config" => own_config(request),
        "DebugConfig" => debug_config(&request.context.config),
        "Coord" => coordinate::unknown(),
        "Member" => member(request),
        "Stats" => statistics(request),
        "Meta" => own_meta(&request.context.config),
    };
    Reply::json(request, &answer)
}

/// The part of agent/self that clients rely on. Its fields depend on the release (`json.agent_self`).
fn own_config(request: &Request) -> impl Serialize {
    let config = &request.context.config;
    object! {
        "Datacenter" => &config.datacenter,
        "PrimaryDatacenter" if request.has(Behaviour::JsonAgentSelfPrimaryDatacenter) =>
            &config.primary_datacenter,
        "NodeName" => &config.node_name,
        "NodeID" => request.context.node_id(),
        "Revision" => "",
        "Server" => config.server,
        "Version" => config.version.to_string(),
        "BuildDate" if request.has(Behaviour::JsonAgentSelfBuildDate) => BUILD_DATE,
        "BindAddr" if request.has(Behaviour::JsonAgentSelfBindAddress) =>
            config.bind_address.to_string(),
    }
}

/// The statistics. Like Consul's maps, a [`Value`] is printed in the order of its names.
fn statistics(request: &Request) -> Value {
    let config = &request.context.config;
    let applied = request.context.engine.snapshot().applied().to_string();
    json!({
        "agent": {"check_monitors": "0", "check_ttls": "0", "checks": "0", "services": "0"},
        "build": {"prerelease": "", "revision": "", "version": config.version.to_string()},
        "consul": {
            "acl": "disabled",
            "bootstrap": "false",
            "known_datacenters": "1",
            "leader": "true",
            "leader_addr": status::rpc_address(config),
            "server": config.server.to_string(),
        },
        "raft": {"applied_index": applied, "commit_index": applied, "last_log_index": applied,
            "num_peers": "0", "state": "Leader"},
        "runtime": {"arch": go_architecture(), "os": std::env::consts::OS},
        "serf_lan": {"failed": "0", "health_score": "0", "left": "0", "members": "1"},
        "serf_wan": {"failed": "0", "health_score": "0", "left": "0", "members": "1"},
    })
}

/// Returns Go's name for the machine's architecture.
fn go_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The settings that clients find only here.
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

/// The node's metadata.
fn own_meta(config: &Config) -> Value {
    let mut meta = config.node_meta.clone();
    meta.insert("consul-network-segment".into(), String::new());
    json!(meta)
}

/// This agent as a member of the pool of all datacenters; `None` without a port for it.
fn wan_member(request: &Request) -> Option<impl Serialize> {
    let config = &request.context.config;
    let name = format!("{}.{}", config.node_name, config.datacenter);
    Some(pool_member(request, name, config.serf_wan_port?, None))
}

/// This agent as a member of its datacenter, with its port for other datacenters (operator.md 8).
fn member(request: &Request) -> impl Serialize {
    let config = &request.context.config;
    let name = config.node_name.clone();
    pool_member(request, name, config.serf_lan_port, config.serf_wan_port)
}

/// This agent as a living member of a pool.
fn pool_member(
    request: &Request,
    name: String,
    port: u16,
    wan_join_port: Option<u16>,
) -> impl Serialize + use<> {
    let config = &request.context.config;
    let mut tags = json!({
        "acls": "0",
        "build": format!("{}:", config.version),
        "dc": config.datacenter,
        "ft_fs": "1",
        "id": request.context.node_id(),
        "port": config.server_port.to_string(),
        "raft_vsn": "3",
        "role": "consul",
        "segment": "",
        "vsn": "2",
        "vsn_max": "3",
        "vsn_min": "2",
    });
    if let Some(port) = wan_join_port {
        tags["wan_join_port"] = port.to_string().into();
    }
    object! {
        "Name" => name,
        "Addr" => config.advertise_address.to_string(),
        "Port" => port,
        "Tags" => tags,
        "Status" => 1,
        "ProtocolMin" => 1,
        "ProtocolMax" => 5,
        "ProtocolCur" => 2,
        "DelegateMin" => 2,
        "DelegateMax" => 5,
        "DelegateCur" => 4,
    }
}
