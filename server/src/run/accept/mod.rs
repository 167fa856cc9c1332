//! Accepts connections for Consul's API, which the crate `h1` serves, and for DNS.

#[cfg(feature = "dns")]
pub(super) mod dns;
pub(super) mod tasks;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::connection::Stream;
use crate::https::Tls;
use proconsul_core::Context;
use proconsul_core::control::Listeners;
use proconsul_engine::sync::either;
use proconsul_os::{CORES, UnixListener, time};
use proconsul_version::Behaviour;
use tasks::Tasks;

/// The capacity of the queue of unaccepted connections, as in Consul. A client that finds the queue full retries after
/// a second.
pub(crate) const BACKLOG: u16 = 4096;

/// The pause after the first failure to accept. It doubles with each further failure, as in Go.
const FIRST_REST: Duration = Duration::from_millis(5);
/// The longest pause after failures to accept.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The interval of keep-alive probes to silent clients, as in Go. Only they show that the client of a blocking query
/// has gone: the end of its stream does not, because it may still read.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The answer to a connection above the limit (1.22.md A6).
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\n\
Content-Type: text/plain\r\nContent-Length: 81\r\nConnection: close\r\n\r\n\
Your IP is issuing too many concurrent connections, please rate limit your calls\n";

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Socket {
    /// A TCP socket.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

/// What is spoken on the connections of a socket.
#[derive(Clone)]
pub(crate) enum Protocol {
    /// HTTP, over TLS if given.
    Http(Option<Tls>),
    /// DNS.
    #[cfg(feature = "dns")]
    Dns,
}

/// How often, and after what times, a port is tried that somebody else has.
const PORT_TRIES: u32 = 250;
const PORT_RETRY: Duration = Duration::from_millis(20);

impl Protocol {
    fn tls(&self) -> Option<Tls> {
        match self {
            Protocol::Http(tls) => tls.clone(),
            #[cfg(feature = "dns")]
            Protocol::Dns => None,
        }
    }
}

/// Accepts connections forever, and serves each in a task of its own.
pub(crate) async fn accept(
    context: Arc<Context>,
    mut socket: Socket,
    protocol: Protocol,
    tasks: Arc<Tasks>,
) {
    let Some(control) = context.control.clone() else {
        return accept_on(&context, &socket, &protocol, &tasks).await;
    };
    let listeners = control.listeners(context.agent);
    loop {
        tokio::select! {
            () = accept_on(&context, &socket, &protocol, &tasks) => {}
            () = listeners.are(false) => {}
        }
        let Some(next) = reopened(listeners, socket).await else {
            return;
        };
        socket = next;
    }
}

/// Closes a TCP socket until its server accepts connections again. A Unix socket stays open.
async fn reopened(listeners: &Listeners, socket: Socket) -> Option<Socket> {
    let Socket::Tcp(listener) = socket else {
        listeners.are(true).await;
        return Some(socket);
    };
    let address = listener.local_addr().ok()?;
    drop(listener);
    // A socket that is bound but does not listen: connections are refused, and no other process gets the port.
    let kept = keep_port(address);
    listeners.has_closed();
    listeners.are(true).await;
    let kept = match kept {
        Err(error) if error.kind() == ErrorKind::AddrInUse => port_again(address).await,
        kept => kept,
    };
    let listener = kept.and_then(|kept| kept.listen(BACKLOG.into()));
    let (listener, outcome) = match listener {
        Ok(listener) => (Some(listener), Ok(())),
        Err(error) => (None, Err(error)),
    };
    listeners.has_opened(address, outcome);
    listener.map(Socket::Tcp)
}

/// Takes a port that somebody else got between its two sockets, such as an outgoing connection, as soon as it is free.
async fn port_again(address: SocketAddr) -> io::Result<TcpSocket> {
    for _ in 0..PORT_TRIES {
        time::delay_anywhere(PORT_RETRY).await;
        match keep_port(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            taken => return taken,
        }
    }
    keep_port(address)
}

fn keep_port(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // On Windows it would mean that others may bind the same port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn accept_on(context: &Arc<Context>, socket: &Socket, protocol: &Protocol, tasks: &Tasks) {
    if let Socket::Tcp(listener) = socket {
        keep_alive(listener);
    }
    let mut rest = Rest::default();
    loop {
        let accepted = match socket {
            Socket::Tcp(listener) => accept_tcp(context, listener, protocol, tasks).await,
            Socket::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                let context = Arc::clone(context);
                tasks.spawn(Box::pin(serve(
                    context,
                    None,
                    stream.into(),
                    protocol.tls(),
                )));
            }),
        };
        match accepted {
            Ok(()) => rest = Rest::default(),
            // The client has gone before its connection was accepted; the next may be waiting.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            // Most likely too many files are open. Accepting would fail again at once, and keep other tasks from
            // running.
            Err(error) => {
                let pause = rest.next();
                tracing::warn!(
                    target: "agent.http",
                    "http: Accept error: {error}; retrying in {pause:?}"
                );
                time::delay(pause).await;
            }
        }
    }
}

