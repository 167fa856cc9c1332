//! What the clients here have in common: requests, each on a connection of its own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::PATIENCE;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `X-Consul-Index`.
    pub(crate) index: Option<u64>,
    pub(crate) body: String,
}

/// Sends a request and reads its answer.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    body: &str,
) -> io::Result<Answer> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    // A server that turns a client away may answer and close before the request has arrived: what counts is the answer.
    let sent = connection.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let read = connection.read_to_end(&mut bytes);
    match parse(&String::from_utf8_lossy(&bytes)) {
        Some(answer) => Ok(answer),
        None => Err(sent
            .and(read)
            .err()
            .unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
    }
}

fn parse(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let index = head
        .lines()
        .find_map(|line| line.strip_prefix("X-Consul-Index: "));
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        index: index.and_then(|index| index.parse().ok()),
        body: body.to_owned(),
    })
}

pub(crate) fn get(address: SocketAddr, target: &str) -> Answer {
    send(address, "GET", target, "").expect("an answer comes")
}

pub(crate) fn put(address: SocketAddr, target: &str) -> Answer {
    send(address, "PUT", target, "x").expect("an answer comes")
}
