//! Reads the response to an HTTP check, the only one of its connection, as Go's client does (session.md 4.4.r30).

use std::io::{ErrorKind, Read};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, Take};

use proconsul_gocompat::quote::QuotedBy;
use proconsul_gocompat::quote::printable::Unicode;
use proconsul_gocompat::syscall::error_text;

/// The most bytes of heads that Go's client reads.
const LONGEST_HEAD: u64 = 10 << 20;
/// The most bytes of a body that are read.
const LONGEST_BODY: u64 = 16 << 20;
/// The most interim responses that Go's client skips.
const MOST_INTERIM: usize = 5;

/// A response.
#[derive(Debug)]
pub(super) struct ProbeResponse {
    pub(super) status: u16,
    /// The status as the server sent it, with its reason phrase.
    pub(super) status_text: String,
    headers: Vec<(String, Vec<u8>)>,
    /// Whether the server speaks HTTP/1.1 or newer.
    is_http_1_1: bool,
    pub(super) body: Vec<u8>,
}

impl ProbeResponse {
    /// Returns the first header of this name (lower case).
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let value = self.values(name).next()?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = move |(own, _): &&(String, Vec<u8>)| own == name;
        self.headers
            .iter()
            .filter(named)
            .map(|(_, value)| &value[..])
    }

    /// Whether Go's client follows it to another place.
    pub(super) fn is_redirect(&self) -> bool {
        matches!(self.status, 301..=303 | 307 | 308)
    }

    /// Appends a line of a head. One that starts with a blank continues the line before it.
    fn take_line(&mut self, line: &[u8], unicode: Unicode) -> Result<(), String> {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            let Some((_, value)) = self.headers.last_mut() else {
                let line = String::from_utf8_lossy(line);
                return Err(format!("malformed MIME header initial line: {line}"));
            };
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii());
            return Ok(());
        }
        let Some(end) = line.iter().position(|&byte| byte == b':') else {
            let line = QuotedBy(unicode, line);
            return Err(format!("malformed MIME header: missing colon: {line}"));
        };
        let name = String::from_utf8_lossy(&line[..end]).to_ascii_lowercase();
        self.headers
            .push((name, line[end + 1..].trim_ascii().to_vec()));
        Ok(())
    }
}

/// What a body ends with.
#[derive(Clone, Copy)]
enum BodyEnd {
    /// There is no body.
    Absent,
    /// This many bytes.
    Length(u64),
    Chunked,
    /// The end of the stream.
    Close,
}

/// How a response is read.
pub(super) struct Reading<'a> {
    /// Both ends of the connection, as errors show them.
    pub(super) ends: &'a str,
    /// Whether the request's method is HEAD.
    pub(super) to_head: bool,
    /// Whether a compressed body is decompressed.
    pub(super) unzips: bool,
    /// The Unicode of the quotes in errors.
    pub(super) unicode: Unicode,
}

/// Reads a response into `answer`: its head, and then as much of its body as there is. Whoever stops waiting keeps what
/// has come.
///
/// # Errors
/// Go's sentence for a malformed head.
pub(super) async fn read(
    stream: impl AsyncRead + Unpin,
    reading: &Reading<'_>,
    answer: &mut Option<ProbeResponse>,
) -> Result<(), String> {
    let mut reader = BufReader::new(stream.take(LONGEST_HEAD));
    if ahead(&mut reader, reading.ends).await?.is_empty() {
        return Err("EOF".to_owned());
    }
    let head = final_head(&mut reader, reading).await;
    let (head, end) = head.map_err(|why| {
        let why = match reader.get_ref().limit() {
            0 => {
                format!("net/http: server response headers exceeded {LONGEST_HEAD} bytes; aborted")
            }
            _ => why,
        };
        format!("net/http: HTTP/1.x transport connection broken: {why}")
    })?;
    reader.get_mut().set_limit(LONGEST_BODY);
    let answer = answer.insert(head);
    if answer.is_redirect() {
        return Ok(());
    }
    // A broken body ends where it breaks.
    let _ = body(&mut reader, reading.ends, end, &mut answer.body).await;
    let is_gzip = answer.header("content-encoding");
    if reading.unzips && is_gzip.is_some_and(|coding| coding.eq_ignore_ascii_case("gzip")) {
        answer.body = unzipped(&answer.body);
    }
    Ok(())
}

type Reader<S> = BufReader<Take<S>>;

