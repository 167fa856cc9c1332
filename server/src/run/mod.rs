//! Starting and stopping servers: inside a test, or as the whole of a process.

mod accept;
// Nothing is sealed in a build without TLS.
#[cfg_attr(not(feature = "https"), allow(dead_code))]
pub(crate) mod connection;
#[cfg(feature = "control-http")]
mod control_port;
mod data;
mod datacenter;
pub(crate) mod host;
pub(super) mod https;
pub mod in_runtime;
#[cfg(not(feature = "probes"))]
mod no_probes;
#[cfg(feature = "probes")]
pub(super) mod probe;
mod running;
#[cfg(feature = "tower")]
mod service;
mod shared_threads;
mod sockets;
pub mod target;
pub mod test;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::control::{Address, Addresses, Controls, DatacenterAddresses, Server};
use crate::https::{DevCertificates, Tls};
use accept::tasks::Task;
pub use data::StartData;
use datacenter::Datacenter;
use host::MachineHost;
use proconsul_config::resolve::data::take_service_files;
use proconsul_config::{AgentCounts, Config, DatacenterNames, Epoch};
pub use proconsul_core::Reread;
#[cfg(feature = "control-http")]
use proconsul_core::control::{Launched, OnDemand};
use proconsul_core::{Reload, new_engine, reload_of};
use proconsul_engine::Engine;
use proconsul_gocompat::syscall::error_text;
use proconsul_os::time;
use proconsul_version::Version;
use running::Running;
use shared_threads::THREADS;
use sockets::{Sockets, remove_socket};

