//! Go's `strconv.Unquote`: the value of a Go string literal.

/// Returns the value of a string in double quotes or backquotes; `None` if it is invalid.
pub fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let (quote, rest) = text.split_first()?;
    let (end, inner) = rest.split_last()?;
    if end != quote {
        return None;
    }
    match quote {
        b'`' => (!inner.contains(&b'`')).then(|| without_carriage_returns(inner)),
        b'"' => unescape(inner),
        _ => None,
    }
}

fn without_carriage_returns(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}

fn unescape(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut meaning = Vec::with_capacity(rest.len());
    while let Some((first, behind)) = rest.split_first() {
        rest = match first {
            b'"' | b'\n' => return None,
            b'\\' => escape(behind, &mut meaning)?,
            byte => {
                meaning.push(*byte);
                behind
            }
        };
    }
    Some(meaning)
}

/// Decodes the escape at the start of a text behind its backslash. Returns the rest of the text.
fn escape<'a>(text: &'a [u8], meaning: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (letter, rest) = text.split_first()?;
    let byte = match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' => b'\\',
        b'"' => b'"',
        b'x' => {
            let (value, rest) = digits(rest, 2, 16)?;
            meaning.push(u8::try_from(value).ok()?);
            return Some(rest);
        }
        b'u' | b'U' => {
            let (value, rest) = digits(rest, if *letter == b'u' { 4 } else { 8 }, 16)?;
            if value > u32::from(char::MAX) {
                return None;
            }
            // Go replaces surrogates by U+FFFD.
            let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            meaning.extend(character.to_string().as_bytes());
            return Some(rest);
        }
        b'0'..=b'7' => {
            let (value, rest) = digits(text, 3, 8)?;
            meaning.push(u8::try_from(value).ok()?);
            return Some(rest);
        }
        _ => return None,
    };
    meaning.push(byte);
    Some(rest)
}

fn digits(text: &[u8], count: usize, radix: u32) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let value = digits.iter().try_fold(0u32, |value, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    })?;
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unquote;
    use crate::quote::Quoted;
    use proconsul_testing::random_cases;

    #[test]
    fn what_strings_mean() {
        for (text, meaning) in [
            (r#""""#, &b""[..]),
            (r#""a'b""#, b"a'b"),
            (r#""\a\b\f\n\r\t\v\\\"""#, b"\x07\x08\x0c\n\r\t\x0b\\\""),
            (
                r#""\x6e\101\u00e9\U0001f600""#,
                "nA\u{e9}\u{1f600}".as_bytes(),
            ),
            (r#""\xff\ud800""#, b"\xff\xef\xbf\xbd"),
            ("`a\\\"\r\n`", b"a\\\"\n"),
        ] {
            assert_eq!(unquote(text.as_bytes()).as_deref(), Some(meaning), "{text}");
        }
    }

    #[test]
    fn what_is_no_string() {
        for text in [
            "",
            "\"",
            "a",
            "'a'",
            "\"a`",
            "\"a\"b\"",
            "\"a\nb\"",
            "`a`b`",
            r#""\""#,
            r#""\q""#,
            r#""\'""#,
            r#""\x6""#,
            r#""\xzz""#,
            r#""\400""#,
            r#""\8""#,
            r#""\U00110000""#,
        ] {
            assert_eq!(unquote(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(random_cases(500))]

        #[test]
        fn what_was_quoted_means_the_same(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let quoted = Quoted(&bytes).to_string();
            prop_assert_eq!(unquote(quoted.as_bytes()), Some(bytes));
        }
    }
}
