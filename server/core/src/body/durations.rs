//! Durations in bodies: Go's texts, or numbers of nanoseconds (session.md 1.2 and 4.2, kv.md 7.5).

use std::borrow::Cow;

use proconsul_gocompat::duration;
use proconsul_gocompat::json::context::{DecodeContext, DecodeError};
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::kinds::Any;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_gocompat::number;
use proconsul_gocompat::quote::Quoted;

/// A duration in a field of Go's type `interface{}`. Values of other kinds are 0. An invalid text, even an empty one,
/// fails only after the whole object has been decoded.
#[derive(Default)]
pub(crate) struct AnyDuration {
    nanoseconds: Option<i64>,
    flaw: Option<String>,
}

impl AnyDuration {
    /// Returns the nanoseconds; `None` for a missing value or `null`.
    ///
    /// # Errors
    /// Go's text about an invalid duration.
    pub(crate) fn nanoseconds(&self) -> Result<Option<i64>, String> {
        self.flaw.clone().map_or(Ok(self.nanoseconds), Err)
    }

    /// Moves the nanoseconds, if any, into `place`, and resets itself for the next object.
    ///
    /// # Errors
    /// Go's text about an invalid duration.
    pub(crate) fn settle(&mut self, place: &mut i64) -> Result<(), String> {
        if let Some(nanoseconds) = std::mem::take(self).nanoseconds()? {
            *place = nanoseconds;
        }
        Ok(())
    }
}

impl Decode for AnyDuration {
    type Place = Self;

    fn decode(place: &mut Self, value: Value<'_>, context: &mut DecodeContext) {
        let mut any = Any::default();
        Any::decode(&mut any, value, context);
        *place = Self::default();
        match any {
            Any::Null => {}
            Any::Bool(_) | Any::Container => place.nanoseconds = Some(0),
            Any::Number(number) => place.nanoseconds = Some(number::truncated(number)),
            Any::String(text) => match duration::parse(&text) {
                Ok(nanoseconds) => place.nanoseconds = Some(nanoseconds),
                Err(error) => place.flaw = Some(error.message(context.go().duration_quotes)),
            },
        }
    }

    fn go_type() -> Cow<'static, str> {
        Any::go_type()
    }
}

/// A duration of the client's type, which decodes itself: a text or a number. Even `null` is refused.
pub(crate) struct ReadableDuration;

impl Decode for ReadableDuration {
    type Place = i64;

    fn decode(place: &mut i64, value: Value<'_>, context: &mut DecodeContext) {
        let parsed = match value.kind() {
            // Escapes are not decoded (seen on 1.8.7).
            ValueKind::String(_) => duration::parse(&value.text()[1..value.text().len() - 1])
                .map_err(|error| error.message(context.go().duration_quotes)),
            ValueKind::Number(text) => float(text).map(number::truncated),
            ValueKind::Null | ValueKind::Bool(_) | ValueKind::Array | ValueKind::Object => {
                Err(float_error(value.text(), "invalid syntax"))
            }
        };
        match parsed {
            Ok(nanoseconds) => *place = nanoseconds,
            Err(message) => context.end(DecodeError::Own(message)),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "api.ReadableDuration".into()
    }
}

/// Parses a JSON number as a float.
fn float(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| float_error(text.as_bytes(), "value out of range"))
}

fn float_error(text: &[u8], problem: &str) -> String {
    format!("strconv.ParseFloat: parsing {}: {problem}", Quoted(text))
}
