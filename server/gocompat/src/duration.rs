//! Go's `time.Duration`: parsing and printing.

use crate::quote::push_hex_byte;

/// Go's units, in nanoseconds. Both code points of a micro sign are units.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", MICROSECOND),
    ("\u{b5}s", MICROSECOND),
    ("\u{3bc}s", MICROSECOND),
    ("ms", MILLISECOND),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The largest magnitude of a duration, for negative ones only.
const LIMIT: u64 = 1 << 63;

/// How Go quotes an invalid duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationQuotes {
    /// Go 1.15: double quotes around the text, nothing escaped.
    Bare,
    /// Go 1.16 and later: quotes and backslashes escaped, control and non-ASCII bytes as `\xNN`.
    Escaped,
}

/// Why a duration is invalid. [`DurationError::message`] is Go's sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError {
    problem: Problem,
    text: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Invalid,
    MissingUnit,
    UnknownUnit(Vec<u8>),
}

impl DurationError {
    /// Returns Go's sentence, e.g. `time: missing unit in duration "10"`.
    pub fn message(&self, quotes: DurationQuotes) -> String {
        let text = quotes.quote(&self.text);
        match &self.problem {
            Problem::Invalid => format!("time: invalid duration {text}"),
            Problem::MissingUnit => format!("time: missing unit in duration {text}"),
            Problem::UnknownUnit(unit) => {
                format!(
                    "time: unknown unit {} in duration {text}",
                    quotes.quote(unit)
                )
            }
        }
    }
}

impl DurationQuotes {
    fn quote(self, text: &[u8]) -> String {
        match self {
            DurationQuotes::Bare => format!("\"{}\"", String::from_utf8_lossy(text)),
            DurationQuotes::Escaped => {
                let mut quoted = String::with_capacity(text.len() + 2);
                quoted.push('"');
                for &byte in text {
                    match byte {
                        b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                        b' '..=0x7f => quoted.push(char::from(byte)),
                        _ => push_hex_byte(&mut quoted, byte),
                    }
                }
                quoted.push('"');
                quoted
            }
        }
    }
}

/// Parses a duration into nanoseconds as `time.ParseDuration` does: an optional sign and a sequence of decimal numbers, each
/// with a unit; `0` alone needs none.
///
/// # Errors
/// The text is not a duration, or does not fit 64 bits (kv.md 5.1, session.md 1.3).
pub fn parse(text: impl AsRef<[u8]>) -> Result<i64, DurationError> {
    let text = text.as_ref();
    parse_signed(text).map_err(|problem| DurationError {
        problem,
        text: text.to_vec(),
    })
}

fn parse_signed(text: &[u8]) -> Result<i64, Problem> {
    let (negative, magnitude_text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    match magnitude_text {
        b"0" => return Ok(0),
        b"" => return Err(Problem::Invalid),
        _ => {}
    }
    let mut rest = magnitude_text;
    let mut total = 0;
    while !rest.is_empty() {
        let (part, after) = parse_part(rest)?;
        total = within_limit(u64::checked_add(total, part))?;
        rest = after;
    }
    let signed = if negative {
        0i64.checked_sub_unsigned(total)
    } else {
        i64::try_from(total).ok()
    };
    signed.ok_or(Problem::Invalid)
}

/// Parses a number with its unit. Returns its nanoseconds and the rest of the text.
fn parse_part(text: &[u8]) -> Result<(u64, &[u8]), Problem> {
    let (whole_digits, mut rest) = split_digits(text);
    let mut fraction_digits: &[u8] = b"";
    if let [b'.', after @ ..] = rest {
        (fraction_digits, rest) = split_digits(after);
    }
    if whole_digits.is_empty() && fraction_digits.is_empty() {
        return Err(Problem::Invalid);
    }
    let whole = within_limit(whole_digits.iter().try_fold(0u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    }))?;

    let unit_length = rest
        .iter()
        .take_while(|byte| !matches!(byte, b'.' | b'0'..=b'9'))
        .count();
    let (unit_name, rest) = rest.split_at(unit_length);
    if unit_name.is_empty() {
        return Err(Problem::MissingUnit);
    }
    let unit = UNITS.iter().find(|(name, _)| name.as_bytes() == unit_name);
    let &(_, unit) = unit.ok_or_else(|| Problem::UnknownUnit(unit_name.to_vec()))?;
    let whole = within_limit(whole.checked_mul(unit))?;
    Ok((
        within_limit(whole.checked_add(fraction_of(unit, fraction_digits)))?,
        rest,
    ))
}

/// Returns the part of `unit` given by the digits behind a decimal point, in whole nanoseconds.
fn fraction_of(unit: u64, digits: &[u8]) -> u64 {
    let mut number = 0u64;
    let mut scale = 1.0;
    for digit in digits {
        // Digits beyond 63 bits are dropped, not refused.
        let longer = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit - b'0')));
        let Some(longer) = longer.filter(|&n| n <= LIMIT) else {
            break;
        };
        number = longer;
        scale *= 10.0;
    }
    // Go computes this one in floating point, and the rounding shows.
    (number as f64 * (unit as f64 / scale)) as u64
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn within_limit(number: Option<u64>) -> Result<u64, Problem> {
    number
        .filter(|&number| number <= LIMIT)
        .ok_or(Problem::Invalid)
}