async fn accept_tcp(
    context: &Arc<Context>,
    listener: &TcpListener,
    protocol: &Protocol,
    tasks: &Tasks,
) -> io::Result<()> {
    let (stream, peer) = listener.accept().await?;
    // Latency matters more than the number of packets; Go sets this too.
    let _ = stream.set_nodelay(true);
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    let limit = context.config.http_max_conns_per_client;
    let context = Arc::clone(context);
    #[cfg(feature = "dns")]
    if matches!(protocol, Protocol::Dns) {
        tasks.spawn(Box::pin(dns::serve_stream(context, stream, peer.ip())));
        return Ok(());
    }
    let tls = protocol.tls();
    match context.connections.admit(peer.ip(), limit) {
        Some(place) => {
            let serving = serve(context, Some(peer), stream.into(), tls);
            tasks.spawn(Box::pin(async move {
                let _place = place;
                serving.await;
            }));
        }
        // Over TLS it would take a handshake to answer.
        None if tls.is_some() => {}
        None => tasks.spawn(Box::pin(refuse(context, stream))),
    }
    Ok(())
}

/// The pauses after failures to accept.
#[derive(Debug, Default)]
struct Rest(Duration);

impl Rest {
    fn next(&mut self) -> Duration {
        self.0 = (self.0 * 2).clamp(FIRST_REST, LONGEST_REST);
        self.0
    }
}

/// Enables keep-alive probes, which connections inherit from the listener. A failure is ignored: the server works
/// without.
fn keep_alive(listener: &TcpListener) {
    let how = TcpKeepalive::new()
        .with_time(KEEP_ALIVE)
        .with_interval(KEEP_ALIVE);
    let _ = SockRef::from(listener).set_tcp_keepalive(&how);
}

/// Serves one connection until either side closes it, or the server closes all. `peer` is `None` for a Unix socket.
pub(super) async fn serve(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    stream: Stream,
    tls: Option<Tls>,
) {
    let (control, agent) = (context.control.clone(), context.agent);
    let serving = pin!(async move {
        let stream = match tls {
            None => Some(stream),
            Some(tls) => tls.handshake(stream).await,
        };
        if let Some(stream) = stream {
            // A simulated client sends nothing sooner for being looked at, and how often it is would depend on the machine.
            let may_busy_poll = *CORES > 1 && stream.is_of_socket();
            proconsul_core::serve(context, peer, stream.into_split(), may_busy_poll).await;
        }
    });
    match &control {
        // The end first: a server that refuses connections answers nothing.
        Some(control) => either(control.listeners(agent).are(false), serving).await,
        None => serving.await,
    }
}

/// Refuses a connection, with or without an answer, depending on the release.
async fn refuse(context: Arc<Context>, mut stream: TcpStream) {
    if context
        .config
        .version
        .has(Behaviour::HttpConnectionLimitAnswer)
    {
        let _ = stream.write_all(TOO_MANY_CONNECTIONS).await;
        let _ = stream.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses of Go's server, in milliseconds.
    #[test]
    fn accepting_rests_longer_and_longer_when_it_fails() {
        let mut rest = Rest::default();
        let rests = [(); 10].map(|()| rest.next().as_millis());
        assert_eq!(rests, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }

    #[test]
    fn the_refusal_has_the_length_that_it_names() {
        let body = TOO_MANY_CONNECTIONS
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .map(|end| TOO_MANY_CONNECTIONS.len() - end - 4);
        assert_eq!(body, Some(81));
    }

    #[tokio::test]
    async fn a_port_that_somebody_has_for_a_moment_is_taken_back() {
        let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = other.local_addr().expect("it is bound");
        let taken = keep_port(address).map_err(|error| error.kind());
        assert_eq!(taken.map(drop), Err(ErrorKind::AddrInUse));
        let (taken, ()) = tokio::join!(port_again(address), async { drop(other) });
        let taken = taken.and_then(|taken| taken.local_addr());
        assert_eq!(taken.expect("it is free"), address);
    }
}
