//! The two halves of a connection, as [`serve`](crate::serve) uses them.

mod pipe;
pub(crate) mod write;

use std::future::{Future, poll_fn};
use std::io;
use std::task::{Context, Poll};

use bytes::BytesMut;

pub use pipe::{Closed, Peer, PipeReader, PipeWriter, pipe};

/// The meaning of a half-closed connection whose request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangingUp {
    /// The request is kept: Consul answers half-closed clients.
    Waits,
    /// The client has gone, as nearly always. A test must not count its request as blocked.
    Gone,
}

/// The read half of a connection. The body of a request keeps it, too.
pub trait ReadHalf: Send + 'static {
    /// Reads bytes to the end of a buffer, at most as many as its spare capacity. Returns their number, 0 at the end of
    /// the stream.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>>;

    /// Writes as many bytes as possible without waiting. A body that is waited for asks the client to send it.
    ///
    /// # Errors
    /// The connection is broken, or takes no bytes now ([`io::ErrorKind::WouldBlock`]).
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize>;
}

/// The write half of a connection. The connection ends when both halves are dropped.
pub trait WriteHalf: Send {
    /// Writes some bytes and returns their number.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Writes some bytes of several slices and returns their number.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_write_vectored(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>>;

    /// Sends what was written and is still in a buffer.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the stream of bytes to the client, which may still send.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Returns when the client has gone; `hanging_up` decides about a half-closed connection.
    fn gone(&mut self, hanging_up: HangingUp) -> impl Future<Output = ()> + Send;

    /// Makes the connection end with a reset when both halves are dropped, if it has resets.
    fn reset(self);

    /// Returns whether the stream has to be shut down before both halves are dropped: a socket's is without that.
    fn needs_shutdown(&self) -> bool;

    /// Lets the other tasks of this thread run. A runtime that has to ask the kernel for events does so meanwhile: without
    /// them no request of a busy client is seen.
    fn yield_now() -> impl Future<Output = ()> + Send {
        let mut has_yielded = false;
        poll_fn(move |context| {
            if std::mem::replace(&mut has_yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }
}
