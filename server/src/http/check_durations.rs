//! The durations of a check's definition in a body: the catalog's type and the client's, which a transaction
//! decodes, have them alike (session.md 4.2, kv.md 7.5).

use std::borrow::Cow;
use std::time::Duration;

use crate::go::duration::{self, DurationQuotes};
use crate::go::json::context::Context;
use crate::go::json::decode::{Decode, Field, field};
use crate::go::json::kinds::Any;
use crate::go::json::value::Value;
use crate::store::CheckDefinition;

/// What both types have.
#[derive(Default)]
pub(super) struct CheckDurations {
    interval: AnyDuration,
    timeout: AnyDuration,
    deregister: AnyDuration,
}

impl CheckDurations {
    pub(super) fn fields(&mut self) -> [Field<'_>; 3] {
        [
            field("Interval", &mut self.interval),
            field("Timeout", &mut self.timeout),
            field("DeregisterCriticalServiceAfter", &mut self.deregister),
        ]
    }

    /// Puts the durations where they belong.
    ///
    /// # Errors
    /// Go's sentence about the first that is none.
    pub(super) fn put_into(&self, definition: &mut CheckDefinition) -> Result<(), String> {
        definition.interval = self.interval.take()?;
        definition.timeout = self.timeout.take()?;
        definition.deregister_critical_service_after = self.deregister.take()?;
        Ok(())
    }
}

/// A duration that may be written as Go's text or as nanoseconds.
#[derive(Default)]
pub(super) struct AnyDuration(Any);

impl Decode for AnyDuration {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        self.0.decode(value, context);
    }

    fn go_type() -> Cow<'static, str> {
        Any::go_type()
    }
}

impl AnyDuration {
    /// The duration; negative ones are none, and so is an empty text.
    fn take(&self) -> Result<Duration, String> {
        match &self.0 {
            Any::String(text) if text.is_empty() => Ok(Duration::ZERO),
            _ => self.take_strictly(),
        }
    }

    /// The duration; negative ones are none, and an empty text is an error.
    pub(super) fn take_strictly(&self) -> Result<Duration, String> {
        let nanoseconds = match &self.0 {
            Any::Null | Any::Bool(_) | Any::Container => 0,
            Any::String(text) => {
                duration::parse(text).map_err(|error| error.message(DurationQuotes::Escaped))?
            }
            #[expect(clippy::cast_possible_truncation, reason = "as Consul truncates")]
            Any::Number(number) => *number as i64,
        };
        Ok(Duration::from_nanos(
            u64::try_from(nanoseconds).unwrap_or_default(),
        ))
    }
}
