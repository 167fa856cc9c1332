//! The replies of one connection, out of bytes that come in pieces.

use proconsul_conformance::wire::{Framing, Reply, parse_status_line};

/// A reply that is longer is not kept.
const LONGEST: usize = 64 * 1024 * 1024;

/// What has come of one connection's replies.
#[derive(Default)]
pub(super) struct Replies {
    bytes: Vec<u8>,
    /// The reply whose head has come, and what is awaited of it.
    open: Option<(Reply, Awaited)>,
}

#[derive(Clone, Copy)]
enum Awaited {
    Nothing,
    Bytes(usize),
    /// The first byte of the next chunk.
    Chunk(usize),
    End,
}

/// What the bytes so far are.
pub(super) enum Heard {
    /// Nothing whole.
    Nothing,
    Reply(Reply),
    /// No HTTP that can be told apart.
    Foreign,
}

/// Bytes that are no reply, or one that nobody else can follow.
struct NotHttp;

impl Replies {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether nothing of a reply has come.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.open.is_none()
    }

    /// The next reply, if all of it is there; interim ones are passed over.
    pub(super) fn next(&mut self, to_head: bool) -> Heard {
        match self.step(to_head) {
            Ok(Some(reply)) => Heard::Reply(reply),
            Ok(None) if self.bytes.len() > LONGEST => Heard::Foreign,
            Ok(None) => Heard::Nothing,
            Err(NotHttp) => Heard::Foreign,
        }
    }

    /// The connection has ended: a reply that goes on until then is whole. Else returns what there is of one.
    pub(super) fn end(&mut self) -> Result<Reply, Vec<u8>> {
        match self.open.take() {
            Some((mut reply, Awaited::End)) => {
                reply.body = std::mem::take(&mut self.bytes);
                Ok(reply)
            }
            _ => Err(std::mem::take(&mut self.bytes)),
        }
    }

    fn step(&mut self, to_head: bool) -> Result<Option<Reply>, NotHttp> {
        while self.open.is_none() {
            let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
                return Ok(None);
            };
            let reply = head(&String::from_utf8_lossy(&self.bytes[..end]))?;
            self.bytes.drain(..end + 4);
            match reply.status {
                101 => return Err(NotHttp),
                100..200 => {}
                _ => self.open = Some(awaited(reply, to_head)?),
            }
        }
        let Some((reply, awaited)) = &mut self.open else {
            return Ok(None);
        };
        match *awaited {
            Awaited::Nothing => {}
            Awaited::Bytes(count) if self.bytes.len() < count => return Ok(None),
            Awaited::Bytes(count) => reply.body = self.bytes.drain(..count).collect(),
            Awaited::End => return Ok(None),
            Awaited::Chunk(mut at) => {
                let is_whole = chunks(&self.bytes, &mut at, &mut reply.body)?;
                *awaited = Awaited::Chunk(at);
                if !is_whole {
                    return Ok(None);
                }
                self.bytes.drain(..at);
            }
        }
        Ok(self.open.take().map(|(reply, _)| reply))
    }
}

/// A reply without its body.
fn head(text: &str) -> Result<Reply, NotHttp> {
    let mut lines = text.split("\r\n");
    let (version, status, reason) =
        parse_status_line(lines.next().unwrap_or_default()).map_err(|_| NotHttp)?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':').ok_or(NotHttp)?;
        Ok((name.to_owned(), value.trim().to_owned()))
    };
    Ok(Reply {
        version,
        status,
        reason,
        headers: lines.map(header).collect::<Result<_, NotHttp>>()?,
        body: Vec::new(),
        framing: Framing::Bodiless,
    })
}

fn awaited(mut reply: Reply, to_head: bool) -> Result<(Reply, Awaited), NotHttp> {
    if to_head || matches!(reply.status, 204 | 304) {
        return Ok((reply, Awaited::Nothing));
    }
    let (framing, awaited) = match (
        reply.header("Transfer-Encoding"),
        reply.header("Content-Length"),
    ) {
        (Some(encoding), _) if encoding.eq_ignore_ascii_case("chunked") => {
            (Framing::Chunked, Awaited::Chunk(0))
        }
        (Some(_), _) => return Err(NotHttp),
        (None, Some(length)) => {
            let count = length.parse().map_err(|_| NotHttp)?;
            (Framing::Length, Awaited::Bytes(count))
        }
        (None, None) => (Framing::UntilClose, Awaited::End),
    };
    reply.framing = framing;
    Ok((reply, awaited))
}

/// Adds whole chunks from `at` on to the body and moves `at` behind them; whether the last one was among them.
fn chunks(bytes: &[u8], at: &mut usize, body: &mut Vec<u8>) -> Result<bool, NotHttp> {
    let line_at = |from: usize| {
        let rest = bytes.get(from..)?;
        rest.windows(2).position(|two| two == b"\r\n")
    };
    while let Some(length) = line_at(*at) {
        let line = String::from_utf8_lossy(&bytes[*at..*at + length]).into_owned();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| NotHttp)?;
        let start = *at + length + 2;
        if size == 0 {
            // Trailers, if any, end with an empty line.
            let mut end = start;
            while let Some(length) = line_at(end) {
                end += length + 2;
                if length == 0 {
                    *at = end;
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let end = start.checked_add(size).and_then(|end| end.checked_add(2));
        let Some(chunk) = end.and_then(|end| bytes.get(start..end)) else {
            return Ok(false);
        };
        body.extend_from_slice(&chunk[..size]);
        *at = start + size + 2;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All replies of a text that comes byte by byte.
    fn replies(text: &str, to_head: bool) -> (Vec<Reply>, Replies) {
        let (mut replies, mut came) = (Replies::default(), Vec::new());
        for byte in text.bytes() {
            replies.feed(&[byte]);
            match replies.next(to_head) {
                Heard::Nothing => {}
                Heard::Reply(reply) => came.push(reply),
                Heard::Foreign => panic!("{text}"),
            }
        }
        (came, replies)
    }

    #[test]
    fn tells_replies_of_every_framing_apart() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab\
                    HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n2;x\r\nde\r\n0\r\nT: r\r\n\r\n\
                    HTTP/1.1 204 No Content\r\n\r\nHTTP/1.0 200 OK\r\n\r\nrest";
        let (came, mut replies) = replies(text, false);
        let bodies: Vec<&[u8]> = came.iter().map(|reply| reply.body.as_slice()).collect();
        assert_eq!(bodies, [b"ab".as_slice(), b"cde", b""]);
        assert_eq!(came[1].framing, Framing::Chunked);
        let last = replies.end().expect("it goes on until the end");
        assert_eq!(
            (last.body.as_slice(), last.framing),
            (b"rest".as_slice(), Framing::UntilClose)
        );
    }

    #[test]
    fn an_answer_to_head_has_no_body_and_half_of_one_is_none() {
        let (came, _) = replies("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true);
        assert_eq!(came.len(), 1);
        let (came, mut replies) = replies("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", false);
        assert!(came.is_empty() && !replies.is_empty());
        assert_eq!(replies.end().expect_err("it is cut off"), b"a");
    }

    #[test]
    fn other_protocols_are_foreign() {
        for text in [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        ] {
            let mut replies = Replies::default();
            replies.feed(text.as_bytes());
            assert!(matches!(replies.next(false), Heard::Foreign), "{text}");
        }
    }
}
