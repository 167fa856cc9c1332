//! Chunked request bodies, with Go's errors.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};

use crate::lines::{is_token, is_value};
use crate::strictness::Strictness;
use proconsul_gocompat::quote::Quoted;

/// The longest line of a chunk's size and the longest trailer that Go reads.
const LINE_LIMIT: usize = 4096;
/// The largest excess of sizes and extensions over data that Go allows, against abuse.
const EXCESS_LIMIT: u64 = 16 * 1024;

/// Why a body cannot be read. `Display` prints Go's sentence, which Consul passes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFailure {
    /// It ends early.
    UnexpectedEnd,
    /// A chunk's size or end is malformed: Go's sentence.
    Chunk(&'static str),
    /// The trailer has a malformed line: Go's sentence.
    Trailer(String),
}

impl fmt::Display for BodyFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => formatter.write_str("unexpected EOF"),
            Self::Chunk(words) => formatter.write_str(words),
            Self::Trailer(words) => formatter.write_str(words),
        }
    }
}

const LINE_TOO_LONG: BodyFailure = BodyFailure::Chunk("header line too long");
const BARE_LINE_FEED: BodyFailure = BodyFailure::Chunk("chunked line ends with bare LF");
const MISPLACED_RETURN: BodyFailure = BodyFailure::Chunk("invalid CR in chunked line");
const NO_SIZE: BodyFailure = BodyFailure::Chunk("empty hex number for chunk length");
const BAD_SIZE: BodyFailure = BodyFailure::Chunk("invalid byte in chunk length");
const LARGE_SIZE: BodyFailure = BodyFailure::Chunk("http chunk length too large");
const TOO_MUCH_EXCESS: BodyFailure =
    BodyFailure::Chunk("chunked encoding contains too much non-data");
const NO_END: BodyFailure = BodyFailure::Chunk("malformed chunked encoding");
const TRAILER_CUT: BodyFailure = BodyFailure::Chunk("http: unexpected EOF reading trailer");
const TRAILER_TOO_LONG: BodyFailure =
    BodyFailure::Chunk("http: suspiciously long trailer after chunked body");

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A part of the body.
    Data(Bytes),
    /// More bytes have to arrive.
    More,
    /// The end of the body.
    End,
}

/// The position in a chunked body.
#[derive(Debug)]
pub(crate) struct Chunks {
    strict: Strictness,
    place: Place,
    /// The excess of sizes and extensions over data.
    excess: u64,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Size,
    Data(u64),
    EndOfChunk,
    Trailer,
}

impl Chunks {
    /// Starts at the beginning of a body.
    pub(crate) fn new(strict: Strictness) -> Self {
        Self {
            strict,
            place: Place::Size,
            excess: 0,
        }
    }

    /// Reads on in the bytes that arrived. `is_all` says that no more will.
    ///
    /// # Errors
    /// The body is malformed.
    pub(crate) fn read_on(
        &mut self,
        bytes: &mut BytesMut,
        is_all: bool,
    ) -> Result<Step, BodyFailure> {
        loop {
            match self.place {
                Place::Size => match self.size(bytes, is_all)? {
                    None => return Ok(Step::More),
                    Some(0) => self.place = Place::Trailer,
                    Some(size) => self.place = Place::Data(size),
                },
                Place::Data(left) => {
                    let there = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    match (there, is_all) {
                        (0, false) => return Ok(Step::More),
                        (0, true) if self.strict.chunks => {
                            return Err(BodyFailure::UnexpectedEnd);
                        }
                        // Older Go treats it as the end of the body.
                        (0, true) => return Err(TRAILER_CUT),
                        (_, _) => {}
                    }
                    let left = left - there as u64;
                    self.place = if left == 0 {
                        Place::EndOfChunk
                    } else {
                        Place::Data(left)
                    };
                    return Ok(Step::Data(bytes.split_to(there).freeze()));
                }
                Place::EndOfChunk => match bytes.get(..2) {
                    None if is_all => return Err(BodyFailure::UnexpectedEnd),
                    None => return Ok(Step::More),
                    Some(b"\r\n") => {
                        bytes.advance(2);
                        self.place = Place::Size;
                    }
                    Some(_) => return Err(NO_END),
                },
                Place::Trailer => return self.trailer(bytes, is_all),
            }
        }
    }

