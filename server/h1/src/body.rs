//! What arrives on a connection: the bytes of heads, and the body of the request that is being answered.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;

use crate::chunks::{BodyFailure, Chunks, Step};
use crate::head::{Expectation, Framing, Head, Protocol};
use crate::stream::ReadHalf;
use crate::strictness::Strictness;

/// So much is read at once of a head, which is more than nearly all of them have.
const HEAD_ROOM: usize = 4 * 1024;
/// So much is read at once of a body; a buffer of that size is not kept.
const BODY_ROOM: usize = 64 * 1024;
/// About up to this size Go's server reads what a handler has left of a request's body; with more it ends the connection.
pub(crate) const UNREAD_LIMIT: u64 = 256 * 1024;

/// The end of a connection that reads, shared between the connection and the body of its current request.
#[derive(Debug)]
pub(crate) struct Wire(Mutex<Reading>);

#[derive(Debug)]
struct Reading {
    half: ReadHalf,
    /// What has arrived and was not taken yet.
    arrived: BytesMut,
    /// The client sends nothing more.
    is_over: bool,
    /// What is left of the current body.
    rest: Rest,
}

/// What is left of a body.
#[derive(Debug)]
enum Rest {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunks(Chunks),
    /// Nothing: it was read to its end, whichever that was.
    Nothing,
    /// Nothing that could be read.
    Broken(BodyFailure),
}

/// The body of a request, which arrives while it is read.
#[derive(Debug)]
pub struct Incoming {
    wire: Arc<Wire>,
    length: Option<u64>,
    /// The client waits to be asked for it.
    waits: bool,
}

/// A body as far as it could be read.
#[derive(Debug)]
pub struct ReadBody {
    /// What came.
    pub bytes: Bytes,
    /// Why nothing came behind it, unless it was the end.
    pub failure: Option<BodyFailure>,
}

/// What became of the part of a body that the handler had left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It has been read.
    Nothing,
    /// It is more than Go's server reads.
    TooMuch,
    /// It cannot be read.
    Broken,
}

impl Wire {
    /// A connection of which nothing has been read.
    pub(crate) fn new(half: ReadHalf) -> Self {
        Self(Mutex::new(Reading {
            half,
            arrived: BytesMut::new(),
            is_over: false,
            rest: Rest::Nothing,
        }))
    }

    /// What is read. Who panicked with it in hand has left it whole: nothing is taken from it by halves.
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what has arrived and may take some of it.
    pub(crate) fn with_arrived<T>(&self, look: impl FnOnce(&mut BytesMut) -> T) -> T {
        look(&mut self.reading().arrived)
    }

    /// Waits for more to arrive. False: nothing more will.
    pub(crate) async fn more(&self, room: usize) -> bool {
        std::future::poll_fn(|context| self.reading().poll_more(context, room)).await
    }

    /// Waits for more of a head.
    pub(crate) async fn more_of_head(&self) -> bool {
        self.more(HEAD_ROOM).await
    }

    /// The body that follows a head.
    pub(crate) fn body(self: &Arc<Self>, head: &Head, strict: Strictness) -> Incoming {
        let (length, rest) = match head.framing {
            Framing::Length(0) => (Some(0), Rest::Nothing),
            Framing::Length(length) => (Some(length), Rest::Length(length)),
            Framing::Chunked => (None, Rest::Chunks(Chunks::new(strict))),
        };
        self.reading().rest = rest;
        Incoming {
            wire: Arc::clone(self),
            length,
            waits: head.expectation == Expectation::Continue
                && head.protocol == Protocol::Http11
                && length != Some(0),
        }
    }

    /// Whether the body has been read to its end.
    pub(crate) fn is_body_over(&self) -> bool {
        matches!(self.reading().rest, Rest::Nothing)
    }

    /// Reads what a handler has left of a body, as Go's server does before it answers: clients may send all of it
    /// before they read anything. Of a body whose length is known and is more than `longest`, nothing is read.
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

    /// Reads and forgets whatever comes until the client ends it.
    pub(crate) async fn drain(&self) {
        while self.more(BODY_ROOM).await {
            self.with_arrived(BytesMut::clear);
        }
    }

    /// Gives back the room that a large body took.
    pub(crate) fn shrink(&self) {
        let mut reading = self.reading();
        if reading.arrived.is_empty() && reading.arrived.capacity() > HEAD_ROOM {
            reading.arrived = BytesMut::new();
        }
    }

    /// Some more of the body; none at its end.
    async fn piece(&self) -> Result<Option<Bytes>, BodyFailure> {
        loop {
            if let Some(piece) = self.reading().take()? {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            self.more(BODY_ROOM).await;
        }
    }
}

impl Reading {
    fn poll_more(&mut self, context: &mut Context<'_>, room: usize) -> Poll<bool> {
        self.arrived.reserve(room);
        let read: Poll<io::Result<usize>> =
            pin!(self.half.read_buf(&mut self.arrived)).poll(context);
        read.map(|read| {
            // A connection that breaks is at its end as well.
            self.is_over = !matches!(read, Ok(length) if length > 0);
            !self.is_over
        })
    }

    /// Some of the body if it is there; empty at its end; nothing if more has to arrive.
    fn take(&mut self) -> Result<Option<Bytes>, BodyFailure> {
        match &mut self.rest {
            Rest::Nothing => Ok(Some(Bytes::new())),
            Rest::Broken(failure) => Err(failure.clone()),
            Rest::Length(_) if self.arrived.is_empty() && self.is_over => {
                // Go takes it for the end from here on.
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
    /// What `Content-Length` says; none for a chunked body.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The body, or as much of it as there is; none if it is longer than `limit` bytes.
    pub async fn read(&mut self, limit: u64) -> Option<ReadBody> {
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
            // Most bodies are one piece, which nobody has to copy.
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
            // Kept, maybe for long: without the room that was left for more.
            joined.into_boxed_slice().into()
        };
        Some(ReadBody { bytes, failure })
    }

    /// The failure was not noticed: whoever read the body had stopped before.
    pub fn forget_failure(&self, failure: BodyFailure) {
        self.wire.reading().rest = Rest::Broken(failure);
    }

    /// Asks for the body, if the client waits for that.
    fn ask(&mut self) {
        if std::mem::take(&mut self.waits) {
            let reading = self.wire.reading();
            // A client that cannot be told is noticed when it does not send.
            let _ = reading.half.try_write(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}
