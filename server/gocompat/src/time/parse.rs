//! Go's `time.Parse` for RFC 3339, with its errors.

use super::{NANOS, SECONDS_OF_DAY, days, days_of};

/// How a time in JSON is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonTimes {
    /// With its quotes. An error shows of a bad year and a bad zone what is behind it: Go 1.15.
    Quoted,
    /// Without its quotes. An error shows what is bad: Go 1.26, and perhaps some before it.
    Unquoted,
}

/// Parses a time in RFC 3339. Decimal places after the ninth are ignored.
///
/// ```
/// use proconsul_gocompat::time;
///
/// assert_eq!(time::parse_rfc3339("1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
/// assert_eq!(time::parse_rfc3339("2026-02-29T00:00:00Z"), None);
/// ```
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<i128> {
    Parsing::new(text.as_bytes(), JsonTimes::Unquoted)
        .time()
        .ok()
}

/// Parses a time as it is written in JSON.
///
/// # Errors
/// Go's text about a value that is no time.
pub fn parse_json(value: &[u8], times: JsonTimes) -> Result<i128, String> {
    let text = match times {
        JsonTimes::Quoted => value,
        JsonTimes::Unquoted => value
            .strip_prefix(b"\"")
            .and_then(|text| text.strip_suffix(b"\""))
            .ok_or("Time.UnmarshalJSON: input is not a JSON string")?,
    };
    let parsing = Parsing::new(text, times);
    parsing.time().map_err(|flaw| flaw.message(text, times))
}

/// Why a text is no time.
enum Flaw<'a> {
    /// The element of the layout that the text does not match, and the text from there on.
    Bad(&'static str, &'a [u8]),
    /// A part that no time has.
    OutOfRange(&'static str),
    /// What is behind a time.
    Extra(&'a [u8]),
}

/// A text, and how much of it is left.
struct Parsing<'a> {
    rest: &'a [u8],
    times: JsonTimes,
}

impl<'a> Parsing<'a> {
    fn new(rest: &'a [u8], times: JsonTimes) -> Self {
        Self { rest, times }
    }

