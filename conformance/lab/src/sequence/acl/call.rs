//! One request of sequences with tokens.

use std::fmt;

use super::grammar::{SLOTS, draw};
use proconsul_conformance::history::chance::Chance;

/// A request of the grammar, with names for what differs between servers.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) body: String,
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call {
            method,
            target,
            body,
        } = self;
        write!(formatter, "{method} {target} {body}")
    }
}

impl Call {
    /// Draws a request about a slot from the alternatives of `name`.
    pub(super) fn drawn(name: &str, seed: u64, slot: Option<usize>) -> Self {
        let mut chance = Chance::new(seed, 0);
        let slot = slot.unwrap_or_else(|| chance.below(SLOTS));
        let text = draw(name, slot, &mut chance);
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        Self {
            method: word(),
            target: word(),
            body: word(),
        }
    }
}
