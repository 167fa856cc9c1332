//! Go's `encoding/base64`: encoding, and decoding with the position of errors.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Padding is required; trailing bits are ignored.
const DECODER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Appends padded standard base64.
pub fn encode(data: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + data.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(data, &mut out[start..]);
    written.expect("there is room for it");
}

/// Decodes padded standard base64. Line ends are skipped anywhere.
///
/// # Errors
/// The position that Go names in `illegal base64 data at input byte N`.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    // Line ends and trailing bits are rare, so the fast path does not support them.
    let strict = STANDARD.decode(text);
    strict.or_else(|_| decode_with_line_ends(text))
}

fn decode_with_line_ends(text: &[u8]) -> Result<Vec<u8>, usize> {
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let bytes = || text.iter().copied().enumerate();
    let characters: Vec<(usize, u8)> = bytes().filter(|(_, byte)| !is_line_end(byte)).collect();
    let without_line_ends: Vec<u8> = characters.iter().map(|(_, byte)| *byte).collect();
    DECODER
        .decode(without_line_ends)
        .map_err(|_| position_of_fault(&characters, text.len()))
}

/// Returns the position of Go's error in an invalid text of this length, given its characters with their
/// positions. The crate's positions differ for padding and missing characters.
fn position_of_fault(characters: &[(usize, u8)], length: usize) -> usize {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let digits = characters.iter().take_while(|(_, byte)| is_digit(*byte));
    let digits = digits.count();
    let in_group = digits % 4;
    let after = |number: usize| characters.get(digits + number).copied();
    match (after(0), after(1)) {
        // Go counts back over the group's characters as if it had no line ends.
        (None, _) => length - in_group,
        (Some((_, b'=')), Some((at, b'='))) if in_group == 2 => after(2).map_or(at, |(at, _)| at),
        (Some((_, b'=')), Some((at, _))) if in_group == 2 => at - 1,
        (Some((_, b'=')), Some((at, _))) if in_group == 3 => at,
        (Some((_, b'=')), None) if in_group == 2 => length,
        (Some((at, _)), _) => at,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::{decode, encode};

    #[test]
    fn encoding_as_the_library_does() {
        let data: Vec<u8> = (0..=255).rev().collect();
        for length in 0..data.len() {
            let data = &data[length / 3..length];
            let mut encoded = b"x".to_vec();
            encode(data, &mut encoded);
            let expected = base64::engine::general_purpose::STANDARD.encode(data);
            assert_eq!(String::from_utf8_lossy(&encoded), format!("x{expected}"));
        }
    }

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
