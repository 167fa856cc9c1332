//! Servers as tasks of their caller's runtime, on tokio's clock.

use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::accept::tasks::{Task, Tasks};
use super::connection::Stream;
use super::datacenter::Datacenter;
use super::running::Running;
#[cfg(feature = "tower")]
pub use super::service::Service;
use super::sockets::Sockets;
use super::{Builder, StartError};
use crate::control::Server;
#[cfg(feature = "dns")]
use crate::dns::Transport;
use proconsul_config::Config;
use proconsul_core::{Context, new_engine, reload_of};
use proconsul_engine::host::{Boxed, Host};
use proconsul_os::time;

/// The bytes that a connection of [`RuntimeServer::connect`] holds in each direction.
const DUPLEX_BYTES: usize = 64 * 1024;

/// Time as tokio's clock has it, which a test may pause. There is one thread, and all work stays on it.
#[derive(Debug)]
struct RuntimeHost {
    /// tokio's time when the server was made.
    started: time::RuntimeInstant,
    /// The wall clock then.
    wall: Duration,
}

impl Host for RuntimeHost {
    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn wall(&self) -> Duration {
        self.wall + self.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Boxed<()> {
        Box::pin(time::delay(duration))
    }

    fn sleep_anywhere(&self, duration: Duration) -> Boxed<()> {
        match tokio::runtime::Handle::try_current() {
            Ok(_) => self.sleep(duration),
            Err(_) => Box::pin(time::delay_anywhere(duration)),
        }
    }
}

/// Whatever connections come from: a socket, a simulated one, or the other ends of [`tokio::io::duplex`].
///
/// ```
/// use std::io;
/// use std::net::SocketAddr;
///
/// use proconsul::in_runtime::Listener;
///
/// /// Connections that a test hands over.
/// struct Handed(tokio::sync::mpsc::Receiver<tokio::io::DuplexStream>);
///
/// impl Listener for Handed {
///     type Io = tokio::io::DuplexStream;
///
///     async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
///         let next = self.0.recv().await;
///         next.map(|stream| (stream, None)).ok_or(io::ErrorKind::BrokenPipe.into())
///     }
/// }
/// ```
pub trait Listener: Send {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Whether the operating system wakes who waits for this listener. tokio's paused clock jumps to its next timer while it
    /// does not, so such a listener cannot be served under one.
    const IS_A_SOCKET: bool = false;

    /// Waits for the next connection, and returns it with the client's address, if it has one.
    ///
    /// # Errors
    /// There will be no further connections. An implementation tries again where that can help.
    fn accept(&mut self)
    -> impl Future<Output = io::Result<(Self::Io, Option<SocketAddr>)>> + Send;
}

impl Listener for TcpListener {
    type Io = tokio::net::TcpStream;

    const IS_A_SOCKET: bool = true;

    async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
        let (stream, peer) = TcpListener::accept(self).await?;
        Ok((stream, Some(peer)))
    }
}

impl<Io: AsyncRead + AsyncWrite + Send + Unpin + 'static> Listener for mpsc::Receiver<Io> {
    type Io = Io;

    async fn accept(&mut self) -> io::Result<(Io, Option<SocketAddr>)> {
        let next = self.recv().await;
        let next = next.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe));
        next.map(|stream| (stream, None))
    }
}

/// A server as tasks of the runtime in which it was made, on tokio's clock: where that is paused, TTLs, lock-delays and waits
/// move together with the client's timers. It has all controls of a [`Server`], in their `async` forms.
///
/// It listens nowhere. It is reached by [`connect`](Self::connect), [`serve`](Self::serve),
/// [`serve_connection`](Self::serve_connection) and [`service`](Self::service), and stops when it is dropped.
///
/// ```
/// use std::time::Duration;
///
/// use proconsul::control::Session;
/// use tokio::time::sleep;
///
/// // #[tokio::test(start_paused = true)]
/// async fn a_session_expires_while_its_owner_sleeps() -> Result<(), Box<dyn std::error::Error>> {
///     let server = proconsul::Server::builder().seed(7).in_runtime()?;
///     server.sessions().create(Session::ttl(Duration::from_secs(10)))?;
///     sleep(Duration::from_secs(21)).await; // takes no time at all
///     assert!(server.sessions().list().is_empty());
///     Ok(())
/// }
/// # let mut runtime = tokio::runtime::Builder::new_current_thread();
/// # let runtime = runtime.enable_all().start_paused(true).build()?;
/// # runtime.block_on(a_session_expires_while_its_owner_sleeps())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct RuntimeServer {
    server: Server,
    /// Those of all agents of each datacenter, one after the other.
    contexts: Vec<Arc<Context>>,
    tasks: Arc<Tasks>,
    /// Dropping it stops the server.
    _stop: oneshot::Sender<()>,
}

impl Deref for RuntimeServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for RuntimeServer {
    fn drop(&mut self) {
        self.server.engine().close();
    }
}

impl Builder {
    /// Starts a server as tasks of the current tokio runtime, on its clock: see [`RuntimeServer`]. The addresses of the
    /// configuration are not listened on.
    ///
    /// # Errors
    /// There is no tokio runtime here, a definition is invalid, or a file cannot be loaded.
    pub fn in_runtime(mut self) -> Result<RuntimeServer, StartError> {
        if let Err(error) = tokio::runtime::Handle::try_current() {
            return Err(StartError::Runtime(io::Error::other(error)));
        }
        let (config, seed, data) = self.prepared()?;
        let host = Arc::new(RuntimeHost {
            started: time::RuntimeInstant::now(),
            wall: time::wall_clock(),
        });
        let engine = new_engine(host, &config, seed, |engine| data.load(engine, &config));
        let none = |config: Config| {
            let agents = 0..config.agents.total();
            agents.map(|_| Sockets::none()).collect()
        };
        let sockets = config.of_datacenters().into_iter().map(none).collect();
        let reload = reload_of(&engine, &config, None);
        let all = Datacenter::start_all(&engine, &config, sockets, None, reload);
        let server = all[0].server.clone();
        let running = Running::start(all, None);
        let (stop, stopped) = oneshot::channel();
        let made = RuntimeServer {
            server,
            contexts: running.contexts(),
            tasks: running.tasks(),
            _stop: stop,
        };
        let task: Task = Box::pin(running.until(async { drop(stopped.await) }));
        tokio::spawn(task);
        Ok(made)
    }
}

