//! `/v1/agent/self` and `/v1/agent/members`: the agent itself (operator.md 8).

use serde::Serialize;
use serde_json::{Value, json};

use crate::Context;
use crate::api::agent::debug::config::debug_config;
use crate::api::agent::failure;
use crate::api::cluster::coordinate;
use crate::failure::Failure;
use crate::pipeline::context::datacenters::Datacenter;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::reply::table::table;
use crate::request::Request;
use crate::request::selection::filter;
use proconsul_acl::{Question, Resource};
use proconsul_config::Config;
use proconsul_gocompat::duration;
use proconsul_store::{Agent, CheckSource, Cluster, Labels, ProbeTarget};
use proconsul_version::{BUILD_DATE, Behaviour};

/// The value of `?segment` that means all segments.
const ALL_SEGMENTS: &[u8] = b"_all";

/// Lists the members of the datacenter, or of the pool of all datacenters.
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
    let context = &request.context;
    if is_wan && !context.config.server && !context.is_lone() {
        return Ok(Reply::json(request, &None::<()>));
    }
    let mut rows: Vec<_> = match is_wan {
        true => wan_members(context),
        false => (0..context.configs.len())
            .map(|agent| member(context, agent))
            .collect(),
    };
    // The own entry comes first: the others' order is not Consul's, which is random.
    let own = rows
        .iter()
        .position(|row| row.datacenter == context.config.datacenter && row.agent == context.agent);
    rows[..own.map_or(0, |own| own + 1)].rotate_right(1);
    rows.retain(|own| rights.sees(Question::read(Resource::Node, &own.name)));
    if request.has(Behaviour::AgentMembersFilter) {
        let filter = filter(request, Member::FILTER)?;
        rows.retain(|own| filter.keeps(own));
    }
    let version = request.version();
    let shown: Vec<Member<'_>> = rows.iter().map(|own| Member::new(own, version)).collect();
    Ok(rights.told_in(Reply::json(request, &shown)))
}

