//! Durations as calls give them.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use proconsul_gocompat::duration::{self, DurationQuotes};

/// A duration in Go's form, such as `1m30s` or `250ms`. It is not negative.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::control::http) struct Span(pub(in crate::control::http) Duration);

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let nanoseconds = duration::parse(&text).map_err(|error| {
            format!(
                "{}; expected one such as \"20s\" or \"1m30s\"",
                error.message(DurationQuotes::Bare)
            )
        })?;
        let nanoseconds = u64::try_from(nanoseconds)
            .map_err(|_| format!("a duration here is not negative, as {text:?} is"))?;
        Ok(Self(Duration::from_nanos(nanoseconds)))
    }
}

impl JsonSchema for Span {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A duration in Go's form, such as `20s`, `1m30s` or `250ms`.",
        })
    }
}
