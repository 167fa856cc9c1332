//! Go's `strconv`: parsing of numbers.

use std::fmt;

use crate::quote::QuotedBy;
use crate::quote::printable::Unicode;

/// Why a text is not a number of the type. `Display` prints Go's sentence, e.g. `strconv.ParseUint: parsing
/// "abc": invalid syntax`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberError {
    function: &'static str,
    text: Vec<u8>,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Syntax,
    Range,
}

impl NumberError {
    /// Returns the sentence of the Go release with this edition of Unicode.
    pub fn message(&self, unicode: Unicode) -> String {
        let problem = match self.problem {
            Problem::Syntax => "invalid syntax",
            Problem::Range => "value out of range",
        };
        let text = QuotedBy(unicode, &self.text);
        format!("strconv.{}: parsing {text}: {problem}", self.function)
    }
}

impl fmt::Display for NumberError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message(Unicode::V15))
    }
}

impl std::error::Error for NumberError {}

/// Converts a float to an integer as Go on amd64 does: truncated, and the smallest integer on overflow.
pub fn truncated(number: f64) -> i64 {
    /// 2^63, the first to overflow.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the fraction is to be lost"
        )]
        return number as i64;
    }
    i64::MIN
}

/// `strconv.ParseUint(text, 10, 64)`: decimal digits only, leading zeros allowed, no sign, no spaces, no underscores.
///
/// # Errors
/// The text is not such a number, or is 2^64 or more (kv.md 2.1). The first error counts: an overflow hides an
/// invalid character behind it.
pub fn parse_uint(text: impl AsRef<[u8]>) -> Result<u64, NumberError> {
    parse_uint_up_to(text.as_ref(), u64::MAX)
}

/// `strconv.ParseUint(text, 10, 16)`, which is how a port is read.
///
/// # Errors
/// As for [`parse_uint`], and for numbers from 2^16 on.
pub fn parse_port(text: impl AsRef<[u8]>) -> Result<u16, NumberError> {
    let port = parse_uint_up_to(text.as_ref(), u64::from(u16::MAX))?;
    Ok(u16::try_from(port).expect("larger ones are refused"))
}

fn parse_uint_up_to(text: &[u8], largest: u64) -> Result<u64, NumberError> {
    let error = |problem| NumberError {
        function: "ParseUint",
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
            .filter(|number| *number <= largest)
            .ok_or_else(|| error(Problem::Range))
    })
}

/// `strconv.Atoi(text)`: decimal digits behind an optional sign.
///
/// # Errors
/// The text is not such a number, or does not fit 64 bits.
pub fn parse_int(text: impl AsRef<[u8]>) -> Result<i64, NumberError> {
    let text = text.as_ref();
    let error = |problem| NumberError {
        function: "Atoi",
        text: text.to_vec(),
        problem,
    };
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let magnitude = parse_uint(digits).map_err(|refused| error(refused.problem))?;
    i64::try_from(i128::from(magnitude) * sign).map_err(|_| error(Problem::Range))
}

/// `strconv.ParseInt(text, 0, 64)`: digits behind an optional sign, in the base that their prefix says: `0x`, `0b`, `0o` or `0`
/// for 8, none for 10. Underscores may stand between digits and behind a prefix.
///
/// # Errors
/// The text is not such a number, or does not fit 64 bits.
pub fn parse_int_of_any_base(text: impl AsRef<[u8]>) -> Result<i64, NumberError> {
    let text = text.as_ref();
    let error = |problem| NumberError {
        function: "ParseInt",
        text: text.to_vec(),
        problem,
    };
    let (sign, unsigned) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    let (radix, digits) = match unsigned {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', b'b' | b'B', digits @ ..] => (2, digits),
        [b'0', b'o' | b'O', digits @ ..] => (8, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, digits),
        digits => (10, digits),
    };
    // Behind a prefix an underscore may lead.
    let digits = match digits {
        [b'_', rest @ ..] if radix != 10 => rest,
        digits => digits,
    };
    let mut magnitude: u64 = 0;
    let mut after_digit = false;
    for byte in digits {
        match char::from(*byte).to_digit(radix) {
            Some(digit) => {
                let next = magnitude.checked_mul(u64::from(radix));
                let next = next.and_then(|next| next.checked_add(u64::from(digit)));
                magnitude = next.ok_or_else(|| error(Problem::Range))?;
                after_digit = true;
            }
            None if *byte == b'_' && after_digit => after_digit = false,
            None => return Err(error(Problem::Syntax)),
        }
    }
    if !after_digit {
        return Err(error(Problem::Syntax));
    }
    i64::try_from(i128::from(magnitude) * sign).map_err(|_| error(Problem::Range))
}

