//! Connections whose bytes another layer seals, such as TLS: the socket beneath it, and both of its sides.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Interest, ReadBuf};

use crate::stream::half::{HangingUp, ReadHalf, WriteHalf};

/// A socket on which another layer reads and writes.
#[derive(Debug)]
pub struct Socket {
    beneath: Arc<Beneath>,
    /// `None` once it was dropped.
    write: Option<WriteHalf>,
    /// The bytes that were looked at and not read yet.
    first: Vec<u8>,
}

/// What the layer and its connection share of a socket.
#[derive(Debug)]
struct Beneath {
    read: ReadHalf,
    /// Whether the connection is to end with a reset.
    is_reset: AtomicBool,
}

impl Socket {
    /// Waits for the first bytes and returns them, fewer than `count` at the end of the stream. They stay to be read.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn first(&mut self, count: usize) -> io::Result<&[u8]> {
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
            Some(write) => Pin::new(write).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Sockets have no buffer to flush.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.write {
            Some(write) => Pin::new(write).poll_shutdown(context),
            None => Poll::Ready(Ok(())),
        }
    }
}

/// What a layer gives back: plain bytes in both directions.
trait Layer: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Layer for T {}

/// A side of a sealed connection.
#[derive(Clone)]
pub(crate) struct Sealed {
    open: Arc<Mutex<Open>>,
    beneath: Arc<Beneath>,
}

struct Open {
    layer: Box<dyn Layer>,
    /// A byte that was read to learn whether the client is there, as Go's server does.
    ahead: Option<u8>,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sealed = &mut formatter.debug_struct("Sealed");
        sealed
            .field("beneath", &self.beneath)
            .finish_non_exhaustive()
    }
}

impl Sealed {
    /// Seals a socket: `seal` is given it, and returns what is written and read on it in plain.
    ///
    /// # Errors
    /// Those of `seal`.
    pub(crate) async fn new<S, Sealing>(
        read: ReadHalf,
        write: WriteHalf,
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
        let open = Open {
            layer: Box::new(seal(socket).await?),
            ahead: None,
        };
        Ok(Self {
            open: Arc::new(Mutex::new(open)),
            beneath,
        })
    }

    /// Locks the layer. A poisoned lock is no problem: a layer that panicked fails at its next use.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `poll` with the layer.
    pub(crate) fn with_layer<T>(
        &self,
        poll: impl FnOnce(Pin<&mut (dyn AsyncWrite + Send + Unpin)>) -> T,
    ) -> T {
        let mut open = self.open();
        let layer: &mut (dyn AsyncWrite + Send + Unpin) = &mut open.layer;
        poll(Pin::new(layer))
    }

    pub(crate) fn poll_read(
        &self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut open = self.open();
        if let Some(byte) = open.ahead.take() {
            buffer.put_slice(&[byte]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut open.layer).poll_read(context, buffer)
    }

    /// Writes as many bytes as possible without waiting. What the layer has taken and the socket has not goes with the
    /// next write.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let context = &mut Context::from_waker(Waker::noop());
        self.with_layer(
            |mut layer| match layer.as_mut().poll_write(context, bytes) {
                Poll::Ready(written) => {
                    let _ = layer.poll_flush(context);
                    written
                }
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            },
        )
    }

    /// Returns when the client has gone; see [`WriteHalf::gone`].
    pub(crate) async fn gone(&self, hanging_up: HangingUp) {
        let broken = self.beneath.read.ready(Interest::ERROR);
        let over = async {
            // A client that closes may send the end of the layer before that of the socket: only reading tells.
            let is_over =
                hanging_up == HangingUp::Gone && poll_fn(|context| self.poll_over(context)).await;
            if !is_over {
                // It has sent its next request, so it is there.
                std::future::pending::<()>().await;
            }
        };
        let is_running = tokio::select! {
            () = over => true,
            ready = broken => ready.is_ok(),
        };
        if !is_running {
            // The runtime shuts down, and this task with it.
            std::future::pending::<()>().await;
        }
    }

    /// Whether the client has ended the stream, once it has sent anything or ended it.
    fn poll_over(&self, context: &mut Context<'_>) -> Poll<bool> {
        let mut open = self.open();
        if open.ahead.is_some() {
            return Poll::Ready(false);
        }
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        let read = Pin::new(&mut open.layer).poll_read(context, &mut buffer);
        read.map(|read| {
            open.ahead = read.ok().and_then(|()| buffer.filled().first().copied());
            // Who reads a body has to know that there is more of it.
            context.waker().wake_by_ref();
            open.ahead.is_none()
        })
    }

    /// Makes the connection end with a reset when it is dropped.
    pub(crate) fn reset(&self) {
        self.beneath.is_reset.store(true, Ordering::Relaxed);
    }
}
