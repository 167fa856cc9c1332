//! The tests' own end of the wire: one connection per request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use proconsul::Server;
use proconsul::history::{Filter, Kind};

/// Nothing here takes as long; what would hang fails instead.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// An answer, as far as these tests look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// `X-Consul-Index`.
    pub(crate) fn index(&self) -> u64 {
        let index = self.header("X-Consul-Index").expect("a read has an index");
        index.parse().expect("an index is a number")
    }
}

/// A server whose clock stands still.
pub(crate) fn frozen() -> Server {
    Server::builder().frozen().start().expect("a free port")
}

/// Everything that comes back; empty when the connection ends without an answer.
pub(crate) fn exchange(address: SocketAddr, request: &str) -> std::io::Result<Vec<u8>> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    connection.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn request(method: &str, target: &str, headers: &[&str], body: &str) -> String {
    let length = body.len();
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// Sends a request and reads its answer.
pub(crate) fn ask(server: &Server, method: &str, target: &str, body: &str) -> Answer {
    ask_at(server.addr(), method, target, body)
}

pub(crate) fn ask_at(address: SocketAddr, method: &str, target: &str, body: &str) -> Answer {
    let bytes = exchange(address, &request(method, target, &[], body)).expect("an answer comes");
    parse(&bytes)
}

pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).expect("a head has a status");
    Answer {
        status: status.parse().expect("a status is a number"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

pub(crate) fn get(server: &Server, target: &str) -> Answer {
    ask(server, "GET", target, "")
}

pub(crate) fn put(server: &Server, target: &str, body: &str) -> Answer {
    ask(server, "PUT", target, body)
}

/// The same in a thread of its own.
pub(crate) fn background(server: &Server, method: &str, target: &str) -> JoinHandle<Answer> {
    let (address, method, target) = (server.addr(), method.to_owned(), target.to_owned());
    std::thread::spawn(move || ask_at(address, &method, &target, ""))
}

/// The answer of a request in the background, which must have come.
pub(crate) fn join(request: JoinHandle<Answer>) -> Answer {
    request.join().expect("the request does not panic")
}

/// Sends a request in the background that a fault is to hold, and returns when it is held.
pub(crate) fn held(server: &Server, method: &str, target: &str) -> JoinHandle<Answer> {
    let arrived = Filter::of(Kind::Request).after(server.last_record());
    let request = background(server, method, target);
    server.wait_for(&arrived, PATIENCE).expect("it arrives");
    server.wait_idle(PATIENCE).expect("it is held");
    request
}

/// What comes back for a request whose answer may be lost.
pub(crate) fn raw(server: &Server, method: &str, target: &str) -> std::io::Result<Vec<u8>> {
    exchange(server.addr(), &request(method, target, &[], "x"))
}
