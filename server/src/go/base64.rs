//! Go's `encoding/base64`: decoding, with the position of what is wrong.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Padding is required; bits behind the last byte may be anything.
const DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes padded standard base64; line ends anywhere are skipped.
///
/// # Errors
/// The position that Go names in `illegal base64 data at input byte N`.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    // Line ends are rare: the fast path does not know them.
    DECODER
        .decode(text)
        .or_else(|_| decode_with_line_ends(text))
}

fn decode_with_line_ends(text: &[u8]) -> Result<Vec<u8>, usize> {
    check(text)?;
    let without_line_ends: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !is_line_end(*byte))
        .collect();
    Ok(DECODER
        .decode(without_line_ends)
        .expect("the text was checked to be base64"))
}

/// Looks at each group of four characters in turn, as Go does.
fn check(text: &[u8]) -> Result<(), usize> {
    let mut at = 0;
    loop {
        let mut in_group = 0;
        while in_group < 4 {
            let Some(&byte) = text.get(at) else {
                // Go counts back by characters of the group, as if no line end stood between them.
                return if in_group == 0 {
                    Ok(())
                } else {
                    Err(at - in_group)
                };
            };
            match byte {
                b'=' if in_group >= 2 => return check_padding(text, at + 1, in_group),
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => in_group += 1,
                _ if is_line_end(byte) => {}
                _ => return Err(at),
            }
            at += 1;
        }
    }
}

/// What follows the first `=`: another one if the group has two characters, and then nothing but line ends.
fn check_padding(text: &[u8], mut at: usize, in_group: usize) -> Result<(), usize> {
    let skip_line_ends = |at: usize| {
        at + text[at..]
            .iter()
            .take_while(|byte| is_line_end(**byte))
            .count()
    };
    if in_group == 2 {
        at = skip_line_ends(at);
        if text.get(at) != Some(&b'=') {
            return Err(if at == text.len() { at } else { at - 1 });
        }
        at += 1;
    }
    at = skip_line_ends(at);
    if at < text.len() { Err(at) } else { Ok(()) }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn what_decodes() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("\n\n", b""),
            ("YQ==", b"a"),
            ("YWI=", b"ab"),
            ("YWJj", b"abc"),
            ("+/+/", b"\xfb\xff\xbf"),
            ("YR==", b"a"),
            ("YQ==\n", b"a"),
            ("Y\r\nQ\n=\n=", b"a"),
            ("YWJ\nj", b"abc"),
        ] {
            assert_eq!(decode(text.as_bytes()), Ok(bytes.to_vec()), "{text:?}");
        }
    }

    #[test]
    fn where_it_is_wrong() {
        for (text, position) in [
            ("!", 0),
            ("Y", 0),
            ("YQ", 0),
            ("YWI", 0),
            ("YQ=", 3),
            ("=", 0),
            ("====", 0),
            ("A===", 1),
            ("YQ=x", 2),
            ("AA=A", 2),
            ("AAA=A", 4),
            ("AAAA=", 4),
            ("YQ==x", 4),
            ("AA==AA==", 4),
            ("_-==", 0),
            ("YWJj!", 4),
            ("YWJjYWJ!", 7),
            ("YWJjY", 4),
            ("YWJjYQ=", 7),
            ("Y\n", 1),
            ("YQ\n", 1),
            ("YQ=\n", 4),
            ("YQ==\nx", 5),
            ("YWJjYQ==\nx", 9),
            ("YWI=\n\nx", 6),
            ("YWJjZGVmZ2hpYWJj*A==", 16),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(position), "{text:?}");
        }
    }
}
