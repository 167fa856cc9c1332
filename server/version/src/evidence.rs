//! What is known of a row of the table, in words: which releases it is about, how it was found out, and how it was dated.

use std::collections::BTreeSet;

use super::{Behaviour, Row, Since, Version};

/// How a behaviour is known, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// A real server was seen with it.
    Seen,
    /// Somebody wrote it down: release notes, a changelog, a client, or what the contract's authors read.
    Read,
    /// It follows from something else that is known.
    Inferred,
}

impl Known {
    /// Returns this in words.
    pub const fn word(self) -> &'static str {
        match self {
            Known::Seen => "seen on a real server",
            Known::Read => "read, not seen",
            Known::Inferred => "inferred",
        }
    }
}

impl Behaviour {
    /// Returns the behaviours that one of two releases has and the other has not, in the order of the table.
    pub fn between(from: Version, to: Version) -> Vec<Behaviour> {
        let rows = Behaviour::TABLE.iter().map(|row| row.behaviour);
        rows.filter(|behaviour| from.has(*behaviour) != to.has(*behaviour))
            .collect()
    }
}

impl Version {
    /// Returns what is known of the answers of this release, as the end of a sentence about it.
    #[must_use]
    pub fn evidence(self) -> String {
        match self {
            Version::V1_8_7 => "known from a real server, Debian's 1.8.7".to_owned(),
            Version::V1_22_0 => "known from a real server, a build of late 2025".to_owned(),
            Version { major: 1, .. } => {
                let newest = Version::V1_22_0;
                format!("known from its changelog, and from real servers of 1.8.7 and {newest}")
            }
            _ => format!(
                "known from public texts alone: it answers as {} does where they say nothing else",
                Version::V1_22_0
            ),
        }
    }
}

impl Row {
    /// Returns how the behaviour is known.
    pub fn known(&self) -> Known {
        // The mark N means a build of late 2025, which counts as 1.22.0. A claim that does not hold for 1.22.0 was not seen there.
        let is_seen = self.evidence.contains('N') && Version::V1_22_0.has(self.behaviour);
        if is_seen || self.evidence.contains('G') {
            Known::Seen
        } else if self.evidence.contains(['S', 'C', 'D', 'H']) {
            Known::Read
        } else {
            Known::Inferred
        }
    }

    /// Returns how it is known in which release the behaviour began.
    pub fn dated(&self) -> &'static str {
        if self.evidence.contains('D') {
            "dated by the changelog"
        } else if self.evidence.contains('H') {
            "dated by the commit"
        } else if self.evidence.contains('I') {
            "the release is inferred"
        } else {
            "the release is not known, and no later one"
        }
    }

    /// Returns the releases that have the behaviour, in words, such as `since 1.21.5, until 1.22.0`.
    pub fn releases(&self) -> String {
        let spans = self.since.iter().map(|since| match since {
            Since::Onward(first) => format!("since {first}"),
            Since::Line(first) => format!("since {first} in its line"),
            Since::Only(one) => format!("in {one}"),
        });
        let until = self.until.map(|until| format!("until {until}"));
        spans.chain(until).collect::<Vec<_>>().join(", ")
    }

    /// Returns the releases in which the behaviour began or ended.
    pub fn turns(&self) -> BTreeSet<Version> {
        let first = |since: &Since| match since {
            Since::Onward(version) | Since::Line(version) | Since::Only(version) => *version,
        };
        self.since.iter().map(first).chain(self.until).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_has_the_same_rows() {
        let (early, late) = (Version::new(1, 21, 4), Version::new(1, 21, 5));
        let rows = Behaviour::between(early, late);
        assert_eq!(rows, Behaviour::between(late, early));
        assert!(rows.contains(&Behaviour::KvKeyPattern), "{rows:?}");
        assert!(Behaviour::between(early, early).is_empty());
    }

    #[test]
    fn a_row_says_how_it_is_known() {
        let pattern = Behaviour::KvKeyPattern.row();
        assert_eq!(pattern.releases(), "since 1.21.5, until 1.22.0");
        let turns = [Version::new(1, 21, 5), Version::V1_22_0];
        assert_eq!(pattern.turns(), BTreeSet::from(turns));
        assert_eq!(pattern.known(), Known::Read);
        assert_eq!(Behaviour::KvPathClean.row().known(), Known::Seen);
        assert_eq!(Behaviour::HttpRedirectTemporary.row().known(), Known::Read);
        let dated = Behaviour::KvPathClean.row().dated();
        assert_eq!(dated, "dated by the changelog");
    }
}
