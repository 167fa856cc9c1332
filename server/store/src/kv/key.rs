//! Keys: byte strings that are cheap to share.

#[cfg(feature = "serde")]
use crate::image::value::bytes;
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// A key or a key prefix of the KV store: any bytes, compared byte by byte (kv.md 1.4).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Key(#[cfg_attr(feature = "serde", serde(with = "bytes"))] Arc<[u8]>);

impl Key {
    /// Creates a key with a copy of `bytes`.
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(Arc::from(bytes.as_ref()))
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the part up to the end of the first `separator` behind the first `from` bytes (kv.md 1.4); `None` without
    /// a separator there.
    #[must_use]
    pub fn up_to(&self, separator: &[u8], from: usize) -> Option<&[u8]> {
        if separator.is_empty() {
            return None;
        }
        let mut windows = self.0[from..].windows(separator.len());
        let at = windows.position(|window| window == separator)?;
        Some(&self.0[..from + at + separator.len()])
    }

    /// Returns the key as text. Only rules and refusals take keys for text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether the key is empty. Consul accepts an empty key only as a prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

// `Borrow` requires that `Ord` and `Hash` agree; those of `Arc<[u8]>` are the slice's.
impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(formatter)
    }
}

/// Returns the first byte string after all that start with `prefix`; `None` if every later one does.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// Returns the bounds of the keys that start with `prefix`; `end` comes from [`after_prefix`].
pub(crate) fn prefix_bounds<'a>(
    prefix: &'a [u8],
    end: Option<&'a [u8]>,
) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (
        Bound::Included(prefix),
        end.map_or(Bound::Unbounded, Bound::Excluded),
    )
}
