//! Session ids: 16 random bytes, printed as a UUID but without the bits of version 4 (session.md 1).

use std::fmt;

#[cfg(feature = "dump")]
use crate::image::value::{TextForm, text};
use uuid::Uuid;

/// The id of a session.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
pub struct SessionId(#[serde(with = "text")] [u8; 16]);

/// Why a text is not a UUID. Consul before 1.11 reports it (kv.md 2.5, session.md 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    /// Not 36 characters long.
    Length,
    /// More than four hyphens.
    Hyphens(usize),
    /// An odd number of digits.
    OddLength,
    /// This byte is not a hexadecimal digit.
    InvalidByte(u8),
}

impl SessionId {
    /// Creates the id of these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// Parses an id in any spelling; `None` for a text that Consul accepts but that is longer than an id.
    ///
    /// # Errors
    /// The text is not a UUID. The first defect in Consul's order of checks is returned.
    pub fn parse(text: &str) -> Result<Option<Self>, IdError> {
        if text.len() != 36 {
            return Err(IdError::Length);
        }
        let hyphens = text.bytes().filter(|byte| *byte == b'-').count();
        if hyphens > 4 {
            return Err(IdError::Hyphens(hyphens));
        }
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
        if !digits.len().is_multiple_of(2) {
            return Err(IdError::OddLength);
        }
        let bytes = digits
            .chunks(2)
            .map(|pair| Ok(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?))
            .collect::<Result<Vec<u8>, IdError>>()?;
        // Fewer than four hyphens leave more than 16 bytes. Consul accepts them, but no session has such an
        // id.
        Ok(<[u8; 16]>::try_from(bytes).ok().map(Self))
    }

    /// Parses the printed form of an id in any case, as Consul does since 1.11.
    #[must_use]
    pub fn parse_printed(text: &str) -> Option<Self> {
        let id = Self::parse(text).ok().flatten()?;
        id.to_string().eq_ignore_ascii_case(text).then_some(id)
    }
}

fn hex_digit(byte: u8) -> Result<u8, IdError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        b'A'..=b'F' => Ok(byte - b'A' + 10),
        other => Err(IdError::InvalidByte(other)),
    }
}

/// The bytes of an id, written as a UUID.
#[cfg(feature = "dump")]
impl TextForm for [u8; 16] {
    fn show(&self) -> String {
        SessionId::from_bytes(*self).to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        let id = SessionId::parse_printed(text);
        let example = [0xad; 16].show();
        let error = || format!("expected an id such as {example}, not {text:?}");
        id.map(SessionId::bytes).ok_or_else(error)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Uuid::from_bytes(self.0).hyphenated().fmt(formatter)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
