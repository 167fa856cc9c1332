//! Sockets: accepting, the limit of connections per client, and hyper's own refusals in Go's words.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll, ready};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, UnixListener};

use super::Context;
use crate::version::Behaviour;

/// What Go allows above the configured size of a request's head.
const HEAD_SLACK: usize = 4096;

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

/// Accepts connections for ever, and serves each in a task of its own.
pub(crate) async fn accept(context: Arc<Context>, socket: Socket) {
    let open = Arc::new(OpenConnections::default());
    loop {
        match &socket {
            Socket::Tcp(listener) => {
                // A connection that is gone before it was accepted, or too many open files: the next may work.
                let Ok((stream, peer)) = listener.accept().await else {
                    continue;
                };
                // Latency matters more than packets, and Go sets it too.
                let _ = stream.set_nodelay(true);
                let peer = peer.ip().to_canonical();
                let limit = context.config.http_max_conns_per_client;
                match open.admit(peer, limit) {
                    Some(place) => {
                        let serve = serve(Arc::clone(&context), Some(peer), stream);
                        tokio::spawn(async move {
                            let _place = place;
                            serve.await;
                        });
                    }
                    None => {
                        tokio::spawn(refuse(Arc::clone(&context), stream));
                    }
                }
            }
            Socket::Unix(listener) => {
                let Ok((stream, _)) = listener.accept().await else {
                    continue;
                };
                tokio::spawn(serve(Arc::clone(&context), None, stream));
            }
        }
    }
}

/// Serves one connection until either side closes it.
async fn serve(
    context: Arc<Context>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) {
    let answering = Arc::new(AtomicBool::new(false));
    let head_limit = context.config.max_header_bytes + HEAD_SLACK;
    let flag = Arc::clone(&answering);
    let service = service_fn(move |request| {
        let context = Arc::clone(&context);
        flag.store(true, Ordering::Relaxed);
        let guard = AnsweringGuard(Arc::clone(&flag));
        async move { super::respond(context, peer, request, guard).await }
    });
    let stream = TokioIo::new(GoRefusals::new(stream, answering));
    // An error is a client that went away or that was told what is wrong: there is nobody left to tell.
    let _ = http1::Builder::new()
        .title_case_headers(true)
        .max_buf_size(head_limit)
        .serve_connection(stream, service)
        .await;
}

/// Turns a connection away, as the version does: with an answer, or without a word.
async fn refuse(context: Arc<Context>, mut stream: tokio::net::TcpStream) {
    if context
        .config
        .version
        .has(Behaviour::HttpConnectionLimitAnswer)
    {
        let _ = stream.write_all(TOO_MANY_CONNECTIONS).await;
        let _ = stream.shutdown().await;
    }
}

/// How many connections each client address holds.
#[derive(Debug, Default)]
struct OpenConnections(Mutex<HashMap<IpAddr, usize>>);

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

/// Says, while it lives, that an answer of ours is on its way: it travels with the answer's body.
#[derive(Debug)]
pub(crate) struct AnsweringGuard(Arc<AtomicBool>);

impl Drop for AnsweringGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A stream on which what hyper refuses by itself is refused in the words of Go's server (kv.md 0, step 1).
///
/// Hyper answers a head that it cannot read with a bare status. Nothing of ours is being answered then, and
/// the answer is one write of a known form; such a write is replaced.
struct GoRefusals<S> {
    stream: S,
    answering: Arc<AtomicBool>,
    /// What is left to write of a replacement, and how long the write was that it stands for.
    replacement: Option<(&'static [u8], usize)>,
}

impl<S> GoRefusals<S> {
    fn new(stream: S, answering: Arc<AtomicBool>) -> Self {
        Self {
            stream,
            answering,
            replacement: None,
        }
    }

    fn replacement_for(&self, write: &[u8]) -> Option<&'static [u8]> {
        if self.answering.load(Ordering::Relaxed) || !is_bare_refusal(write) {
            return None;
        }
        match write.get(9..12)? {
            b"400" => Some(
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
Connection: close\r\n\r\n400 Bad Request",
            ),
            b"431" => Some(
                b"HTTP/1.1 431 Request Header Fields Too Large\r\n\
Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431 Request Header Fields Too Large",
            ),
            _ => None,
        }
    }
}

/// Whether these bytes are an answer of hyper's own making. Those of ours never name the end of the connection
/// first.
fn is_bare_refusal(write: &[u8]) -> bool {
    const FIRST_HEADERS: &[u8] = b"\r\nConnection: close\r\nContent-Length: 0\r\nDate: ";
    let status_line = write.iter().position(|&byte| byte == b'\r');
    write.starts_with(b"HTTP/1.1 4")
        && write.ends_with(b"\r\n\r\n")
        && status_line.is_some_and(|end| write[end..].starts_with(FIRST_HEADERS))
}

impl<S: AsyncWrite + Unpin> AsyncWrite for GoRefusals<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replacement.is_none() {
            match self.replacement_for(bytes) {
                Some(replacement) => self.replacement = Some((replacement, bytes.len())),
                None => return Pin::new(&mut self.stream).poll_write(context, bytes),
            }
        }
        while let Some((rest, stands_for)) = self.replacement {
            if rest.is_empty() {
                self.replacement = None;
                return Poll::Ready(Ok(stands_for));
            }
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            self.replacement = Some((&rest[written..], stands_for));
        }
        Poll::Ready(Ok(0))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GoRefusals<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_place_back() {
        let open = Arc::new(OpenConnections::default());
        let peer = IpAddr::from([127, 0, 0, 1]);
        let first = open.admit(peer, 2);
        let second = open.admit(peer, 2);
        assert!(first.is_some() && second.is_some());
        assert!(open.admit(peer, 2).is_none());
        assert!(open.admit(IpAddr::from([127, 0, 0, 2]), 2).is_some());
        drop(first);
        assert!(open.admit(peer, 2).is_some());
    }

    #[test]
    fn the_refusal_has_the_length_that_it_names() {
        let body = TOO_MANY_CONNECTIONS
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .map(|end| TOO_MANY_CONNECTIONS.len() - end - 4);
        assert_eq!(body, Some(81));
    }
}
