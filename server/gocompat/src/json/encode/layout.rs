//! The layout of JSON, and its strings.

use std::io::Write;

use crate::json::find::{below, beyond_ascii, equal, find};

/// How control characters are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlEscapes {
    /// Backspace and form feed as `\u0008` and `\u000c`: Go before 1.22.
    Long,
    /// Backspace and form feed as `\b` and `\f`: Go 1.22 and later.
    Short,
}

/// The layout of an answer (kv.md 1.3, 1.22.md A1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Four spaces of indentation for each level, and a space behind colons.
    pub pretty: bool,
    /// Whether a line end follows.
    pub newline: bool,
    /// How control characters are printed.
    pub control_escapes: ControlEscapes,
}

impl Style {
    /// One line, without a line end.
    pub(crate) const COMPACT: Style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Long,
    };
}

/// A comma, a line end, and the indentation of eight levels.
const COMMA_AND_LINE: &[u8; 34] = b",\n                                ";

/// Starts a new line, indented for its depth.
pub(super) fn break_line(out: &mut Vec<u8>, depth: usize) {
    push_line(out, 1, depth);
}

/// Writes a comma and starts a new line, indented for its depth.
pub(super) fn break_line_after_comma(out: &mut Vec<u8>, depth: usize) {
    push_line(out, 0, depth);
}

#[inline]
fn push_line(out: &mut Vec<u8>, start: usize, depth: usize) {
    let end = out.len() + 2 - start + 4 * depth;
    // More than is needed: a copy of a known length takes no call.
    out.extend_from_slice(&COMMA_AND_LINE[start..]);
    // No answer of Consul is deeper than that.
    out.resize(end, b' ');
}

/// Prints a string.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str, escapes: ControlEscapes) {
    out.push(b'"');
    push_unquoted(out, text, escapes);
    out.push(b'"');
}

/// Marks the bytes that may be escaped.
fn suspects(word: u64) -> u64 {
    let escaped = [b'"', b'\\', b'&', b'<', b'>', 0xe2];
    escaped
        .iter()
        .fold(below(word, b' '), |found, byte| found | equal(word, *byte))
}

/// Whether a text is ASCII in which nothing is escaped, as most are.
pub(super) fn is_plain(text: &[u8]) -> bool {
    find(text, |word| suspects(word) | beyond_ascii(word)).is_none()
}

/// Prints a string without its quotes.
pub(super) fn push_unquoted(out: &mut Vec<u8>, text: &str, escapes: ControlEscapes) {
    let mut rest = text.as_bytes();
    while let Some(at) = find(rest, suspects) {
        let (plain, suspect) = rest.split_at(at);
        out.extend_from_slice(plain);
        let mut length = 1;
        match (suspect, escapes) {
            ([b'"', ..], _) => out.extend_from_slice(b"\\\""),
            ([b'\\', ..], _) => out.extend_from_slice(b"\\\\"),
            ([b'\n', ..], _) => out.extend_from_slice(b"\\n"),
            ([b'\r', ..], _) => out.extend_from_slice(b"\\r"),
            ([b'\t', ..], _) => out.extend_from_slice(b"\\t"),
            ([0x08, ..], ControlEscapes::Short) => out.extend_from_slice(b"\\b"),
            ([0x0c, ..], ControlEscapes::Short) => out.extend_from_slice(b"\\f"),
            ([0xe2, 0x80, last @ (0xa8 | 0xa9), ..], _) => {
                length = 3;
                let escape: &[u8] = if *last == 0xa8 {
                    b"\\u2028"
                } else {
                    b"\\u2029"
                };
                out.extend_from_slice(escape);
            }
            ([0xe2, ..], _) => out.push(0xe2),
            ([byte, ..], _) => {
                let written = write!(out, "\\u{byte:04x}");
                written.expect("memory takes everything");
            }
            ([], _) => unreachable!("a byte was found here"),
        }
        rest = &suspect[length..];
    }
    out.extend_from_slice(rest);
}
