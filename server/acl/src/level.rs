//! The levels that a rule can give.

use super::question::Access;

/// How much a rule allows: each level allows what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allows {
    /// `deny`
    Nothing,
    /// `read`
    Read,
    /// `list`, which only rules about keys have.
    List,
    /// `write`
    Write,
}

impl Allows {
    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Allows::Nothing => "deny",
            Allows::Read => "read",
            Allows::List => "list",
            Allows::Write => "write",
        }
    }

    /// Whether this is enough for an access (acl.md 9.7).
    pub fn covers(self, access: Access) -> bool {
        self >= match access {
            Access::Read => Allows::Read,
            Access::List => Allows::List,
            Access::Write | Access::WriteTree => Allows::Write,
        }
    }
}

/// A level as a policy spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it allows.
    pub allows: Allows,
    /// Whether it is in lower case. In any other case it is valid, but loses against each level that is (acl.md 9.8).
    pub(super) is_lower: bool,
}

impl Level {
    /// Reads a level in any case; `None` for any other text.
    pub(super) fn of(text: &str) -> Option<Level> {
        let allows = match &text.to_ascii_lowercase()[..] {
            "deny" => Allows::Nothing,
            "read" => Allows::Read,
            "list" => Allows::List,
            "write" => Allows::Write,
            _ => return None,
        };
        Some(Level {
            allows,
            is_lower: !text.contains(|letter: char| letter.is_ascii_uppercase()),
        })
    }

    /// Its place in the order deny > write > list > read of levels for one name (acl.md 9.8).
    fn rank(self) -> u8 {
        match self.allows {
            _ if !self.is_lower => 0,
            Allows::Read => 1,
            Allows::List => 2,
            Allows::Write => 3,
            Allows::Nothing => 4,
        }
    }

    /// Returns the level that counts where a policy says this and another says `other`.
    pub(super) fn merged(self, other: Level) -> Level {
        if other.rank() > self.rank() {
            other
        } else {
            self
        }
    }

    /// The same where either may be missing. What is missing loses only against levels in lower case.
    pub(super) fn merged_optional(one: Option<Level>, other: Option<Level>) -> Option<Level> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.merged(other)),
            (None, other) => other.filter(|other| other.is_lower),
            (one, None) => one,
        }
    }
}