/// Why a server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The address could not be listened on.
    Listen {
        /// The address.
        address: Address,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The address of DNS could not be listened on over UDP.
    ListenUdp {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The operating system has no thread or event queue left.
    Runtime(io::Error),
    /// A service or check of the configuration is invalid; with Consul's sentence.
    Definition(String),
    /// HTTPS cannot be served; with Consul's sentence.
    Https(String),
    /// A file with data to start with cannot be loaded; with its name and the place in it.
    Data(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen { address, error } => {
                let network = match address {
                    Address::Tcp(_) => "tcp",
                    Address::Unix(_) => "unix",
                };
                let address = match address {
                    Address::Tcp(address) => address.to_string(),
                    Address::Unix(path) => path.display().to_string(),
                };
                write!(
                    formatter,
                    "listen {network} {address}: bind: {}",
                    error_text(error)
                )
            }
            StartError::ListenUdp { address, error } => {
                write!(
                    formatter,
                    "listen udp {address}: bind: {}",
                    error_text(error)
                )
            }
            StartError::Runtime(error) => write!(formatter, "cannot start a server: {error}"),
            StartError::Definition(text) | StartError::Https(text) | StartError::Data(text) => {
                formatter.write_str(text)
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Listen { error, .. }
            | StartError::ListenUdp { error, .. }
            | StartError::Runtime(error) => Some(error),
            StartError::Definition(_) | StartError::Https(_) | StartError::Data(_) => None,
        }
    }
}

/// The settings of a new server in this process. Everything has a default; see [`Config::default`].
///
/// ```
/// let version = "1.8.7".parse()?;
/// let server = proconsul::Server::builder().version(version).node_name("n1").start()?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a builder starts nothing until `start` is called"]
pub struct Builder {
    config: Config,
    listener: Option<StdTcpListener>,
}

impl Builder {
    /// Sets the whole configuration, for settings that have no method of their own.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Serves on this socket, which the caller has bound: no other process can take the port meanwhile.
    pub fn listener(mut self, listener: StdTcpListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Emulates this release of Consul. Default: [`Version::default`].
    pub fn version(mut self, version: Version) -> Self {
        self.config.version = version;
        self
    }

    /// Sets the name of the agent's node. Default: `proconsul`.
    pub fn node_name(mut self, name: impl Into<String>) -> Self {
        self.config.node_name = name.into();
        self
    }

    /// Sets the name of the datacenter. Default: `dc1`.
    pub fn datacenter(mut self, name: impl Into<String>) -> Self {
        self.config.datacenter = name.into();
        self.config.primary_datacenter = self.config.datacenter.clone();
        self
    }

    /// Gives the datacenter this many servers in place of one, each with an address of its own:
    /// [`agent(1)`](Controls::agent) is the second.
    ///
    /// ```
    /// let server = proconsul::Server::builder().agents(3).start()?;
    /// assert!(server.agent(0).leads());
    /// assert_ne!(server.agent(1).url(), server.url());
    /// # Ok::<(), proconsul::StartError>(())
    /// ```
    ///
    /// # Panics
    /// It is 0, or more than 16.
    pub fn agents(self, servers: usize) -> Self {
        self.agents_and_clients(servers, 0)
    }

    /// Gives the datacenter this many servers, and this many client agents behind them.
    ///
    /// # Panics
    /// There is no server, or more than 16 agents in all.
    pub fn agents_and_clients(mut self, servers: usize, clients: usize) -> Self {
        let counts = AgentCounts::new(servers, clients);
        self.config.agents = counts.unwrap_or_else(|wrong| panic!("{wrong}"));
        self
    }

    /// Joins datacenters, this server's first: each has its own agents, as many as [`agents`](Self::agents) says, its own
    /// state, and the same clock. `?dc=dc2` is answered there. [`datacenter`](Controls::datacenter) has the controls of each.
    ///
    /// ```
    /// let server = proconsul::Server::builder().datacenters(["dc1", "dc2"]).start()?;
    /// let other = server.datacenter("dc2");
    /// other.kv().put("color", "red");
    /// assert!(server.kv().get("color").is_none());
    /// assert_ne!(other.url(), server.url());
    /// # Ok::<(), proconsul::StartError>(())
    /// ```
    ///
    /// # Panics
    /// They are not 2 to 8 different names of lower-case letters, digits, `-` and `_`.
    pub fn datacenters<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = DatacenterNames::new(names.into_iter().map(Into::into).collect());
        self.config
            .join(names.unwrap_or_else(|wrong| panic!("{wrong}")));
        self
    }

    /// Sets the seed of session ids, the node's id and jitter: the same seed gives the same bytes. Default: a fresh
    /// seed for every server, which [`Server::seed`](Controls::seed) returns.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// Serves HTTPS, too, at a free port of 127.0.0.1 unless [`Builder::config`] has set other addresses before. The
    /// certificate is signed by an authority that is made for this server: [`Server::ca_pem`] is for clients to trust.
    ///
    /// ```
    /// let server = proconsul::Server::builder().https().start()?;
    /// assert!(server.https_url().starts_with("https://127.0.0.1:"));
    /// assert!(server.ca_pem().starts_with("-----BEGIN CERTIFICATE-----"));
    /// # Ok::<(), proconsul::StartError>(())
    /// ```
    #[cfg(feature = "https")]
    pub fn https(mut self) -> Self {
        let https = &mut self.config.https;
        https.dev = true;
        if https.listeners.is_empty() {
            https.listeners = Config::default().listeners;
        }
        self
    }

    /// Answers DNS, too, at a free port of 127.0.0.1 unless [`Builder::config`] has set other addresses before:
    /// [`Server::dns_addr`](Controls::dns_addr) returns it.
    ///
    /// ```
    /// let server = proconsul::Server::builder().dns().start()?;
    /// assert!(server.dns_addr().ip().is_loopback());
    /// # Ok::<(), proconsul::StartError>(())
    /// ```
    #[cfg(feature = "dns")]
    pub fn dns(mut self) -> Self {
        let listeners = &mut self.config.dns.listeners;
        if listeners.is_empty() {
            listeners.push(SocketAddr::from(([127, 0, 0, 1], 0)));
        }
        self
    }

    /// Answers endpoints that are not emulated as unknown paths, and not with 501.
    pub fn strict(mut self) -> Self {
        self.config.strict = true;
        self
    }

    /// Enables ACLs: a request needs a token with rules that allow it, and what no rule allows is refused. `management`
    /// is the secret of a token that may do everything, any text; [`Server::acl`](Controls::acl) makes tokens that may do less.
    ///
    /// ```
    /// let server = proconsul::Server::builder().acl("root").start()?;
    /// let reader = server.acl().token(r#"key_prefix "app/" { policy = "read" }"#)?;
    /// let may = server.acl().explain(&reader.secret, "key:write", "app/a")?;
    /// assert!(!may.is_allowed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acl(mut self, management: impl Into<String>) -> Self {
        let acl = &mut self.config.acl;
        acl.enabled = true;
        "deny".clone_into(&mut acl.default_policy);
        acl.tokens.initial_management = management.into();
        self
    }

    /// Sets the shortest TTL that a session may have. Default: 10 s.
    pub fn session_ttl_min(mut self, minimum: std::time::Duration) -> Self {
        self.config.session_ttl_min = minimum;
        self
    }

    /// Sets how many records the history keeps, at least 1. A full history drops its oldest records and says how many.
    /// Default: [`DEFAULT_CAPACITY`](proconsul_engine::history::DEFAULT_CAPACITY), 100,000.
    pub fn history_capacity(mut self, records: usize) -> Self {
        self.config.history_capacity = records;
        self
    }

    /// Starts with the state of a file: a dump ([`Server::dump`](Controls::dump)) of a server with the same version, node name and
    /// datacenter, or an archive of `/v1/snapshot`. Where there are several, each is loaded over the former. A file with
    /// keys as `consul kv export` prints them is taken as by [`kv_file`](Self::kv_file).
    #[cfg(feature = "dump")]
    pub fn load_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.data.states.push(path.into());
        self
    }

    /// Starts with the keys of a file in the form of `consul kv export`, over those of the states. May be called
    /// several times.
    ///
    /// ```
    /// let file = std::env::temp_dir().join("proconsul-builder-keys.json");
    /// std::fs::write(&file, r#"[{"key": "color", "flags": 0, "value": "cmVk"}]"#)?;
    /// let server = proconsul::Server::builder().kv_file(&file).start()?;
    /// assert_eq!(server.kv().get("color").unwrap().value, "red");
    /// # std::fs::remove_file(&file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "dump")]
    pub fn kv_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.data.keys.push(path.into());
        self
    }

    /// Starts with the services and checks of a file in the form that `consul services register` takes, or of a folder
    /// of such files. May be called several times.
    pub fn services_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.data.definitions.push(path.into());
        self
    }

    /// Serves the inspection page at `/ui/`: keys, sessions, locks over time, the history and blocked requests, and
    /// controls for time, faults and state. Default: false.
    #[cfg(feature = "ui")]
    pub fn ui(mut self, is_served: bool) -> Self {
        self.config.ui = is_served;
        self
    }

    /// Starts with a frozen clock: no TTL, lock-delay or wait ends by itself.
    pub fn frozen(mut self) -> Self {
        self.config.frozen = true;
        self
    }

    /// Sets the wall clock at the start of the server's clock: from then on, what the server shows of the time of day
    /// follows its clock. With a frozen clock and a seed, two runs then give the same bytes. Default: the machine's wall
    /// clock.
    ///
    /// ```
    /// let epoch = "2026-01-01T00:00:00Z".parse()?;
    /// let server = proconsul::Server::builder().frozen().seed(7).epoch(epoch).start()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn epoch(mut self, epoch: Epoch) -> Self {
        self.config.epoch = Some(epoch);
        self
    }

    /// Checks the configuration, and reads what it names. Returns it with the node's id, the seed, and the data to start with.
    fn prepared(&mut self) -> Result<(Arc<Config>, u64, StartData), StartError> {
        let checked = self.config.check_definitions();
        checked.map_err(StartError::Definition)?;
        take_service_files(&mut self.config).map_err(StartError::Data)?;
        let seed = self.config.seed.unwrap_or_else(time::machine_seed);
        let config = Arc::new(std::mem::take(&mut self.config).with_seed(seed));
        let data = StartData::read(&config)?;
        Ok((config, seed, data))
    }

    /// Starts the server. It is usable when this returns.
    ///
    /// # Errors
    /// The server cannot listen on an address, the operating system has no thread left, a definition is invalid, or a
    /// file cannot be loaded.
    pub fn start(mut self) -> Result<Server, StartError> {
        let (config, seed, data) = self.prepared()?;
        let engine = new_engine(MachineHost::shared(), &config, seed, |engine| {
            data.load(engine, &config);
        });
        let runtime = THREADS.next().map_err(StartError::Runtime)?;
        let (tls, certificates) = tls_of(&config)?;
        let _entered = runtime.enter();
        let sockets = Sockets::bind_datacenters(&config, self.listener)?;
        let addresses = all_addresses(&sockets);
        let reload = reload_of(&engine, &config, None);
        let all = Datacenter::start_all(&engine, &config, sockets, certificates, reload);
        let server = all[0].server.clone();
        let running = Running::start(all, tls.as_ref());
        let (stop, stopped) = oneshot::channel::<()>();
        let (ends, has_ended) = mpsc::channel();
        let task: Task = Box::pin(async move {
            // Dropped when the task is done, or if it panics.
            let _ends = ends;
            // Nothing is ever sent.
            running.until(async { drop(stopped.await) }).await;
        });
        runtime.spawn(task);
        Ok(server.kept_running_by(Embedded {
            engine,
            addresses,
            stop: Some(stop),
            has_ended: Mutex::new(has_ended),
        }))
    }
}

