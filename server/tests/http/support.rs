//! The tests' own end of the wire. It shares nothing with the server's: what it cannot read is a failed test.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul::config::Config;

/// Nothing here takes as long; a test that would hang fails instead.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server and one connection to it.
pub(crate) struct Consul {
    server: Server,
    wire: RefCell<Wire>,
}

impl Consul {
    /// The emulated release is 1.22.0.
    pub(crate) fn v1_22() -> Self {
        Self::of(Version::V1_22_0)
    }

    /// The emulated release is 1.8.7, as Debian has built it.
    pub(crate) fn v1_8() -> Self {
        Self::of(Version::V1_8_7)
    }

    /// Another release.
    pub(crate) fn of(version: Version) -> Self {
        Self::with(|config| config.version = version)
    }

    /// As `agent -dev` of that release answers.
    pub(crate) fn dev(version: Version) -> Self {
        let config = Config {
            version,
            ..Config::dev()
        };
        Self::start(config, false)
    }

    /// The releases at both ends, for what is the same in all of them.
    pub(crate) fn both() -> [Self; 2] {
        [Self::v1_8(), Self::v1_22()]
    }

    /// The default server with another setting.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        Self::start(config, false)
    }

    /// A server whose clock stands still.
    pub(crate) fn frozen(version: Version) -> Self {
        Self::frozen_with(|config| config.version = version)
    }

    /// A server whose clock stands still, with another setting.
    pub(crate) fn frozen_with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        Self::start(config, true)
    }

    fn start(config: Config, frozen: bool) -> Self {
        let builder = Server::builder().config(config);
        let builder = if frozen { builder.frozen() } else { builder };
        let server = builder.start().expect("a port is free");
        let wire = RefCell::new(Wire::to(&server));
        Self { server, wire }
    }

    /// The server itself.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// A connection of its own.
    pub(crate) fn connect(&self) -> Wire {
        Wire::to(&self.server)
    }

    /// Sends a request without a body and reads the answer.
    pub(crate) fn ask(&self, method: &str, target: &str) -> Answer {
        self.ask_with(method, target, &[], b"")
    }

    /// Sends a request with these header lines and this body, and reads the answer. `Content-Length` is sent
    /// with a body that is not empty.
    pub(crate) fn ask_with(
        &self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Answer {
        let mut wire = self.wire.borrow_mut();
        wire.send(&request(method, target, headers, body));
        let answer = if method == "HEAD" {
            wire.answer_to_head()
        } else {
            wire.answer()
        };
        if answer.header("Connection") == Some("close") {
            *wire = self.connect();
        }
        answer
    }

    /// A GET.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target)
    }

    /// A GET with a header.
    pub(crate) fn get_with(&self, target: &str, header: &str) -> Answer {
        self.ask_with("GET", target, &[header], b"")
    }

    /// A PUT.
    pub(crate) fn put(&self, target: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask_with("PUT", target, &[], body.as_ref())
    }

    /// Sends a GET that will block, on a connection of its own. When this returns, the server has looked and waits.
    pub(crate) fn block(&self, target: &str) -> Blocked {
        let mut wire = self.connect();
        // The connection is being served, and what it sends next is there before what is asked for behind it:
        // the server, which has one thread, takes them in this order.
        wire.send(&request("GET", "/v1/status/leader", &[], b""));
        wire.answer();
        wire.send(&request("GET", target, &[], b""));
        self.get("/v1/status/leader");
        Blocked { wire }
    }

    /// Whether the answer of a blocked read has come, now that the server has done all that it had to do.
    pub(crate) fn has_answered(&self, blocked: &mut Blocked) -> bool {
        // What another thread has woken may have to wait for one turn of the server, and what that wakes for the
        // next.
        for _ in 0..3 {
            self.get("/v1/status/leader");
        }
        blocked.wire.has_something_to_read()
    }

    /// Moves a clock that stands still.
    pub(crate) fn advance(&self, seconds: u64) {
        self.server.advance(Duration::from_secs(seconds));
    }

    /// A DELETE.
    pub(crate) fn delete(&self, target: &str) -> Answer {
        self.ask("DELETE", target)
    }
}

