//! The two sides of a connection: of a socket, or of what seals one.

mod half;
mod sealed;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, tcp};
#[cfg(unix)]
use tokio::net::{UnixStream, unix};

use half::{ReadHalf, WriteHalf};
use sealed::Sealed;

pub use half::HangingUp;
pub use sealed::Socket;

/// The side from which requests come.
#[derive(Debug)]
pub(crate) enum ReadSide {
    Plain(ReadHalf),
    Sealed(Sealed),
}

/// The side to which responses go.
#[derive(Debug)]
pub(crate) enum WriteSide {
    Plain(WriteHalf),
    Sealed(Sealed),
}

/// A connection: a TCP or Unix socket, or what seals one ([`Stream::sealed`]).
#[derive(Debug)]
pub struct Stream {
    pub(crate) read: ReadSide,
    pub(crate) write: WriteSide,
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Self {
        let (read, write): (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) = socket.into_split();
        Self::plain(ReadHalf::Tcp(read), WriteHalf::Tcp(write))
    }
}

#[cfg(unix)]
impl From<UnixStream> for Stream {
    fn from(socket: UnixStream) -> Self {
        let (read, write): (unix::OwnedReadHalf, unix::OwnedWriteHalf) = socket.into_split();
        Self::plain(ReadHalf::Unix(read), WriteHalf::Unix(write))
    }
}

impl Stream {
    fn plain(read: ReadHalf, write: WriteHalf) -> Self {
        Self {
            read: ReadSide::Plain(read),
            write: WriteSide::Plain(write),
        }
    }

    /// Seals a connection: `seal` is given its socket, and returns what is written and read on it in plain.
    ///
    /// # Errors
    /// Those of `seal`, and a connection that is sealed already.
    pub async fn sealed<S, Sealing>(
        self,
        seal: impl FnOnce(Socket) -> Sealing,
    ) -> io::Result<Stream>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        Sealing: Future<Output = io::Result<S>>,
    {
        let (ReadSide::Plain(read), WriteSide::Plain(write)) = (self.read, self.write) else {
            return Err(io::Error::other("a connection is sealed once"));
        };
        let sealed = Sealed::new(read, write, seal).await?;
        Ok(Self {
            read: ReadSide::Sealed(sealed.clone()),
            write: WriteSide::Sealed(sealed),
        })
    }
}

impl ReadSide {
    /// Writes as many bytes as possible without waiting.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(half) => half.try_write(bytes),
            Self::Sealed(sealed) => sealed.try_write(bytes),
        }
    }
}

impl WriteSide {
    /// Returns when the client has gone; `hanging_up` decides about a half-closed connection.
    pub(crate) async fn gone(&self, hanging_up: HangingUp) {
        match self {
            Self::Plain(half) => half.gone(hanging_up).await,
            Self::Sealed(sealed) => sealed.gone(hanging_up).await,
        }
    }

    /// Makes a TCP connection end with a reset when both sides are dropped. Unix sockets have no reset.
    pub(crate) fn reset(self) {
        match self {
            Self::Plain(half) => half.reset(),
            Self::Sealed(sealed) => sealed.reset(),
        }
    }

    /// Returns whether the end of the connection has to be said: a socket's end is said by closing it.
    pub(crate) fn says_end(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }
}

impl AsyncRead for ReadSide {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_read(context, buffer),
            Self::Sealed(sealed) => sealed.poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for WriteSide {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_write(context, bytes),
            Self::Sealed(sealed) => sealed.with_layer(|layer| layer.poll_write(context, bytes)),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_write_vectored(context, slices),
            Self::Sealed(sealed) => {
                sealed.with_layer(|layer| layer.poll_write_vectored(context, slices))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // Sockets have no buffer to flush.
            Self::Plain(_) => Poll::Ready(Ok(())),
            Self::Sealed(sealed) => sealed.with_layer(|layer| layer.poll_flush(context)),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(half) => Pin::new(half).poll_shutdown(context),
            Self::Sealed(sealed) => sealed.with_layer(|layer| layer.poll_shutdown(context)),
        }
    }
}