/// Shows the agent and its configuration, with the statistics that tools read.
pub(crate) fn this_agent(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let member = member(&request.context, request.context.agent);
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
    let (agent, cluster) = (request.context.agent, store.cluster());
    let leads = cluster.leader() == Some(agent);
    let leader = match cluster.has_leader(agent) {
        true => request.context.leader().rpc_address(),
        false => String::new(),
    };
    let voters = request.context.servers().map(|(number, config)| {
        let (id, address) = (store.agent(number).node_id(), config.rpc_address());
        format!("{{Suffrage:Voter ID:{id} Address:{address}}}")
    });
    let voters = format!("[{}]", voters.collect::<Vec<_>>().join(" "));
    let peers = request.context.servers().count() - 1;
    let last_contact = match request.context.engine.contact(agent).last {
        _ if leads => "0".to_owned(),
        last => duration::format(i64::try_from(last.as_nanos()).unwrap_or(i64::MAX)),
    };
    let (os, architecture) = request.context.engine.host().system();
    let mut statistics = json!({
        "agent": own_statistics(store.agent(request.context.agent)),
        "build": {"prerelease": "", "revision": config.version.revision(), "version": config.version.to_string()},
        "consul": {"acl": if config.acl.enabled { "enabled" } else { "disabled" }, "bootstrap": "false", "known_datacenters": request.context.datacenters().len().to_string(), "leader": leads.to_string(),
            "leader_addr": leader, "server": config.server.to_string()},
        "raft": {"applied_index": applied, "commit_index": applied, "fsm_pending": "0", "last_contact": last_contact,
            "last_log_index": applied, "last_log_term": "2", "last_snapshot_index": "0", "last_snapshot_term": "0",
            "latest_configuration": voters, "latest_configuration_index": "0", "num_peers": peers.to_string(),
            "protocol_version": "3", "protocol_version_max": "3", "protocol_version_min": "0",
            "snapshot_version_max": "1", "snapshot_version_min": "0", "state": if leads { "Leader" } else { "Follower" }, "term": "2"},
        "runtime": {"arch": go_architecture(architecture), "os": os},
        "serf_lan": pool_statistics(request.context.configs.len()),
    });
    if config.serf_wan_port.is_some() {
        statistics["serf_wan"] = pool_statistics(wan_members(&request.context).len());
    }
    if !config.server && !config.is_lone() {
        let servers = request.context.servers().count().to_string();
        let acl = statistics["consul"]["acl"].take();
        statistics["consul"] = json!({"acl": acl, "known_servers": servers, "server": "false"});
        statistics.as_object_mut().map(|all| all.remove("raft"));
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

/// The statistics of a gossip pool of this many agents.
fn pool_statistics(members: usize) -> Value {
    json!({"coordinate_resets": "0", "encrypted": "false", "event_queue": "0", "event_time": "1", "failed": "0",
        "health_score": "0", "intent_queue": "0", "left": "0", "member_time": "1", "members": members.to_string(),
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

/// Returns the members of the pool of all datacenters: their servers.
fn wan_members(context: &Context) -> Vec<PoolMember> {
    let now = context.engine.clock().now();
    let of_datacenter = |there: &Context| -> Vec<PoolMember> {
        let is_own = there.config.datacenter == context.config.datacenter;
        let cluster = there.engine.cluster();
        let servers = there.all_servers();
        let member = |(agent, config): (usize, &Config)| {
            let away = match is_own {
                true => cluster.members().get(agent).and_then(|member| member.away),
                false => cluster
                    .parted(agent)
                    .into_iter()
                    .chain(context.parted())
                    .min(),
            };
            let has_failed = away.is_some_and(|since| Cluster::is_noticed_by_all(since, now));
            let port = config.serf_wan_port?;
            let member = pool_member(there, agent, config.wan_name(), port, None);
            Some(PoolMember {
                has_failed,
                ..member
            })
        };
        servers.filter_map(member).collect()
    };
    let others = context.joined.all().iter().filter_map(Datacenter::first);
    let others: Vec<_> = others.collect();
    match others.is_empty() {
        true => of_datacenter(context),
        false => others
            .iter()
            .flat_map(|there| of_datacenter(there))
            .collect(),
    }
}

/// An agent as a member of its datacenter, with its port for other datacenters (operator.md 8).
fn member(context: &Context, agent: usize) -> PoolMember {
    let config = &context.configs[agent];
    let name = config.node_name.clone();
    pool_member(
        context,
        agent,
        name,
        config.serf_lan_port,
        config.serf_wan_port,
    )
}

/// An agent as a member of a pool.
fn pool_member(
    context: &Context,
    agent: usize,
    name: String,
    port: u16,
    wan_join_port: Option<u16>,
) -> PoolMember {
    let config = &context.configs[agent];
    let store = context.engine.snapshot();
    let members = store.cluster().members();
    let text = |value: &str| value.to_owned();
    let mut tags = Labels::from(
        [
            (
                "build",
                format!("{}:{}", config.version, config.version.revision()),
            ),
            ("dc", config.datacenter.clone()),
            ("id", store.agent(agent).node_id()),
            ("segment", String::new()),
            ("vsn", text("2")),
            ("vsn_max", text("3")),
            ("vsn_min", text("2")),
        ]
        .map(|(name, value)| (text(name), value)),
    );
    let is_client = !config.server && !members.is_empty();
    if !is_client || !config.version.has(Behaviour::AgentClientWithoutAclsTag) {
        let acls = text(if config.acl.enabled { "1" } else { "0" });
        tags.insert(text("acls"), acls);
    }
    if is_client {
        tags.insert(text("role"), text("node"));
    } else {
        tags.extend(
            [
                ("ft_fs", text("1")),
                ("port", config.server_port.to_string()),
                ("raft_vsn", text("3")),
                ("role", text("consul")),
            ]
            .map(|(name, value)| (text(name), value)),
        );
        if !members.is_empty() {
            tags.insert(text("expect"), context.all_servers().count().to_string());
        }
    }
    if config.version.has(Behaviour::AgentTagIntentions) && !is_client {
        tags.insert("ft_si".to_owned(), "1".to_owned());
    }
    if let Some(port) = wan_join_port.filter(|_| !is_client) {
        tags.insert("wan_join_port".to_owned(), port.to_string());
    }
    PoolMember {
        datacenter: config.datacenter.clone(),
        agent,
        has_failed: members.get(agent).is_some_and(|member| member.has_failed),
        has_left: members.get(agent).is_some_and(|member| member.has_left),
        name,
        address: config.advertise_address.to_string(),
        port: port.into(),
        tags: Some(tags),
    }
}

/// A member of a pool.
struct PoolMember {
    datacenter: String,
    agent: usize,
    has_failed: bool,
    has_left: bool,
    name: String,
    address: String,
    port: i64,
    tags: Option<Labels>,
}

/// The number of Serf for what a member is: alive, left or failed.
fn status(member: &PoolMember) -> u8 {
    match (member.has_left, member.has_failed) {
        (true, _) => 3,
        (false, true) => 4,
        (false, false) => 1,
    }
}

table! {
    /// A member of a pool.
    Member of member: PoolMember {
        "Name" => text(member.name),
        "Addr" => json(member.address),
        "Port" => number(member.port),
        "Tags" => labels(member.tags),
        "Status" => json(status(member)),
        "ProtocolMin" => json(1),
        "ProtocolMax" => json(5),
        "ProtocolCur" => json(2),
        "DelegateMin" => json(2),
        "DelegateMax" => json(5),
        "DelegateCur" => json(4),
    }
}