/// Returns bytes that have come and are not yet read; none at the end of the stream.
async fn ahead<'a>(
    reader: &'a mut Reader<impl AsyncRead + Unpin>,
    ends: &str,
) -> Result<&'a [u8], String> {
    match reader.fill_buf().await {
        Ok(bytes) => Ok(bytes),
        // TLS that nobody has closed.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(&[]),
        Err(error) => Err(format!("read tcp {ends}: read: {}", error_text(&error))),
    }
}

/// Reads a line without its end.
async fn line(reader: &mut Reader<impl AsyncRead + Unpin>, ends: &str) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    loop {
        let bytes = ahead(reader, ends).await?;
        if bytes.is_empty() && line.is_empty() {
            return Err("unexpected EOF".to_owned());
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        let (is_last, taken) = (
            end.is_some() || bytes.is_empty(),
            end.map_or(bytes.len(), |end| end + 1),
        );
        reader.consume(taken);
        if is_last {
            line.truncate(line.strip_suffix(b"\r").unwrap_or(&line).len());
            return Ok(line);
        }
    }
}

/// Reads the head of the final response, and how its body ends.
async fn final_head(
    reader: &mut Reader<impl AsyncRead + Unpin>,
    reading: &Reading<'_>,
) -> Result<(ProbeResponse, BodyEnd), String> {
    for _ in 0..=MOST_INTERIM {
        let mut answer = status_line(&line(reader, reading.ends).await?, reading.unicode)?;
        loop {
            let line = line(reader, reading.ends).await?;
            if line.is_empty() {
                break;
            }
            answer.take_line(&line, reading.unicode)?;
        }
        let end = body_end(&answer, reading)?;
        if answer.status == 101 || !(100..200).contains(&answer.status) {
            return Ok((answer, end));
        }
    }
    Err("net/http: too many 1xx informational responses".to_owned())
}

fn status_line(line: &[u8], unicode: Unicode) -> Result<ProbeResponse, String> {
    let flaw = |what: &str, bytes| format!("malformed HTTP {what} {}", QuotedBy(unicode, bytes));
    let blank = |bytes: &[u8]| bytes.iter().position(|&byte| byte == b' ');
    let end = blank(line).ok_or_else(|| flaw("response", line))?;
    let (version, rest) = line.split_at(end);
    let status_text = rest.trim_ascii_start();
    let code = &status_text[..blank(status_text).unwrap_or(status_text.len())];
    let number = str::from_utf8(code).ok().filter(|code| code.len() == 3);
    let status = number.and_then(|code| code.parse().ok());
    Ok(ProbeResponse {
        status: status.ok_or_else(|| flaw("status code", code))?,
        status_text: String::from_utf8_lossy(status_text).into_owned(),
        headers: Vec::new(),
        is_http_1_1: http_version(version).ok_or_else(|| flaw("version", version))? >= (1, 1),
        body: Vec::new(),
    })
}

