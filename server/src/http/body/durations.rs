//! Durations in bodies, which may be texts of Go's or numbers of nanoseconds (session.md 1.2 and 4.2, kv.md 7.5).

use std::borrow::Cow;

use crate::go::duration;
use crate::go::json::context::{Context, DecodeError};
use crate::go::json::decode::Decode;
use crate::go::json::kinds::Any;
use crate::go::json::value::{Kind, Value};
use crate::go::number;
use crate::go::quote::Quoted;

/// A duration in a field of Go's type `interface{}`: values of other kinds are no time at all. An empty text is minded, but
/// not before the whole object was read.
#[derive(Default)]
pub(crate) struct AnyDuration {
    nanoseconds: Option<i64>,
    flaw: Option<String>,
}

impl AnyDuration {
    /// The nanoseconds; none for `null`, or nothing.
    ///
    /// # Errors
    /// Go's sentence about a text that is no duration.
    pub(crate) fn nanoseconds(&self) -> Result<Option<i64>, String> {
        self.flaw.clone().map_or(Ok(self.nanoseconds), Err)
    }
}

impl Decode for AnyDuration {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        let mut any = Any::default();
        any.decode(value, context);
        *self = Self::default();
        match any {
            Any::Null => {}
            Any::Bool(_) | Any::Container => self.nanoseconds = Some(0),
            Any::Number(number) => self.nanoseconds = Some(number::truncated(number)),
            Any::String(text) => match duration::parse(&text) {
                Ok(nanoseconds) => self.nanoseconds = Some(nanoseconds),
                Err(error) => self.flaw = Some(error.message(context.go().duration_quotes)),
            },
        }
    }

    fn go_type() -> Cow<'static, str> {
        Any::go_type()
    }
}

/// A duration as the client's type has it, which decodes itself: what is no text has to be a number, even `null`.
#[derive(Default)]
pub(crate) struct ReadableDuration {
    /// The nanoseconds.
    pub(crate) nanoseconds: i64,
}

impl Decode for ReadableDuration {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        let parsed = match value.kind() {
            // As it stands there: escapes are not undone (seen on 1.8.7).
            Kind::String(_) => duration::parse(&value.text()[1..value.text().len() - 1])
                .map_err(|error| error.message(context.go().duration_quotes)),
            Kind::Number(text) => float(text).map(number::truncated),
            Kind::Null | Kind::Bool(_) | Kind::Array | Kind::Object => {
                Err(float_error(value.text(), "invalid syntax"))
            }
        };
        match parsed {
            Ok(nanoseconds) => self.nanoseconds = nanoseconds,
            Err(message) => context.end(DecodeError::Own(message)),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "api.ReadableDuration".into()
    }
}

/// A JSON number as a float.
fn float(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| float_error(text.as_bytes(), "value out of range"))
}

fn float_error(text: &[u8], problem: &str) -> String {
    format!("strconv.ParseFloat: parsing {}: {problem}", Quoted(text))
}
