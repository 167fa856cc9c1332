//! Go's `encoding/base64`: encoding, and decoding with the position of what is wrong.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Padding is required; bits behind the last byte may be anything.
const DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The pair of characters of every twelve bits.
static PAIRS: [[u8; 2]; 4096] = {
    let mut pairs = [[0; 2]; 4096];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0;
    while bits < pairs.len() {
        pairs[bits] = [alphabet[bits >> 6], alphabet[bits & 0x3f]];
        bits += 1;
    }
    pairs
};

/// Appends padded standard base64. Values are most of what is sent, so they are encoded two characters at a time.
pub fn encode(data: &[u8], out: &mut Vec<u8>) {
    let (triples, rest) = data.as_chunks::<3>();
    let start = out.len();
    out.resize(start + triples.len() * 4, 0);
    let (quads, _) = out[start..].as_chunks_mut::<4>();
    for (&[first, second, third], quad) in triples.iter().zip(quads) {
        let bits = usize::from(first) << 16 | usize::from(second) << 8 | usize::from(third);
        let [left, right] = [PAIRS[bits >> 12], PAIRS[bits & 0xfff]];
        *quad = [left[0], left[1], right[0], right[1]];
    }
    match *rest {
        [first] => {
            let pair = PAIRS[usize::from(first) << 4];
            out.extend([pair[0], pair[1], b'=', b'=']);
        }
        [first, second] => {
            let bits = usize::from(first) << 16 | usize::from(second) << 8;
            let [left, right] = [PAIRS[bits >> 12], PAIRS[bits & 0xfff]];
            out.extend([left[0], left[1], right[0], b'=']);
        }
        _ => {}
    }
}

/// Decodes padded standard base64; line ends anywhere are skipped.
///
/// # Errors
/// The position that Go names in `illegal base64 data at input byte N`.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
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