/// The bytes of a request.
pub(crate) fn request(method: &str, target: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: consul\r\n").into_bytes();
    for header in headers {
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    if !body.is_empty() {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A read that may be waiting.
pub(crate) struct Blocked {
    wire: Wire,
}

impl Blocked {
    /// The answer, once it comes.
    pub(crate) fn answer(&mut self) -> Answer {
        self.wire.answer()
    }
}

/// One connection.
pub(crate) struct Wire {
    stream: TcpStream,
    /// What was read behind the last answer.
    unread: Vec<u8>,
}

impl Wire {
    fn to(server: &Server) -> Self {
        let stream = TcpStream::connect(server.addr()).expect("the server listens");
        let patient = stream.set_read_timeout(Some(PATIENCE));
        patient.expect("a socket has a timeout");
        stream.set_nodelay(true).expect("a socket has no delay");
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// Sends bytes. A server that has closed already does not take them: what it said can still be read.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Ends the sending; the server can still answer.
    pub(crate) fn stop_sending(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer.
    ///
    /// # Panics
    /// When the connection ends before it is whole, or when it is no answer.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.answer_to_head();
        if answer.code() == 100 {
            return answer;
        }
        answer.body = if answer.is_chunked() {
            self.chunks()
        } else if let Some(length) = answer.header("Content-Length") {
            let length = length.parse().expect("a length is a number");
            self.take(length)
        } else {
            self.rest()
        };
        answer
    }

    /// The next answer, unless the server closes before it begins.
    pub(crate) fn next_answer(&mut self) -> Option<Answer> {
        let there = !self.unread.is_empty() || self.read_more();
        there.then(|| self.answer())
    }

    /// The next answer, which is to a HEAD and so has no body whatever its head says.
    pub(crate) fn answer_to_head(&mut self) -> Answer {
        let end = loop {
            let end = self.unread.windows(4).position(|end| end == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None => assert!(
                    self.read_more(),
                    "closed after {:?}",
                    String::from_utf8_lossy(&self.unread)
                ),
            }
        };
        let head = String::from_utf8(self.take(end)).expect("a head is ASCII");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().expect("a head has a status line").to_owned();
        assert!(status.starts_with("HTTP/1."), "{status:?} starts no answer");
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").expect("a header has a value");
            (name.to_owned(), value.to_owned())
        };
        Answer {
            status,
            headers: lines.map(header).collect(),
            body: Vec::new(),
        }
    }

    /// Everything until the server closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.read_more() {}
        std::mem::take(&mut self.unread)
    }

    /// Whether the server closes without a further byte.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.read_more()
    }

    /// Waits until there is something to read, and does not read it.
    pub(crate) fn waits_for_bytes(&self) -> bool {
        self.stream.peek(&mut [0]).is_ok_and(|length| length > 0)
    }

    /// Whether something can be read at once, the end included.
    pub(crate) fn has_something_to_read(&mut self) -> bool {
        let set = |nonblocking| self.stream.set_nonblocking(nonblocking);
        set(true).expect("a socket can be asked");
        let found = self.stream.peek(&mut [0]).is_ok();
        set(false).expect("a socket can be waited for");
        found || !self.unread.is_empty()
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let chunk = self.chunk();
            if chunk.is_empty() {
                return body;
            }
            body.extend(chunk);
        }
    }

    /// The next chunk of a body; empty at its end.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let line = loop {
            match self.unread.windows(2).position(|end| end == b"\r\n") {
                Some(end) => break self.take(end + 2),
                None => assert!(self.read_more(), "closed inside of a chunked body"),
            }
        };
        let size = std::str::from_utf8(&line).expect("a size is ASCII").trim();
        let size = usize::from_str_radix(size, 16).expect("a size is hexadecimal");
        let chunk = self.take(size);
        assert_eq!(self.take(2), b"\r\n", "a chunk ends with a newline");
        chunk
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            assert!(self.read_more(), "closed {length} bytes before the end");
        }
        let rest = self.unread.split_off(length);
        std::mem::replace(&mut self.unread, rest)
    }

    /// Whether there was more. A connection that is reset is at its end as well.
    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.unread.extend_from_slice(&buffer[..length]);
                length > 0
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                panic!(
                    "no answer after {:?}",
                    String::from_utf8_lossy(&self.unread)
                )
            }
            Err(_) => false,
        }
    }
}

/// An answer as it was on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The number in the status line.
    pub(crate) fn code(&self) -> u16 {
        let code = self.status.split(' ').nth(1).map(str::parse);
        code.expect("a status line has a number")
            .expect("a status is a number")
    }

    /// The value of a header, whose name has exactly this spelling.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} comes twice");
        value
    }

    /// The value of `X-Consul-Index`.
    pub(crate) fn index(&self) -> u64 {
        let index = self.header("X-Consul-Index").map(str::parse);
        index.expect("a read has an index").expect("a number")
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// Status line and headers, one a line, headers sorted and without `Date`, whose form alone is fixed.
    pub(crate) fn head(&self) -> String {
        let is_date = |(name, _): &&(String, String)| name == "Date";
        for (_, date) in self.headers.iter().filter(is_date) {
            assert!(
                date.len() == 29 && date.ends_with(" GMT"),
                "{date:?} is no date"
            );
        }
        let others = self.headers.iter().filter(|header| !is_date(header));
        let mut lines: Vec<String> = others
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.sort();
        lines.insert(0, self.status.clone());
        lines.join("\n")
    }

    /// That this is the answer: the status and the whole body.
    #[track_caller]
    pub(crate) fn is(&self, code: u16, text: &str) -> &Self {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(
            (self.code(), body.as_ref()),
            (code, text),
            "{}",
            self.head()
        );
        self
    }

    /// That this is the head: status line, then headers in sorted lines, without `Date`.
    #[track_caller]
    pub(crate) fn has_head(&self, lines: &[&str]) -> &Self {
        assert_eq!(self.head(), lines.join("\n"));
        self
    }

    fn is_chunked(&self) -> bool {
        self.header("Transfer-Encoding") == Some("chunked")
    }
}

/// Creates a session and gives its id.
pub(crate) fn create_session(consul: &Consul, body: &str) -> String {
    let answer = consul.put("/v1/session/create", body);
    let id = answer.text().split('"').nth(3);
    id.unwrap_or_else(|| panic!("{} names no session", answer.text()))
        .to_owned()
}