/// `strconv.ParseBool(text)`: `1 t T TRUE true True` and `0 f F FALSE false False`.
///
/// # Errors
/// Any other text.
pub fn parse_bool(text: impl AsRef<[u8]>) -> Result<bool, NumberError> {
    let text = text.as_ref();
    match text {
        b"1" | b"t" | b"T" | b"TRUE" | b"true" | b"True" => Ok(true),
        b"0" | b"f" | b"F" | b"FALSE" | b"false" | b"False" => Ok(false),
        _ => Err(NumberError {
            function: "ParseBool",
            text: text.to_vec(),
            problem: Problem::Syntax,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_bool, parse_int, parse_int_of_any_base, parse_uint};

    #[test]
    fn unsigned_numbers() {
        assert_eq!(parse_uint("0"), Ok(0));
        assert_eq!(parse_uint("007"), Ok(7));
        assert_eq!(parse_uint("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_uint("00000000000000000000000000000001"), Ok(1));
    }

    #[test]
    fn signed_numbers() {
        assert_eq!(parse_int("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse_int("+7"), Ok(7));
        let refused = |text: &str| parse_int(text).map_err(|error| error.to_string());
        let syntax = "strconv.Atoi: parsing \"-\": invalid syntax".to_owned();
        assert_eq!(refused("-"), Err(syntax));
        let range = "strconv.Atoi: parsing \"9223372036854775808\": value out of range".to_owned();
        assert_eq!(refused("9223372036854775808"), Err(range));
    }

    #[test]
    fn numbers_of_any_base() {
        for (text, number) in [
            ("0", 0),
            ("-1", -1),
            ("+80", 80),
            ("0x50", 80),
            ("-0XA", -10),
            ("0120", 80),
            ("0_12", 10),
            ("0o12", 10),
            ("0b1010", 10),
            ("0x_f", 15),
            ("1_000", 1000),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(parse_int_of_any_base(text), Ok(number), "{text}");
        }
        let refused = |text: &str| {
            let error = parse_int_of_any_base(text).expect_err("the text is no number");
            error.to_string()
        };
        for text in [
            "", "-", "x", " 1", "1.5", "08", "0x", "_1", "1_", "1__0", "0b2",
        ] {
            let syntax = format!("strconv.ParseInt: parsing \"{text}\": invalid syntax");
            assert_eq!(refused(text), syntax);
        }
        for text in ["9223372036854775808", "-99999999999999999999"] {
            let range = format!("strconv.ParseInt: parsing \"{text}\": value out of range");
            assert_eq!(refused(text), range);
        }
    }

    #[test]
    fn booleans() {
        for (text, value) in [
            ("1", true),
            ("T", true),
            ("True", true),
            ("0", false),
            ("f", false),
            ("FALSE", false),
        ] {
            assert_eq!(parse_bool(text), Ok(value), "{text}");
        }
        let refused = parse_bool("yes").map_err(|error| error.to_string());
        assert_eq!(
            refused,
            Err("strconv.ParseBool: parsing \"yes\": invalid syntax".to_owned())
        );
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
