//! Starting and stopping servers: inside a test, or as the whole of a process.

mod agent;
mod own_thread;
mod sockets;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdTcpListener};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::config::Config;
use crate::control::{Control, Launched, OnDemand};
use crate::engine::Engine;
use crate::entropy::Entropy;
pub(crate) use crate::http::Reload;
use crate::http::{self, Socket};
use crate::probe;
use crate::version::Version;
use agent::{new_engine, reload_of};
use sockets::{Sockets, adopt, bind, bind_control, http_addresses, remove_socket};

/// How many ready connections a server in a test takes from the operating system at once. The runtime keeps a place for
/// each of them: with its own choice of 1024, that is 12 kB, a quarter of what a server has on the heap.
const EVENTS_AT_ONCE: usize = 128;

/// A Consul inside this process, on a thread and a runtime of its own, for as long as the value lives.
///
/// It can be used from tests with any runtime or none. Every server has its own state and its own port; there
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
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    addresses: Vec<Address>,
    control_address: Option<SocketAddr>,
    control: Control,
    /// Dropping it ends the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Where a server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over TCP.
    Tcp(SocketAddr),
    /// At the path of a Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(formatter),
            Address::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// The address could not be listened on.
    Listen {
        /// The address.
        address: Address,
        /// What the operating system said.
        error: io::Error,
    },
    /// The operating system gave no thread or no event queue.
    Runtime(io::Error),
    /// A service or check of the configuration cannot be registered; with Consul's sentence.
    Definition(String),
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
                    reason(error)
                )
            }
            StartError::Runtime(error) => write!(formatter, "cannot start a server: {error}"),
            StartError::Definition(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Listen { error, .. } | StartError::Runtime(error) => Some(error),
            StartError::Definition(_) => None,
        }
    }
}

/// The reason of a failed bind in the words of Go, which prints the C library's text in lower case.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}

/// What a server in this process is started with. Everything has a default; see [`Config::default`].
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
    frozen: bool,
}

