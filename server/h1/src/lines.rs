//! The lines of a head, parsed as bytes arrive. Each byte is read once, and the first error ends it, as in
//! Go's `net/textproto`.

use std::ops::Range;

use http::Method;
use memchr::memchr;

use crate::bad_head::BadHead;
use crate::strictness::Strictness;
use proconsul_gocompat::url::RequestTarget;

/// The parsed part of a head.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The start of the current line.
    at: usize,
    /// The end of the part searched for a line end.
    searched: usize,
    /// The first line, once it is complete.
    pub(crate) request: Option<RequestLine>,
    /// The headers, in their order.
    pub(crate) fields: Vec<HeaderLine>,
}

/// The first line of a head.
#[derive(Debug)]
pub(crate) struct RequestLine {
    /// The method.
    pub(crate) method: Method,
    /// The target.
    pub(crate) target: RequestTarget,
    /// The HTTP version.
    pub(crate) version: (u32, u32),
}

/// A header.
#[derive(Clone, Debug)]
pub(crate) struct HeaderLine {
    /// The range of its name.
    pub(crate) name: Range<usize>,
    /// Its value.
    pub(crate) value: LineValue,
}

/// The value of a header.
#[derive(Clone, Debug)]
pub(crate) enum LineValue {
    /// On one line: its range.
    Plain(Range<usize>),
    /// Joined from several lines.
    Folded(Vec<u8>),
}

impl LineValue {
    /// Returns the bytes of the value.
    pub(crate) fn of<'a>(&'a self, head: &'a [u8]) -> &'a [u8] {
        match self {
            LineValue::Plain(range) => &head[range.clone()],
            LineValue::Folded(value) => value,
        }
    }

    /// Returns the value to append a line to. It is copied only for the second line; a copy for each would
    /// take quadratic time.
    fn folded(&mut self, head: &[u8]) -> &mut Vec<u8> {
        if let LineValue::Plain(range) = self {
            *self = LineValue::Folded(head[range.clone()].to_vec());
        }
        match self {
            LineValue::Folded(value) => value,
            LineValue::Plain(_) => unreachable!("the value was just copied"),
        }
    }
}

impl Lines {
    /// Clears everything for the next head.
    pub(crate) fn clear(&mut self) {
        (self.at, self.searched, self.request) = (0, 0, None);
        self.fields.clear();
    }

    /// Continues in `bytes`, which start with the head and include all bytes seen before. Returns the length
    /// of a complete head.
    ///
    /// # Errors
    /// A line is malformed.
    pub(crate) fn read_on(
        &mut self,
        bytes: &[u8],
        strict: Strictness,
    ) -> Result<Option<usize>, BadHead> {
        while let Some(end) = self.line_end(bytes) {
            let start = std::mem::replace(&mut self.at, end + 1);
            self.searched = end + 1;
            let line = &bytes[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.request.is_none() {
                self.request = Some(request_line(line, strict)?);
            } else if line.is_empty() {
                return Ok(Some(end + 1));
            } else if is_space(&line[0]) {
                self.fold(line, bytes, strict)?;
            } else {
                self.fields.push(field(line, start, strict)?);
            }
        }
        Ok(None)
    }

    fn line_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let found = memchr(b'\n', &bytes[self.searched..]);
        let end = found.map(|found| self.searched + found);
        self.searched = bytes.len();
        end
    }