impl RuntimeServer {
    /// Returns the client's end of a new connection.
    #[must_use]
    pub fn connect(&self) -> DuplexStream {
        self.connect_to(0)
    }

    /// Returns the client's end of a new connection to the agent with this number: see [`Builder::agents`]. Agents of joined
    /// datacenters are counted on: with three in each, 3 is the first of the second.
    ///
    /// # Panics
    /// There is no such agent.
    #[must_use]
    pub fn connect_to(&self, agent: usize) -> DuplexStream {
        let (client, own) = duplex(DUPLEX_BYTES);
        self.connections(agent).serve(Stream::from_io(own), None);
        client
    }

    /// Serves a connection in a task of its own until either side closes it. `peer` is the client's address, for the log and
    /// for faults that name it. While connections are refused ([`Controls::refuse_connections_async`](crate::control::Controls::refuse_connections_async)) it is closed.
    pub fn serve_connection(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peer: Option<SocketAddr>,
    ) {
        self.serve_connection_to(0, stream, peer);
    }

    /// Serves a connection to the agent with this number: see [`connect_to`](Self::connect_to) and
    /// [`serve_connection`](Self::serve_connection).
    ///
    /// # Panics
    /// There is no such agent.
    pub fn serve_connection_to(
        &self,
        agent: usize,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peer: Option<SocketAddr>,
    ) {
        self.connections(agent).serve(Stream::from_io(stream), peer);
    }

    /// Serves all connections of a listener, each in a task of its own, until it has no more. Dropping the future stops
    /// accepting, and leaves the connections open.
    ///
    /// # Errors
    /// That of the listener; or the listener is a real socket and tokio's clock is paused: it would jump to the next timer
    /// whenever all tasks wait for the socket.
    pub fn serve<L: Listener>(
        &self,
        mut listener: L,
    ) -> impl Future<Output = io::Result<()>> + Send + use<L> {
        let connections = self.connections(0);
        async move {
            if L::IS_A_SOCKET && time::is_runtime_paused() {
                return Err(io::Error::other(
                    "a real socket cannot be served while tokio's clock is paused: the clock jumps to its next timer while \
                     a socket waits; use `connect`, or a listener of simulated connections",
                ));
            }
            loop {
                let (stream, peer) = listener.accept().await?;
                connections.serve(Stream::from_io(stream), peer);
            }
        }
    }

    /// Answers a question of DNS, as Consul's agent does on its port for DNS; `None` where it gives no answer. What a rule of
    /// faults delays is answered when the clock has moved on; the loop below answers no other meanwhile. `peer` is the
    /// client's address, for the history and for rules that name it.
    ///
    /// ```
    /// use std::io;
    ///
    /// use proconsul::dns::Transport;
    /// use proconsul::in_runtime::RuntimeServer;
    /// use tokio::net::UdpSocket; // or that of a simulation
    ///
    /// async fn serve_dns(server: &RuntimeServer, socket: UdpSocket) -> io::Result<()> {
    ///     let mut question = [0; 512];
    ///     loop {
    ///         let (length, peer) = socket.recv_from(&mut question).await?;
    ///         let answer = server.dns(Some(peer), Transport::Udp, &question[..length]);
    ///         if let Some(answer) = answer.await {
    ///             socket.send_to(&answer, peer).await?;
    ///         }
    ///     }
    /// }
    /// ```
    #[cfg(feature = "dns")]
    pub async fn dns(
        &self,
        peer: Option<SocketAddr>,
        transport: Transport,
        question: &[u8],
    ) -> Option<Vec<u8>> {
        self.dns_to(0, peer, transport, question).await
    }

    /// Answers a question of DNS as the agent with this number does: see [`connect_to`](Self::connect_to) and [`dns`](Self::dns).
    ///
    /// # Panics
    /// There is no such agent.
    #[cfg(feature = "dns")]
    pub async fn dns_to(
        &self,
        agent: usize,
        peer: Option<SocketAddr>,
        transport: Transport,
        question: &[u8],
    ) -> Option<Vec<u8>> {
        let client = peer.map(|peer| peer.ip());
        proconsul_core::dns::answer(&self.contexts[agent], client, transport, question).await
    }

    /// Returns the server as a `tower::Service`: a client without a wire. See [`Service`].
    #[cfg(feature = "tower")]
    #[must_use]
    pub fn service(&self) -> Service {
        Service {
            context: Arc::clone(&self.contexts[0]),
            tasks: Arc::clone(&self.tasks),
        }
    }

    fn connections(&self, agent: usize) -> Connections {
        Connections {
            context: Arc::clone(&self.contexts[agent]),
            tasks: Arc::clone(&self.tasks),
        }
    }
}

/// What serves connections.
struct Connections {
    context: Arc<Context>,
    tasks: Arc<Tasks>,
}

impl Connections {
    fn serve(&self, stream: Stream, peer: Option<SocketAddr>) {
        let context = Arc::clone(&self.context);
        let serving = super::accept::serve(context, peer, stream, None);
        self.tasks.spawn(Box::pin(serving));
    }
}
