//! A running server, and what a test can do to it and learn about it that no client of Consul can.
//!
//! Everything is here once, as methods of [`Controls`]. Over HTTP the same is offered under `/proconsul/v1/`, for tests
//! in other languages.

mod acl;
mod address;
mod agents;
mod datacenters;
mod fault;
mod history;
#[cfg(feature = "control-http")]
pub mod http;
mod listeners;
#[cfg(feature = "control-http")]
mod servers;
mod state;
mod time;
mod wait;

use std::sync::Arc;

use datacenters::Joined;
use proconsul_acl::DefaultPolicy;
use proconsul_config::Config;
use proconsul_engine::faults::Faults;
use proconsul_engine::{Checkpoint, Engine};
use proconsul_version::Version;

pub use acl::{Acl, AclError, Permission, Token};
pub use address::{Address, Addresses, AgentAddresses, DatacenterAddresses, reachable};
pub use agents::{AgentHandle, AgentState};
pub use listeners::{ListenerError, Listeners, Restart};
#[doc(inline)]
pub use proconsul_engine::clock::{Rate, RateError};
#[doc(inline)]
pub use proconsul_engine::faults::Link;
#[doc(inline)]
pub use proconsul_engine::{Blocked, BlockedOn, Explanation, Lag, Unmet, WhyUnmet};
#[cfg(feature = "dump")]
#[doc(inline)]
pub use proconsul_store::Flaw;
#[doc(inline)]
pub use proconsul_store::timestamp::Timestamp;
#[doc(inline)]
pub use proconsul_store::{
    Behavior, CheckRow, Entry, Index, Key, KvRow, NewCheck, NewNode, NewService, NewSession,
    NodeRow, Refusal, ServiceRow, SessionId, SessionRow,
};
#[cfg(feature = "control-http")]
pub(crate) use servers::NotStarted;
#[cfg(feature = "control-http")]
pub use servers::{Launched, OnDemand, Servers};
#[cfg(feature = "dump")]
pub use state::dump::LoadError;
#[cfg(feature = "snapshots")]
pub use state::dump::read_archive;
#[cfg(feature = "dump")]
pub use state::dump::read_dump;
#[cfg(feature = "snapshots")]
pub(crate) use state::dump::{restore, save};
#[cfg(feature = "dump")]
pub use state::export::ImportError;
#[cfg(feature = "dump")]
pub use state::export::writes_of;
pub use state::{Catalog, Keys, Session, Sessions, UnknownCheck, UnknownCheckpoint};

/// What a test can do to a server, and learn about it, that no client of Consul can.
///
/// A clone controls the same server. It does not keep it running.
#[derive(Clone, Debug)]
pub struct Controls {
    addresses: Arc<Addresses>,
    engine: Arc<Engine>,
    seed: u64,
    /// The state in which the server was started.
    initial: Arc<Checkpoint>,
    faults: Arc<Faults>,
    /// The name of the agent's own node.
    node_name: String,
    /// The names of the nodes of all agents.
    names: Arc<[String]>,
    datacenter: String,
    /// How many records the history keeps.
    history_capacity: usize,
    /// The emulated release.
    version: Version,
    /// What is allowed where no rule says anything; `None` if ACLs are off.
    acl_default: Option<DefaultPolicy>,
    /// The secret of the configured management token; empty without one.
    #[cfg(feature = "dump")]
    management: String,
    /// Those of each agent.
    listeners: Arc<[Listeners]>,
    /// The datacenters that this one knows.
    joined: Joined,
    #[cfg(feature = "control-http")]
    on_demand: Arc<OnDemand>,
}

/// # Who it is
impl Controls {
    /// Returns a handle of a new server.
    pub fn new(
        engine: &Arc<Engine>,
        config: &Config,
        seed: u64,
        addresses: Addresses,
        #[cfg(feature = "control-http")] on_demand: OnDemand,
    ) -> Self {
        Self {
            addresses: Arc::new(addresses),
            initial: Arc::new(engine.initial()),
            engine: Arc::clone(engine),
            seed,
            faults: Arc::new(Faults::of(engine)),
            node_name: config.node_name.clone(),
            names: config
                .of_agents()
                .into_iter()
                .map(|config| config.node_name)
                .collect(),
            datacenter: config.datacenter.clone(),
            history_capacity: config.history_capacity,
            version: config.version,
            acl_default: acl::default_policy(&config.acl),
            #[cfg(feature = "dump")]
            management: config.acl.tokens.initial_management.clone(),
            listeners: (0..config.agents.total())
                .map(|_| Listeners::default())
                .collect(),
            joined: Joined::default(),
            #[cfg(feature = "control-http")]
            on_demand: Arc::new(on_demand),
        }
    }

    /// The name of the agent's own node.
    #[must_use]
    pub fn node_name(&self) -> &str {
        &self.node_name
    }

    /// The seed from which the server draws session ids, its node's id and jitter. Another server that is started with
    /// it, by `Builder::seed`, `--seed` or `PROCONSUL_SEED`, and gets the same requests draws
    /// the same.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the engine, for whoever drives it.
    #[must_use]
    pub fn shared_engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// Returns the engine: the server without HTTP.
    #[doc(hidden)]
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
