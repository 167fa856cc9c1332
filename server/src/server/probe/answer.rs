//! Reads the response to an HTTP check, the only one of its connection.

use std::io::Read;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// The longest head and body of a response, in bytes. The rest is not read.
const LONGEST_HEAD: u64 = 1 << 20;
const LONGEST_BODY: u64 = 16 << 20;

/// A response.
#[derive(Debug)]
pub(super) struct ProbeResponse {
    pub(super) status: u16,
    /// The server's reason phrase.
    pub(super) reason: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl ProbeResponse {
    /// Returns the first header of this name (lower case).
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(own, _)| own == name)?;
        Some(&found.1)
    }
}

/// Reads a response; one to HEAD has no body.
///
/// # Errors
/// Go's sentence for a malformed response.
pub(super) async fn read(
    stream: impl AsyncRead + Unpin,
    to_head: bool,
) -> Result<ProbeResponse, String> {
    let mut reader = BufReader::new(stream.take(LONGEST_HEAD + LONGEST_BODY));
    let mut answer = loop {
        let answer = head(&mut reader).await?;
        // Interim responses are skipped.
        if !(100..200).contains(&answer.status) {
            break answer;
        }
    };
    let has_body = !to_head && !matches!(answer.status, 204 | 304);
    if has_body {
        answer.body = body(&mut reader, &answer).await;
    }
    if answer.header("content-encoding") == Some("gzip") {
        answer.body = unzipped(&answer.body);
    }
    Ok(answer)
}

type Reader<S> = BufReader<tokio::io::Take<S>>;

async fn head(reader: &mut Reader<impl AsyncRead + Unpin>) -> Result<ProbeResponse, String> {
    let line = line(reader).await.ok_or("EOF")?;
    let mut answer = status_line(&line).ok_or_else(|| {
        format!(
            "net/http: HTTP/1.x transport connection broken: malformed HTTP response \"{line}\""
        )
    })?;
    loop {
        let line = self::line(reader).await.ok_or("unexpected EOF")?;
        if line.is_empty() {
            return Ok(answer);
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("malformed MIME header line: {line}"));
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        answer.headers.push(header);
    }
}

/// Reads a line without its end; `None` at the end of the stream.
async fn line(reader: &mut Reader<impl AsyncRead + Unpin>) -> Option<String> {
    let mut line = Vec::new();
    let read = reader.read_until(b'\n', &mut line).await.ok()?;
    if read == 0 {
        return None;
    }
    let line = String::from_utf8_lossy(&line);
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn status_line(line: &str) -> Option<ProbeResponse> {
    let (version, rest) = line.split_once(' ')?;
    let (status, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    if !version.starts_with("HTTP/1.") || status.len() != 3 {
        return None;
    }
    Some(ProbeResponse {
        status: status.parse().ok()?,
        reason: reason.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    })
}

/// Reads the body, or the received part of a broken one.
async fn body(reader: &mut Reader<impl AsyncRead + Unpin>, answer: &ProbeResponse) -> Vec<u8> {
    let mut body = Vec::new();
    if answer.header("transfer-encoding") == Some("chunked") {
        while let Some(size) = line(reader).await {
            let size = size.split(';').next().unwrap_or_default().trim();
            let Ok(size) = u64::from_str_radix(size, 16) else {
                break;
            };
            if size == 0 || reader.take(size).read_to_end(&mut body).await.is_err() {
                break;
            }
            line(reader).await;
        }
        return body;
    }
    let length = answer
        .header("content-length")
        .and_then(|length| length.parse().ok());
    // A reset ends the body.
    let _ = reader
        .take(length.unwrap_or(LONGEST_BODY))
        .read_to_end(&mut body)
        .await;
    body
}

/// Decompresses as much as possible.
fn unzipped(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // A broken stream ends the body.
    let _ = flate2::read::GzDecoder::new(body)
        .take(LONGEST_BODY)
        .read_to_end(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn body_of(bytes: &[u8]) -> Result<(u16, String, String), String> {
        let answer = read(bytes, false).await?;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        Ok((answer.status, answer.reason, body))
    }

    fn found(status: u16, reason: &str, body: &str) -> Result<(u16, String, String), String> {
        Ok((status, reason.to_owned(), body.to_owned()))
    }

    #[tokio::test]
    async fn bodies_of_every_length() {
        let counted = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc";
        assert_eq!(body_of(counted).await, found(200, "OK", "ab"));
        let to_the_end = b"HTTP/1.0 500 So so\r\n\r\nabc";
        assert_eq!(body_of(to_the_end).await, found(500, "So so", "abc"));
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(body_of(chunked).await, found(200, "OK", "abc"));
        let none = b"HTTP/1.1 204 No Content\r\n\r\nabc";
        assert_eq!(body_of(none).await, found(204, "No Content", ""));
    }

    #[tokio::test]
    async fn what_comes_before_the_answer_is_passed_over() {
        let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx";
        assert_eq!(body_of(bytes).await, found(200, "OK", "x"));
    }

    #[tokio::test]
    async fn what_is_no_answer_is_refused_in_gos_words() {
        assert_eq!(body_of(b"").await, Err("EOF".to_owned()));
        let broken =
            "net/http: HTTP/1.x transport connection broken: malformed HTTP response \"hello\"";
        assert_eq!(body_of(b"hello\r\n\r\n").await, Err(broken.to_owned()));
        let cut = body_of(b"HTTP/1.1 200 OK\r\nA: b").await;
        assert_eq!(cut, Err("unexpected EOF".to_owned()));
    }
}