    /// Appends a line that starts with a space to the value before it.
    fn fold(&mut self, line: &[u8], bytes: &[u8], strict: Strictness) -> Result<(), BadHead> {
        let line = line.trim_ascii();
        check_value(line, strict)?;
        let field = self.fields.last_mut().ok_or(BadHead::Malformed)?;
        let value = field.value.folded(bytes);
        if !value.is_empty() {
            value.push(b' ');
        }
        value.extend_from_slice(line);
        Ok(())
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn request_line(line: &[u8], strict: Strictness) -> Result<RequestLine, BadHead> {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let mut word = || words.next().ok_or(BadHead::Malformed);
    let (method, target, version) = (word()?, word()?, word()?);
    let method = Method::from_bytes(method).map_err(|_| BadHead::Malformed)?;
    let version = version_numbers(version, strict).ok_or(BadHead::Malformed)?;
    let target = if method == Method::CONNECT && !target.starts_with(b"/") {
        RequestTarget::authority(target)
    } else {
        RequestTarget::parse(target).map_err(|_| BadHead::Malformed)?
    };
    Ok(RequestLine {
        method,
        target,
        version,
    })
}

/// The largest number of a version in older Go.
const LARGEST_NUMBER: i64 = 1_000_000;

/// Parses a version such as `HTTP/1.1`. Older Go uses `Atoi`, which accepts several digits and a sign (seen on
/// 1.8.7).
fn version_numbers(text: &[u8], strict: Strictness) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(text.strip_prefix(b"HTTP/")?).ok()?;
    let (major, minor) = text.split_once('.')?;
    let number = |text: &str| -> Option<u32> {
        if strict.heads {
            let is_digit = text.len() == 1 && text.as_bytes()[0].is_ascii_digit();
            return is_digit.then(|| text.parse().ok()).flatten();
        }
        let number: i64 = text.parse().ok()?;
        (0..=LARGEST_NUMBER)
            .contains(&number)
            .then(|| u32::try_from(number).ok())
            .flatten()
    };
    Some((number(major)?, number(minor)?))
}

fn field(line: &[u8], start: usize, strict: Strictness) -> Result<HeaderLine, BadHead> {
    let colon = memchr(b':', line).ok_or(BadHead::Malformed)?;
    let name = &line[..colon];
    // A space in a name has its own error, found later.
    let is_name = |byte: &u8| is_token(*byte) || *byte == b' ';
    if strict.heads && (name.is_empty() || !name.iter().all(is_name)) {
        return Err(BadHead::Malformed);
    }
    let value = &line[colon + 1..];
    check_value(value, strict)?;
    let before = value.iter().take_while(|byte| is_space(byte)).count();
    let after = value[before..].iter().rev();
    let after = after.take_while(|byte| is_space(byte)).count();
    let value_start = start + colon + 1;
    Ok(HeaderLine {
        name: start..start + colon,
        value: LineValue::Plain(value_start + before..value_start + value.len() - after),
    })
}

fn check_value(value: &[u8], strict: Strictness) -> Result<(), BadHead> {
    if strict.heads && !is_value(value) {
        return Err(BadHead::Malformed);
    }
    Ok(())
}

/// Whether these bytes are a valid value of a header.
pub(crate) fn is_value(value: &[u8]) -> bool {
    let is_control = |byte: u8| (byte < b' ' && byte != b'\t') || byte == 0x7f;
    // Without an early end the compiler looks at many bytes at once.
    !value
        .iter()
        .fold(false, |found, byte| found | is_control(*byte))
}

/// Whether this byte may stand in header names and methods.
pub(crate) fn is_token(byte: u8) -> bool {
    static BYTES: [bool; 256] = letters_digits_and(b"!#$%&'*+-.^_`|~");
    BYTES[usize::from(byte)]
}

/// Whether this byte may stand in the name of a host.
pub(crate) fn is_host(byte: u8) -> bool {
    static BYTES: [bool; 256] = letters_digits_and(b"!$%&'()*+,-.:;=[]_~");
    BYTES[usize::from(byte)]
}

/// Returns of each byte whether it is a letter, a digit or one of `others`.
const fn letters_digits_and(others: &[u8]) -> [bool; 256] {
    let mut bytes = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        bytes[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut other = 0;
    while other < others.len() {
        bytes[others[other] as usize] = true;
        other += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{LineValue, Lines};
    use crate::strictness::Strictness;

    /// Reads a value of this many lines. Returns how often the value was moved.
    fn moves(folds: usize) -> usize {
        let mut lines = Lines::default();
        let mut head = b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n".to_vec();
        let strict = Strictness {
            heads: true,
            chunks: true,
        };
        let (mut moves, mut place) = (0, None);
        for _ in 0..folds {
            head.extend_from_slice(b" c\r\n");
            let end = lines.read_on(&head, strict).expect("the lines are sound");
            assert_eq!(end, None);
            let field = lines.fields.last().expect("a field is there");
            let LineValue::Folded(value) = &field.value else {
                panic!("the value has several lines");
            };
            let now = Some((value.as_ptr(), value.capacity()));
            moves += usize::from(std::mem::replace(&mut place, now) != now);
        }
        head.extend_from_slice(b"\r\n");
        let end = lines.read_on(&head, strict).expect("the lines are sound");
        assert_eq!(end, Some(head.len()));
        let value = lines.fields[1].value.of(&head);
        assert_eq!(value, format!("b{}", " c".repeat(folds)).as_bytes());
        moves
    }

    #[test]
    fn a_value_of_many_lines_costs_as_much_as_it_has_bytes() {
        assert!(moves(1_000) < 16);
        assert!(moves(100_000) < 32);
    }
}
