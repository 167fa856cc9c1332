//! The read and write halves of a TCP or Unix socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::tcp;
#[cfg(unix)]
use tokio::net::unix;

/// The meaning of a half-closed connection whose request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangingUp {
    /// The request is kept: Consul answers half-closed clients.
    Waits,
    /// The client has gone, as nearly always. A test must not count its request as blocked.
    Gone,
}

/// The read half.
#[derive(Debug)]
pub(crate) enum ReadHalf {
    /// A TCP socket.
    Tcp(tcp::OwnedReadHalf),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(unix::OwnedReadHalf),
}

/// The write half.
#[derive(Debug)]
pub(crate) enum WriteHalf {
    /// A TCP socket.
    Tcp(tcp::OwnedWriteHalf),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(unix::OwnedWriteHalf),
}

impl ReadHalf {
    /// Writes as many bytes as possible without waiting.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.as_ref().try_write(bytes),
            #[cfg(unix)]
            Self::Unix(half) => half.as_ref().try_write(bytes),
        }
    }

    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match self {
            Self::Tcp(half) => half.ready(interest).await,
            #[cfg(unix)]
            Self::Unix(half) => half.ready(interest).await,
        }
    }

    /// Reads without owning the half. Only one task may do so.
    pub(crate) fn poll_read_shared(
        &self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let readable = match self {
                Self::Tcp(half) => half.as_ref().poll_read_ready(context),
                #[cfg(unix)]
                Self::Unix(half) => half.as_ref().poll_read_ready(context),
            };
            ready!(readable)?;
            let read = match self {
                Self::Tcp(half) => half.try_read_buf(buffer),
                #[cfg(unix)]
                Self::Unix(half) => half.try_read_buf(buffer),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|_| ())),
            }
        }
    }
}

impl WriteHalf {
    /// Returns when the client has gone; `hanging_up` decides about a half-closed connection.
    pub(crate) async fn gone(&self, hanging_up: HangingUp) {
        #[cfg(windows)]
        match self.is_over().await {
            Ok(false) => {}
            Ok(true) if hanging_up == HangingUp::Waits => {}
            Ok(true) | Err(_) => return,
        }
        if hanging_up == HangingUp::Gone {
            let ready = self.ready(Interest::ERROR | Interest::READABLE).await;
            if ready.is_ok_and(|ready| ready.is_error() || ready.is_read_closed()) {
                return;
            }
            // The client has sent its next request, so it is there.
        }
        if self.ready(Interest::ERROR).await.is_err() {
            // The runtime shuts down, and this task with it.
            std::future::pending::<()>().await;
        }
    }

    async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match self {
            Self::Tcp(half) => half.ready(interest).await,
            #[cfg(unix)]
            Self::Unix(half) => half.ready(interest).await,
        }
    }

    /// Whether the client has ended its stream, once it has sent anything or ended it. Windows says that a socket is
    /// readable once, until it is found empty, so that the event alone would be that of an earlier request.
    #[cfg(windows)]
    async fn is_over(&self) -> io::Result<bool> {
        let Self::Tcp(half) = self;
        Ok(half.as_ref().peek(&mut [0]).await? == 0)
    }

    /// Makes a TCP connection end with a reset when both halves are dropped. Unix sockets have no reset.
    pub(crate) fn reset(self) {
        match self {
            Self::Tcp(half) => {
                // If this fails, the connection is closed normally.
                let _ = half.as_ref().set_zero_linger();
                half.forget();
            }
            #[cfg(unix)]
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
            #[cfg(unix)]
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
            #[cfg(unix)]
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
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Sockets have no buffer to flush.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}
