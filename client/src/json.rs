//! Habits of Consul's JSON.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// `null` where a list, a map or a text is meant to be empty.
pub(crate) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Values of keys: base64, or `null` when empty. Decoded from where they stand in the answer.
pub(crate) fn base64_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_any(Base64OrNull)
}

struct Base64OrNull;

impl Visitor<'_> for Base64OrNull {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64 or null")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        use base64::Engine as _;
        let decoded = base64::engine::general_purpose::STANDARD.decode(text);
        decoded.map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Vec<u8>, E> {
        Ok(Vec::new())
    }
}

/// `""` is no value.
pub(crate) fn empty_is_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<String>,
{
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()).map(T::from))
}

/// Durations in nanoseconds.
pub(crate) fn nanoseconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<std::time::Duration, D::Error> {
    let nanoseconds = i64::deserialize(deserializer)?;
    Ok(std::time::Duration::from_nanos(
        u64::try_from(nanoseconds).unwrap_or(0),
    ))
}
