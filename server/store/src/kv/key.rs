//! Keys: byte strings that are cheap to share.

#[cfg(feature = "dump")]
use crate::image::value::bytes;
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;

/// A key or a key prefix of the KV store: any bytes, compared byte by byte (kv.md 1.4).
#[derive(Clone, serde::Deserialize, serde::Serialize)]
pub struct Key(#[serde(with = "bytes")] Shared);

/// The longest key that takes no memory of its own. Most do not: that saves a sixth of what a small row takes, and a search
/// reads keys that lie side by side.
const SHORT: usize = 22;

/// Bytes that are cheap to copy.
#[derive(Clone)]
enum Shared {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Arc<[u8]>),
}

impl From<&[u8]> for Shared {
    fn from(from: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..from.len()), u8::try_from(from.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(from);
                Self::Short { length, bytes }
            }
            _ => Self::Long(Arc::from(from)),
        }
    }
}

impl From<Vec<u8>> for Shared {
    fn from(from: Vec<u8>) -> Self {
        Self::from(from.as_slice())
    }
}

impl AsRef<[u8]> for Shared {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => &bytes[..usize::from(*length)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl Key {
    /// Creates a key with a copy of `bytes`.
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(Shared::from(bytes.as_ref()))
    }

    /// Returns the bytes.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Returns the part up to the end of the first `separator` behind the first `from` bytes (kv.md 1.4); `None` without
    /// a separator there.
    #[must_use]
    pub fn up_to(&self, separator: &[u8], from: usize) -> Option<&[u8]> {
        if separator.is_empty() {
            return None;
        }
        let bytes = self.as_bytes();
        let mut windows = bytes[from..].windows(separator.len());
        let at = windows.position(|window| window == separator)?;
        Some(&bytes[..from + at + separator.len()])
    }

    /// Returns the key as text. Only rules and refusals take keys for text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }

    /// Whether the key is empty. Consul accepts an empty key only as a prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }
}

impl PartialEq for Key {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

// `Borrow` requires that `Ord` and `Hash` agree: all are the slice's.
impl Borrow<[u8]> for Key {
    #[inline]
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.as_bytes()).fmt(formatter)
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
