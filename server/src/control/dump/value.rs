//! The values of a state: bytes, ids, durations and moments, as texts that a person can read.

use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::go::duration::{self, DurationQuotes};
use crate::store::SessionId;
use crate::timestamp::Timestamp;

/// Whether a field is left out.
pub(super) fn unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Bytes: a text where they are one, or base64 that says so.
#[derive(Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected a text, or {\"base64\": \"...\"} with its bytes"
)]
pub(super) enum Bytes {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Base64(Base64),
}

/// Bytes that are not UTF-8.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Base64 {
    #[serde(with = "base64_text")]
    base64: Vec<u8>,
}

impl Bytes {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(Base64 {
                base64: bytes.to_vec(),
            }),
        }
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Base64(Base64 { base64 }) => base64,
        }
    }
}

mod base64_text {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(source)?;
        BASE64_STANDARD.decode(text).map_err(D::Error::custom)
    }
}

/// An id in the form of a UUID.
#[derive(Clone, Copy)]
pub(super) struct Id(pub(super) SessionId);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        let id = SessionId::parse_printed(&text);
        let error = || {
            D::Error::custom(format!(
                "expected an id such as {}, not {text:?}",
                example()
            ))
        };
        id.map(Self).ok_or_else(error)
    }
}

fn example() -> SessionId {
    SessionId::from_bytes([0xad; 16])
}

/// A duration that is not negative.
#[derive(Clone, Copy)]
pub(super) struct Span(pub(super) Duration);

/// A moment, as the duration from that of the dump; negative for one before it.
#[derive(Clone, Copy)]
pub(super) struct Moment(pub(super) Timestamp);

fn parse<E: serde::de::Error>(text: &str) -> Result<i64, E> {
    duration::parse(text).map_err(|error| E::custom(error.message(DurationQuotes::Bare)))
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanoseconds = i64::try_from(self.0.as_nanos()).unwrap_or(i64::MAX);
        serializer.serialize_str(&duration::format(nanoseconds))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        let nanoseconds = u64::try_from(parse::<D::Error>(&text)?);
        let error = |_| D::Error::custom(format!("{text:?} is negative, as no duration is here"));
        Ok(Self(Duration::from_nanos(nanoseconds.map_err(error)?)))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::format(self.0.offset()))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let nanoseconds = parse::<D::Error>(&String::deserialize(source)?)?;
        Ok(Self(Timestamp::from_offset(nanoseconds)))
    }
}

/// A number of 64 bits as hexadecimal text: as a number it would not survive languages that have only floating ones.
#[derive(Clone, Copy)]
pub(super) struct Bits(pub(super) u64);

impl fmt::Display for Bits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        let bits = u64::from_str_radix(&text, 16);
        let error = |_| D::Error::custom(format!("expected 16 hexadecimal digits, not {text:?}"));
        bits.map(Self).map_err(error)
    }
}

/// An index, as a number.
pub(super) mod index {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::store::Index;

    pub(in crate::control::dump) fn serialize<S: Serializer>(
        index: &Index,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(index.0)
    }

    pub(in crate::control::dump) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Index, D::Error> {
        u64::deserialize(source).map(Index)
    }
}

/// A duration in nanoseconds, which may be negative.
pub(super) mod nanoseconds {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{duration, parse};

    pub(in crate::control::dump) fn serialize<S: Serializer>(
        nanoseconds: &i64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::format(*nanoseconds))
    }

    pub(in crate::control::dump) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<i64, D::Error> {
        parse(&String::deserialize(source)?)
    }
}

/// An [`Id`] where the state itself has one.
pub(super) mod id {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Id;
    use crate::store::SessionId;

    pub(in crate::control::dump) fn serialize<S: Serializer>(
        id: &SessionId,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Id(*id).serialize(serializer)
    }

    pub(in crate::control::dump) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<SessionId, D::Error> {
        Ok(Id::deserialize(source)?.0)
    }
}
