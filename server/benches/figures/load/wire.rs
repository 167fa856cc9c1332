//! Raw HTTP/1.1 of a client: requests as bytes, and a reader that finds the end of an answer.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Nothing that is measured here takes longer to answer; what does is reported as an error.
const PATIENCE: Duration = Duration::from_secs(60);

/// Appends a request to `out`.
pub(crate) fn push_request(out: &mut Vec<u8>, method: &str, target: &str, body: &[u8]) {
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b" ");
    out.extend_from_slice(target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    if method == "PUT" {
        out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
}

/// An answer. Its buffers are used again for the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Status line and headers.
    head: Vec<u8>,
    /// The body, without the framing of chunks.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The three digits of the status.
    pub(crate) fn status(&self) -> &str {
        let status = self.head.get(9..12).unwrap_or_default();
        str::from_utf8(status).unwrap_or_default()
    }

    /// The value of a header; `name` in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let head = str::from_utf8(&self.head).ok()?;
        head.split("\r\n").find_map(|line| {
            let (sent, value) = line.split_once(':')?;
            sent.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The text behind `"name":` in a JSON body, up to its next quote.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.behind(name)?.strip_prefix('"')?.split('"').next()
    }

    fn behind(&self, name: &str) -> Option<&str> {
        let body = str::from_utf8(&self.body).ok()?;
        let (_, rest) = body.split_once(&format!("\"{name}\":"))?;
        Some(rest.trim_start())
    }
}

/// Where the reader stands in an answer.
#[derive(Clone, Copy, Debug)]
enum Place {
    Head,
    /// In a body of which this much is left.
    Body(usize),
    /// In the line that gives a chunk's size, read so far.
    ChunkSize(usize),
    /// In a chunk of which this much is left.
    Chunk(usize),
    /// In the line end behind a chunk.
    ChunkEnd,
    /// In the line end behind the last chunk.
    LastLine,
}

/// Puts answers together from what a socket gives.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    place: Place,
    answer: Answer,
}

impl AnswerReader {
    /// A reader that stands before an answer.
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Head,
            answer: Answer::default(),
        }
    }

    /// The last answer, once [`AnswerReader::read`] has said that it is whole.
    pub(crate) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Forgets the last answer: the next bytes are those of another.
    pub(crate) fn next(&mut self) {
        self.answer.head.clear();
        self.answer.body.clear();
        self.place = Place::Head;
    }

    /// Takes what the socket gave; whether the answer is whole now. Nothing is sent before the answer to what
    /// was sent last, so nothing follows it.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> io::Result<bool> {
        loop {
            match self.place {
                Place::Head => match self.read_head(bytes)? {
                    Some(rest) => bytes = rest,
                    None => return Ok(false),
                },
                Place::Body(0) => return Ok(true),
                Place::Body(left) => {
                    let taken = self.take(bytes, left);
                    bytes = &bytes[taken..];
                    self.place = Place::Body(left - taken);
                    if bytes.is_empty() {
                        return Ok(left == taken);
                    }
                }
                Place::ChunkSize(size) => {
                    let Some((byte, rest)) = bytes.split_first() else {
                        return Ok(false);
                    };
                    bytes = rest;
                    self.place = match (byte, size) {
                        (b'\n', 0) => Place::LastLine,
                        (b'\n', size) => Place::Chunk(size),
                        (byte, size) => match char::from(*byte).to_digit(16) {
                            Some(digit) => Place::ChunkSize(size * 16 + digit as usize),
                            None => Place::ChunkSize(size),
                        },
                    };
                }
                Place::Chunk(0) => self.place = Place::ChunkEnd,
                Place::Chunk(left) => {
                    if bytes.is_empty() {
                        return Ok(false);
                    }
                    let taken = self.take(bytes, left);
                    bytes = &bytes[taken..];
                    self.place = Place::Chunk(left - taken);
                }
                Place::ChunkEnd | Place::LastLine => {
                    let Some((byte, rest)) = bytes.split_first() else {
                        return Ok(false);
                    };
                    bytes = rest;
                    match (byte, self.place) {
                        (b'\n', Place::ChunkEnd) => self.place = Place::ChunkSize(0),
                        (b'\n', _) => self.place = Place::Body(0),
                        _ => {}
                    }
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8], wanted: usize) -> usize {
        let taken = bytes.len().min(wanted);
        self.answer.body.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// Reads on in the head; what follows it, once it is whole.
    fn read_head<'a>(&mut self, bytes: &'a [u8]) -> io::Result<Option<&'a [u8]>> {
        let head = &mut self.answer.head;
        let before = head.len();
        head.extend_from_slice(bytes);
        let from = before.saturating_sub(3);
        let Some(at) = find(&head[from..], b"\r\n\r\n") else {
            return Ok(None);
        };
        let end = from + at + 4;
        head.truncate(end);
        self.place = framing(head)
            .ok_or_else(|| io::Error::other("an answer with neither a length nor chunks"))?;
        Ok(Some(&bytes[end - before..]))
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// How the body behind a head is framed.
fn framing(head: &[u8]) -> Option<Place> {
    for line in head.split(|byte| *byte == b'\n') {
        let Some((name, value)) = line.split_at_checked(15) else {
            continue;
        };
        if name.eq_ignore_ascii_case(b"content-length:") {
            return Some(Place::Body(
                str::from_utf8(value).ok()?.trim().parse().ok()?,
            ));
        }
        if name.eq_ignore_ascii_case(b"transfer-encodi") {
            return Some(Place::ChunkSize(0));
        }
    }
    None
}

/// A connection that is asked one thing after the other: for preparation, and where single answers are timed.
#[derive(Debug)]
pub(crate) struct Caller {
    stream: TcpStream,
    request: Vec<u8>,
    reader: AnswerReader,
    scratch: Box<[u8]>,
}

impl Caller {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream,
            request: Vec::new(),
            reader: AnswerReader::new(),
            scratch: vec![0; 256 * 1024].into(),
        })
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn send(&mut self, method: &str, target: &str, body: &[u8]) -> io::Result<()> {
        self.request.clear();
        push_request(&mut self.request, method, target, body);
        self.stream.write_all(&self.request)
    }

    /// Waits for the answer to what was sent last.
    pub(crate) fn receive(&mut self) -> io::Result<&Answer> {
        self.reader.next();
        loop {
            let count = self.stream.read(&mut self.scratch)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.reader.read(&self.scratch[..count])? {
                return Ok(self.reader.answer());
            }
        }
    }

    /// Sends the bytes of a request and waits for its answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<&Answer> {
        self.stream.write_all(request)?;
        self.receive()
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, target: &str, body: &[u8]) -> io::Result<&Answer> {
        self.send(method, target, body)?;
        self.receive()
    }

    /// The same for a request that can only be answered with 200.
    ///
    /// # Panics
    /// When it is not.
    pub(crate) fn expect(&mut self, method: &str, target: &str, body: &[u8]) -> &Answer {
        let answer = self.call(method, target, body);
        let answer = answer.unwrap_or_else(|error| panic!("{method} {target}: {error}"));
        assert_eq!(answer.status(), "200", "{method} {target}");
        answer
    }
}
