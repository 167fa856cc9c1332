//! The few lines of HTTP that a test needs on a connection of any kind.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A response whose body has a length.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the value of a header that is there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }
}

/// Sends one request on a connection, and reads the response.
pub(crate) async fn call(
    connection: &mut (impl AsyncRead + AsyncWrite + Unpin),
    method: &str,
    target: &str,
    body: &str,
) -> io::Result<Response> {
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: consul\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).await?;
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if connection.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let mut response = Response {
        head,
        body: String::new(),
    };
    let length: usize = response.header("Content-Length").parse().expect("a length");
    while read.len() < end + 4 + length {
        if connection.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    response.body = String::from_utf8_lossy(&read[end + 4..]).into_owned();
    Ok(response)
}

/// Returns the id in the response to `PUT /v1/session/create`.
pub(crate) fn session_id(response: &Response) -> &str {
    response.body.split('"').nth(3).unwrap_or_default()
}
