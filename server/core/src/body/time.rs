//! Points in time in bodies and answers, as Go's `time.Time` has them in JSON (acl.md 5).

use std::borrow::Cow;

use proconsul_gocompat::EmbeddedNames;
use proconsul_gocompat::json::context::{DecodeContext, DecodeError};
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_gocompat::time::{parse_rfc3339, rfc3339};

/// The zero value of Go's type: the first moment of the year 1, in nanoseconds of the Unix epoch.
const ZERO: i128 = -62_135_596_800_000_000_000;

/// A point in time; `None` for the zero value.
pub(crate) struct GoTime;

impl Decode for GoTime {
    type Place = Option<i128>;

    fn decode(place: &mut Option<i128>, value: Value<'_>, context: &mut DecodeContext) {
        // Newer Go takes the quotes off before it looks (seen on 1.8.7 with them).
        let is_strict = context.go().embedded_names == EmbeddedNames::Shown;
        let quote = if is_strict { "" } else { "\"" };
        let text = match value.kind() {
            ValueKind::Null => return,
            ValueKind::String(text) => text,
            _ if is_strict => {
                let sentence = "Time.UnmarshalJSON: input is not a JSON string";
                return context.end(DecodeError::Own(sentence.to_owned()));
            }
            _ => {
                let text = String::from_utf8_lossy(value.text());
                return context.end(DecodeError::Own(problem(&text, &text, "\"", quote)));
            }
        };
        match parse_rfc3339(&text) {
            Some(time) => *place = (time != ZERO).then_some(time),
            None => context.end(DecodeError::Own(unparsable(&text, quote))),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "time.Time".into()
    }
}

/// Returns Go's text about a text that is no time. Only its first mistake of form is told.
fn unparsable(text: &str, quote: &str) -> String {
    const LAYOUT: [(&str, usize); 12] = [
        ("2006", 4),
        ("-", 0),
        ("01", 2),
        ("-", 0),
        ("02", 2),
        ("T", 0),
        ("15", 2),
        (":", 0),
        ("04", 2),
        (":", 0),
        ("05", 2),
        ("Z07:00", 0),
    ];
    let quoted = format!("{quote}{text}{quote}");
    let mut rest = text;
    for (element, digits) in LAYOUT {
        let fits = if digits == 0 {
            rest.strip_prefix(element)
        } else {
            let number = rest.get(..digits);
            let number = number.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            number.map(|_| &rest[digits..])
        };
        match fits {
            Some(behind) => rest = behind,
            None if element == "Z07:00" => break,
            None => return problem(&quoted, &format!("{rest}{quote}"), element, quote),
        }
    }
    format!(
        "parsing time \"{quoted}\": {} out of range",
        out_of_range(text)
    )
}

fn problem(text: &str, rest: &str, element: &str, quote: &str) -> String {
    format!(
        "parsing time \"{text}\" as \"{quote}2006-01-02T15:04:05Z07:00{quote}\": cannot parse \"{rest}\" as \"{element}\""
    )
}

/// Returns the first part of a time that no time has.
fn out_of_range(text: &str) -> &'static str {
    let number = |from: usize| {
        text.get(from..from + 2)
            .and_then(|text| text.parse::<u8>().ok())
    };
    if !matches!(number(5), Some(1..=12)) {
        "month"
    } else if !matches!(number(11), Some(0..=23)) {
        "hour"
    } else if !matches!(number(14), Some(0..=59)) {
        "minute"
    } else if !matches!(number(17), Some(0..=59)) {
        "second"
    } else {
        "day"
    }
}

/// Returns the form of a time, in nanoseconds of the Unix epoch, that Go shows.
pub(crate) fn format(unix_nanos: i128) -> String {
    let text = rfc3339(unix_nanos);
    text.unwrap_or_else(|| "0001-01-01T00:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_have_no_zeros_at_their_end() {
        let text = |nanos: i128| format(1_795_352_430_000_000_000 + nanos);
        assert_eq!(text(0), "2026-11-22T13:00:30Z");
        assert_eq!(text(329_911_820), "2026-11-22T13:00:30.32991182Z");
    }

    #[test]
    fn the_first_mistake_is_told_as_a_real_server_does() {
        let layout = r#"""2006-01-02T15:04:05Z07:00"""#;
        let first = unparsable("x", "\"");
        let expected = r#"parsing time ""x"" as LAYOUT: cannot parse "x"" as "2006""#;
        assert_eq!(first, expected.replace("LAYOUT", layout));
        let blank = unparsable("2026-12-01 00:00:00Z", "\"");
        let expected =
            r#"parsing time ""2026-12-01 00:00:00Z"" as LAYOUT: cannot parse " 00:00:00Z"" as "T""#;
        assert_eq!(blank, expected.replace("LAYOUT", layout));
        let month = unparsable("2026-13-01T00:00:00Z", "\"");
        assert_eq!(
            month,
            r#"parsing time ""2026-13-01T00:00:00Z"": month out of range"#
        );
    }
}
