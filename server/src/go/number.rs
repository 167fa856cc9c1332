//! Go's `strconv`: numbers from text.

use std::fmt;

use super::quote::Quoted;

/// Why a text is not the number that was asked for. Prints Go's sentence, e.g.
/// `strconv.ParseUint: parsing "abc": invalid syntax`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberError {
    text: Vec<u8>,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Syntax,
    Range,
}

impl fmt::Display for NumberError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            Problem::Syntax => "invalid syntax",
            Problem::Range => "value out of range",
        };
        write!(
            formatter,
            "strconv.ParseUint: parsing {}: {problem}",
            Quoted(&self.text)
        )
    }
}

impl std::error::Error for NumberError {}

/// `strconv.ParseUint(text, 10, 64)`: decimal digits only, leading zeros allowed, no sign, no spaces, no underscores.
///
/// # Errors
/// What is not such a number, or one of 2^64 and more (kv.md 2.1). The first problem from the left counts: digits that
/// overflow hide a letter behind them.
pub(crate) fn parse_uint(text: impl AsRef<[u8]>) -> Result<u64, NumberError> {
    let text = text.as_ref();
    let error = |problem| NumberError {
        text: text.to_vec(),
        problem,
    };
    if text.is_empty() {
        return Err(error(Problem::Syntax));
    }
    text.iter().try_fold(0u64, |number, byte| {
        if !byte.is_ascii_digit() {
            return Err(error(Problem::Syntax));
        }
        number
            .checked_mul(10)
            .and_then(|number| number.checked_add(u64::from(byte - b'0')))
            .ok_or_else(|| error(Problem::Range))
    })
}

#[cfg(test)]
mod tests {
    use super::parse_uint;

    #[test]
    fn unsigned_numbers() {
        assert_eq!(parse_uint("0"), Ok(0));
        assert_eq!(parse_uint("007"), Ok(7));
        assert_eq!(parse_uint("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_uint("00000000000000000000000000000001"), Ok(1));
    }

    #[test]
    fn no_number() {
        for text in [
            "abc",
            "",
            "-1",
            "1.5",
            "0x10",
            " 1",
            "+1",
            "1_0",
            "1x",
            "18446744073709551615x",
        ] {
            let error = parse_uint(text).expect_err("the text is no number");
            assert_eq!(
                error.to_string(),
                format!("strconv.ParseUint: parsing \"{text}\": invalid syntax")
            );
        }
    }

    #[test]
    fn too_large() {
        for text in [
            "18446744073709551616",
            "184467440737095516150",
            "99999999999999999999x",
        ] {
            let error = parse_uint(text).expect_err("the number is too large");
            assert_eq!(
                error.to_string(),
                format!("strconv.ParseUint: parsing \"{text}\": value out of range")
            );
        }
    }

    #[test]
    fn the_text_is_quoted() {
        let error = parse_uint(b"1\n\"\xff").expect_err("the text is no number");
        assert_eq!(
            error.to_string(),
            r#"strconv.ParseUint: parsing "1\n\"\xff": invalid syntax"#
        );
    }
}
