//! Habits of Consul's JSON.

use serde::{Deserialize, Deserializer};

/// `null` where a list, a map or a text is meant to be empty.
pub(crate) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Values of keys: base64, or `null` when empty.
pub(crate) fn base64_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    use base64::Engine as _;
    let text: Option<String> = Option::deserialize(deserializer)?;
    base64::engine::general_purpose::STANDARD
        .decode(text.unwrap_or_default())
        .map_err(serde::de::Error::custom)
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
