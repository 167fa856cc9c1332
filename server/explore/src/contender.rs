//! The names of contenders, and the error about a text that is no schedule.

use std::fmt;
use std::str::FromStr;

/// The most contenders of a schedule.
pub const MOST_CONTENDERS: u8 = 5;

/// A contender, counted from 0. Its name is a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender(pub u8);

impl Contender {
    /// Returns the contenders of a run with so many of them.
    pub fn all(count: u8) -> impl Iterator<Item = Self> {
        (0..count).map(Self)
    }

    /// Returns the address by which the server knows the contender.
    #[must_use]
    pub fn address(self) -> std::net::SocketAddr {
        (std::net::Ipv4Addr::new(127, 0, 1, self.0 + 1), 1).into()
    }

    /// Returns the contender with this address; `None` for anybody else.
    #[must_use]
    pub fn at(address: std::net::IpAddr) -> Option<Self> {
        Self::all(MOST_CONTENDERS).find(|one| one.address().ip() == address)
    }

    /// Returns the place of the contender in a list of all of them.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", char::from(b'a' + self.0))
    }
}

impl FromStr for Contender {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.as_bytes() {
            [letter @ b'a'..=b'e'] => Ok(Self(letter - b'a')),
            _ => Err(ParseError::new("a contender from a to e", text)),
        }
    }
}

/// A schedule, or a part of one, is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
    found: String,
    line: Option<usize>,
}

impl ParseError {
    pub(crate) fn new(expected: &'static str, found: &str) -> Self {
        Self {
            expected,
            found: found.to_owned(),
            line: None,
        }
    }

    pub(crate) fn in_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            expected, found, ..
        } = self;
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        write!(formatter, "expected {expected}, found {found:?}")
    }
}

impl std::error::Error for ParseError {}