    /// Reads the size of the next chunk, once its line is complete.
    fn size(&mut self, bytes: &mut BytesMut, is_all: bool) -> Result<Option<u64>, BodyFailure> {
        let within = &bytes[..bytes.len().min(LINE_LIMIT)];
        let Some(end) = within.iter().position(|&byte| byte == b'\n') else {
            return match (within.len() == LINE_LIMIT, is_all) {
                (true, _) => Err(LINE_TOO_LONG),
                (false, true) => Err(BodyFailure::UnexpectedEnd),
                (false, false) => Ok(None),
            };
        };
        let line = bytes.split_to(end + 1);
        if self.strict.chunks {
            match line.iter().position(|&byte| byte == b'\r') {
                None => return Err(BARE_LINE_FEED),
                Some(at) if at + 1 != end => return Err(MISPLACED_RETURN),
                Some(_) => {}
            }
        }
        let line_length = line.len() as u64;
        let line = line.trim_ascii_end();
        let size = line.split(|&byte| byte == b';').next().unwrap_or_default();
        let size = parse_size(size, self.strict)?;
        let allowed = size.saturating_mul(2).saturating_add(16);
        self.excess = (self.excess + line_length).saturating_sub(allowed);
        if self.strict.chunks && self.excess > EXCESS_LIMIT {
            return Err(TOO_MUCH_EXCESS);
        }
        Ok(Some(size))
    }

    /// Reads the end of the body: optional trailer fields and an empty line.
    fn trailer(&self, bytes: &mut BytesMut, is_all: bool) -> Result<Step, BodyFailure> {
        match bytes.get(..2) {
            Some(b"\r\n") => {
                bytes.advance(2);
                return Ok(Step::End);
            }
            None if is_all => return Err(TRAILER_CUT),
            None => return Ok(Step::More),
            Some(_) => {}
        }
        let within = &bytes[..bytes.len().min(LINE_LIMIT)];
        if !within.windows(4).any(|window| window == b"\r\n\r\n") {
            return if is_all || within.len() == LINE_LIMIT {
                Err(TRAILER_TOO_LONG)
            } else {
                Ok(Step::More)
            };
        }
        if is_space(within[0]) {
            let line = within.split(|&byte| byte == b'\n').next();
            let line = line.unwrap_or_default().trim_ascii_end();
            let words = if self.strict.heads {
                Quoted(line).to_string()
            } else {
                String::from_utf8_lossy(line).into_owned()
            };
            let words = format!("malformed MIME header initial line: {words}");
            return Err(BodyFailure::Trailer(words));
        }
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let line = bytes.split_to(end + 1);
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            self.check_trailer_line(line)?;
        }
        Ok(Step::End)
    }

    fn check_trailer_line(&self, line: &[u8]) -> Result<(), BodyFailure> {
        if is_space(line[0]) {
            // It continues the line before it.
            return Ok(());
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            let words = format!("malformed MIME header: missing colon: {}", Quoted(line));
            return Err(BodyFailure::Trailer(words));
        };
        let (name, value) = line.split_at(colon);
        let is_name = |byte: &u8| is_token(*byte) || *byte == b' ';
        let is_fine = !name.is_empty() && name.iter().all(is_name) && is_value(value);
        if self.strict.heads && !is_fine {
            let line = Quoted(line.trim_ascii());
            let words = format!("malformed MIME header line: {line}");
            return Err(BodyFailure::Trailer(words));
        }
        Ok(())
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses hexadecimal digits. Older Go reads an empty size as 0.
fn parse_size(digits: &[u8], strict: Strictness) -> Result<u64, BodyFailure> {
    if digits.is_empty() && strict.chunks {
        return Err(NO_SIZE);
    }
    let mut size = 0;
    for (place, &digit) in digits.iter().enumerate() {
        let value = char::from(digit).to_digit(16).ok_or(BAD_SIZE)?;
        if place == 16 {
            return Err(LARGE_SIZE);
        }
        size = size << 4 | u64::from(value);
    }
    Ok(size)
}
