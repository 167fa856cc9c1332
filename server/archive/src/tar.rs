//! Tar files as Go's `archive/tar` writes the small ones, and reading them with its errors.

use std::io::{self, Write};
use std::time::Duration;

use super::gunzip::{Gunzip, UNEXPECTED_EOF};

/// Everything in a tar starts at a multiple of this.
pub(super) const BLOCK: usize = 512;

const INVALID: &str = "archive/tar: invalid tar header";

/// Where the fields of a header are.
mod field {
    use std::ops::Range;

    pub(super) const NAME: Range<usize> = 0..100;
    pub(super) const MODE: Range<usize> = 100..107;
    pub(super) const OWNER: Range<usize> = 108..115;
    pub(super) const GROUP: Range<usize> = 116..123;
    pub(super) const SIZE: Range<usize> = 124..135;
    pub(super) const TIME: Range<usize> = 136..147;
    pub(super) const CHECKSUM: Range<usize> = 148..156;
    pub(super) const KIND: usize = 156;
    pub(super) const MAGIC: Range<usize> = 257..265;
    pub(super) const MAJOR: Range<usize> = 329..336;
    pub(super) const MINOR: Range<usize> = 337..344;
    pub(super) const PREFIX: Range<usize> = 345..500;
}

/// A file in a tar, up to whose content the tar has been read.
pub(super) struct TarFile {
    pub(super) name: String,
    size: u64,
}

impl TarFile {
    /// Reads the header of the next file; `None` at the end, which is marked by two empty blocks or not at all.
    ///
    /// # Errors
    /// Go's text.
    pub(super) fn next(from: &mut Gunzip<'_>) -> Result<Option<Self>, String> {
        let Some(block) = block(from)? else {
            return Ok(None);
        };
        if block != [0; BLOCK] {
            return Ok(Some(Self::of(&block)?));
        }
        match self::block(from)? {
            Some(second) if second != [0; BLOCK] => Err(INVALID.to_owned()),
            _ => Ok(None),
        }
    }

    fn of(header: &[u8; BLOCK]) -> Result<Self, &'static str> {
        if number(&header[field::CHECKSUM])? != checksum(header) {
            return Err(INVALID);
        }
        let mut name = text(&header[field::NAME]);
        let prefix = text(&header[field::PREFIX]);
        if !prefix.is_empty() {
            name = format!("{prefix}/{name}");
        }
        let size = number(&header[field::SIZE])?;
        let size = match header[field::KIND] {
            b'0' | 0 => size,
            // Links, devices and folders have no content.
            b'1'..=b'6' => {
                if header[field::KIND] == b'5' && !name.ends_with('/') {
                    name.push('/');
                }
                0
            }
            // Longer names and larger numbers than any file here has.
            _ => return Err(INVALID),
        };
        Ok(Self { name, size })
    }

    /// Appends the content, and goes on to the next header.
    ///
    /// # Errors
    /// Go's text.
    pub(super) fn read(&self, from: &mut Gunzip<'_>, content: &mut Vec<u8>) -> Result<(), String> {
        // Memory is taken for what is there, not for what the header says.
        let mut buffer = vec![0; 64 * 1024];
        let mut left = self.size;
        while left > 0 {
            let wanted = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let read = from.fill(&mut buffer[..wanted])?;
            content.extend(&buffer[..read]);
            left -= read as u64;
            if read < wanted {
                return Err(UNEXPECTED_EOF.to_owned());
            }
        }
        from.fill(&mut buffer[..padding(self.size)])?;
        Ok(())
    }
}

/// Appends a file to a tar.
pub(super) fn append(
    tar: &mut impl Write,
    name: &str,
    content: &[u8],
    wall: Duration,
) -> io::Result<()> {
    let mut header = [0; BLOCK];
    let size = content.len() as u64;
    header[..name.len()].copy_from_slice(name.as_bytes());
    for (place, value) in [
        (field::MODE, 0o600),
        (field::OWNER, 0),
        (field::GROUP, 0),
        (field::SIZE, size),
        (field::TIME, wall.as_secs()),
        (field::MAJOR, 0),
        (field::MINOR, 0),
    ] {
        let digits = format!("{value:0width$o}", width = place.len());
        header[place].copy_from_slice(digits.as_bytes());
    }
    header[field::KIND] = b'0';
    header[field::MAGIC].copy_from_slice(b"ustar\x0000");
    let sum = format!("{:06o}\0 ", checksum(&header));
    header[field::CHECKSUM].copy_from_slice(sum.as_bytes());
    tar.write_all(&header)?;
    tar.write_all(content)?;
    tar.write_all(&[0; BLOCK][..padding(size)])
}

/// The sum of a header's bytes, with blanks in place of the sum itself.
fn checksum(header: &[u8; BLOCK]) -> u64 {
    let mut summed = *header;
    summed[field::CHECKSUM].fill(b' ');
    summed.iter().map(|byte| u64::from(*byte)).sum()
}

/// The number of bytes from the end of a content to the next block.
fn padding(size: u64) -> usize {
    usize::try_from(size.wrapping_neg() % BLOCK as u64).expect("it is less than a block")
}

/// Reads a block; `None` at the end.
fn block(from: &mut Gunzip<'_>) -> Result<Option<[u8; BLOCK]>, String> {
    let mut block = [0; BLOCK];
    match from.fill(&mut block)? {
        0 => Ok(None),
        BLOCK => Ok(Some(block)),
        _ => Err(UNEXPECTED_EOF.to_owned()),
    }
}

fn text(field: &[u8]) -> String {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Returns an octal number, which may be surrounded by blanks and zero bytes.
fn number(field: &[u8]) -> Result<u64, &'static str> {
    let digits = text(field);
    let digits = digits.trim_matches(' ');
    if digits.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(digits, 8).map_err(|_| INVALID)
}
