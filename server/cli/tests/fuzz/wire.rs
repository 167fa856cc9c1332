//! The fuzzer's end of a connection. It reads answers only as far as it needs to find their ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// How long one look at a connection takes at most.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// A connection.
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
    is_over: bool,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An answer with this status.
    Answered(u16),
    /// The end of the connection.
    Closed,
    /// Nothing so far.
    Nothing,
}

impl Wire {
    pub(crate) fn to(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(60)).ok()?;
        let set = stream.set_read_timeout(Some(LOOK));
        set.expect("a socket has a timeout");
        // A server that reads nothing more must not hold up the test.
        let set = stream.set_write_timeout(Some(20 * LOOK));
        set.expect("a socket has a timeout");
        stream.set_nodelay(true).expect("a socket has no delay");
        Some(Self {
            stream,
            unread: Vec::new(),
            is_over: false,
        })
    }

    /// Sends bytes. What the server does not take is not missed: it may have answered already.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    pub(crate) fn stop_sending(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer, after so many looks at most.
    pub(crate) fn answer(&mut self, is_head: bool, looks: usize) -> Outcome {
        let mut looks = looks;
        loop {
            if let Some((status, length)) = whole(&self.unread, is_head, self.is_over) {
                self.unread.drain(..length);
                if (100..200).contains(&status) {
                    continue;
                }
                return Outcome::Answered(status);
            }
            if self.is_over {
                return Outcome::Closed;
            }
            if looks == 0 {
                return Outcome::Nothing;
            }
            looks -= usize::from(!self.read_more());
        }
    }

    /// The body of the next answer.
    pub(crate) fn body(&mut self, looks: usize) -> Option<Vec<u8>> {
        let mut looks = looks;
        loop {
            if let Some((_, length)) = whole(&self.unread, false, self.is_over) {
                let answer: Vec<u8> = self.unread.drain(..length).collect();
                let start = find(&answer, b"\r\n\r\n")? + 4;
                let is_chunked = header(&answer[..start], "transfer-encoding").is_some();
                let body = &answer[start..];
                return Some(if is_chunked {
                    joined(body)?
                } else {
                    body.to_vec()
                });
            }
            if self.is_over || looks == 0 {
                return None;
            }
            looks -= usize::from(!self.read_more());
        }
    }

    /// Reads until the server closes, for so many looks at most. Whether it has closed.
    pub(crate) fn closes(&mut self, looks: usize) -> bool {
        let mut looks = looks;
        while !self.is_over && looks > 0 {
            looks -= usize::from(!self.read_more());
            self.unread.clear();
        }
        self.is_over
    }

    /// Whether anything came, the end included.
    fn read_more(&mut self) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.unread.extend_from_slice(&buffer[..length]);
                self.is_over = length == 0;
                true
            }
            Err(error) => {
                let is_silent = matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                );
                self.is_over = !is_silent;
                self.is_over
            }
        }
    }
}

/// The status and the length of the answer at the beginning of some bytes, once it is whole.
fn whole(bytes: &[u8], is_head: bool, is_over: bool) -> Option<(u16, usize)> {
    let start = find(bytes, b"\r\n\r\n")? + 4;
    let head = &bytes[..start];
    let status = std::str::from_utf8(head.get(9..12)?).ok()?.parse().ok()?;
    if is_head || matches!(status, 100..200 | 204 | 304) {
        return Some((status, start));
    }
    if let Some(length) = header(head, "content-length") {
        let end = start + length.parse::<usize>().ok()?;
        return (bytes.len() >= end || is_over).then_some((status, end.min(bytes.len())));
    }
    if header(head, "transfer-encoding").is_some() {
        return chunks_end(&bytes[start..]).map(|length| (status, start + length));
    }
    is_over.then_some((status, bytes.len()))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

fn header(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    head.split("\r\n").find_map(|line| {
        let (known, value) = line.split_once(": ")?;
        known.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

/// Steps through chunks: the place of each one's data and, at the end, the length of all.
fn chunks(body: &[u8], mut each: impl FnMut(&[u8])) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = find(body.get(at..)?, b"\r\n")?;
        let size = std::str::from_utf8(&body[at..at + line]).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        let data = at + line + 2;
        at = data + size + 2;
        if body.len() < at {
            return None;
        }
        each(&body[data..data + size]);
        if size == 0 {
            return Some(at);
        }
    }
}

fn chunks_end(body: &[u8]) -> Option<usize> {
    chunks(body, |_| ())
}

fn joined(body: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    chunks(body, |data| joined.extend_from_slice(data))?;
    Some(joined)
}
