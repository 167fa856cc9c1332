//! Decompression with the errors of Go's `compress/gzip`, and with a limit.

use std::io::{ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// The length of a gzip header without its optional fields.
const HEADER: usize = 10;

/// The most gzip streams in a row that are read as one. Consul has no limit; one archive is one stream.
const MOST_STREAMS: usize = 1000;

/// What a gzip file unpacks to.
pub(super) struct Gunzip<'a> {
    length: usize,
    stream: GzDecoder<&'a [u8]>,
    streams: usize,
    most: u64,
    /// How many bytes it may still have.
    left: u64,
}

impl<'a> Gunzip<'a> {
    /// Reads the header of the first stream. More than `most` bytes are an error.
    ///
    /// # Errors
    /// Go's text about the header.
    pub(super) fn new(packed: &'a [u8], most: u64) -> Result<Self, String> {
        Ok(Self {
            length: packed.len(),
            stream: open(packed)?,
            streams: 1,
            most,
            left: most,
        })
    }

    /// Reads as much as there is, up to the length of the buffer.
    ///
    /// # Errors
    /// Go's text, or that the limit is exceeded.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, String> {
        let mut filled = 0;
        while filled < buffer.len() {
            let read = self.stream.read(&mut buffer[filled..]);
            let read = read.map_err(|error| self.text(&error))?;
            self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
                format!(
                    "unpacked it has more than the {} bytes that proconsul takes",
                    self.most
                )
            })?;
            filled += read;
            if read == 0 && !self.next_stream()? {
                break;
            }
        }
        Ok(filled)
    }

    /// Reads on to the end, and returns how many bytes that were.
    ///
    /// # Errors
    /// As [`Gunzip::fill`].
    pub(super) fn count_rest(&mut self) -> Result<u64, String> {
        let mut buffer = vec![0; 64 * 1024];
        let mut count = 0;
        loop {
            match self.fill(&mut buffer)? {
                0 => return Ok(count),
                read => count += read as u64,
            }
        }
    }

    /// Goes on to the stream behind this one; false if there is no more.
    fn next_stream(&mut self) -> Result<bool, String> {
        let rest = *self.stream.get_ref();
        if rest.is_empty() {
            return Ok(false);
        }
        self.streams += 1;
        if self.streams > MOST_STREAMS {
            return Err(INVALID_HEADER.to_owned());
        }
        self.stream = open(rest)?;
        Ok(true)
    }

    fn text(&self, error: &std::io::Error) -> String {
        if error.kind() == ErrorKind::UnexpectedEof {
            return UNEXPECTED_EOF.to_owned();
        }
        let text = error.to_string();
        if text.contains("checksum") {
            "gzip: invalid checksum".to_owned()
        } else if text.contains("header") {
            INVALID_HEADER.to_owned()
        } else {
            let taken = self.length - self.stream.get_ref().len();
            let offset = taken.saturating_sub(HEADER).max(1);
            format!("flate: corrupt input before offset {offset}")
        }
    }
}

pub(super) const UNEXPECTED_EOF: &str = "unexpected EOF";
const INVALID_HEADER: &str = "gzip: invalid header";

fn open(packed: &[u8]) -> Result<GzDecoder<&[u8]>, &'static str> {
    match packed {
        [] => Err("EOF"),
        _ if packed.len() < HEADER => Err(UNEXPECTED_EOF),
        [0x1f, 0x8b, 8, ..] => Ok(GzDecoder::new(packed)),
        _ => Err(INVALID_HEADER),
    }
}
