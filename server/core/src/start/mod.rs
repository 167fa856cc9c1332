//! The engine of a server: the agent comes up in it, and registers what its configuration defines.

mod acl;

use std::sync::Arc;
use std::time::Duration;

use crate::Reload;
use acl::{acl_start, may_write_own_node, start_acls};
use proconsul_config::Config;
use proconsul_config::definition::Defined;
use proconsul_engine::clock::{Clock, Rate};
use proconsul_engine::entropy::Entropy;
use proconsul_engine::history::History;
use proconsul_engine::host::Host;
use proconsul_engine::metrics::MetricsSettings;
use proconsul_engine::{Engine, rules_of};
use proconsul_gocompat::json::maps;
use proconsul_store::{
    AclStart, AgentCommand, ConfigWrite, Index, Labels, NewCheck, NewNode, NewService, OfAgent,
    Registration, Start, Store,
};
use proconsul_version::Behaviour;

/// The index of the last entry that a Consul writes before it registers itself; raft's own entries come first.
/// A user's first write then gets the same index as on Consul (kv.md 4.1); tests should not rely on it.
const FIRST_INDEX_DEV: Index = Index(10);
const FIRST_INDEX_LATE_DEV: Index = Index(14);
const FIRST_INDEX: Index = Index(5);

/// Returns an engine in which the agent's own node is registered, so that sessions can be created. `load` loads data into it
/// before the services and checks of the configuration are registered. `config` has its node id.
pub fn new_engine(
    host: Arc<dyn Host>,
    config: &Config,
    seed: u64,
    load: impl FnOnce(&Engine),
) -> Arc<Engine> {
    engine_on(Arc::new(config.clock(host)), config, seed, load)
}

/// Returns the engine of a datacenter beside another, whose clock it shares: see [`new_engine`]. They are to be joined.
pub fn engine_beside(first: &Engine, config: &Config, seed: u64) -> Arc<Engine> {
    engine_on(first.shared_clock(), config, seed, |_| ())
}

fn engine_on(
    clock: Arc<Clock>,
    config: &Config,
    seed: u64,
    load: impl FnOnce(&Engine),
) -> Arc<Engine> {
    let before = match (config.dev, config.version.has(Behaviour::StartWritesMore)) {
        (true, true) => FIRST_INDEX_LATE_DEV,
        (true, false) => FIRST_INDEX_DEV,
        (false, _) => FIRST_INDEX,
    };
    let entropy = Entropy::seeded(seed);
    let history = if config.control {
        History::keeping(config.history_capacity.max(1))
    } else {
        History::off()
    };
    let acls = acl_start(config);
    let before = Index(before.0 + acls.as_ref().map_or(0, AclStart::rows));
    let mut rules = rules_of(config.version);
    rules.virtual_addresses &= config.connect;
    let store = Store::new(rules, before);
    let metrics = metrics_settings(config, &clock);
    let engine = Engine::over(store, clock, entropy, history).with_metrics(metrics);
    if let Some(acls) = acls {
        start_acls(&engine, acls);
    }
    write_entries(config, &engine);
    start_agents(config, &engine, seed);
    load(&engine);
    register_definitions(config, &engine);
    Arc::new(engine)
}

/// Starts the agents, each with its own node.
fn start_agents(config: &Config, engine: &Engine, seed: u64) {
    let configs = config.of_agents();
    for (number, config) in configs.iter().enumerate() {
        let start = agent_start(config, seed.wrapping_add(number as u64));
        let started = engine.apply(OfAgent(number, start));
        started.expect("the agent's own node is in order");
    }
    if !config.is_lone() {
        let agents = configs
            .iter()
            .map(|config| (config.node_name.clone(), config.server));
        engine.begin_cluster(agents.collect());
    }
}

/// Returns how a server counts and measures. The intervals of a clock that runs are whole tens of seconds of the wall
/// clock's, those of one that stands still begin with it.
fn metrics_settings(config: &Config, clock: &Clock) -> MetricsSettings {
    let begun = clock.unix_nanos_of_epoch().rem_euclid(10_000_000_000);
    let begun = u64::try_from(begun).expect("a remainder is small");
    let stands = clock.rate() == Rate::FROZEN;
    MetricsSettings {
        begun: Duration::from_nanos(if stands { 0 } else { begun }),
        retention: config.telemetry.prometheus_retention_time,
        labels_requests: config.version.has(Behaviour::MetricsOfRequestsLabelled),
    }
}

