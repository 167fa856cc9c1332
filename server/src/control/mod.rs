//! The control plane: what a test can do to a server, and learn about it, that no client of Consul can.
//!
//! Everything is here once, as methods of [`Control`]; a [`Server`](crate::Server) dereferences to it. Over HTTP the
//! same is offered under `/proconsul/v1/`, for tests in other languages.

mod doors;
mod dump;
mod export;
mod fault;
mod history;
#[cfg(feature = "control-http")]
pub(crate) mod http;
mod servers;
mod state;
mod time;
mod wait;

use std::sync::Arc;

use crate::config::Config;
use crate::engine::{Checkpoint, Engine};
use crate::faults::Faults;
use servers::SharedServers;

pub(crate) use doors::Doors;
pub use doors::{DoorError, Restart};
pub use dump::LoadError;
pub use export::ImportError;
pub(crate) use servers::{Launched, NotStarted, OnDemand};
pub use state::{Catalog, Keys, Session, Sessions, UnknownCheck, UnknownCheckpoint};

/// The controls of one server. Clones control the same server.
#[derive(Clone, Debug)]
pub struct Control {
    engine: Arc<Engine>,
    seed: u64,
    /// The state in which the server was started.
    initial: Arc<Checkpoint>,
    faults: Arc<Faults>,
    /// The name of the agent's own node.
    node_name: String,
    datacenter: String,
    /// How many records the history keeps.
    history_capacity: usize,
    /// The emulated release.
    version: String,
    doors: Arc<Doors>,
    has_own_port: bool,
    on_demand: Arc<OnDemand>,
    servers: Arc<SharedServers>,
}

impl Control {
    /// The controls of a server that has just been made.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        config: &Config,
        seed: u64,
        on_demand: OnDemand,
    ) -> Self {
        Self {
            initial: Arc::new(engine.initial()),
            engine: Arc::clone(engine),
            seed,
            faults: Arc::default(),
            node_name: config.node_name.clone(),
            datacenter: config.datacenter.clone(),
            history_capacity: config.history_capacity,
            version: config.version.to_string(),
            doors: Arc::default(),
            has_own_port: config.control_port.is_some(),
            on_demand: Arc::new(on_demand),
            servers: Arc::default(),
        }
    }

    /// The name of the agent's own node.
    #[must_use]
    pub fn node_name(&self) -> &str {
        &self.node_name
    }

    /// The seed from which the server draws session ids, its node's id and jitter. Another server that is started with
    /// it, by [`Builder::seed`](crate::Builder::seed), `--seed` or `PROCONSUL_SEED`, and is asked the same draws the
    /// same.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the control plane is served at a port of its own.
    pub(crate) fn has_own_port(&self) -> bool {
        self.has_own_port
    }

    pub(crate) fn shared_engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// What the server does, without HTTP.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