    fn time(mut self) -> Result<i128, Flaw<'a>> {
        self.skip(self.quote())?;
        let year = self.year()?;
        self.skip("-")?;
        let month = self.number("01", "month", 1..=12)?;
        self.skip("-")?;
        let day = self.number("02", "day", 0..=99)?;
        self.skip("T")?;
        let hour = self.number("15", "hour", 0..=23)?;
        self.skip(":")?;
        let minute = self.number("04", "minute", 0..=59)?;
        self.skip(":")?;
        let second = self.number("05", "second", 0..=59)?;
        let nanos = self.fraction();
        let offset = self.offset()?;
        self.skip(self.quote())?;
        if !self.rest.is_empty() {
            return Err(Flaw::Extra(self.rest));
        }
        if !(1..=days_of(year, month)).contains(&day) {
            return Err(Flaw::OutOfRange("day"));
        }
        let second_of_day = hour * 3600 + minute * 60 + second;
        let seconds = days(year, month, day) * SECONDS_OF_DAY + second_of_day - offset;
        Ok(i128::from(seconds) * NANOS + nanos)
    }

    fn quote(&self) -> &'static str {
        quote_of(self.times)
    }

    /// Returns the flaw of an element that has been taken off.
    fn bad(&self, element: &'static str, taken: &'a [u8]) -> Flaw<'a> {
        match self.times {
            JsonTimes::Quoted => Flaw::Bad(element, self.rest),
            JsonTimes::Unquoted => Flaw::Bad(element, taken),
        }
    }

    fn skip(&mut self, element: &'static str) -> Result<(), Flaw<'a>> {
        let rest = self.rest.strip_prefix(element.as_bytes());
        self.rest = rest.ok_or(Flaw::Bad(element, self.rest))?;
        Ok(())
    }

    fn year(&mut self) -> Result<i64, Flaw<'a>> {
        const ELEMENT: &str = "2006";
        let whole = self.rest;
        match whole.split_at_checked(4) {
            Some((year, rest)) if year[0].is_ascii_digit() => {
                self.rest = rest;
                digits(year).ok_or_else(|| self.bad(ELEMENT, whole))
            }
            _ => Err(Flaw::Bad(ELEMENT, whole)),
        }
    }

    /// Takes a number of two digits; of an hour one is enough.
    fn number(
        &mut self,
        element: &'static str,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<i64, Flaw<'a>> {
        let one = self.rest.get(..1).and_then(digits);
        let two = self.rest.get(..2).and_then(digits);
        let (length, number) = match (two, one) {
            (Some(two), _) => (2, two),
            (None, Some(one)) if element == "15" => (1, one),
            _ => return Err(Flaw::Bad(element, self.rest)),
        };
        self.rest = &self.rest[length..];
        match range.contains(&number) {
            true => Ok(number),
            false => Err(Flaw::OutOfRange(name)),
        }
    }

    /// Takes a fraction of a second, in nanoseconds.
    fn fraction(&mut self) -> i128 {
        let comma = (self.times == JsonTimes::Unquoted).then_some(b',');
        let behind = self.rest.split_first();
        let behind = behind.filter(|(point, _)| **point == b'.' || Some(**point) == comma);
        let Some((_, behind)) = behind else {
            return 0;
        };
        let length = behind.iter().take_while(|byte| byte.is_ascii_digit());
        let (fraction, rest) = behind.split_at(length.count());
        if fraction.is_empty() {
            return 0;
        }
        self.rest = rest;
        let places = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
        places.fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'))
    }

    /// Takes the offset of a time zone, in seconds.
    fn offset(&mut self) -> Result<i64, Flaw<'a>> {
        const ELEMENT: &str = "Z07:00";
        if let Some(rest) = self.rest.strip_prefix(b"Z") {
            self.rest = rest;
            return Ok(0);
        }
        let whole = self.rest;
        let (zone, rest) = match whole.split_at_checked(6) {
            Some((zone, rest)) if zone[3] == b':' => (zone, rest),
            _ => return Err(Flaw::Bad(ELEMENT, whole)),
        };
        self.rest = rest;
        let (hours, minutes) = (digits(&zone[1..3]), digits(&zone[4..]));
        if self.times == JsonTimes::Unquoted {
            if hours.is_some_and(|hours| hours > 24) {
                return Err(Flaw::OutOfRange("time zone offset hour"));
            }
            if minutes.is_some_and(|minutes| minutes > 60) {
                return Err(Flaw::OutOfRange("time zone offset minute"));
            }
        }
        let seconds = hours.zip(minutes).map(|(h, m)| h * 3600 + m * 60);
        match (zone[0], seconds) {
            (b'+', Some(seconds)) => Ok(seconds),
            (b'-', Some(seconds)) => Ok(-seconds),
            _ => Err(self.bad(ELEMENT, whole)),
        }
    }
}

impl Flaw<'_> {
    fn message(&self, text: &[u8], times: JsonTimes) -> String {
        let quoted = |part: &[u8]| match times {
            JsonTimes::Quoted => format!("\"{}\"", String::from_utf8_lossy(part)),
            JsonTimes::Unquoted => escaped(part),
        };
        let layout = format!("{0}2006-01-02T15:04:05Z07:00{0}", quote_of(times));
        let text = quoted(text);
        match self {
            Self::Bad(element, rest) => format!(
                "parsing time {text} as {}: cannot parse {} as {}",
                quoted(layout.as_bytes()),
                quoted(rest),
                quoted(element.as_bytes())
            ),
            Self::OutOfRange(part) => format!("parsing time {text}: {part} out of range"),
            Self::Extra(rest) => format!("parsing time {text}: extra text: {}", quoted(rest)),
        }
    }
}