/// Prints nanoseconds as `Duration.String` does: `24h0m0s`, `1m30s`, `1.5s`, `100ms`, `1µs`, `0s`.
pub fn format(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let magnitude = nanoseconds.unsigned_abs();
    let text = match magnitude {
        0 => return "0s".to_owned(),
        1..MICROSECOND => format!("{magnitude}ns"),
        MICROSECOND..MILLISECOND => decimal(magnitude, MICROSECOND) + "\u{b5}s",
        MILLISECOND..SECOND => decimal(magnitude, MILLISECOND) + "ms",
        _ => {
            let minutes = magnitude / (60 * SECOND);
            let seconds = decimal(magnitude % (60 * SECOND), SECOND) + "s";
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    format!("{sign}{text}")
}

/// Prints `number / unit` as an exact decimal without trailing zeros; `unit` is a power of ten, at most a
/// second. Every request logs one, so it avoids the cost of `format!`.
fn decimal(number: u64, unit: u64) -> String {
    let mut text = String::with_capacity(24);
    text.push_str(itoa::Buffer::new().format(number / unit));
    let (mut fraction, mut digit) = (number % unit, unit / 10);
    if fraction > 0 {
        text.push('.');
    }
    while fraction > 0 {
        text.push_str(itoa::Buffer::new().format(fraction / digit));
        (fraction, digit) = (fraction % digit, digit / 10);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{DurationQuotes, format, parse};

    fn message(text: &str) -> String {
        parse(text)
            .expect_err("the text is not a duration")
            .message(DurationQuotes::Escaped)
    }

    #[test]
    fn what_parses() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("+0", 0),
            ("-0", 0),
            ("5s", 5_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1h2m3s", 3_723_000_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("+1s", 1_000_000_000),
            ("-1s", -1_000_000_000),
            ("1us", 1_000),
            ("1\u{b5}s", 1_000),
            ("1\u{3bc}s", 1_000),
            ("1h.5m", 3_630_000_000_000),
            ("10000ms", 10_000_000_000),
            ("0.100000000000000000000h", 360_000_000_000),
            ("0.3333333333333333333h", 1_200_000_000_000),
            ("0.9223372036854775808s", 922_337_203),
            ("9007199254.740993ms", 9_007_199_254_740_993),
            ("922337203685477580.8ns", 922_337_203_685_477_580),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("2562047h47m16.854775807s", i64::MAX),
        ] {
            assert_eq!(parse(text), Ok(nanoseconds), "{text}");
        }
    }

    #[test]
    fn what_is_invalid() {
        for text in [
            "",
            "-",
            "+",
            ".s",
            " 1s",
            "abc",
            "99999999h",
            "3000000h",
            "9223372036854775808ns",
            "-9223372036854775809ns",
            "2562047h47m16.854775808s",
            "99999999999999999999s",
        ] {
            assert_eq!(message(text), format!("time: invalid duration \"{text}\""));
        }
    }

    #[test]
    fn units_missing_and_unknown() {
        for text in ["1", "10", "1.5", "1s1", "1..s"] {
            assert_eq!(
                message(text),
                format!("time: missing unit in duration \"{text}\"")
            );
        }
        for (text, unit) in [("1S", "S"), ("1d", "d"), ("1e3s", "e"), ("1s ", "s ")] {
            assert_eq!(
                message(text),
                format!("time: unknown unit \"{unit}\" in duration \"{text}\"")
            );
        }
    }

    #[test]
    fn quoting_of_both_go_lines() {
        let error = parse("1s1\u{e9}\"\\\u{1}\u{7f}").expect_err("no unit looks like this");
        assert_eq!(
            error.message(DurationQuotes::Escaped),
            "time: unknown unit \"\\xc3\\xa9\\\"\\\\\\x01\u{7f}\" in duration \"1s1\\xc3\\xa9\\\"\\\\\\x01\u{7f}\""
        );
        assert_eq!(
            error.message(DurationQuotes::Bare),
            "time: unknown unit \"\u{e9}\"\\\u{1}\u{7f}\" in duration \"1s1\u{e9}\"\\\u{1}\u{7f}\""
        );
    }

    #[test]
    fn bytes_that_are_not_text() {
        let error = parse(b"1\xff").expect_err("no unit looks like this");
        assert_eq!(
            error.message(DurationQuotes::Escaped),
            r#"time: unknown unit "\xff" in duration "1\xff""#
        );
    }

    #[test]
    fn printing() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (1, "1ns"),
            (-1, "-1ns"),
            (999, "999ns"),
            (1_000, "1\u{b5}s"),
            (1_100, "1.1\u{b5}s"),
            (-1_500, "-1.5\u{b5}s"),
            (1_500_000, "1.5ms"),
            (100_000_000, "100ms"),
            (1_000_000_000, "1s"),
            (1_500_000_000, "1.5s"),
            (10_000_000_000, "10s"),
            (60_000_000_000, "1m0s"),
            (90_000_000_000, "1m30s"),
            (3_600_000_000_000, "1h0m0s"),
            (86_400_000_000_000, "24h0m0s"),
            (3_661_001_002_003, "1h1m1.001002003s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(format(nanoseconds), text);
        }
    }
}
