//! Responses on the wire: status line, headers in Go's order, and the body in Go's framing (kv.md 1.2).

use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use crate::head::{Head, Persistence, Protocol};
use crate::select::{Either, select};
use crate::stream::write::{flush, write_all, write_all_buf};
use crate::stream::{HangingUp, WriteHalf};

/// The longest body that Go's server buffers, and so sends with a `Content-Length`.
const BUFFERED_BODY: usize = 2048;
/// The longest head and body that are copied into one buffer. Larger buffers take the allocator much longer than a write
/// of several pieces takes the kernel.
const COPIED_BODY: usize = 1024;
/// The initial capacity for a head.
const HEAD_ROOM: usize = 512;

/// The body of a response, sent piece by piece.
pub trait ResponseBody {
    /// Returns its length, if known.
    fn length(&self) -> Option<usize>;

    /// Returns the next bytes; empty at the end, and where they take long to make and only a part of that is done.
    fn next_piece(&mut self) -> Bytes;

    /// Whether all bytes have been returned.
    fn is_over(&self) -> bool;

    /// Whether the next bytes are still being made: [`ResponseBody::ready`] waits for them.
    fn has_to_wait(&self) -> bool {
        false
    }

    /// Waits for the next bytes.
    fn ready(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

impl ResponseBody for Bytes {
    fn length(&self) -> Option<usize> {
        Some(self.len())
    }

    fn next_piece(&mut self) -> Bytes {
        std::mem::take(self)
    }

    fn is_over(&self) -> bool {
        self.is_empty()
    }
}

/// A response, before its framing is decided.
#[derive(Debug)]
pub struct HttpResponse<B, Held = ()> {
    /// The status.
    pub status: StatusCode,
    /// The headers set by the handler, in the order sent: sorted by name. A `Content-Length` among them is
    /// used.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The `Content-Type` that Go's server guesses from the body.
    pub guessed_type: Option<HeaderValue>,
    /// The body. It is omitted where HTTP forbids one.
    pub body: B,
    /// How the response ends.
    pub ending: Ending,
    /// A value dropped after the response was sent.
    pub held: Held,
}

/// How a response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is complete.
    Whole,
    /// Nothing is sent: the connection is closed, as by a panic in Go.
    Silence,
    /// Nothing is sent: the connection is reset.
    Reset,
    /// The connection is closed after this many bytes of the body.
    CutOff(usize),
}

/// A future that ends after some time.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The application's time.
pub trait Calendar: fmt::Debug + Sync {
    /// Returns the `Date` of a response now.
    fn date(&self) -> HeaderValue;

    /// Sleeps, while a connection that closes is read, or its end is sent.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The properties of the request that affect its response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    /// Whether the method is HEAD, so that no body is sent.
    pub(crate) is_head: bool,
    /// The protocol of the request.
    pub(crate) protocol: Protocol,
    /// Whether the client wants to keep the connection.
    pub(crate) persistence: Persistence,
    /// What the date is read from.
    pub(crate) calendar: &'a dyn Calendar,
}

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// By the handler's `Content-Length`.
    LengthSet,
    /// By the server's `Content-Length`.
    Length(usize),
    /// By an empty chunk.
    Chunks,
    /// By the end of the connection.
    Close,
    /// There is no body, and no header for its length.
    Nothing,
}

/// The fate of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept.
    Kept,
    /// It is closed, as the client wants or expects.
    Ends,
    /// It is closed, and every response says so.
    EndsAloud,
}

