//! The written values of an image: bytes, ids, durations and times as readable texts.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proconsul_gocompat::duration::{self, DurationQuotes};

/// A value written as a text.
pub(crate) trait TextForm: Sized {
    fn show(&self) -> String;

    fn read(text: &str) -> Result<Self, String>;
}

/// Nanoseconds, as a duration in Go's form. A point in time is written as its distance from the image's.
impl TextForm for i64 {
    fn show(&self) -> String {
        duration::format(*self)
    }

    fn read(text: &str) -> Result<Self, String> {
        duration::parse(text).map_err(|error| error.message(DurationQuotes::Bare))
    }
}

/// A duration. Negative ones are refused.
impl TextForm for Duration {
    fn show(&self) -> String {
        i64::try_from(self.as_nanos()).unwrap_or(i64::MAX).show()
    }

    fn read(text: &str) -> Result<Self, String> {
        let nanoseconds = u64::try_from(i64::read(text)?);
        let error = |_| format!("{text:?} is negative, as no duration is here");
        nanoseconds.map(Self::from_nanos).map_err(error)
    }
}

/// 64 bits, in hexadecimal: many languages read JSON numbers as floating point and would lose bits.
impl TextForm for u64 {
    fn show(&self) -> String {
        format!("{self:016x}")
    }

    fn read(text: &str) -> Result<Self, String> {
        let error = |_| format!("expected 16 hexadecimal digits, not {text:?}");
        Self::from_str_radix(text, 16).map_err(error)
    }
}

/// Bytes in base64.
impl TextForm for Vec<u8> {
    fn show(&self) -> String {
        BASE64_STANDARD.encode(self)
    }

    fn read(text: &str) -> Result<Self, String> {
        let error = |error: base64::DecodeError| error.to_string();
        BASE64_STANDARD.decode(text).map_err(error)
    }
}

/// A value as a text.
pub(crate) mod text {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::TextForm;

    pub(crate) fn serialize<T: TextForm, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.show())
    }

    pub(crate) fn deserialize<'de, T: TextForm, D: Deserializer<'de>>(
        source: D,
    ) -> Result<T, D::Error> {
        T::read(&String::deserialize(source)?).map_err(D::Error::custom)
    }
}

/// A value as a text, or `null`.
pub(crate) mod optional_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{TextForm, text};

    #[derive(Deserialize, Serialize)]
    #[serde(transparent)]
    struct AsText<T: TextForm>(#[serde(with = "text")] T);

    pub(crate) fn serialize<T: TextForm + Clone, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.clone().map(AsText).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: TextForm, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Option<T>, D::Error> {
        Ok(Option::deserialize(source)?.map(|AsText(value)| value))
    }
}

/// Bytes, as a text if they are UTF-8, else marked as base64.
pub(crate) mod bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::text;

    #[derive(Deserialize, Serialize)]
    #[serde(
        untagged,
        deny_unknown_fields,
        expecting = "expected a text, or {\"base64\": \"...\"} with its bytes"
    )]
    enum Bytes {
        Utf8(String),
        Other {
            #[serde(with = "text")]
            base64: Vec<u8>,
        },
    }

    pub(crate) fn serialize<S: Serializer>(
        bytes: &impl AsRef<[u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match str::from_utf8(bytes.as_ref()) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Bytes::Other {
                base64: bytes.as_ref().to_vec(),
            }
            .serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, T: From<Vec<u8>>, D: Deserializer<'de>>(
        source: D,
    ) -> Result<T, D::Error> {
        Ok(match Bytes::deserialize(source)? {
            Bytes::Utf8(text) => text.into_bytes().into(),
            Bytes::Other { base64 } => base64.into(),
        })
    }
}

/// Whether a field has its default, and is omitted.
pub(crate) fn unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads the settings of a proxy. They have to be JSON, because they are shown as they are.
pub(crate) fn config<'de, D: serde::Deserializer<'de>>(
    source: D,
) -> Result<Option<String>, D::Error> {
    let config: Option<String> = serde::Deserialize::deserialize(source)?;
    let config = config.map(|text| proconsul_gocompat::json::object::object_text(&text));
    config
        .transpose()
        .map_err(|error| serde::de::Error::custom(format!("the config of a proxy: {error}")))
}
