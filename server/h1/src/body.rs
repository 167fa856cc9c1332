//! The incoming bytes of a connection: heads, and the body of the current request.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};

use crate::chunks::{BodyFailure, Chunks, Step};
use crate::head::{Expectation, Framing, Head, Protocol};
use crate::stream::ReadHalf;
use crate::strictness::Strictness;

/// The size of a read of a head. Nearly all heads are shorter.
pub(crate) const HEAD_ROOM: usize = 4 * 1024;
/// The size of a read of a body. Such a buffer is freed after the request.
const BODY_ROOM: usize = 64 * 1024;
/// The most that Go's server reads of an unread body. With more it closes the connection.
pub(crate) const UNREAD_LIMIT: u64 = 256 * 1024;

/// The read half of a connection, shared by the connection and the body of its current request.
pub(crate) struct Wire<R: ?Sized>(Mutex<Reading<R>>);

struct Reading<R: ?Sized> {
    /// The bytes that arrived and were not consumed yet.
    arrived: BytesMut,
    /// Whether the client has finished sending.
    is_over: bool,
    /// The rest of the current body.
    rest: Rest,
    /// The last field, so that its type may be unknown.
    half: R,
}

/// The rest of a body.
#[derive(Debug)]
enum Rest {
    /// This many bytes.
    Length(u64),
    /// Further chunks.
    Chunks(Chunks),
    /// Nothing: the body was read to its end.
    Nothing,
    /// Nothing readable: the body is malformed.
    Broken(BodyFailure),
}

/// The body of a request. It is read from the connection on demand.
#[derive(Debug)]
pub struct Incoming {
    /// Whatever the connection is: handlers are compiled once.
    wire: Arc<Wire<dyn ReadHalf>>,
    length: Option<u64>,
    /// Whether the client waits for `100 Continue`.
    waits: bool,
    /// What a read of it has returned; `None` for a body that is read once.
    kept: Option<Arc<OnceLock<Option<ReadBody>>>>,
}

/// A body, complete or up to a failure.
#[derive(Clone, Debug)]
pub struct ReadBody {
    /// The bytes read.
    pub bytes: Bytes,
    /// The failure that ended it; `None` for a complete body.
    pub failure: Option<BodyFailure>,
}

/// The fate of the part of a body that the handler did not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It was read.
    Nothing,
    /// It is longer than Go's server reads.
    TooMuch,
    /// It is malformed.
    Broken,
}

impl<R: ?Sized> fmt::Debug for Wire<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Wire").finish_non_exhaustive()
    }
}

impl<R: ReadHalf> Wire<R> {
    /// Wraps a new connection.
    pub(crate) fn new(half: R) -> Self {
        Self(Mutex::new(Reading {
            arrived: BytesMut::new(),
            is_over: false,
            rest: Rest::Nothing,
            half,
        }))
    }

    /// Returns the body that follows a head.
    pub(crate) fn body(self: &Arc<Self>, head: &Head, strict: Strictness) -> Incoming {
        let (length, rest) = match head.framing {
            Framing::Length(0) => (Some(0), Rest::Nothing),
            Framing::Length(length) => (Some(length), Rest::Length(length)),
            Framing::Chunked => (None, Rest::Chunks(Chunks::new(strict))),
        };
        self.reading().rest = rest;
        Incoming {
            // Not `Arc::clone`, whose type would be that of the field.
            wire: Arc::<Self>::clone(self),
            length,
            waits: head.expectation == Expectation::Continue
                && head.protocol == Protocol::Http11
                && length != Some(0),
            kept: None,
        }
    }
}

impl<R: ReadHalf + ?Sized> Wire<R> {
    /// Locks the state. A poisoned lock is no problem: every change of the state is complete.
    fn reading(&self) -> MutexGuard<'_, Reading<R>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `look` the bytes that arrived, to consume some of them.
    pub(crate) fn with_arrived<T>(&self, look: impl FnOnce(&mut BytesMut) -> T) -> T {
        look(&mut self.reading().arrived)
    }

    /// Waits for more bytes. Returns `false` at the end of the stream.
    pub(crate) async fn more(&self, room: usize) -> bool {
        std::future::poll_fn(|context| self.reading().poll_more(context, room)).await
    }

