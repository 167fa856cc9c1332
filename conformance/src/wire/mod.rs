//! HTTP/1.1 by hand: what goes onto the wire is exactly what a case says, and what comes back is kept as it came.
//!
//! Nothing is shared with any server. A connection that is refused, closed or silent is a value ([`Outcome`]), never a panic.

pub mod answer;
pub mod asked;
pub mod entry;
#[cfg(test)]
pub(crate) mod fake;
pub mod json;
pub mod transcript;
pub mod waiting;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::time::Deadline;

/// How long an ordinary request may take; a server without a leader holds requests for 7 s before it answers.
pub const PATIENCE: Duration = Duration::from_secs(20);
const CONNECT_PATIENCE: Duration = Duration::from_secs(4);

/// Where a target listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As given, without a scheme: what the `Host` header says.
    pub host: String,
    /// What it resolved to.
    pub socket: SocketAddr,
}

impl Address {
    /// Reads `127.0.0.1:8500`, `localhost:8500`, `http://host:port`, as `CONSUL_HTTP_ADDR` may hold.
    ///
    /// # Errors
    /// A sentence for the user: no port, another scheme than `http`, a name that does not resolve.
    pub fn parse(text: &str) -> Result<Self, String> {
        let host = text.strip_prefix("http://").unwrap_or(text);
        if let Some((scheme, _)) = host.split_once("://") {
            return Err(format!(
                "address `{text}`: the scheme {scheme}:// is not supported, only http://host:port"
            ));
        }
        let host = host.trim_end_matches('/');
        let mut sockets = host
            .to_socket_addrs()
            .map_err(|error| format!("address `{text}` is not host:port: {error}"))?;
        let socket = sockets
            .next()
            .ok_or_else(|| format!("address `{text}` resolves to nothing"))?;
        Ok(Self {
            host: host.to_owned(),
            socket,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.host)
    }
}

/// How the body of a request is framed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// No body and no header that speaks of one.
    None,
    /// With `Content-Length`.
    Sized(Vec<u8>),
    /// With `Transfer-Encoding: chunked`, one chunk per element.
    Chunked(Vec<Vec<u8>>),
}

/// One request. Its target is sent as it stands: nothing is encoded or cleaned.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method, as sent.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Headers besides `Host` and those of the body's framing, in order.
    pub headers: Vec<(String, String)>,
    /// What is sent after the head.
    pub body: Body,
    /// How long the answer may take before the outcome is [`Outcome::Silent`].
    pub patience: Duration,
}

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: Body::None,
            patience: PATIENCE,
        }
    }

    /// `GET target`.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// `PUT target` with a sized body (an empty one sends `Content-Length: 0`).
    #[must_use]
    pub fn put(target: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new("PUT", target).body(body)
    }

    /// `DELETE target`.
    #[must_use]
    pub fn delete(target: &str) -> Self {
        Self::new("DELETE", target)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a sized body.
    #[must_use]
    pub fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = Body::Sized(body.as_ref().to_vec());
        self
    }

    /// Sets a chunked body.
    #[must_use]
    pub fn chunked(mut self, chunks: &[&[u8]]) -> Self {
        self.body = Body::Chunked(chunks.iter().map(|chunk| chunk.to_vec()).collect());
        self
    }

    /// Sets how long the answer may take.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The bytes that go onto the wire.
    #[must_use]
    pub fn to_bytes(&self, host: &str) -> Vec<u8> {
        let mut bytes = format!(
            "{} {} HTTP/1.1\r\nHost: {host}\r\n",
            self.method, self.target
        )
        .into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        match &self.body {
            Body::None => bytes.extend_from_slice(b"\r\n"),
            Body::Sized(body) => {
                bytes.extend_from_slice(
                    format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
                );
                bytes.extend_from_slice(body);
            }
            Body::Chunked(chunks) => {
                bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                    bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
            }
        }
        bytes
    }
}