impl<B: Default, Held: Default> HttpResponse<B, Held> {
    /// Creates a response without a body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: Vec::new(),
            guessed_type: None,
            body: B::default(),
            ending: Ending::Whole,
            held: Held::default(),
        }
    }

    /// Creates no response: the connection is closed.
    #[must_use]
    pub fn silence() -> Self {
        Self {
            ending: Ending::Silence,
            ..Self::empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

impl<B: ResponseBody, Held> HttpResponse<B, Held> {
    /// Returns the fate of the connection, as far as the head of the response decides it.
    pub(crate) fn fate(&self, terms: Terms<'_>) -> Fate {
        let close = self
            .headers
            .iter()
            .any(|(name, value)| name == CONNECTION && value == "close");
        let is_kept = match (self.framing(terms), terms.persistence) {
            (Framing::Close, _) | (_, Persistence::Ends) => false,
            (_, Persistence::Kept | Persistence::KeptIfSized) => !close,
        };
        if is_kept { Fate::Kept } else { Fate::Ends }
    }

    /// Whether HTTP allows a body with this status.
    pub(crate) fn may_have_body(&self) -> bool {
        !matches!(
            self.status,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
        )
    }

    fn framing(&self, terms: Terms<'_>) -> Framing {
        let is_set = self.headers.iter().any(|(name, _)| name == CONTENT_LENGTH);
        match self.body.length() {
            _ if !self.may_have_body() => Framing::Nothing,
            _ if is_set => Framing::LengthSet,
            // Go cannot know whether there would have been a body.
            Some(0) if terms.is_head => Framing::Nothing,
            Some(length) if length <= BUFFERED_BODY => Framing::Length(length),
            _ if terms.is_head => Framing::Nothing,
            _ if terms.protocol == Protocol::Http10 => Framing::Close,
            _ => Framing::Chunks,
        }
    }

    /// Sends the response.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn send<W: WriteHalf>(
        mut self,
        to: &mut W,
        terms: Terms<'_>,
        fate: Fate,
    ) -> io::Result<()> {
        let framing = self.framing(terms);
        let mut out =
            Vec::with_capacity(COPIED_BODY.min(HEAD_ROOM + self.body.length().unwrap_or(0)));
        self.write_head(&mut out, terms, framing, fate);
        let mut left = match self.ending {
            Ending::CutOff(length) => length,
            Ending::Whole | Ending::Silence | Ending::Reset => usize::MAX,
        };
        let has_body = !terms.is_head && framing != Framing::Nothing;
        let mut is_ended = false;
        while has_body && left > 0 && !self.body.is_over() {
            if self.body.has_to_wait() {
                write_all(to, &out).await?;
                flush(to).await?;
                out.clear();
                let ready = pin!(self.body.ready());
                match select(ready, pin!(to.gone(HangingUp::Gone))).await {
                    Either::Left(()) => continue,
                    Either::Right(()) => return Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
            let mut piece = self.body.next_piece();
            if piece.is_empty() && !self.body.is_over() {
                // The piece is still being made, bit by bit, and others are served meanwhile.
                W::yield_now().await;
                continue;
            }
            piece.truncate(left);
            left -= piece.len();
            is_ended = self.body.is_over() && left > 0;
            let end: &[u8] = match framing {
                Framing::Chunks if is_ended => b"\r\n0\r\n\r\n",
                Framing::Chunks => b"\r\n",
                Framing::LengthSet | Framing::Length(_) | Framing::Close | Framing::Nothing => b"",
            };
            if framing == Framing::Chunks {
                out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            }
            send_behind(&mut out, piece, end, to).await?;
            if !is_ended {
                W::yield_now().await;
            }
        }
        // A body that had to be waited for may have ended without a last piece.
        if has_body && framing == Framing::Chunks && left > 0 && !is_ended {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        write_all(to, &out).await?;
        flush(to).await
    }

    fn write_head(&self, out: &mut Vec<u8>, terms: Terms<'_>, framing: Framing, fate: Fate) {
        let version: &[u8] = match terms.protocol {
            Protocol::Http10 => b"HTTP/1.0 ",
            Protocol::Http11 => b"HTTP/1.1 ",
        };
        out.extend_from_slice(version);
        push_head(
            out,
            self.status,
            self.headers.iter().map(|(name, value)| (name, value)),
        );
        let has = |sought| self.headers.iter().any(|(name, _)| name == sought);
        if !has(DATE) {
            write_header(out, &DATE, terms.calendar.date().as_bytes());
        }
        if let Framing::Length(length) = framing {
            let mut digits = itoa::Buffer::new();
            write_header(out, &CONTENT_LENGTH, digits.format(length).as_bytes());
        }
        if let Some(guessed) = &self.guessed_type {
            write_header(out, &CONTENT_TYPE, guessed.as_bytes());
        }
        let says = |value: &'static str| Some(value.as_bytes());
        let connection = match (fate, terms.protocol, terms.persistence) {
            _ if has(CONNECTION) => None,
            (Fate::EndsAloud, ..) | (Fate::Ends, Protocol::Http11, _) => says("close"),
            (Fate::Kept, _, Persistence::KeptIfSized) => says("keep-alive"),
            (Fate::Ends | Fate::Kept, ..) => None,
        };
        if let Some(connection) = connection {
            write_header(out, &CONNECTION, connection);
        }
        if framing == Framing::Chunks {
            write_header(out, &TRANSFER_ENCODING, b"chunked");
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl<'a> Terms<'a> {
    /// Returns the terms of a request.
    pub(crate) fn of(head: &Head, calendar: &'a dyn Calendar) -> Self {
        Self {
            is_head: head.method == Method::HEAD,
            protocol: head.protocol,
            persistence: head.persistence,
            calendar,
        }
    }
}

/// Returns Go's reason phrase of a status.
fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Request Entity Too Large",
        _ => status.canonical_reason().unwrap_or("status code"),
    }
}

/// Writes a status with its reason, and headers.
pub(crate) fn push_head<'a>(
    out: &mut Vec<u8>,
    status: StatusCode,
    headers: impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)>,
) {
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in headers {
        write_header(out, name, value.as_bytes());
    }
}

/// Writes a header, its name in Go's canonical form.
fn write_header(out: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    push_canonical(out, name.as_str().as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// The length of the longest name of most answers.
const NAME_PART: usize = 32;

/// Writes a name whose words start with capitals.
fn push_canonical(out: &mut Vec<u8>, name: &[u8]) {
    let mut before = b'-';
    // Parts of one length, and no branches: the compiler looks at many bytes at once.
    for part in name.chunks(NAME_PART) {
        let mut padded = [before; NAME_PART + 1];
        padded[1..=part.len()].copy_from_slice(part);
        let mut canonical = [0; NAME_PART];
        for (at, byte) in canonical.iter_mut().enumerate() {
            let own = padded[at + 1];
            let starts_word = padded[at] == b'-';
            *byte = if starts_word {
                own.to_ascii_uppercase()
            } else {
                own
            };
        }
        out.extend_from_slice(&canonical[..part.len()]);
        before = part[part.len() - 1];
    }
}

/// Sends the contents of `out`, a piece and its end in one write. If they are short, keeps them in `out`.
async fn send_behind(
    out: &mut Vec<u8>,
    piece: Bytes,
    end: &'static [u8],
    to: &mut impl WriteHalf,
) -> io::Result<()> {
    if out.len() + piece.len() <= COPIED_BODY {
        out.extend_from_slice(&piece);
        out.extend_from_slice(end);
        return Ok(());
    }
    let mut all = out.as_slice().chain(piece).chain(end);
    write_all_buf(to, &mut all).await?;
    out.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{NAME_PART, push_canonical};

    #[test]
    fn words_of_names_start_with_capitals() {
        let canonical = |name: &str| {
            let mut out = Vec::new();
            push_canonical(&mut out, name.as_bytes());
            String::from_utf8(out).expect("names are text")
        };
        for (name, expected) in [
            ("", ""),
            ("date", "Date"),
            ("x-consul-knownleader", "X-Consul-Knownleader"),
            ("-a--b-", "-A--B-"),
            ("x1-2b", "X1-2b"),
        ] {
            assert_eq!(canonical(name), expected);
        }
        // Whatever lies around the border of two parts.
        for start in NAME_PART - 3..NAME_PART + 3 {
            let name = format!("{}-b-cd", "a".repeat(start));
            let expected = format!("A{}-B-Cd", "a".repeat(start - 1));
            assert_eq!(canonical(&name), expected);
        }
    }
}
