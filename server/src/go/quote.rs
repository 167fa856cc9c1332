//! Go's `strconv.Quote`, which is also the verb `%q`.

use std::fmt;

use super::printable::{Unicode, is_printable};

/// Prints bytes as Go's `%q` does: in double quotes, printable text as it is, everything else escaped; a byte that is not
/// UTF-8 becomes `\xNN`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len() + 2);
        text.push('"');
        for chunk in self.0.utf8_chunks() {
            chunk
                .valid()
                .chars()
                .for_each(|character| push_escaped(&mut text, character, '"'));
            chunk
                .invalid()
                .iter()
                .for_each(|&byte| push_hex_byte(&mut text, byte));
        }
        text.push('"');
        formatter.write_str(&text)
    }
}

/// Appends one character of a quoted text, where `quote` is the sign that ends it.
pub(super) fn push_escaped(text: &mut String, character: char, quote: char) {
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
        (None, _) if is_printable(character, Unicode::V15) => text.push(character),
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
    use super::Quoted;

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
