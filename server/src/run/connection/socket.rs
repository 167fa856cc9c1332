//! The read and write halves of a TCP or Unix socket.

use std::future::Future as _;
use std::io;
#[cfg(unix)]
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use proconsul_h1::HangingUp;
#[cfg(unix)]
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::tcp;
#[cfg(unix)]
use tokio::net::unix;

/// The read half.
#[derive(Debug)]
pub(crate) enum SocketReader {
    /// Of a TCP socket.
    Tcp(tcp::OwnedReadHalf),
    /// Of a Unix socket.
    #[cfg(unix)]
    Unix(unix::OwnedReadHalf),
}

/// The write half.
#[derive(Debug)]
pub(crate) enum SocketWriter {
    /// Of a TCP socket.
    Tcp(tcp::OwnedWriteHalf),
    /// Of a Unix socket.
    #[cfg(unix)]
    Unix(unix::OwnedWriteHalf),
}

impl SocketReader {
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(half) => pin!(half.read_buf(buffer)).poll(context),
            #[cfg(unix)]
            Self::Unix(half) => pin!(half.read_buf(buffer)).poll(context),
        }
    }

    /// Writes as many bytes as possible without waiting.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.as_ref().try_write(bytes),
            #[cfg(unix)]
            Self::Unix(half) => half.as_ref().try_write(bytes),
        }
    }

    pub(super) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match self {
            Self::Tcp(half) => half.ready(interest).await,
            #[cfg(unix)]
            Self::Unix(half) => half.ready(interest).await,
        }
    }

    /// Reads without owning the half. Only one task may do so.
    pub(super) fn poll_read_shared(
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

impl SocketWriter {
    /// Returns when the client has gone; `hanging_up` decides about a half-closed connection.
    pub(super) async fn gone(&self, hanging_up: HangingUp) {
        // Windows shows a broken connection only to who reads.
        if hanging_up == HangingUp::Gone || cfg!(windows) {
            match self.is_over().await {
                // The client has sent its next request, so it is there.
                Ok(false) => {}
                Ok(true) if hanging_up == HangingUp::Waits => {}
                Ok(true) | Err(_) => return,
            }
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

    /// Whether the client has ended its stream, once it has sent anything or ended it. It looks at the socket, because the event
    /// alone may be a late one of an earlier request.
    async fn is_over(&self) -> io::Result<bool> {
        let length = match self {
            Self::Tcp(half) => half.as_ref().peek(&mut [0]).await?,
            #[cfg(unix)]
            Self::Unix(half) => {
                let half = half.as_ref();
                let peek = || SockRef::from(half).peek(&mut [MaybeUninit::uninit()]);
                half.async_io(Interest::READABLE, peek).await?
            }
        };
        Ok(length == 0)
    }

    /// Makes a TCP connection end with a reset when both halves are dropped. Unix sockets have no reset.
    pub(super) fn reset(self) {
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

    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_write(context, bytes),
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    pub(super) fn poll_write_vectored(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_write_vectored(context, slices),
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_write_vectored(context, slices),
        }
    }

    pub(super) fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}
