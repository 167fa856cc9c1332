//! Why an image is invalid.

use std::collections::BTreeSet;
use std::fmt;

/// Why an image is invalid, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw(String);

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Flaw {}

impl Flaw {
    pub(crate) fn unless(sound: bool, sentence: impl Fn() -> String) -> Result<(), Flaw> {
        if sound { Ok(()) } else { Err(Flaw(sentence())) }
    }
}

/// The largest counter accepted. No real counter comes near it, and no counter overflows from here.
pub(crate) const HIGHEST: u64 = 1 << 62;

/// Requires that all of these differ.
pub(crate) fn all_different<T: Ord>(
    items: impl Iterator<Item = T>,
    name: impl Fn(&T) -> String,
) -> Result<BTreeSet<T>, Flaw> {
    let mut seen = BTreeSet::new();
    for item in items {
        if seen.contains(&item) {
            return Err(Flaw(format!("{} is there twice", name(&item))));
        }
        seen.insert(item);
    }
    Ok(seen)
}
