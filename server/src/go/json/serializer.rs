//! How Go's JSON differs from that of `serde_json`: strings are safe to stand in HTML, and pretty means four spaces.

use std::io::{self, Write};

use serde_json::ser::{CharEscape, Formatter};

use super::encode::{ControlEscapes, Style, to_vec};
use super::find::find_byte;

/// What Go's JSON looks like: HTML-safe strings, and four spaces where it is pretty.
#[derive(Clone, Debug)]
pub(super) struct GoFormatter {
    style: Style,
    depth: usize,
    /// Whether the container that ends next has anything in it.
    has_value: bool,
}

impl GoFormatter {
    /// A formatter for a value that stands at this depth of a document.
    pub(super) fn new(style: Style, depth: usize) -> GoFormatter {
        GoFormatter {
            style,
            depth,
            has_value: false,
        }
    }

    fn begin<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn end<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.style.pretty && self.has_value {
            break_line(writer, self.depth)?;
        }
        writer.write_all(bracket)
    }

    fn begin_element<W: Write + ?Sized>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.style.pretty {
            break_line(writer, self.depth)
        } else {
            Ok(())
        }
    }
}

/// Begins a new line, indented for its depth.
pub(super) fn break_line<W: Write + ?Sized>(writer: &mut W, depth: usize) -> io::Result<()> {
    writer.write_all(b"\n")?;
    (0..depth).try_for_each(|_| writer.write_all(b"    "))
}

impl Formatter for GoFormatter {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_element(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_element(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.style.pretty { b": " } else { b":" })
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let magnitude = value.abs();
        if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
            return write!(writer, "{value}");
        }
        let exponential = format!("{value:e}");
        // Go writes the sign of every exponent.
        let signed = if magnitude < 1.0 {
            exponential
        } else {
            exponential.replace('e', "e+")
        };
        writer.write_all(signed.as_bytes())
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment.as_bytes();
        let is_suspect = |byte| matches!(byte, b'&' | b'<' | b'>' | 0xe2);
        while let Some(at) = find_byte(rest, is_suspect) {
            let (escape, length): (&[u8], usize) = match &rest[at..] {
                [b'&', ..] => (b"\\u0026", 1),
                [b'<', ..] => (b"\\u003c", 1),
                [b'>', ..] => (b"\\u003e", 1),
                [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
                [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
                other => (&other[..1], 1),
            };
            writer.write_all(&rest[..at])?;
            writer.write_all(escape)?;
            rest = &rest[at + length..];
        }
        writer.write_all(rest)
    }

    fn write_char_escape<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let short: &[u8] = match (escape, self.style.control_escapes) {
            (CharEscape::Quote, _) => b"\\\"",
            (CharEscape::ReverseSolidus, _) => b"\\\\",
            (CharEscape::Solidus, _) => b"/",
            (CharEscape::LineFeed, _) => b"\\n",
            (CharEscape::CarriageReturn, _) => b"\\r",
            (CharEscape::Tab, _) => b"\\t",
            (CharEscape::Backspace, ControlEscapes::Short) => b"\\b",
            (CharEscape::Backspace, ControlEscapes::Long) => b"\\u0008",
            (CharEscape::FormFeed, ControlEscapes::Short) => b"\\f",
            (CharEscape::FormFeed, ControlEscapes::Long) => b"\\u000c",
            (CharEscape::AsciiControl(byte), _) => return write!(writer, "\\u{byte:04x}"),
        };
        writer.write_all(short)
    }

    /// Bytes are text that is not UTF-8 throughout: `Text` in `encode.rs`.
    fn write_byte_array<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        bytes: &[u8],
    ) -> io::Result<()> {
        writer.write_all(b"\"")?;
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                // The escapes of the valid parts, without the quotes around them.
                let quoted = to_vec(
                    chunk.valid(),
                    Style {
                        newline: false,
                        ..self.style
                    },
                );
                writer.write_all(&quoted[1..quoted.len() - 1])?;
            }
            chunk
                .invalid()
                .iter()
                .try_for_each(|_| writer.write_all(b"\\ufffd"))?;
        }
        writer.write_all(b"\"")
    }
}