impl Builder {
    /// Everything at once, for settings that have no method of their own.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Serves on this socket, which the caller has bound: no port can be lost between asking and using.
    pub fn listener(mut self, listener: StdTcpListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Emulates this release of Consul. Default: [`Version::default`].
    pub fn version(mut self, version: Version) -> Self {
        self.config.version = version;
        self
    }

    /// The name of the agent's node. Default: `proconsul`.
    pub fn node_name(mut self, name: impl Into<String>) -> Self {
        self.config.node_name = name.into();
        self
    }

    /// The name of the datacenter. Default: `dc1`.
    pub fn datacenter(mut self, name: impl Into<String>) -> Self {
        self.config.datacenter = name.into();
        self.config.primary_datacenter = self.config.datacenter.clone();
        self
    }

    /// What session ids, the node's id and jitter are made from: the same seed gives the same bytes. Default: a fresh
    /// seed for every server, which [`Control::seed`] tells.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// Answers endpoints that are not emulated as unknown paths, and not with 501.
    pub fn strict(mut self) -> Self {
        self.config.strict = true;
        self
    }

    /// The shortest TTL that a session may have. Default: 10 s.
    pub fn session_ttl_min(mut self, minimum: std::time::Duration) -> Self {
        self.config.session_ttl_min = minimum;
        self
    }

    /// How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told how
    /// many. Default: [`DEFAULT_CAPACITY`](crate::history::DEFAULT_CAPACITY), 100,000.
    pub fn history_capacity(mut self, records: usize) -> Self {
        self.config.history_capacity = records;
        self
    }

    /// Starts with a clock that stands still: no TTL, lock-delay or wait ends by itself.
    pub fn frozen(mut self) -> Self {
        self.frozen = true;
        self
    }

    /// Starts the server. It is usable when this returns.
    ///
    /// # Errors
    /// An address cannot be listened on, or the operating system has no thread to give.
    pub fn start(self) -> Result<Server, StartError> {
        let checked = self.config.check_definitions();
        checked.map_err(StartError::Definition)?;
        let clock = if self.frozen {
            Clock::frozen()
        } else {
            Clock::running()
        };
        let seed = self.config.seed.unwrap_or_else(Entropy::machine_seed);
        let config = self.config.with_seed(seed);
        let engine = new_engine(&config, seed, clock);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_io_events_per_tick(EVENTS_AT_ONCE)
            .build()
            .map_err(StartError::Runtime)?;
        let sockets = {
            let _entered = runtime.enter();
            let data = match self.listener {
                Some(listener) => vec![adopt(listener)?],
                None => bind(&config.listeners)?,
            };
            let control = bind_control(&config, &data)?;
            Sockets { data, control }
        };
        let addresses = sockets.addresses();
        let control_address = sockets.control_address();
        let (stop, stopped) = oneshot::channel::<()>();
        let control = new_control(&engine, &config, seed, &sockets);
        let served = control.clone();
        sockets.follow(&control);
        let reload = reload_of(&engine, &config, None);
        let serving = async move {
            serve(config, served, sockets, reload, stopped).await;
            // A client may have told the server to leave: nobody waits for it any more.
            engine.close();
        };
        let thread = own_thread::run(runtime, serving).map_err(StartError::Runtime)?;
        Ok(Server {
            addresses,
            control_address,
            control,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Server {
    /// Starts a server with the default settings on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When the machine has no port or no thread left; [`Builder::start`] says so without panicking.
    pub fn start() -> Self {
        let started = Self::builder().start();
        started.expect("a machine that runs tests has a free port and a thread")
    }

    /// A server that is not quite the default one.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address of the server.
    ///
    /// # Panics
    /// When the server was configured to listen on Unix sockets only; see [`Server::addresses`].
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        let tcp = self.addresses.iter().find_map(|address| match address {
            Address::Tcp(address) => Some(*address),
            Address::Unix(_) => None,
        });
        tcp.expect("the server listens on TCP unless its configuration says otherwise")
    }

    /// The URL of the server, without a slash at its end: `http://127.0.0.1:40123`. A server that listens at all
    /// addresses is asked at the loopback one.
    ///
    /// # Panics
    /// As [`Server::addr`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.addr()))
    }

    /// All addresses of the server.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Where the control plane is served, for programs in other languages: `http://127.0.0.1:40123/proconsul/v1`.
    ///
    /// # Panics
    /// As [`Server::addr`], unless the control plane has a port of its own.
    #[cfg(feature = "control-http")]
    #[must_use]
    pub fn control_url(&self) -> String {
        self.url_of_control_plane()
    }

    fn url_of_control_plane(&self) -> String {
        let address = self.control_address.unwrap_or_else(|| self.addr());
        format!("http://{}/proconsul/v1", reachable(address))
    }

    /// The controls of this server, which outlive neither its state nor its port.
    pub fn control(&self) -> &Control {
        &self.control
    }
}

impl Deref for Server {
    type Target = Control;

    /// A server is controlled by its own methods.
    fn deref(&self) -> &Control {
        &self.control
    }
}

impl Drop for Server {
    /// Stops the server: connections are closed and the port is free when this returns.
    fn drop(&mut self) {
        self.control.engine().close();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there was printed by its own thread; another one here would end the whole test run.
            let _ = thread.join();
        }
        for address in &self.addresses {
            remove_socket(address);
        }
    }
}

/// Returns an address that a client on this machine can connect to: the loopback one where `address` stands for all.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Reads a configuration again.
pub(crate) type Reread = Box<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// Runs a server in the current process until `stop` is ready: what `proconsul agent` does. `ready` is called
/// when the first request would succeed, with what a reload does.
///
/// # Errors
/// An address cannot be listened on.
pub(crate) async fn run(
    config: Config,
    reread: Reread,
    ready: impl FnOnce(&[Address], Option<SocketAddr>, Reload),
    stop: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let data = bind(&config.listeners)?;
    let control = bind_control(&config, &data)?;
    let sockets = Sockets { data, control };
    let seed = config.seed.unwrap_or_else(Entropy::machine_seed);
    let config = config.with_seed(seed);
    let engine = new_engine(&config, seed, Clock::running());
    let control = new_control(&engine, &config, seed, &sockets);
    sockets.follow(&control);
    let addresses = sockets.addresses();
    let reload = reload_of(&engine, &config, Some(reread));
    ready(&addresses, sockets.control_address(), reload.clone());
    let (keep, stopped) = oneshot::channel::<()>();
    tokio::select! {
        () = serve(config, control.clone(), sockets, reload, stopped) => {}
        () = stop => drop(keep),
    }
    // The waits of the control plane end now; each would keep the process for as long as its patience is.
    engine.close();
    // Servers on demand end with the process. Stopping them one after the other would wait for what they do.
    std::mem::forget(control);
    addresses.iter().for_each(remove_socket);
    Ok(())
}

/// Returns the controls of a server with these sockets.
fn new_control(engine: &Arc<Engine>, config: &Config, seed: u64, sockets: &Sockets) -> Control {
    let on_demand = OnDemand {
        config: config.for_server_on_demand(&http_addresses(&sockets.data)),
        launch,
        amend: crate::cli::amended,
    };
    Control::new(engine, config, seed, on_demand)
}

/// Starts a server on demand of the control plane.
fn launch(config: Config, frozen: bool) -> Result<Launched, String> {
    let builder = Server::builder().config(config);
    let builder = if frozen { builder.frozen() } else { builder };
    let server = builder.start().map_err(|error| error.to_string())?;
    Ok(Launched {
        url: server.url(),
        control: server.url_of_control_plane(),
        seed: server.seed(),
        server: Box::new(server),
    })
}

async fn serve(
    config: Config,
    control: Control,
    sockets: Sockets,
    reload: Reload,
    stopped: oneshot::Receiver<()>,
) {
    let engine = control.shared_engine();
    let control = config.control.then_some(control);
    let mut tasks = tokio::task::JoinSet::new();
    let has_own_port = !sockets.control.is_empty();
    #[cfg(feature = "control-http")]
    if let Some(control) = control.as_ref().filter(|_| has_own_port) {
        let router = crate::control::http::router(control.clone(), &config.allow_hosts);
        for (_, socket) in sockets.control {
            if let Socket::Tcp(listener) = socket {
                tasks.spawn(crate::control::http::serve(listener, router.clone()));
            }
        }
    }
    let context = http::Context::new(Arc::clone(&engine), config, control, reload);
    let context = Arc::new(if has_own_port {
        context.without_control_plane()
    } else {
        context
    });
    for (_, socket) in sockets.data {
        tasks.spawn(http::accept(Arc::clone(&context), socket));
    }
    tasks.spawn(probe::run_checks(Arc::clone(&engine)));
    tasks.spawn(async move { engine.run().await });
    tokio::select! {
        // Nothing is ever sent: the other end is dropped when the server is to stop.
        _ = stopped => {}
        () = context.left.notified() => {}
    }
}

#[cfg(test)]
pub(crate) use agent::rules_of;

#[cfg(test)]
mod tests;