/// How the end of a reply's body was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By its status or by the request's method: there is no body.
    Bodiless,
    /// By `Content-Length`.
    Length,
    /// By chunks.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// One reply, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// `HTTP/1.1` as a rule.
    pub version: String,
    /// The status.
    pub status: u16,
    /// The words after the status.
    pub reason: String,
    /// All headers in the order and spelling of the wire.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// How the body was framed.
    pub framing: Framing,
}

impl Reply {
    /// The first header of that name, in any spelling.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A whole reply.
    Reply(Reply),
    /// The connection ended before the first byte of a reply.
    Closed,
    /// The connection ended, or sense did, within a reply.
    Broken {
        /// What had come.
        received: Vec<u8>,
        /// What was wrong.
        why: String,
    },
    /// No (whole) reply came within the request's patience.
    Silent {
        /// What had come.
        received: Vec<u8>,
    },
    /// No connection: nobody listens.
    Unreachable(String),
}

/// One connection to a target.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    host: String,
    /// Bytes read and not yet used; a second reply may follow the first.
    buffer: Vec<u8>,
}

/// Why reading stopped before a whole reply was there.
enum Stop {
    Ended,
    Silent,
    Senseless(String),
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The system's reason, as text.
    pub fn open(address: &Address) -> Result<Self, String> {
        let stream = TcpStream::connect_timeout(&address.socket, CONNECT_PATIENCE)
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            host: address.host.clone(),
            buffer: Vec::new(),
        })
    }

    /// Sends bytes as they are. A server that no longer listens is not an error here: what it answered is still to be read.
    pub fn send(&mut self, bytes: &[u8]) {
        if self.stream.write_all(bytes).is_err() {
            // The reply (a refusal sent before the body was read, say) decides, or its absence.
        }
    }

    /// Another handle on the connection, by which it can be ended while somebody reads from it.
    ///
    /// # Errors
    /// The operating system has no further handle.
    pub fn handle(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// Tells the server that nothing more will come.
    pub fn finish(&mut self) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            // Already closed by the server; the next read tells.
        }
    }

    /// Sends one request and reads one reply.
    pub fn exchange(&mut self, request: &Request) -> Outcome {
        let bytes = request.to_bytes(&self.host);
        self.send(&bytes);
        self.read(request.method == "HEAD", request.patience)
    }

    /// Reads one reply; interim ones (`100 Continue`) count as replies.
    pub fn read(&mut self, bodiless: bool, patience: Duration) -> Outcome {
        let deadline = Deadline::after(patience);
        let mut used = 0;
        match self.read_reply(bodiless, deadline, &mut used) {
            Ok(reply) => {
                self.buffer.drain(..used);
                Outcome::Reply(reply)
            }
            Err(Stop::Ended) if self.buffer.is_empty() => Outcome::Closed,
            Err(stop) => {
                let received = std::mem::take(&mut self.buffer);
                match stop {
                    Stop::Ended => Outcome::Broken {
                        received,
                        why: "the connection ended within the reply".to_owned(),
                    },
                    Stop::Senseless(why) => Outcome::Broken { received, why },
                    Stop::Silent => Outcome::Silent { received },
                }
            }
        }
    }

    fn read_reply(
        &mut self,
        bodiless: bool,
        deadline: Deadline,
        used: &mut usize,
    ) -> Result<Reply, Stop> {
        let status_line = self.read_line(used, deadline)?;
        let (version, status, reason) = parse_status_line(&status_line).map_err(Stop::Senseless)?;
        let mut headers = Vec::new();
        loop {
            let line = self.read_line(used, deadline)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| Stop::Senseless(format!("a header without colon: {line:?}")))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut reply = Reply {
            version,
            status,
            reason,
            headers,
            body: Vec::new(),
            framing: Framing::Bodiless,
        };
        if !bodiless && status >= 200 && status != 204 && status != 304 {
            (reply.body, reply.framing) = self.read_body(&reply, used, deadline)?;
        }
        Ok(reply)
    }

    fn read_body(
        &mut self,
        reply: &Reply,
        used: &mut usize,
        deadline: Deadline,
    ) -> Result<(Vec<u8>, Framing), Stop> {
        if let Some(encoding) = reply.header("Transfer-Encoding") {
            if !encoding.eq_ignore_ascii_case("chunked") {
                return Err(Stop::Senseless(format!("transfer encoding {encoding:?}")));
            }
            return Ok((self.read_chunks(used, deadline)?, Framing::Chunked));
        }
        if let Some(length) = reply.header("Content-Length") {
            let length = length
                .parse()
                .map_err(|_| Stop::Senseless(format!("content length {length:?}")))?;
            return Ok((self.read_bytes(length, used, deadline)?, Framing::Length));
        }
        loop {
            match self.fill(deadline) {
                Ok(()) => {}
                Err(Stop::Ended) => break,
                Err(stop) => return Err(stop),
            }
        }
        let body = self.buffer[*used..].to_vec();
        *used = self.buffer.len();
        Ok((body, Framing::UntilClose))
    }

    fn read_chunks(&mut self, used: &mut usize, deadline: Deadline) -> Result<Vec<u8>, Stop> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line(used, deadline)?;
            let size = usize::from_str_radix(line.trim(), 16)
                .map_err(|_| Stop::Senseless(format!("chunk size {line:?}")))?;
            if size == 0 {
                // Trailers, if any, end with an empty line.
                while !self.read_line(used, deadline)?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.read_bytes(size, used, deadline)?);
            if !self.read_line(used, deadline)?.is_empty() {
                return Err(Stop::Senseless("a chunk longer than its size".to_owned()));
            }
        }
    }

    fn read_line(&mut self, used: &mut usize, deadline: Deadline) -> Result<String, Stop> {
        loop {
            let rest = &self.buffer[*used..];
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
                let line = String::from_utf8_lossy(line).into_owned();
                *used += end + 1;
                return Ok(line);
            }
            self.fill(deadline)?;
        }
    }

    fn read_bytes(
        &mut self,
        count: usize,
        used: &mut usize,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Stop> {
        while self.buffer.len() - *used < count {
            self.fill(deadline)?;
        }
        let bytes = self.buffer[*used..*used + count].to_vec();
        *used += count;
        Ok(bytes)
    }

    fn fill(&mut self, deadline: Deadline) -> Result<(), Stop> {
        let mut piece = [0; 16 * 1024];
        loop {
            let left = deadline.left().ok_or(Stop::Silent)?;
            let read = self
                .stream
                .set_read_timeout(Some(left))
                .and_then(|()| self.stream.read(&mut piece));
            match read {
                Ok(0) => return Err(Stop::Ended),
                Ok(count) => {
                    self.buffer.extend_from_slice(&piece[..count]);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut => {}
                    _ => return Err(Stop::Ended),
                },
            }
        }
    }
}

/// Version, status and reason of a status line.
///
/// # Errors
/// A line that is none, in a sentence.
pub fn parse_status_line(line: &str) -> Result<(String, u16, String), String> {
    let mut parts = line.splitn(3, ' ');
    let version = parts.next().unwrap_or_default();
    let status = parts.next().and_then(|status| status.parse().ok());
    match status {
        Some(status) if version.starts_with("HTTP/") => Ok((
            version.to_owned(),
            status,
            parts.next().unwrap_or_default().to_owned(),
        )),
        _ => Err(format!("not a status line: {line:?}")),
    }
}

/// One request on a connection of its own.
#[must_use]
pub fn exchange(address: &Address, request: &Request) -> Outcome {
    match Connection::open(address) {
        Ok(mut connection) => connection.exchange(request),
        Err(why) => Outcome::Unreachable(why),
    }
}

#[cfg(test)]
mod tests;
