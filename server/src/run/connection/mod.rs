//! Connections of tokio's kinds, as `h1` serves them: sockets, what seals them, and any other stream.

mod shared;
mod socket;

use std::future::Future;
use std::io;
use std::task::{Context, Poll};

use bytes::BytesMut;
use proconsul_h1::{HangingUp, ReadHalf, WriteHalf};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use shared::Shared;
use socket::{SocketReader, SocketWriter};

pub(crate) use shared::Socket;

/// The half from which requests come. One type for all kinds, so that the loop that serves them is compiled once.
#[derive(Debug)]
pub(crate) enum Reader {
    Socket(SocketReader),
    Shared(Shared),
}

/// The half to which responses go.
#[derive(Debug)]
pub(crate) enum Writer {
    Socket(SocketWriter),
    Shared(Shared),
}

/// A connection: a TCP or Unix socket, what seals one ([`Stream::sealed`]), or any other stream ([`Stream::from_io`]).
#[derive(Debug)]
pub(crate) struct Stream {
    read: Reader,
    write: Writer,
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Self {
        let (read, write) = socket.into_split();
        Self::socket(SocketReader::Tcp(read), SocketWriter::Tcp(write))
    }
}

#[cfg(unix)]
impl From<UnixStream> for Stream {
    fn from(socket: UnixStream) -> Self {
        let (read, write) = socket.into_split();
        Self::socket(SocketReader::Unix(read), SocketWriter::Unix(write))
    }
}

#[cfg(windows)]
impl From<proconsul_os::UnixStream> for Stream {
    fn from(socket: proconsul_os::UnixStream) -> Self {
        match socket {}
    }
}

impl Stream {
    fn socket(read: SocketReader, write: SocketWriter) -> Self {
        Self {
            read: Reader::Socket(read),
            write: Writer::Socket(write),
        }
    }

    fn shared(shared: Shared) -> Self {
        Self {
            read: Reader::Shared(shared.clone()),
            write: Writer::Shared(shared),
        }
    }

    /// Makes a connection of any stream, such as tokio's `DuplexStream` or a simulated socket. Its reset is to be dropped.
    pub(crate) fn from_io(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::shared(Shared::new(stream))
    }

    /// Seals a connection: `seal` is given its socket, and returns what is written and read on it in plain.
    ///
    /// # Errors
    /// Those of `seal`, and a connection that is no socket, such as one that is sealed already.
    pub(crate) async fn sealed<S, Sealing>(
        self,
        seal: impl FnOnce(Socket) -> Sealing,
    ) -> io::Result<Stream>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        Sealing: Future<Output = io::Result<S>>,
    {
        let (Reader::Socket(read), Writer::Socket(write)) = (self.read, self.write) else {
            return Err(io::Error::other("only a socket is sealed, and once"));
        };
        Ok(Self::shared(Shared::sealed(read, write, seal).await?))
    }

    /// Returns whether bytes come from a socket of the operating system.
    pub(crate) fn is_of_socket(&self) -> bool {
        match &self.read {
            Reader::Socket(_) => true,
            Reader::Shared(shared) => shared.is_of_socket(),
        }
    }

    /// Returns the halves of the connection.
    pub(crate) fn into_split(self) -> (Reader, Writer) {
        (self.read, self.write)
    }
}

impl ReadHalf for Reader {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Socket(half) => half.poll_read(context, buffer),
            Self::Shared(shared) => shared.poll_read(context, buffer),
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Socket(half) => half.try_write(bytes),
            Self::Shared(shared) => shared.try_write(bytes),
        }
    }
}

impl WriteHalf for Writer {
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Socket(half) => half.poll_write(context, bytes),
            Self::Shared(shared) => shared.with_stream(|stream| stream.poll_write(context, bytes)),
        }
    }

    fn poll_write_vectored(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Socket(half) => half.poll_write_vectored(context, slices),
            Self::Shared(shared) => {
                shared.with_stream(|stream| stream.poll_write_vectored(context, slices))
            }
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            // Sockets have no buffer to flush.
            Self::Socket(_) => Poll::Ready(Ok(())),
            Self::Shared(shared) => shared.with_stream(|stream| stream.poll_flush(context)),
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Socket(half) => half.poll_shutdown(context),
            Self::Shared(shared) => shared.with_stream(|stream| stream.poll_shutdown(context)),
        }
    }

    async fn gone(&mut self, hanging_up: HangingUp) {
        match self {
            Self::Socket(half) => half.gone(hanging_up).await,
            Self::Shared(shared) => shared.gone(hanging_up).await,
        }
    }

    fn reset(self) {
        match self {
            Self::Socket(half) => half.reset(),
            Self::Shared(shared) => shared.reset(),
        }
    }

    fn needs_shutdown(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    async fn yield_now() {
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests;
