//! A running server, and what a test can do to it and learn about it that no client of Consul can.
//!
//! Everything is here once, as methods of [`Server`]. Over HTTP the same is offered under `/proconsul/v1/`, for tests
//! in other languages.

mod acl;
mod address;
mod fault;
mod history;
#[cfg(feature = "control-http")]
pub(crate) mod http;
mod listeners;
mod parked;
#[cfg(feature = "control-http")]
mod servers;
mod state;
mod time;
mod wait;

use std::any::Any;
use std::sync::Arc;

use proconsul_acl::DefaultPolicy;
use proconsul_config::Config;
use proconsul_engine::faults::Faults;
use proconsul_engine::{Checkpoint, Engine};
use proconsul_version::Version;

pub use acl::{Acl, AclError, Permission, Token};
pub use address::{Address, Addresses, reachable};
pub(crate) use listeners::Listeners;
pub use listeners::{ListenerError, Restart};
#[doc(inline)]
pub use proconsul_engine::clock::{Rate, RateError};
#[doc(inline)]
pub use proconsul_engine::{Blocked, BlockedOn, Explanation, Unmet, WhyUnmet};
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
pub(crate) use servers::{Launched, NotStarted, OnDemand};
#[cfg(feature = "dump")]
pub use state::dump::LoadError;
#[cfg(feature = "dump")]
pub(crate) use state::dump::read_dump;
#[cfg(feature = "snapshots")]
pub(crate) use state::dump::{read_snapshot, restore, save};
#[cfg(feature = "dump")]
pub use state::export::ImportError;
#[cfg(feature = "dump")]
pub(crate) use state::export::writes_of;
pub use state::{Catalog, Keys, Session, Sessions, UnknownCheck, UnknownCheckpoint};

/// A Consul inside this process, on a thread and a runtime of its own, for as long as the value lives.
///
/// It can be used from tests with or without a runtime. Every server has its own state and its own port; there
/// are no globals, so a process can hold as many as it likes.
///
/// ```
/// use std::io::{Read, Write};
///
/// let server = proconsul::Server::start();
/// let mut connection = std::net::TcpStream::connect(server.addr())?;
/// connection.write_all(b"PUT /v1/kv/job HTTP/1.0\r\nContent-Length: 3\r\n\r\nrun")?;
/// let mut answer = String::new();
/// connection.read_to_string(&mut answer)?;
/// assert!(answer.ends_with("true"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// It stops when it is dropped: connections are closed and the port is free then. A clone controls the same server and
/// does not keep it running, for threads and tasks that outlive a test's hold on it.
// Shown on the front page alone.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    addresses: Arc<Addresses>,
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
    version: Version,
    /// What is allowed where no rule says anything; `None` if ACLs are off.
    acl_default: Option<DefaultPolicy>,
    /// The secret of the configured management token; empty without one.
    #[cfg(feature = "dump")]
    management: String,
    listeners: Arc<Listeners>,
    #[cfg(feature = "control-http")]
    on_demand: Arc<OnDemand>,
    running: Running,
}

/// The thread that runs the server. Only the value that started it owns it: a clone is empty.
#[derive(Debug, Default)]
struct Running(
    #[expect(dead_code, reason = "dropping it stops the server")]
    Option<Box<dyn Any + Send + Sync>>,
);

impl Clone for Running {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// # Who it is
impl Server {
    /// Returns a handle of a new server.
    pub(crate) fn new(
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
            faults: Arc::default(),
            node_name: config.node_name.clone(),
            datacenter: config.datacenter.clone(),
            history_capacity: config.history_capacity,
            version: config.version,
            acl_default: acl::default_policy(&config.acl),
            #[cfg(feature = "dump")]
            management: config.acl.tokens.initial_management.clone(),
            listeners: Arc::default(),
            #[cfg(feature = "control-http")]
            on_demand: Arc::new(on_demand),
            running: Running::default(),
        }
    }

    /// Returns the server, which now stops when this value is dropped.
    pub(crate) fn kept_running_by(mut self, owner: impl Any + Send + Sync) -> Self {
        self.running = Running(Some(Box::new(owner)));
        self
    }

    /// The name of the agent's own node.
    #[must_use]
    pub fn node_name(&self) -> &str {
        &self.node_name
    }

    /// The seed from which the server draws session ids, its node's id and jitter. Another server that is started with
    /// it, by [`Builder::seed`](crate::Builder::seed), `--seed` or `PROCONSUL_SEED`, and gets the same requests draws
    /// the same.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn shared_engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// Returns the engine: the server without HTTP.
    #[doc(hidden)]
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
