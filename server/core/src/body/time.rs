//! Points in time in bodies and answers, as Go's `time.Time` has them in JSON (acl.md 5).

use std::borrow::Cow;

use proconsul_gocompat::json::context::{DecodeContext, DecodeError};
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::value::Value;
use proconsul_gocompat::time::{parse_json, rfc3339};

/// The zero value of Go's type: the first moment of the year 1, in nanoseconds of the Unix epoch.
const ZERO: i128 = -62_135_596_800_000_000_000;

/// A point in time; `None` for the zero value.
pub(crate) struct GoTime;

impl Decode for GoTime {
    type Place = Option<i128>;

    fn decode(place: &mut Option<i128>, value: Value<'_>, context: &mut DecodeContext) {
        if value.is_null() {
            return;
        }
        match parse_json(value.text(), context.go().json_times) {
            Ok(time) => *place = (time != ZERO).then_some(time),
            Err(words) => context.end(DecodeError::Own(words)),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "time.Time".into()
    }
}

/// Returns the form of a time, in nanoseconds of the Unix epoch, that Go shows.
pub(crate) fn format(unix_nanos: i128) -> String {
    let text = rfc3339(unix_nanos);
    text.unwrap_or_else(|| "0001-01-01T00:00:00Z".to_owned())
}