/// # Starting
impl Server {
    /// Starts a server with the default settings on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// If the machine has no port or thread left; [`Builder::start`] returns that as an error.
    pub fn start() -> Self {
        let started = Self::builder().start();
        started.expect("a machine that runs tests has a free port and a thread")
    }

    /// Returns a builder, for a server with other settings than the default.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// A server on one of the shared threads.
struct Embedded {
    engine: Arc<Engine>,
    addresses: Vec<Address>,
    /// Dropping it stops the server.
    stop: Option<oneshot::Sender<()>>,
    /// Receives nothing: the other end is dropped when the server has stopped.
    has_ended: Mutex<mpsc::Receiver<()>>,
}

impl Drop for Embedded {
    /// Stops the server: connections are closed and the port is free when this returns.
    fn drop(&mut self) {
        self.engine.close();
        drop(self.stop.take());
        if !shared_threads::is_this_one() {
            let _ = self.has_ended.get_mut().recv();
        }
        self.addresses.iter().for_each(remove_socket);
    }
}

/// Runs a server with this data in the current process until `stop` is ready, as `proconsul agent` does. Calls `ready` with the
/// addresses, what was made for HTTPS, and the reload when the first request would succeed.
///
/// # Errors
/// The server cannot listen on an address.
pub async fn run(
    config: Config,
    start: StartData,
    reread: Reread,
    ready: impl FnOnce(&Addresses, Option<&DevCertificates>, Reload),
    stop: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let sockets = Sockets::bind_datacenters(&config, None)?;
    let addresses = all_addresses(&sockets);
    let (tls, certificates) = tls_of(&config)?;
    let seed = config.seed.unwrap_or_else(time::machine_seed);
    let config = Arc::new(config.with_seed(seed));
    let engine = new_engine(MachineHost::shared(), &config, seed, |engine| {
        start.load(engine, &config);
    });
    let reload = reload_of(&engine, &config, Some(reread));
    let all = Datacenter::start_all(&engine, &config, sockets, certificates, reload.clone());
    let server = all[0].server.clone();
    ready(server.all_addresses(), server.dev_certificates(), reload);
    let running = Running::start(all, tls.as_ref());
    running.until(stop).await;
    // Servers on demand end with the process. Stopping them one after the other would take longer.
    std::mem::forget(server);
    addresses.iter().for_each(remove_socket);
    Ok(())
}

/// Returns what HTTPS needs: TLS if it is served, and the certificates that were made for it.
///
/// # Errors
/// Consul's sentence about a setting or a file.
fn tls_of(config: &Config) -> Result<(Option<Tls>, Option<DevCertificates>), StartError> {
    let served = Tls::new(config).map_err(StartError::Https)?;
    Ok(served.map_or((None, None), |(tls, made)| (Some(tls), made)))
}

/// Returns the addresses of HTTP and HTTPS of all agents of all datacenters.
fn all_addresses(sockets: &[Vec<Sockets>]) -> Vec<Address> {
    let sockets = sockets.iter().flatten();
    sockets.flat_map(Sockets::all_addresses).collect()
}

/// Returns a handle of a server whose agents have these sockets. `others` are the addresses of other datacenters.
fn new_handle(
    engine: &Arc<Engine>,
    config: &Arc<Config>,
    sockets: &[Sockets],
    others: Vec<DatacenterAddresses>,
    certificates: Option<DevCertificates>,
) -> Server {
    let first = &sockets[0];
    #[cfg(feature = "control-http")]
    let on_demand = OnDemand {
        config: Arc::clone(config),
        addresses: sockets::http_addresses(&first.data),
        launch,
        servers: Mutex::default(),
    };
    let addresses = Addresses {
        api: first.addresses(),
        of_agents: sockets.iter().map(Sockets::of_agent).collect(),
        others,
        https: first.https_addresses(),
        dns: first.dns_addresses(),
        control: first.control_address(),
    };
    let controls = Controls::new(
        engine,
        config,
        config.seed.unwrap_or_default(),
        addresses,
        #[cfg(feature = "control-http")]
        on_demand,
    );
    Server::new(controls, certificates)
}

/// Starts a server on demand of the control plane.
#[cfg(feature = "control-http")]
fn launch(config: Config) -> Result<Launched, String> {
    let started = Server::builder().config(config).start();
    let server = started.map_err(|error| error.to_string())?;
    Ok(Launched {
        url: server.url(),
        agents: server.agents().iter().map(|agent| agent.url()).collect(),
        control: server.url_of_control_plane(),
        seed: server.seed(),
        server: Box::new(server),
    })
}

#[cfg(test)]
mod tests;