/// Writes the configuration entries of the configuration. Those that contradict each other are left out, as Consul has it.
fn write_entries(config: &Config, engine: &Engine) {
    for entry in config.entries().unwrap_or_default() {
        let write = ConfigWrite {
            entry,
            cas: Some(Index::ZERO),
            skips_identical: false,
        };
        let _ = engine.apply(write);
    }
}

/// Registers the services and checks of the configuration. Invalid ones are left out: the command line and
/// `Builder::start` have refused them.
fn register_definitions(config: &Config, engine: &Engine) {
    let Defined {
        services, checks, ..
    } = config.defined();
    if services.is_empty() && checks.is_empty() {
        return;
    }
    engine
        .apply(AgentCommand::Configure { services, checks })
        .expect("a configuration is taken as far as it can be");
}

/// Reads a configuration again.
pub type Reread = Box<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// Returns what a reload does: it reads the configuration with `reread`, if given, and registers what that defines.
pub fn reload_of(engine: &Arc<Engine>, config: &Arc<Config>, reread: Option<Reread>) -> Reload {
    let (engine, config) = (Arc::clone(engine), Arc::clone(config));
    Reload::new(move || {
        let read = reread.as_ref().map(|reread| reread()).transpose()?;
        let Defined {
            services,
            checks,
            wrong,
        } = read.as_ref().unwrap_or(&config).defined();
        let command = AgentCommand::Reload {
            services,
            checks,
            keep: !config.dev,
        };
        engine
            .apply(command)
            .expect("a configuration is taken as far as it can be");
        // As 1.8.7 does: everything before the invalid definition is registered.
        wrong.map_or(Ok(()), |wrong| {
            Err(format!("Failed reloading {}: {}", wrong.part, wrong.text))
        })
    })
}

/// Returns the command that starts the agent of a server with this configuration.
fn agent_start(config: &Config, seed: u64) -> AgentCommand {
    let [by_leader, by_agent] = own_registrations(config);
    let start = Start {
        by_leader,
        by_agent,
        seed,
        output_interval: config.check_update_interval,
    };
    AgentCommand::Start(Box::new(start))
}

/// Returns the two registrations of an agent's node: the leader enters it, then the agent adds what the leader does not
/// know (session.md 4.1).
fn own_registrations(config: &Config) -> [Registration; 2] {
    // The leader knows of the agent's metadata only the version.
    let mut known = config.whole_node_meta();
    known.retain(|name, _| name == "consul-version");
    let node = NewNode {
        node: config.node_name.clone(),
        id: config.node_id.clone(),
        address: config.advertise_address.to_string(),
        datacenter: config.datacenter.clone(),
        tagged_addresses: None,
        meta: (!known.is_empty()).then_some(known),
        locality: None,
    };
    let service = NewService {
        id: "consul".into(),
        name: "consul".into(),
        port: i64::from(config.server_port),
        meta: Some(service_meta(config)),
        ..NewService::default()
    };
    let check = NewCheck {
        check_id: "serfHealth".into(),
        name: "Serf Health Status".into(),
        status: "passing".into(),
        output: "Agent alive and reachable".into(),
        ..NewCheck::default()
    };
    let by_leader = Registration {
        node: node.clone(),
        // Only servers have the service; a lone agent is one, whatever it says of itself.
        service: (config.server || config.is_lone()).then_some(service),
        checks: vec![check],
        ..Registration::default()
    };
    // Without the right to write its node, the agent cannot tell more than the leader knows (acl.md 11.5).
    let by_agent = Registration {
        node: match may_write_own_node(config) {
            true => NewNode {
                tagged_addresses: Some(config.tagged_addresses()),
                meta: Some(config.whole_node_meta()),
                ..node
            },
            false => node,
        },
        ..Registration::default()
    };
    [by_leader, by_agent]
}

fn service_meta(config: &Config) -> Labels {
    let version = config.version.to_string();
    let pairs = [
        ("non_voter", "false"),
        ("raft_version", "3"),
        ("read_replica", "false"),
        ("serf_protocol_current", "2"),
        ("serf_protocol_max", "5"),
        ("serf_protocol_min", "1"),
        ("version", version.as_str()),
    ];
    let mut meta = labels(&pairs);
    if !config.version.has(Behaviour::CatalogReadReplica) {
        meta.remove("read_replica");
    }
    meta
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    maps::collect(pairs.iter().map(owned))
}
