//! Bodies of answers: known bytes, or a long list that is rendered piece by piece while it is sent.

use std::convert::Infallible;
use std::fmt;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::{Frame, SizeHint};

use super::connection::AnsweringGuard;
use super::wire::KvEntry;
use crate::engine::OpenCall;
use crate::go::json::encode::{ListWriter, Style};
use crate::store::Entry;

/// How much of a list is rendered before it is handed to the socket.
const PIECE_BYTES: usize = 64 * 1024;

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    source: Source,
    /// Told when the answer is over; see [`AnsweringGuard`].
    guard: Option<AnsweringGuard>,
    /// The request that this answers: it is over when this is.
    call: Option<OpenCall>,
}

#[derive(Debug)]
enum Source {
    Sized(Bytes),
    Chunked(Bytes),
    List(Box<JsonList>),
}

impl Body {
    /// No body.
    pub(crate) fn empty() -> Self {
        Self::sized(Bytes::new())
    }

    /// Bytes whose length the head names.
    pub(crate) fn sized(bytes: Bytes) -> Self {
        Self::new(Source::Sized(bytes))
    }

    /// Bytes that are sent in chunks.
    pub(crate) fn chunked(bytes: Bytes) -> Self {
        Self::new(Source::Chunked(bytes))
    }

    /// A list that is rendered while it is sent.
    pub(crate) fn list(list: Box<JsonList>) -> Self {
        Self::new(Source::List(list))
    }

    /// The length that a head can name.
    pub(crate) fn length(&self) -> Option<usize> {
        match &self.source {
            Source::Sized(bytes) => Some(bytes.len()),
            Source::Chunked(_) | Source::List(_) => None,
        }
    }

    /// The same body for a head that already names its length: hyper, which would name it behind all other
    /// headers, is not told.
    pub(crate) fn with_length_in_head(self) -> Self {
        match self.source {
            Source::Sized(bytes) => Self::chunked(bytes),
            source @ (Source::Chunked(_) | Source::List(_)) => Self::new(source),
        }
    }

    fn new(source: Source) -> Self {
        Self {
            source,
            guard: None,
            call: None,
        }
    }

    /// The same body, which holds `guard` and `call` until it has been handed over whole.
    pub(crate) fn guarded(mut self, guard: AnsweringGuard, call: Option<OpenCall>) -> Self {
        self.guard = Some(guard);
        self.call = call;
        self
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut self.source {
            Source::Sized(bytes) | Source::Chunked(bytes) => std::mem::take(bytes),
            Source::List(list) => list.next_piece(),
        };
        if piece.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.source, Source::Sized(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Sized(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Chunked(_) | Source::List(_) => SizeHint::default(),
        }
    }
}

/// A JSON array of the entries of a recursive read, which may be far larger than what should stand in memory.
pub(crate) struct JsonList {
    entries: std::vec::IntoIter<Entry>,
    /// Gone when the end of the array is written.
    writer: Option<ListWriter>,
    /// What has been rendered ahead.
    ready: Bytes,
    /// Gone when the end of the compressed stream is written, or never there.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl fmt::Debug for JsonList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.entries.len();
        write!(formatter, "a list of which {left} entries are left")
    }
}

impl JsonList {
    /// The list of these entries.
    pub(crate) fn new(entries: Vec<Entry>, style: Style) -> Self {
        Self {
            entries: entries.into_iter(),
            writer: Some(ListWriter::new(style)),
            ready: Bytes::new(),
            encoder: None,
        }
    }

    /// The whole list, if it is short, and else the list as it was.
    pub(crate) fn whole_if_short(mut self: Box<Self>) -> Result<Bytes, Box<Self>> {
        self.ready = self.render();
        if self.writer.is_none() {
            return Ok(self.ready);
        }
        Err(self)
    }

    /// The same list, compressed.
    pub(crate) fn compressed(mut self: Box<Self>) -> Box<Self> {
        self.encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        self
    }

    /// The next bytes; none when all have been given.
    fn next_piece(&mut self) -> Bytes {
        loop {
            let plain = if self.ready.is_empty() {
                self.render()
            } else {
                std::mem::take(&mut self.ready)
            };
            let Some(mut encoder) = self.encoder.take() else {
                return plain;
            };
            if plain.is_empty() {
                let rest = encoder.finish();
                return rest.expect("memory takes every body").into();
            }
            encoder.write_all(&plain).expect("memory takes every body");
            let piece = std::mem::take(encoder.get_mut());
            self.encoder = Some(encoder);
            if !piece.is_empty() {
                return piece.into();
            }
        }
    }

    /// Renders some entries; nothing when all have been.
    fn render(&mut self) -> Bytes {
        let Some(mut writer) = self.writer.take() else {
            return Bytes::new();
        };
        while writer.rendered().len() < PIECE_BYTES {
            let Some((key, row)) = self.entries.next() else {
                return writer.finish().into();
            };
            writer.push(&KvEntry::new(&key, &row, true));
        }
        let piece = std::mem::take(writer.rendered());
        self.writer = Some(writer);
        piece.into()
    }
}