fn quote_of(times: JsonTimes) -> &'static str {
    match times {
        JsonTimes::Quoted => "\"",
        JsonTimes::Unquoted => "",
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Quotes a text as the errors of Go's package `time` do since 1.16.
fn escaped(text: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..=b'\x7f' => quoted.push(char::from(*byte)),
            other => quoted.push_str(&format!("\\x{other:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, times: JsonTimes) -> String {
        let json = format!("\"{text}\"");
        parse_json(json.as_bytes(), times).map_or_else(|told| told, |time| time.to_string())
    }

    /// Errors of a real 1.8.7 (`PUT /v1/acl/token`).
    #[test]
    fn errors_with_quotes() {
        for (text, rest, element) in [
            ("", "\"", "2006"),
            ("x", "x\"", "2006"),
            (r"\u00e9", "\\u00e9\"", "2006"),
            ("1ms", "", "2006"),
            ("127.0.0.1", "0.0.1\"", "2006"),
            ("20a0-01-01T00:00:00Z", "-01-01T00:00:00Z\"", "2006"),
            ("2020x01", "x01\"", "-"),
            ("2020-1", "1\"", "01"),
            ("2020-01-01", "\"", "T"),
            ("2020-01-01 00:00:00Z", " 00:00:00Z\"", "T"),
            ("2020-01-01T0a:00:00Z", "a:00:00Z\"", ":"),
            ("2020-01-01T00:0a:00Z", "0a:00Z\"", "04"),
            ("2020-01-01T00:00:00", "\"", "Z07:00"),
            ("2020-01-01T00:00:00x", "x\"", "Z07:00"),
            ("2020-01-01T00:00:00.Z", ".Z\"", "Z07:00"),
            ("2020-01-01T00:00:00+0a:00", "\"", "Z07:00"),
            ("2020-01-01T00:00:00Zx", "x\"", "\""),
        ] {
            let expected = format!(
                r#"parsing time ""{text}"" as ""2006-01-02T15:04:05Z07:00"": cannot parse "{rest}" as "{element}""#
            );
            assert_eq!(told(text, JsonTimes::Quoted), expected);
        }
        for (text, part) in [
            ("2020-13-01T00:00:00Z", "month"),
            ("2020-02-30T00:00:00Z", "day"),
            ("2020-01-01T25:00:00Z", "hour"),
            ("2020-01-01T00:61:00Z", "minute"),
        ] {
            let expected = format!(r#"parsing time ""{text}"": {part} out of range"#);
            assert_eq!(told(text, JsonTimes::Quoted), expected);
        }
        let far = "1970-01-01T00:00:00+25:00";
        let nanos = -90_000 * NANOS;
        assert_eq!(told(far, JsonTimes::Quoted), nanos.to_string());
        let number = parse_json(b"5", JsonTimes::Quoted);
        let expected =
            r#"parsing time "5" as ""2006-01-02T15:04:05Z07:00"": cannot parse "5" as """"#;
        assert_eq!(number, Err(expected.to_owned()));
    }

    /// Errors of Go 1.26.
    #[test]
    fn errors_without_quotes() {
        for (text, expected) in [
            (
                "127.0.0.1",
                r#""127.0.0.1" as "2006-01-02T15:04:05Z07:00": cannot parse "127.0.0.1" as "2006""#,
            ),
            (
                r"é\n",
                r#""\xc3\xa9\\n" as "2006-01-02T15:04:05Z07:00": cannot parse "\xc3\xa9\\n" as "2006""#,
            ),
            (
                "2020-01-01T00:00:00+0a:00",
                r#""2020-01-01T00:00:00+0a:00" as "2006-01-02T15:04:05Z07:00": cannot parse "+0a:00" as "Z07:00""#,
            ),
            (
                "2020-01-01T00:00:00Zx",
                r#""2020-01-01T00:00:00Zx": extra text: "x""#,
            ),
            (
                "2020-01-01T00:00:00+25:00",
                r#""2020-01-01T00:00:00+25:00": time zone offset hour out of range"#,
            ),
        ] {
            let expected = format!("parsing time {expected}");
            assert_eq!(told(text, JsonTimes::Unquoted), expected);
        }
        let half = told("1970-01-01T1:00:00,5+01:00", JsonTimes::Unquoted);
        assert_eq!(half, "500000000");
        let number = parse_json(b"5", JsonTimes::Unquoted);
        let expected = "Time.UnmarshalJSON: input is not a JSON string";
        assert_eq!(number, Err(expected.to_owned()));
    }
}
