//! A connection in memory: no socket, no runtime, only bytes.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};

use super::{HangingUp, ReadHalf, WriteHalf};

/// Creates a connection in memory: the client's end, and the halves for [`serve`](crate::serve).
///
/// ```
/// # use proconsul_h1::{HangingUp, ReadHalf as _, WriteHalf as _, pipe};
/// # use std::task::{Context, Waker};
/// let (peer, mut read, mut write) = pipe();
/// # let context = &mut Context::from_waker(Waker::noop());
/// peer.feed(b"ping");
/// # let mut buffer = bytes::BytesMut::with_capacity(10);
/// # assert!(read.poll_read(context, &mut buffer).is_ready());
/// # assert_eq!(buffer, "ping");
/// # assert!(write.poll_write(context, b"pong").is_ready());
/// // … the future of `serve` is polled …
/// assert_eq!(peer.take(), "pong");
/// ```
#[must_use]
pub fn pipe() -> (Peer, PipeReader, PipeWriter) {
    let pipe = Pipe::default();
    (
        Peer(pipe.clone()),
        PipeReader(pipe.clone()),
        PipeWriter(pipe),
    )
}

/// The client's end of a connection in memory. Dropping it breaks the connection, as [`Peer::reset`] does.
///
/// Each call wakes the task that serves the connection where that has to go on.
#[derive(Debug)]
pub struct Peer(Pipe);

/// The read half of a connection in memory.
#[derive(Debug)]
pub struct PipeReader(Pipe);

/// The write half of a connection in memory. It never has to wait: what it is given is kept until the client takes it.
#[derive(Debug)]
pub struct PipeWriter(Pipe);

/// How the server has closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// With a FIN: what was sent before is all.
    Fin,
    /// With a reset.
    Reset,
}

/// What the ends of a connection share.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// What the client has sent and the server has not read.
    incoming: BytesMut,
    /// How far the client has closed the connection.
    client: Client,
    /// Whether the server has dropped its read half.
    is_unread: bool,
    /// What the server has sent and the client has not taken.
    outgoing: BytesMut,
    /// How the server has closed the connection.
    closed: Option<Closed>,
    /// Who waits for bytes.
    reader: Option<Waker>,
    /// Who waits for the client to go.
    watcher: Option<Waker>,
}

/// How far a client has closed a connection.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Client {
    /// It may send more.
    #[default]
    Sends,
    /// It sends no more, and may still read.
    Ended,
    /// It has gone.
    Reset,
}

impl Pipe {
    /// Locks the state. A poisoned lock is no problem: every change of the state is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the client's side, and wakes who waits for that.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let wakers = [state.reader.take(), state.watcher.take()];
        drop(state);
        for waker in wakers.into_iter().flatten() {
            waker.wake();
        }
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        formatter
            .debug_struct("Pipe")
            .field("incoming", &state.incoming.len())
            .field("outgoing", &state.outgoing.len())
            .field("closed", &state.closed)
            .finish_non_exhaustive()
    }
}

impl Peer {
    /// Sends bytes to the server. They are lost after [`Peer::end`] and [`Peer::reset`], and where the server has stopped
    /// reading.
    pub fn feed(&self, bytes: &[u8]) {
        self.0.change(|state| {
            if state.client == Client::Sends && !state.is_unread {
                state.incoming.extend_from_slice(bytes);
            }
        });
    }

    /// Ends the stream to the server, as a FIN does. The client may still read.
    pub fn end(&self) {
        self.0.change(|state| {
            if state.client == Client::Sends {
                state.client = Client::Ended;
            }
        });
    }

    /// Breaks the connection: unread bytes are lost, and so is what the server writes.
    pub fn reset(&self) {
        self.0.change(|state| {
            state.client = Client::Reset;
            state.incoming = BytesMut::new();
            state.outgoing = BytesMut::new();
        });
    }

    /// Takes what the server has sent since the last call.
    #[must_use]
    pub fn take(&self) -> Bytes {
        self.0.lock().outgoing.split().freeze()
    }

    /// Returns how the server has closed the connection; `None` while it is open. [`Peer::take`] may still have bytes that
    /// were sent before.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.0.lock().closed
    }

    /// Returns whether the server has closed the connection.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed().is_some()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.reset();
    }
}

impl State {
    /// Keeps bytes for the client.
    fn write(&mut self, slices: &[io::IoSlice<'_>]) -> io::Result<usize> {
        if self.client == Client::Reset || self.closed.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let before = self.outgoing.len();
        for slice in slices {
            self.outgoing.extend_from_slice(slice);
        }
        Ok(self.outgoing.len() - before)
    }
}

impl ReadHalf for PipeReader {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        let count = (buffer.capacity() - buffer.len()).min(state.incoming.len());
        if count > 0 {
            buffer.extend_from_slice(&state.incoming[..count]);
            state.incoming.advance(count);
            return Poll::Ready(Ok(count));
        }
        match state.client {
            Client::Sends => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
            Client::Ended => Poll::Ready(Ok(0)),
            Client::Reset => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(&[io::IoSlice::new(bytes)])
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_unread = true;
        state.incoming = BytesMut::new();
    }
}

impl PipeWriter {
    fn close(&self, closed: Closed) {
        self.0.lock().closed.get_or_insert(closed);
    }
}

impl WriteHalf for PipeWriter {
    fn poll_write(&mut self, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.lock().write(&[io::IoSlice::new(bytes)]))
    }

    fn poll_write_vectored(
        &mut self,
        _context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.lock().write(slices))
    }

    fn poll_flush(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.close(Closed::Fin);
        Poll::Ready(Ok(()))
    }

    fn gone(&mut self, hanging_up: HangingUp) -> impl Future<Output = ()> + Send {
        let mut may_end = hanging_up == HangingUp::Waits;
        poll_fn(move |context| {
            let mut state = self.0.lock();
            match state.client {
                Client::Reset => return Poll::Ready(()),
                Client::Ended if !may_end => return Poll::Ready(()),
                Client::Ended | Client::Sends => {}
            }
            // A client that has sent its next request is there, as on a socket.
            may_end |= !state.incoming.is_empty();
            state.watcher = Some(context.waker().clone());
            Poll::Pending
        })
    }

    fn reset(self) {
        self.close(Closed::Reset);
    }

    fn needs_shutdown(&self) -> bool {
        false
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.close(Closed::Fin);
    }
}
