//! The headers of a request, in the bytes in which they came.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::lines::{HeaderLine, LineValue};

/// The headers of a request, in the order sent.
///
/// Most requests have three to ten headers, and nearly all are never asked for: looking through them takes less time
/// than making a map of them.
#[derive(Clone, Debug)]
pub struct Headers {
    head: Bytes,
    lines: Vec<HeaderLine>,
}

impl Headers {
    /// Returns the headers on these lines of a head.
    pub(crate) fn new(head: Bytes, lines: Vec<HeaderLine>) -> Self {
        Self { head, lines }
    }

    /// Whether there are no headers.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the value of the first header with this name, in any case.
    #[must_use]
    pub fn get(&self, name: impl AsRef<str>) -> Option<&[u8]> {
        self.named(name.as_ref()).next()
    }

    /// Returns the values of all headers with this name, in any case.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let is_it =
            |line: &&HeaderLine| self.head[line.name.clone()].eq_ignore_ascii_case(name.as_bytes());
        self.lines
            .iter()
            .filter(is_it)
            .map(|line| line.value.of(&self.head))
    }

    /// Returns all names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.lines.iter();
        lines.map(|line| (&self.head[line.name.clone()], line.value.of(&self.head)))
    }

    /// Returns a map of the headers. Those that are beyond its limit of 24,576 are left out.
    #[must_use]
    pub fn to_map(&self) -> HeaderMap {
        let mut map = HeaderMap::new();
        for line in &self.lines {
            let value = match &line.value {
                LineValue::Plain(range) => {
                    HeaderValue::from_maybe_shared(self.head.slice(range.clone()))
                }
                LineValue::Folded(value) => HeaderValue::from_bytes(value),
            };
            let name = HeaderName::from_bytes(&self.head[line.name.clone()]);
            if let (Ok(name), Ok(value)) = (name, value) {
                let _ = map.try_append(name, value);
            }
        }
        map
    }
}
