//! The two ends of a socket, over TCP or at a path: one reads, the other writes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::{TcpStream, UnixStream, tcp, unix};

/// What it means that a client stops sending while its request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangingUp {
    /// Nothing: Consul answers it, however long it has to wait.
    Waits,
    /// It is gone. So it nearly always is, and a test that counts who is blocked must not count it.
    Gone,
}

/// The end that reads.
#[derive(Debug)]
pub(crate) enum ReadHalf {
    /// Over TCP.
    Tcp(tcp::OwnedReadHalf),
    /// At a path.
    Unix(unix::OwnedReadHalf),
}

/// The end that writes.
#[derive(Debug)]
pub(crate) enum WriteHalf {
    /// Over TCP.
    Tcp(tcp::OwnedWriteHalf),
    /// At a path.
    Unix(unix::OwnedWriteHalf),
}

/// A socket, over TCP or at a path.
#[derive(Debug)]
pub struct Stream {
    pub(crate) read: ReadHalf,
    pub(crate) write: WriteHalf,
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Self {
        let (read, write) = socket.into_split();
        Self {
            read: ReadHalf::Tcp(read),
            write: WriteHalf::Tcp(write),
        }
    }
}

impl From<UnixStream> for Stream {
    fn from(socket: UnixStream) -> Self {
        let (read, write) = socket.into_split();
        Self {
            read: ReadHalf::Unix(read),
            write: WriteHalf::Unix(write),
        }
    }
}

impl ReadHalf {
    /// Writes some bytes, as many as can be written at once.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.as_ref().try_write(bytes),
            Self::Unix(half) => half.as_ref().try_write(bytes),
        }
    }
}

impl WriteHalf {
    /// Returns when the client is known to be gone. One that only stops sending counts when `hanging_up` says so.
    pub(crate) async fn gone(&self, hanging_up: HangingUp) {
        if hanging_up == HangingUp::Gone {
            let ready = self.ready(Interest::ERROR | Interest::READABLE).await;
            if ready.is_ok_and(|ready| ready.is_error() || ready.is_read_closed()) {
                return;
            }
            // It has sent its next request already, and is there.
        }
        if self.ready(Interest::ERROR).await.is_err() {
            // The runtime is being shut down, and this task with it.
            std::future::pending::<()>().await;
        }
    }

    async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match self {
            Self::Tcp(half) => half.ready(interest).await,
            Self::Unix(half) => half.ready(interest).await,
        }
    }

    /// Makes the connection end with a reset when both ends are dropped. At a path there is no such thing.
    pub(crate) fn reset(self) {
        match self {
            Self::Tcp(half) => {
                // Where it cannot be had, the connection is just closed.
                let _ = half.as_ref().set_zero_linger();
                half.forget();
            }
            Self::Unix(half) => half.forget(),
        }
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(context, buffer),
            Self::Unix(half) => Pin::new(half).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_write(context, bytes),
            Self::Unix(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_write_vectored(context, slices),
            Self::Unix(half) => Pin::new(half).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A socket holds nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            Self::Unix(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}