fn http_version(text: &[u8]) -> Option<(u32, u32)> {
    let numbers = str::from_utf8(text).ok()?.strip_prefix("HTTP/")?;
    let (major, minor) = numbers.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn body_end(answer: &ProbeResponse, reading: &Reading<'_>) -> Result<BodyEnd, String> {
    let quoted = |bytes: &[u8]| QuotedBy(reading.unicode, bytes).to_string();
    let all = |values: &[&[u8]]| {
        let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        format!("[{}]", quoted.join(" "))
    };
    let codings: Vec<&[u8]> = answer.values("transfer-encoding").collect();
    let is_chunked = match codings[..] {
        _ if !answer.is_http_1_1 => false,
        [] => false,
        [coding] if coding.eq_ignore_ascii_case(b"chunked") => true,
        [coding] => return Err(format!("unsupported transfer encoding: {}", quoted(coding))),
        _ => return Err(format!("too many transfer encodings: {}", all(&codings))),
    };
    let lengths: Vec<&[u8]> = answer.values("content-length").collect();
    if lengths.iter().any(|length| *length != lengths[0]) {
        let lengths = all(&lengths);
        return Err(format!(
            "http: message cannot contain multiple Content-Length headers; got {lengths}"
        ));
    }
    let has_body = !matches!(answer.status, 100..200 | 204 | 304);
    if !reading.to_head && (is_chunked || !has_body) {
        return Ok(if has_body {
            BodyEnd::Chunked
        } else {
            BodyEnd::Absent
        });
    }
    let end = match lengths.first() {
        None | Some([]) => BodyEnd::Close,
        Some(length) => {
            let digits = str::from_utf8(length)
                .ok()
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let number = digits.and_then(|digits| digits.parse::<i64>().ok());
            let number = number.and_then(|number| u64::try_from(number).ok());
            BodyEnd::Length(number.ok_or_else(|| format!("bad Content-Length {}", quoted(length)))?)
        }
    };
    Ok(if reading.to_head {
        BodyEnd::Absent
    } else {
        end
    })
}

/// Appends the body, or the received part of a broken one.
async fn body(
    reader: &mut Reader<impl AsyncRead + Unpin>,
    ends: &str,
    end: BodyEnd,
    body: &mut Vec<u8>,
) -> Result<(), String> {
    match end {
        BodyEnd::Absent => Ok(()),
        BodyEnd::Length(length) => part(reader, ends, length, body).await,
        BodyEnd::Close => part(reader, ends, u64::MAX, body).await,
        BodyEnd::Chunked => loop {
            let size = line(reader, ends).await?;
            let size = String::from_utf8_lossy(&size);
            let size = size.split(';').next().unwrap_or_default().trim();
            match u64::from_str_radix(size, 16) {
                Ok(size) if size > 0 => part(reader, ends, size, body).await?,
                // The end, or no chunk.
                Ok(_) | Err(_) => return Ok(()),
            }
            if !line(reader, ends).await?.is_empty() {
                return Ok(());
            }
        },
    }
}

/// Appends `length` bytes, or as many as there are.
async fn part(
    reader: &mut Reader<impl AsyncRead + Unpin>,
    ends: &str,
    length: u64,
    body: &mut Vec<u8>,
) -> Result<(), String> {
    let mut left = length;
    while left > 0 {
        let bytes = ahead(reader, ends).await?;
        if bytes.is_empty() {
            return Err("unexpected EOF".to_owned());
        }
        let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        body.extend_from_slice(&bytes[..taken]);
        reader.consume(taken);
        left -= taken as u64;
    }
    Ok(())
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

    type Found = Result<(String, String), String>;

    /// Status and body of what a server says.
    async fn answer_of(bytes: impl AsyncRead + Unpin, to_head: bool) -> Found {
        let reading = Reading {
            ends: "a->b",
            to_head,
            unzips: true,
            unicode: Unicode::V12,
        };
        let mut answer = None;
        read(bytes, &reading, &mut answer).await?;
        let answer = answer.expect("it was read");
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        Ok((answer.status_text, body))
    }

    fn found(status: &str, body: &str) -> Found {
        Ok((status.to_owned(), body.to_owned()))
    }

    fn broken(why: &str) -> Found {
        Err(format!(
            "net/http: HTTP/1.x transport connection broken: {why}"
        ))
    }

    /// Statuses and bodies were seen on 1.8.7.
    #[tokio::test]
    async fn what_can_be_read_is_read() {
        for (bytes, status, body) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc",
                "200 OK",
                "ab",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nabc",
                "200 OK",
                "ab",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nabc",
                "200 OK",
                "abc",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc",
                "200 OK",
                "abc",
            ),
            ("HTTP/1.0 500 So so\r\n\r\nabc", "500 So so", "abc"),
            (
                "HTTP/1.1 204 No Content\r\nContent-Length: -5\r\n\r\nabc",
                "204 No Content",
                "",
            ),
            ("HTTP/1.1 101 Switch\r\n\r\nabc", "101 Switch", ""),
            ("HTTP/1.1 200\r\n\r\nx", "200", "x"),
            ("HTTP/1.1  099  \n\nx", "099  ", "x"),
            (
                "HTTP/3.10 +20 OK\r\nA: b\r\n c\r\n: d\r\n\r\nx",
                "+20 OK",
                "x",
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx",
                "200 OK",
                "x",
            ),
        ] {
            assert_eq!(
                answer_of(bytes.as_bytes(), false).await,
                found(status, body),
                "{bytes:?}"
            );
        }
    }

    /// Seen on 1.8.7.
    #[tokio::test]
    async fn chunks_are_joined_until_one_is_broken() {
        let chunked = |rest| {
            format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: -1\r\n\r\n{rest}"
            )
        };
        for (rest, body) in [
            ("2;x\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
            ("5\r\nabc", "abc"),
            ("1\r\nxyz0\r\n\r\n", "x"),
            ("-1\r\nx\r\n", ""),
            ("fffffffffffffffff\r\nx", ""),
        ] {
            assert_eq!(
                answer_of(chunked(rest).as_bytes(), false).await,
                found("200 OK", body),
                "{rest:?}"
            );
        }
        let early = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx";
        assert_eq!(
            answer_of(early.as_bytes(), false).await,
            found("200 OK", "1\r\nx")
        );
    }

    /// The words were seen on 1.8.7.
    #[tokio::test]
    async fn what_is_malformed_is_refused_in_gos_words() {
        assert_eq!(answer_of(&b""[..], false).await, Err("EOF".to_owned()));
        for (bytes, why) in [
            ("hello", r#"malformed HTTP response "hello""#),
            ("\r\n\r\n", r#"malformed HTTP response """#),
            (
                "\0\"\\\x7f\n",
                r#"malformed HTTP response "\x00\"\\\u007f""#,
            ),
            ("HTTP/1.1\r\n\r\n", r#"malformed HTTP response "HTTP/1.1""#),
            (
                "HTTP/1.1 20 OK\r\n\r\n",
                r#"malformed HTTP status code "20""#,
            ),
            (
                "HTTP/1.1 -20 OK\r\n\r\n",
                r#"malformed HTTP status code "-20""#,
            ),
            (
                " HTTP/1.1 200 OK\r\n\r\n",
                r#"malformed HTTP status code "HTTP/1.1""#,
            ),
            (
                "http/1.1 200 OK\r\n\r\n",
                r#"malformed HTTP version "http/1.1""#,
            ),
            (
                "HTTP/1.x 200 OK\r\n\r\n",
                r#"malformed HTTP version "HTTP/1.x""#,
            ),
            ("HTTP/1.1 200 OK", "unexpected EOF"),
            ("HTTP/1.1 200 OK\r\nA: b", "unexpected EOF"),
            (
                "HTTP/1.1 200 OK\r\nnone\r\n\r\n",
                r#"malformed MIME header: missing colon: "none""#,
            ),
            (
                "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
                "malformed MIME header initial line:  A: b",
            ),
        ] {
            assert_eq!(
                answer_of(bytes.as_bytes(), false).await,
                broken(why),
                "{bytes:?}"
            );
        }
    }

    /// The words were seen on 1.8.7.
    #[tokio::test]
    async fn what_no_body_can_follow_is_refused_in_gos_words() {
        for (headers, why) in [
            ("Content-Length: -5", r#"bad Content-Length "-5""#),
            ("Content-Length: +5", r#"bad Content-Length "+5""#),
            (
                "Content-Length: 99999999999999999999",
                r#"bad Content-Length "99999999999999999999""#,
            ),
            (
                "Content-Length: 5\r\nContent-Length: 6",
                r#"http: message cannot contain multiple Content-Length headers; got ["5" "6"]"#,
            ),
            (
                "Transfer-Encoding: gzip, chunked",
                r#"unsupported transfer encoding: "gzip, chunked""#,
            ),
            (
                "Transfer-Encoding: a\r\nTransfer-Encoding: b",
                r#"too many transfer encodings: ["a" "b"]"#,
            ),
        ] {
            let bytes = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\nabcde");
            assert_eq!(answer_of(bytes.as_bytes(), false).await, broken(why));
            assert_eq!(answer_of(bytes.as_bytes(), true).await, broken(why));
        }
        let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(6) + "HTTP/1.1 200 OK\r\n\r\n";
        let why = "net/http: too many 1xx informational responses";
        assert_eq!(answer_of(interim.as_bytes(), false).await, broken(why));
    }

    /// Seen on 1.8.7: a response whose body takes too long counts.
    #[tokio::test]
    async fn what_has_come_of_a_body_is_there_before_its_end() {
        let (mut server, client) = tokio::io::duplex(100);
        let sent = tokio::io::AsyncWriteExt::write_all(&mut server, b"HTTP/1.1 200 OK\r\n\r\nab");
        sent.await.expect("it fits");
        let reading = Reading {
            ends: "",
            to_head: false,
            unzips: true,
            unicode: Unicode::V12,
        };
        let mut answer = None;
        tokio::select! {
            biased;
            _ = read(client, &reading, &mut answer) => panic!("the body has no end"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(answer.expect("its head is there").body, b"ab");
    }

    /// The words were seen on 1.8.7.
    #[tokio::test]
    async fn heads_without_end_are_given_up() {
        let why = "net/http: server response headers exceeded 10485760 bytes; aborted";
        for start in ["", "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nA: "] {
            let bytes = AsyncReadExt::chain(start.as_bytes(), tokio::io::repeat(b'x'));
            assert_eq!(answer_of(bytes, false).await, broken(why), "{start:?}");
        }
    }
}
