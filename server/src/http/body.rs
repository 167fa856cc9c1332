//! Bodies of answers: known bytes, or a long list that is rendered piece by piece while it is sent.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::{Frame, SizeHint};

use super::connection::AnsweringGuard;
use super::wire::KvEntry;
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
    pub(crate) fn list(list: JsonList) -> Self {
        Self::new(Source::List(Box::new(list)))
    }

    fn new(source: Source) -> Self {
        Self {
            source,
            guard: None,
        }
    }

    /// The same body, which holds `guard` until it has been handed over whole.
    pub(crate) fn guarded(mut self, guard: AnsweringGuard) -> Self {
        self.guard = Some(guard);
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
        matches!(&self.source, Source::Sized(bytes) | Source::Chunked(bytes) if bytes.is_empty())
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
    writer: Option<ListWriter<Output>>,
    style: Style,
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
            writer: Some(ListWriter::new(Output::Plain(Vec::new()), style)),
            style,
        }
    }

    /// The same list, compressed. Nothing has been taken from it yet.
    pub(crate) fn compressed(self) -> Self {
        let encoder = GzEncoder::new(Vec::new(), Compression::fast());
        Self {
            writer: Some(ListWriter::new(Output::Gzip(encoder), self.style)),
            ..self
        }
    }

    /// The next bytes; none when all have been given.
    fn next_piece(&mut self) -> Bytes {
        let Some(mut writer) = self.writer.take() else {
            return Bytes::new();
        };
        while writer.writer().written() < PIECE_BYTES {
            let Some((key, row)) = self.entries.next() else {
                let output = writer.finish().expect("memory takes the end of a list");
                return output.into_rest().into();
            };
            let entry = KvEntry::new(&key, &row, true);
            writer.push(&entry).expect("memory takes every entry");
        }
        let piece = writer.writer().take();
        self.writer = Some(writer);
        piece.into()
    }
}

/// Where a list is rendered into.
enum Output {
    Plain(Vec<u8>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Output {
    fn written(&self) -> usize {
        match self {
            Output::Plain(bytes) => bytes.len(),
            Output::Gzip(encoder) => encoder.get_ref().len(),
        }
    }

    /// What has been written since the last call.
    fn take(&mut self) -> Vec<u8> {
        match self {
            Output::Plain(bytes) => std::mem::take(bytes),
            Output::Gzip(encoder) => std::mem::take(encoder.get_mut()),
        }
    }

    /// What has been written since the last call, and the end of the compressed stream.
    fn into_rest(self) -> Vec<u8> {
        match self {
            Output::Plain(bytes) => bytes,
            Output::Gzip(encoder) => encoder.finish().expect("memory takes every body"),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(rendered) => rendered.write(bytes),
            Output::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
