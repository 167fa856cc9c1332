//! `/v1/operator/autopilot/`: its settings, and the health of the servers (operator.md 1, cluster.md 1.24).

use http::Method;

use crate::body::durations::ReadableDuration;
use crate::body::time;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use crate::route::routes;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::maps;
use proconsul_gocompat::{duration, number};
use proconsul_store::{AutopilotInfo, AutopilotSettings, AutopilotWrite, Index, Store};
use proconsul_version::Behaviour;

routes! {
    "/v1/operator/autopilot/configuration" [GET PUT] asks operator => waits(configuration);
    "/v1/operator/autopilot/health" [GET] asks operator => at_once(health);
    "/v1/operator/autopilot/state" [GET] asks operator => at_once(state), since Behaviour::OperatorAutopilotState;
}

/// A second in nanoseconds.
const SECOND: i128 = 1_000_000_000;

go_struct! {
    /// The body of a new configuration.
    struct ConfigurationBody as "api.AutopilotConfiguration" {
        "CleanupDeadServers": bool => cleanup_dead_servers,
        "LastContactThreshold": Option<ReadableDuration> => last_contact_threshold,
        "MaxTrailingLogs": u64 => max_trailing_logs,
        "MinQuorum" is "uint": u64 => min_quorum,
        "ServerStabilizationTime": Option<ReadableDuration> => server_stabilization_time,
        "RedundancyZoneTag": String => redundancy_zone_tag,
        "DisableUpgradeMigration": bool => disable_upgrade_migration,
        "UpgradeVersionTag": String => upgrade_version_tag,
        "CreateIndex": u64,
        "ModifyIndex": u64,
    }
}

impl From<AutopilotSettings> for ConfigurationBody {
    fn from(settings: AutopilotSettings) -> Self {
        Self {
            cleanup_dead_servers: settings.cleanup_dead_servers,
            last_contact_threshold: Some(settings.last_contact_threshold_ns),
            max_trailing_logs: settings.max_trailing_logs,
            min_quorum: settings.min_quorum,
            server_stabilization_time: Some(settings.server_stabilization_time_ns),
            redundancy_zone_tag: settings.redundancy_zone_tag,
            disable_upgrade_migration: settings.disable_upgrade_migration,
            upgrade_version_tag: settings.upgrade_version_tag,
        }
    }
}

impl From<ConfigurationBody> for AutopilotSettings {
    fn from(body: ConfigurationBody) -> Self {
        Self {
            cleanup_dead_servers: body.cleanup_dead_servers,
            last_contact_threshold_ns: body.last_contact_threshold.unwrap_or_default(),
            max_trailing_logs: body.max_trailing_logs,
            min_quorum: body.min_quorum,
            server_stabilization_time_ns: body.server_stabilization_time.unwrap_or_default(),
            redundancy_zone_tag: body.redundancy_zone_tag,
            disable_upgrade_migration: body.disable_upgrade_migration,
            upgrade_version_tag: body.upgrade_version_tag,
        }
    }
}

/// Shows the settings, or replaces them.
async fn configuration(request: Request) -> Result<Reply, Failure> {
    if request.method == Method::PUT {
        return configure(request).await;
    }
    request.check_read()?;
    request.authorize()?;
    let Ok(answer) = request.context.engine.read(&AutopilotInfo);
    let row = answer.rows;
    let settings = row.settings;
    let shown = object! {
        "CleanupDeadServers" => settings.cleanup_dead_servers,
        "LastContactThreshold" => duration::format(settings.last_contact_threshold_ns),
        "MaxTrailingLogs" => settings.max_trailing_logs,
        "MinQuorum" => settings.min_quorum,
        "ServerStabilizationTime" => duration::format(settings.server_stabilization_time_ns),
        "RedundancyZoneTag" => settings.redundancy_zone_tag,
        "DisableUpgradeMigration" => settings.disable_upgrade_migration,
        "UpgradeVersionTag" => settings.upgrade_version_tag,
        "CreateIndex" => row.create_index.0,
        "ModifyIndex" => row.modify_index.0,
    };
    Ok(Reply::json(&request, &shown))
}

async fn configure(mut request: Request) -> Result<Reply, Failure> {
    let version = request.version();
    let refused = |what: &str, words: &str| {
        Failure::bad_request(&format!("Error parsing {what}: {words}"), version)
    };
    let settings = if request.has(Behaviour::OperatorAutopilotDefaults) {
        AutopilotSettings::default()
    } else {
        AutopilotSettings::ZERO
    };
    let sent = request.read_whole().await;
    let mut body = ConfigurationBody::from(settings);
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<ConfigurationBody>(sent, &mut body, rules);
    decoded.map_err(|words| refused("autopilot config", &words))?;
    let cas = request.query.first("cas").map(number::parse_uint);
    let cas = cas
        .transpose()
        .map_err(|error| refused("cas value", &error.message(version.go().unicode)))?;
    request.check_datacenter()?;
    request.authorize()?;
    let Ok(written) = request.context.engine.apply(AutopilotWrite {
        settings: body.into(),
        cas: cas.map(Index),
    });
    Ok(Reply::boolean(&request, written))
}

