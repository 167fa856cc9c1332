//! A writer that is nobody's client: bytes on a connection of its own.

use std::io::{Read, Write};
use std::net::TcpStream;

/// Writes one key over one connection.
pub(crate) struct Writer {
    stream: TcpStream,
    key: String,
}

impl Writer {
    /// # Panics
    /// When nobody listens at the address.
    pub(crate) fn connect(address: &str, key: &str) -> Self {
        let host = address.trim_start_matches("http://");
        let stream = TcpStream::connect(host).expect("the server accepts connections");
        stream.set_nodelay(true).expect("it is a TCP connection");
        Self {
            stream,
            key: key.to_owned(),
        }
    }

    /// Sends a write, and does not wait for its answer.
    pub(crate) fn send(&mut self, value: &str) {
        let key = &self.key;
        let length = value.len();
        let request = format!(
            "PUT /v1/kv/{key} HTTP/1.1\r\nHost: consul\r\nContent-Length: {length}\r\n\r\n{value}"
        );
        let sent = self.stream.write_all(request.as_bytes());
        sent.expect("the connection stays open");
    }

    /// Waits for the answer to what was sent.
    pub(crate) fn answered(&mut self) {
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\ntrue") {
            let read = self.stream.read(&mut byte);
            assert_eq!(read.expect("the connection stays open"), 1);
            answer.push(byte[0]);
        }
    }
}
