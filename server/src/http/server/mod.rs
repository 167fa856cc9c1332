//! HTTP/1 as Go's `net/http` serves it, which is what Consul's clients see of Consul before any of its endpoints:
//! accepting, the limit of connections per client, and below these the connection itself.
//!
//! A library's server would be less work, and its wire another one: it decides by itself which heads are heads,
//! what it says about those that are none, how a body that nobody read ends, and in which order headers stand.

mod answer;
mod body;
mod chunks;
mod connection;
mod head;
mod lines;
mod refusal;
mod stream;

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener};

pub(crate) use answer::{Answer, Ending};
pub(crate) use body::{Incoming, Read};
pub(crate) use chunks::BodyFailure;
pub(crate) use head::{Head, Protocol};

use super::Context;
use crate::clock;
use crate::control::Doors;
use crate::version::{Behaviour, Version};
use connection::Settings;
use stream::{HangingUp, Stream};

/// What Go allows above the configured size of a request's head.
const HEAD_SLACK: usize = 4096;

/// How many connections may wait to be accepted, as with Consul. A client that finds no room tries again after a second.
pub(crate) const BACKLOG: u16 = 4096;

/// How long accepting rests when it has failed, as in Go: so long at first, and twice as long each time.
const FIRST_REST: Duration = Duration::from_millis(5);
/// And at most so long.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// How often Go asks a client that says nothing whether it is still there. It is how a client is noticed to be gone
/// whose read waits: the end of what it sends says nothing about that.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The answer to a connection above the limit (1.22.md A6).
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\n\
Content-Type: text/plain\r\nContent-Length: 81\r\nConnection: close\r\n\r\n\
Your IP is issuing too many concurrent connections, please rate limit your calls\n";

/// A socket that is listened on.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Over TCP.
    Tcp(TcpListener),
    /// At a path.
    Unix(UnixListener),
}

/// Which Go's rules hold where they have changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Heads are taken as newer Go takes them.
    strict_heads: bool,
    /// Chunks are taken as newer Go takes them.
    strict_chunks: bool,
}

impl Rules {
    /// The rules of the Go that this version is built with.
    fn of(version: Version) -> Self {
        Self {
            strict_heads: version.has(Behaviour::HttpStrictHeads),
            strict_chunks: version.has(Behaviour::HttpStrictChunks),
        }
    }
}

/// Accepts connections for ever, and serves each in a task of its own.
pub(crate) async fn accept(context: Arc<Context>, mut socket: Socket) {
    let Some(control) = context.control.clone() else {
        return accept_on(&context, &socket).await;
    };
    let doors = control.doors();
    loop {
        tokio::select! {
            () = accept_on(&context, &socket) => {}
            () = doors.are(false) => {}
        }
        let Some(next) = reopened(doors, socket).await else {
            return;
        };
        socket = next;
    }
}

/// Closes a socket until its server takes connections again. A socket at a path is not closed.
async fn reopened(doors: &Doors, socket: Socket) -> Option<Socket> {
    let Socket::Tcp(listener) = socket else {
        doors.are(true).await;
        return Some(socket);
    };
    let address = listener.local_addr().ok()?;
    drop(listener);
    // A socket that is bound and does not listen: connections are refused, and nobody else gets the port.
    let kept = keep_port(address);
    doors.has_closed();
    doors.are(true).await;
    let listener = kept.and_then(|kept| kept.listen(BACKLOG.into()));
    let (listener, outcome) = match listener {
        Ok(listener) => (Some(listener), Ok(())),
        Err(error) => (None, Err(error)),
    };
    doors.has_opened(address, outcome);
    listener.map(Socket::Tcp)
}

fn keep_port(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn accept_on(context: &Arc<Context>, socket: &Socket) {
    if let Socket::Tcp(listener) = socket {
        keep_alive(listener);
    }
    let mut rest = Rest::default();
    loop {
        let accepted = match socket {
            Socket::Tcp(listener) => accept_tcp(context, listener).await,
            Socket::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                tokio::spawn(Box::pin(serve(Arc::clone(context), None, stream)));
            }),
        };
        match accepted {
            Ok(()) => rest = Rest::default(),
            // It is gone before it was accepted; the next may be there.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            // Most likely there are too many open files. Until one is closed it would fail again at once, and nothing
            // else would run.
            Err(error) => {
                let pause = rest.next();
                tracing::warn!(
                    target: "agent.http",
                    "http: Accept error: {error}; retrying in {pause:?}"
                );
                clock::machine_sleep(pause).await;
            }
        }
    }
}

async fn accept_tcp(context: &Arc<Context>, listener: &TcpListener) -> io::Result<()> {
    let (stream, peer) = listener.accept().await?;
    // Latency matters more than packets, and Go sets it too.
    let _ = stream.set_nodelay(true);
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    let limit = context.config.http_max_conns_per_client;
    let context = Arc::clone(context);
    match context.connections.admit(peer.ip(), limit) {
        Some(place) => tokio::spawn(Box::pin(serve(context, Some((peer, place)), stream))),
        None => tokio::spawn(refuse(context, stream)),
    };
    Ok(())
}

/// How long accepting rests next.
#[derive(Debug, Default)]
struct Rest(Duration);

impl Rest {
    fn next(&mut self) -> Duration {
        self.0 = (self.0 * 2).clamp(FIRST_REST, LONGEST_REST);
        self.0
    }
}

/// Makes the system ask silent clients whether they are there: connections inherit it from the listener. A system that
/// refuses serves as well.
fn keep_alive(listener: &TcpListener) {
    let how = TcpKeepalive::new()
        .with_time(KEEP_ALIVE)
        .with_interval(KEEP_ALIVE);
    let _ = SockRef::from(listener).set_tcp_keepalive(&how);
}

/// Serves one connection until either side closes it. One of a TCP socket has a peer, and a place in the count of its
/// address.
async fn serve(context: Arc<Context>, place: Option<(SocketAddr, Place)>, stream: impl Stream) {
    let peer = place.as_ref().map(|(peer, _)| *peer);
    let settings = Settings {
        head_limit: context.config.max_header_bytes + HEAD_SLACK,
        rules: Rules::of(context.config.version),
        hanging_up: if context.config.control {
            HangingUp::Gone
        } else {
            HangingUp::Waits
        },
    };
    let serving = pin!(connection::serve(stream, settings, |head, body| {
        super::respond(Arc::clone(&context), peer, head, body)
    }));
    match &context.control {
        Some(control) => tokio::select! {
            () = serving => {}
            () = control.doors().are(false) => {}
        },
        None => serving.await,
    }
}

/// Turns a connection away, as the version does: with an answer, or without a word.
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

/// How many connections each client address holds to an agent, at all of its sockets together.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections(Mutex<HashMap<IpAddr, usize>>);

/// A connection's place in the count; dropping it gives the place back.
#[derive(Debug)]
struct Place {
    open: Arc<OpenConnections>,
    peer: IpAddr,
}

impl OpenConnections {
    /// A place for one more connection of `peer`; none when it holds `limit` already. No limit is 0.
    fn admit(self: &Arc<Self>, peer: IpAddr, limit: usize) -> Option<Place> {
        let mut open = self.0.lock();
        let count = open.entry(peer).or_default();
        if limit > 0 && *count >= limit {
            return None;
        }
        *count += 1;
        drop(open);
        Some(Place {
            open: Arc::clone(self),
            peer,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.0.lock();
        if let Some(count) = open.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests;