    /// Reads more bytes of a head, as [`Wire::more`] does; `None` if that has to wait.
    pub(crate) async fn more_of_head_at_once(&self) -> Option<bool> {
        std::future::poll_fn(|context| {
            Poll::Ready(match self.reading().poll_more(context, HEAD_ROOM) {
                Poll::Ready(there) => Some(there),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// Waits for more bytes of a head.
    pub(crate) async fn more_of_head(&self) -> bool {
        self.more(HEAD_ROOM).await
    }

    /// Whether the body has been read to its end.
    pub(crate) fn is_body_over(&self) -> bool {
        matches!(self.reading().rest, Rest::Nothing)
    }

    /// Reads the part of a body that the handler did not, as Go's server does before it answers: clients may
    /// send everything before they read. A body known to be longer than `longest` is not read.
    pub(crate) async fn read_left(&self, longest: u64) -> Left {
        let mut read = 0;
        if matches!(self.reading().rest, Rest::Length(left) if left > longest) {
            return Left::TooMuch;
        }
        while read <= UNREAD_LIMIT {
            match self.piece().await {
                Ok(Some(piece)) => read += piece.len() as u64,
                Ok(None) => return Left::Nothing,
                Err(_) => return Left::Broken,
            }
        }
        Left::TooMuch
    }

    /// Reads and drops bytes until the client closes its side.
    pub(crate) async fn drain(&self) {
        while self.more(BODY_ROOM).await {
            self.with_arrived(BytesMut::clear);
        }
    }

    /// Frees an empty buffer that is larger than this.
    pub(crate) fn shrink_to(&self, room: usize) {
        let mut reading = self.reading();
        if reading.arrived.is_empty() && reading.arrived.capacity() > room {
            reading.arrived = BytesMut::new();
        }
    }

    /// Waits for a part of the body; `None` at its end.
    async fn piece(&self) -> Result<Option<Bytes>, BodyFailure> {
        loop {
            if let Some(piece) = self.reading().take()? {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            self.more(BODY_ROOM).await;
        }
    }
}

impl<R: ReadHalf + ?Sized> Reading<R> {
    fn poll_more(&mut self, context: &mut Context<'_>, room: usize) -> Poll<bool> {
        self.arrived.reserve(room);
        let read = self.half.poll_read(context, &mut self.arrived);
        read.map(|read| {
            // A broken connection counts as ended.
            self.is_over = !matches!(read, Ok(length) if length > 0);
            !self.is_over
        })
    }

    /// Returns a part of the body: empty at its end, `None` if more has to arrive.
    fn take(&mut self) -> Result<Option<Bytes>, BodyFailure> {
        match &mut self.rest {
            Rest::Nothing => Ok(Some(Bytes::new())),
            Rest::Broken(failure) => Err(failure.clone()),
            Rest::Length(_) if self.arrived.is_empty() && self.is_over => {
                // From here on Go reports the end of the body.
                self.rest = Rest::Nothing;
                Err(BodyFailure::UnexpectedEnd)
            }
            Rest::Length(_) if self.arrived.is_empty() => Ok(None),
            Rest::Length(left) => {
                let there = usize::try_from(*left).unwrap_or(usize::MAX);
                let piece = self.arrived.split_to(there.min(self.arrived.len()));
                *left -= piece.len() as u64;
                if *left == 0 {
                    self.rest = Rest::Nothing;
                }
                Ok(Some(piece.freeze()))
            }
            Rest::Chunks(chunks) => match chunks.read_on(&mut self.arrived, self.is_over) {
                Ok(Step::Data(piece)) => Ok(Some(piece)),
                Ok(Step::More) => Ok(None),
                Ok(Step::End) => {
                    self.rest = Rest::Nothing;
                    Ok(Some(Bytes::new()))
                }
                Err(failure) => {
                    self.rest = Rest::Broken(failure.clone());
                    Err(failure)
                }
            },
        }
    }
}

impl Incoming {
    /// Returns the `Content-Length`; `None` for a chunked body.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Whether the whole body has arrived, so that it can be read without waiting.
    #[must_use]
    pub fn has_arrived(&self) -> bool {
        let reading = self.wire.reading();
        match reading.rest {
            Rest::Nothing => true,
            Rest::Length(length) => reading.arrived.len() as u64 >= length,
            Rest::Chunks(_) | Rest::Broken(_) => false,
        }
    }

    /// Lets the body be read again: what the next [`Incoming::read`] returns is kept for the ones after it.
    pub fn keep(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// Returns the same body for somebody else: what one of the two has read is there for the other.
    #[must_use]
    pub fn shared(&mut self) -> Self {
        self.keep();
        Self {
            wire: Arc::clone(&self.wire),
            length: self.length,
            waits: self.waits,
            kept: self.kept.clone(),
        }
    }

    /// Reads the body, complete or up to a failure; `None` if it is longer than `limit` bytes.
    pub async fn read(&mut self, limit: u64) -> Option<ReadBody> {
        let Some(kept) = self.kept.clone() else {
            return self.read_on(limit).await;
        };
        if let Some(read) = kept.get() {
            return read.clone();
        }
        let read = self.read_on(limit).await;
        kept.get_or_init(|| read).clone()
    }

    async fn read_on(&mut self, limit: u64) -> Option<ReadBody> {
        self.ask();
        let mut whole = Bytes::new();
        let mut joined = Vec::new();
        let failure = loop {
            let piece = match self.wire.piece().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break None,
                Err(failure) => break Some(failure),
            };
            if (whole.len() + joined.len() + piece.len()) as u64 > limit {
                return None;
            }
            // Most bodies arrive in one piece and need no copy.
            if whole.is_empty() && joined.is_empty() {
                whole = piece;
            } else {
                if joined.is_empty() {
                    joined.reserve(
                        self.length
                            .map_or(0, |length| length.min(BODY_ROOM as u64) as usize),
                    );
                    joined.extend_from_slice(&std::mem::take(&mut whole));
                }
                joined.extend_from_slice(&piece);
            }
        };
        let bytes = if joined.is_empty() {
            whole
        } else {
            // The body may be stored, so unused capacity is dropped.
            joined.into_boxed_slice().into()
        };
        Some(ReadBody { bytes, failure })
    }

    /// Restores a failure that lies behind the part that the handler read.
    pub fn forget_failure(&self, failure: BodyFailure) {
        self.wire.reading().rest = Rest::Broken(failure);
    }

    /// Sends `100 Continue` if the client waits for it.
    fn ask(&mut self) {
        if std::mem::take(&mut self.waits) {
            let mut reading = self.wire.reading();
            // A failure shows at the next read.
            let _ = reading.half.try_write(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}
