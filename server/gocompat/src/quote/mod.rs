//! Go's `strconv.Quote`, which is also the verb `%q`.

pub mod printable;
pub mod unquote;

use std::fmt;

use crate::quote::printable::{Unicode, is_printable};

/// Prints bytes as `%q` of the newest Go does: in double quotes, with everything but printable text escaped.
/// Invalid bytes become `\xNN`.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a [u8]);

/// Prints bytes as `%q` of the Go release with this edition of Unicode does.
#[derive(Clone, Copy, Debug)]
pub struct QuotedBy<'a>(pub Unicode, pub &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        QuotedBy(Unicode::V15, self.0).fmt(formatter)
    }
}

impl fmt::Display for QuotedBy<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(unicode, bytes) = *self;
        let mut text = String::with_capacity(bytes.len() + 2);
        text.push('"');
        for chunk in bytes.utf8_chunks() {
            chunk
                .valid()
                .chars()
                .for_each(|character| push_escaped_by(unicode, &mut text, character, '"'));
            chunk
                .invalid()
                .iter()
                .for_each(|&byte| push_hex_byte(&mut text, byte));
        }
        text.push('"');
        formatter.write_str(&text)
    }
}

/// Appends a character of a quoted text as the newest Go does; `quote` is the closing quote.
pub(super) fn push_escaped(text: &mut String, character: char, quote: char) {
    push_escaped_by(Unicode::V15, text, character, quote);
}

/// Appends a character as [`push_escaped`] does, by the Go release with this edition of Unicode.
pub(super) fn push_escaped_by(unicode: Unicode, text: &mut String, character: char, quote: char) {
    let short = match character {
        '\\' => Some('\\'),
        '\u{7}' => Some('a'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{b}' => Some('v'),
        _ if character == quote => Some(quote),
        _ => None,
    };
    let code = u32::from(character);
    match (short, code) {
        (Some(short), _) => text.extend(['\\', short]),
        (None, _) if is_printable(character, unicode) => text.push(character),
        // Until 1.19 Go did not treat DEL as ASCII (seen on 1.8.7).
        (None, 0x7f) if unicode < Unicode::V15 => text.push_str("\\u007f"),
        (None, 0..=0x7f) => push_hex_byte(text, code as u8),
        (None, 0x80..=0xffff) => text.push_str(&format!("\\u{code:04x}")),
        (None, _) => text.push_str(&format!("\\U{code:08x}")),
    }
}

/// Appends a byte as `\xNN`.
pub(super) fn push_hex_byte(text: &mut String, byte: u8) {
    text.push_str(&format!("\\x{byte:02x}"));
}

#[cfg(test)]
mod tests {
    use super::{Quoted, QuotedBy};
    use crate::quote::printable::Unicode;

    /// As 1.8.7 has answered, whose Go knows Unicode 12, and as newer ones do.
    #[test]
    fn what_older_editions_print() {
        for (character, older, newer) in [
            ('\u{7f}', r#""\u007f""#, r#""\x7f""#),
            ('\u{8be}', r#""\u08be""#, "\"\u{8be}\""),
            ('\u{9ffd}', r#""\u9ffd""#, "\"\u{9ffd}\""),
            ('\u{61d}', r#""\u061d""#, "\"\u{61d}\""),
            ('\u{1f6d6}', r#""\U0001f6d6""#, "\"\u{1f6d6}\""),
            ('\u{1fae0}', r#""\U0001fae0""#, "\"\u{1fae0}\""),
            ('\u{30000}', r#""\U00030000""#, "\"\u{30000}\""),
            ('\u{1f600}', "\"\u{1f600}\"", "\"\u{1f600}\""),
            ('\u{a0}', r#""\u00a0""#, r#""\u00a0""#),
            ('\u{ad}', r#""\u00ad""#, r#""\u00ad""#),
            ('\u{200b}', r#""\u200b""#, r#""\u200b""#),
            ('\u{feff}', r#""\ufeff""#, r#""\ufeff""#),
            ('\u{fffd}', "\"\u{fffd}\"", "\"\u{fffd}\""),
            ('\u{e000}', r#""\ue000""#, r#""\ue000""#),
            ('\u{378}', r#""\u0378""#, r#""\u0378""#),
            ('\u{10ffff}', r#""\U0010ffff""#, r#""\U0010ffff""#),
        ] {
            let text = character.to_string();
            let quoted = |unicode| QuotedBy(unicode, text.as_bytes()).to_string();
            assert_eq!(quoted(Unicode::V12), older);
            assert_eq!(quoted(Unicode::V15), newer);
        }
    }

    #[test]
    fn escapes_of_every_kind() {
        for (bytes, quoted) in [
            (&b""[..], r#""""#),
            (b"t\"q\\'", r#""t\"q\\'""#),
            (b"\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            (b"\x00\x1f\x7f", r#""\x00\x1f\x7f""#),
            (b"\xff\xe2\x82", r#""\xff\xe2\x82""#),
            (
                "\u{e9}\u{1f600}\u{fffd}".as_bytes(),
                "\"\u{e9}\u{1f600}\u{fffd}\"",
            ),
            (
                "\u{a0}\u{ad}\u{200b}\u{e0001}".as_bytes(),
                r#""\u00a0\u00ad\u200b\U000e0001""#,
            ),
            ("\u{85}".as_bytes(), r#""\u0085""#),
        ] {
            assert_eq!(Quoted(bytes).to_string(), quoted);
        }
    }
}
