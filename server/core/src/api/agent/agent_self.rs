//! `/v1/agent/self` and `/v1/agent/members`: the agent itself (operator.md 8).

use serde::Serialize;
use serde_json::{Value, json};

use crate::api::agent::debug::config::debug_config;
use crate::api::agent::failure;
use crate::api::cluster::coordinate;
use crate::api::cluster::status;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::reply::table::table;
use crate::request::Request;
use crate::request::selection::filter;
use proconsul_acl::{Question, Resource};
use proconsul_config::Config;
use proconsul_store::{Agent, CheckSource, Labels, ProbeTarget};
use proconsul_version::{BUILD_DATE, Behaviour};

/// The value of `?segment` that means all segments.
const ALL_SEGMENTS: &[u8] = b"_all";

/// Lists the members of the cluster, or of the pool of all datacenters: this agent.
pub(crate) fn members(request: &Request) -> Result<Reply, Failure> {
    let named = |segment: &[u8]| !segment.is_empty() && segment != ALL_SEGMENTS;
    let segment = named(request.query.get("segment"));
    let is_wan = !request.query.get("wan").is_empty();
    if segment && !is_wan {
        return Err(failure::no_segments());
    }
    if segment {
        return Err(failure::segment_of_wan());
    }
    request.check_partition()?;
    let mut rights = request.rights()?;
    let own = if is_wan {
        wan_member(request)
    } else {
        Some(member(request))
    };
    let mut rows = Vec::from_iter(own);
    rows.retain(|own| rights.sees(Question::read(Resource::Node, &own.name)));
    if request.has(Behaviour::AgentMembersFilter) {
        let filter = filter(request, Member::FILTER)?;
        rows.retain(|own| filter.keeps(own));
    }
    let version = request.version();
    let shown: Vec<Member<'_>> = rows.iter().map(|own| Member::new(own, version)).collect();
    Ok(rights.told_in(Reply::json(request, &shown)))
}

/// Returns the name of this agent in the pool of all datacenters.
fn wan_name(config: &Config) -> String {
    format!("{}.{}", config.node_name, config.datacenter)
}

/// Shows the agent and its configuration, with the statistics that tools read.
pub(crate) fn this_agent(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let member = member(request);
    let answer = object! {
        "Config" => own_config(request),
        "DebugConfig" => debug_config(&request.context),
        "Coord" => coordinate::unknown(),
        "Member" => Member::new(&member, request.version()),
        "Stats" => statistics(request),
        "Meta" => request.context.config.whole_node_meta(),
    };
    Ok(Reply::json(request, &answer))
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
        "Revision" => config.version.revision(),
        "Server" => config.server,
        "Version" => config.version.to_string(),
        "BuildDate" if request.has(Behaviour::JsonAgentSelfBuildDate) => BUILD_DATE,
        "BindAddr" if request.has(Behaviour::JsonAgentSelfBindAddress) =>
            config.bind_address.to_string(),
    }
}

/// The statistics, all of them texts. Like Consul's maps, a [`Value`] is printed in the order of its names. Go's runtime
/// does not run here, so its statistics are left out.
fn statistics(request: &Request) -> Value {
    let config = &request.context.config;
    let store = request.context.engine.snapshot();
    let applied = store.applied().to_string();
    let address = status::rpc_address(config);
    let voter = format!(
        "[{{Suffrage:Voter ID:{} Address:{address}}}]",
        request.context.node_id()
    );
    let (os, architecture) = request.context.engine.host().system();
    let mut statistics = json!({
        "agent": own_statistics(store.agent()),
        "build": {"prerelease": "", "revision": config.version.revision(), "version": config.version.to_string()},
        "consul": {"acl": if config.acl.enabled { "enabled" } else { "disabled" }, "bootstrap": "false", "known_datacenters": "1", "leader": "true",
            "leader_addr": address, "server": config.server.to_string()},
        "raft": {"applied_index": applied, "commit_index": applied, "fsm_pending": "0", "last_contact": "0",
            "last_log_index": applied, "last_log_term": "2", "last_snapshot_index": "0", "last_snapshot_term": "0",
            "latest_configuration": voter, "latest_configuration_index": "0", "num_peers": "0",
            "protocol_version": "3", "protocol_version_max": "3", "protocol_version_min": "0",
            "snapshot_version_max": "1", "snapshot_version_min": "0", "state": "Leader", "term": "2"},
        "runtime": {"arch": go_architecture(architecture), "os": os},
        "serf_lan": pool_statistics(),
    });
    if config.serf_wan_port.is_some() {
        statistics["serf_wan"] = pool_statistics();
    }
    if request.has(Behaviour::JsonDebugConfigNested) {
        statistics["build"]["version_metadata"] = "".into();
    }
    statistics
}

