//! Connections that are one stream of tokio's kind: any, and what seals a socket, such as TLS.

use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{BufMut, BytesMut};
use proconsul_h1::HangingUp;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Interest, ReadBuf};

use super::socket::{SocketReader, SocketWriter};

/// A stream of bytes in both directions.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A half of a connection that is one stream.
#[derive(Clone)]
pub(crate) struct Shared {
    open: Arc<Mutex<Open>>,
    /// The socket that the stream seals, if it does: it shows when the connection is broken, and can be reset.
    beneath: Option<Arc<Beneath>>,
}

struct Open {
    stream: Box<dyn Duplex>,
    /// A byte that was read to learn whether the client is there, as Go's server does.
    ahead: Option<u8>,
}

/// What a stream and its connection share of a socket.
#[derive(Debug)]
struct Beneath {
    read: SocketReader,
    /// Whether the connection is to end with a reset.
    is_reset: AtomicBool,
}

/// A socket that another stream seals.
#[derive(Debug)]
pub(crate) struct Socket {
    beneath: Arc<Beneath>,
    /// `None` once it was dropped.
    write: Option<SocketWriter>,
    /// The bytes that were looked at and not read yet.
    first: Vec<u8>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = &mut formatter.debug_struct("Shared");
        shared
            .field("beneath", &self.beneath)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Makes a connection of a stream.
    pub(super) fn new(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self {
            open: Arc::new(Mutex::new(Open {
                stream: Box::new(stream),
                ahead: None,
            })),
            beneath: None,
        }
    }

    /// Seals a socket: `seal` is given it, and returns what is written and read on it in plain.
    ///
    /// # Errors
    /// Those of `seal`.
    pub(super) async fn sealed<S, Sealing>(
        read: SocketReader,
        write: SocketWriter,
        seal: impl FnOnce(Socket) -> Sealing,
    ) -> io::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        Sealing: Future<Output = io::Result<S>>,
    {
        let beneath = Arc::new(Beneath {
            read,
            is_reset: AtomicBool::new(false),
        });
        let socket = Socket {
            beneath: Arc::clone(&beneath),
            write: Some(write),
            first: Vec::new(),
        };
        Ok(Self {
            beneath: Some(beneath),
            ..Self::new(seal(socket).await?)
        })
    }

    /// Returns whether the stream seals a socket.
    pub(super) fn is_of_socket(&self) -> bool {
        self.beneath.is_some()
    }

    /// Locks the stream. A poisoned lock is no problem: a stream that panicked fails at its next use.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `poll` with the stream.
    pub(super) fn with_stream<T>(
        &self,
        poll: impl FnOnce(Pin<&mut (dyn AsyncWrite + Send + Unpin)>) -> T,
    ) -> T {
        let mut open = self.open();
        let stream: &mut (dyn AsyncWrite + Send + Unpin) = &mut open.stream;
        poll(Pin::new(stream))
    }

    pub(super) fn poll_read(
        &self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let mut open = self.open();
        if let Some(byte) = open.ahead.take() {
            buffer.put_u8(byte);
            return Poll::Ready(Ok(1));
        }
        pin!(open.stream.read_buf(buffer)).poll(context)
    }

    /// Writes as many bytes as possible without waiting. What the stream has taken and not sent yet goes with the next
    /// write.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let context = &mut Context::from_waker(Waker::noop());
        self.with_stream(
            |mut stream| match stream.as_mut().poll_write(context, bytes) {
                Poll::Ready(written) => {
                    let _ = stream.poll_flush(context);
                    written
                }
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            },
        )
    }

    /// Returns when the client has gone; see [`SocketWriter::gone`].
    pub(super) async fn gone(&self, hanging_up: HangingUp) {
        tokio::select! {
            biased;
            () = self.over(hanging_up) => {}
            () = self.broken() => {}
        }
    }

    /// Returns when reading shows that the client has gone. A client that closes may send the end of the stream before that
    /// of the socket beneath it, and without a socket nothing else shows it.
    async fn over(&self, hanging_up: HangingUp) {
        if hanging_up == HangingUp::Gone || self.beneath.is_none() {
            let is_gone = match poll_fn(|context| self.poll_ahead(context)).await {
                Ok(Some(_)) => false,
                Ok(None) => hanging_up == HangingUp::Gone,
                Err(_) => true,
            };
            if is_gone {
                return;
            }
            // It has sent its next request, so it is there, or it may still read.
        }
        pending::<()>().await;
    }

    /// Returns when the socket beneath the stream is broken.
    async fn broken(&self) {
        if let Some(beneath) = &self.beneath
            && beneath.read.ready(Interest::ERROR).await.is_ok()
        {
            return;
        }
        // The runtime shuts down, and this task with it, or there is no socket.
        pending::<()>().await;
    }

    /// Reads a byte ahead and returns it; `None` at the end of the stream.
    fn poll_ahead(&self, context: &mut Context<'_>) -> Poll<io::Result<Option<u8>>> {
        let mut open = self.open();
        if open.ahead.is_some() {
            return Poll::Ready(Ok(open.ahead));
        }
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        let read = Pin::new(&mut open.stream).poll_read(context, &mut buffer);
        read.map_ok(|()| {
            open.ahead = buffer.filled().first().copied();
            // Who reads a body has to know that there is more of it.
            context.waker().wake_by_ref();
            open.ahead
        })
    }

    /// Makes the connection end with a reset when it is dropped. A stream without a socket knows no other end.
    pub(super) fn reset(&self) {
        if let Some(beneath) = &self.beneath {
            beneath.is_reset.store(true, Ordering::Relaxed);
        }
    }
}

impl Socket {
    /// Waits for the first bytes and returns them, fewer than `count` at the end of the stream. They stay to be read.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn first(&mut self, count: usize) -> io::Result<&[u8]> {
        let mut first = std::mem::take(&mut self.first);
        while first.len() < count {
            let mut buffer = vec![0; count - first.len()];
            let read = self.read(&mut buffer).await?;
            if read == 0 {
                break;
            }
            first.extend_from_slice(&buffer[..read]);
        }
        self.first = first;
        Ok(&self.first)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.beneath.is_reset.load(Ordering::Relaxed)
            && let Some(write) = self.write.take()
        {
            write.reset();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let count = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..count]);
            self.first.drain(..count);
            return Poll::Ready(Ok(()));
        }
        self.beneath.read.poll_read_shared(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.write {
            Some(write) => write.poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Sockets have no buffer to flush.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.write {
            Some(write) => write.poll_shutdown(context),
            None => Poll::Ready(Ok(())),
        }
    }
}