/// Returns the moment since which this server is well: its start, in nanoseconds of the Unix epoch.
fn stable_since(request: &Request) -> i128 {
    request.context.engine.clock().unix_nanos_of_epoch()
}

/// Returns how many of these servers may fail before the others have no quorum.
fn failure_tolerance(store: &Store, servers: &[usize]) -> usize {
    let voters = servers
        .iter()
        .filter(|server| store.cluster().votes(**server));
    let healthy = voters.clone().filter(|server| is_healthy(store, **server));
    healthy.count().saturating_sub(voters.count() / 2 + 1)
}

fn is_healthy(store: &Store, server: usize) -> bool {
    let member = store.cluster().members().get(server);
    member.is_none_or(|member| !member.has_failed)
}

/// Returns how long ago the leader heard of a server, as the leader says it.
fn last_contact(request: &Request, server: usize) -> String {
    let last = request.context.engine.contact(server).last;
    duration::format(i64::try_from(last.as_nanos()).unwrap_or(i64::MAX))
}

/// Shows the health of all servers.
fn health(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    request.authorize()?;
    let since = stable_since(request);
    let store = request.context.engine.snapshot();
    let servers = request.context.servers().map(|(agent, config)| {
        let is_healthy = is_healthy(&store, agent);
        object! {
            "ID" => store.agent(agent).node_id(),
            "Name" => &config.node_name,
            "Address" => config.rpc_address(),
            "SerfStatus" => if is_healthy { "alive" } else { "failed" },
            "Version" => config.version.to_string(),
            "Leader" => store.cluster().leader() == Some(agent),
            "LastContact" => last_contact(request, agent),
            "LastTerm" => 2,
            "LastIndex" => store.applied().0,
            "Healthy" => is_healthy,
            "Voter" => store.cluster().votes(agent),
            "StableSince" => time::format(since - since.rem_euclid(SECOND)),
        }
    });
    let servers: Vec<_> = servers.collect();
    let numbers: Vec<usize> = request.context.servers().map(|(agent, _)| agent).collect();
    let health = object! {
        "Healthy" => numbers.iter().all(|server| is_healthy(&store, *server)),
        "FailureTolerance" => failure_tolerance(&store, &numbers),
        "Servers" => servers,
    };
    Ok(Reply::json(request, &health))
}

/// Shows what autopilot knows of the servers.
fn state(request: &Request) -> Result<Reply, Failure> {
    request.check_read()?;
    request.authorize()?;
    let store = request.context.engine.snapshot();
    let leader = store.cluster().last_leader();
    let servers = request.context.servers().map(|(agent, config)| {
        let (id, is_healthy) = (store.agent(agent).node_id(), is_healthy(&store, agent));
        let status = match store.cluster().votes(agent) {
            true if agent == leader => "leader",
            true => "voter",
            false => "non-voter",
        };
        let server = object! {
            "ID" => id.clone(),
            "Name" => &config.node_name,
            "Address" => config.rpc_address(),
            "NodeStatus" => if is_healthy { "alive" } else { "failed" },
            "Version" => config.version.to_string(),
            "LastContact" => last_contact(request, agent),
            "LastTerm" => 2,
            "LastIndex" => store.applied().0,
            "Healthy" => is_healthy,
            "StableSince" => time::format(stable_since(request)),
            "ReadReplica" => false,
            "Status" => status,
            "Meta" => config.whole_node_meta(),
            "NodeType" => "voter",
        };
        (id, server)
    });
    let servers: Vec<_> = servers.collect();
    let numbers: Vec<usize> = request.context.servers().map(|(agent, _)| agent).collect();
    let voters = numbers
        .iter()
        .filter(|server| store.cluster().votes(**server));
    let voters: Vec<_> = voters
        .map(|server| store.agent(*server).node_id())
        .collect();
    let tolerance = failure_tolerance(&store, &numbers);
    let state = object! {
        "Healthy" => numbers.iter().all(|server| is_healthy(&store, *server)),
        "FailureTolerance" => tolerance,
        "OptimisticFailureTolerance" => tolerance,
        "Servers" => maps::collect(servers),
        "Leader" => store.agent(leader).node_id(),
        "Voters" => voters,
    };
    Ok(Reply::json(request, &state))
}