/// The numbers of the agent's own services and checks.
fn own_statistics(agent: &Agent) -> Value {
    let count = |is_counted: fn(&CheckSource) -> bool| {
        let checks = agent.checks().filter(|local| is_counted(&local.source));
        checks.count().to_string()
    };
    let is_script = |source: &CheckSource| match source {
        CheckSource::Probe { probe, .. } => matches!(probe.target, ProbeTarget::Script(_)),
        _ => false,
    };
    json!({
        "check_monitors": count(is_script),
        "check_ttls": count(|source| matches!(source, CheckSource::Ttl(_))),
        "checks": count(|_| true),
        "services": agent.services().count().to_string(),
    })
}

/// The statistics of a gossip pool with this agent alone.
fn pool_statistics() -> Value {
    json!({"coordinate_resets": "0", "encrypted": "false", "event_queue": "0", "event_time": "1", "failed": "0",
        "health_score": "0", "intent_queue": "0", "left": "0", "member_time": "1", "members": "1",
        "query_queue": "0", "query_time": "1"})
}

/// Returns Go's name for the machine's architecture.
fn go_architecture(name: &'static str) -> &'static str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// This agent as a member of the pool of all datacenters; `None` without a port for it.
fn wan_member(request: &Request) -> Option<PoolMember> {
    let config = &request.context.config;
    Some(pool_member(
        request,
        wan_name(config),
        config.serf_wan_port?,
        None,
    ))
}

/// This agent as a member of its datacenter, with its port for other datacenters (operator.md 8).
fn member(request: &Request) -> PoolMember {
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
) -> PoolMember {
    let config = &request.context.config;
    let mut tags = Labels::from(
        [
            ("acls", if config.acl.enabled { "1" } else { "0" }),
            (
                "build",
                &*format!("{}:{}", config.version, config.version.revision()),
            ),
            ("dc", &config.datacenter),
            ("ft_fs", "1"),
            ("id", &request.context.node_id()),
            ("port", &config.server_port.to_string()),
            ("raft_vsn", "3"),
            ("role", "consul"),
            ("segment", ""),
            ("vsn", "2"),
            ("vsn_max", "3"),
            ("vsn_min", "2"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    if config.version.has(Behaviour::AgentTagIntentions) {
        tags.insert("ft_si".to_owned(), "1".to_owned());
    }
    if let Some(port) = wan_join_port {
        tags.insert("wan_join_port".to_owned(), port.to_string());
    }
    PoolMember {
        name,
        address: config.advertise_address.to_string(),
        port: port.into(),
        tags: Some(tags),
    }
}

/// A member of a pool, which is alive.
struct PoolMember {
    name: String,
    address: String,
    port: i64,
    tags: Option<Labels>,
}

table! {
    /// A member of a pool.
    Member of member: PoolMember {
        "Name" => text(member.name),
        "Addr" => json(member.address),
        "Port" => number(member.port),
        "Tags" => labels(member.tags),
        "Status" => json(1),
        "ProtocolMin" => json(1),
        "ProtocolMax" => json(5),
        "ProtocolCur" => json(2),
        "DelegateMin" => json(2),
        "DelegateMax" => json(5),
        "DelegateCur" => json(4),
    }
}
