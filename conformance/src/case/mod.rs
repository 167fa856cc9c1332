//! A case: one claim about Consul, and how to see whether it holds.

pub mod citation;
pub mod feature;
pub mod selection;
pub mod trial;
pub mod version;

use std::fmt;

use crate::case::feature::{Facts, Feature};
use crate::case::trial::Trial;
use crate::case::version::Version;

/// How binding a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Documented behaviour that clients rely on.
    Must,
    /// Documented or customary behaviour that clients can do without.
    Should,
    /// What Consul really does, though no document says so.
    Real,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Real => "real",
        })
    }
}

/// One claim. Written as a constant in `cases/<area>/<topic>.rs`, with `..Case::MUST` (or `SHOULD`, `REAL`) for the fields that stay usual.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `topic/area/what-it-claims`: stable, and never used for another claim.
    pub id: &'static str,
    /// What is claimed, in one sentence that is true of Consul.
    pub claim: &'static str,
    /// The rows of the contract that the case shows, as `contract/README.md` says how to cite them.
    pub source: &'static str,
    /// The first version of which the claim is true.
    pub since: Version,
    /// The first version of which it is true no longer.
    pub until: Option<Version>,
    /// What the target must offer; without it the case is skipped.
    pub needs: &'static [Feature],
    /// Settings of the agent, as JSON for its `-config-file`: the case gets a server that is started with them for it alone.
    /// Empty for a claim that holds on any server.
    pub settings: &'static str,
    /// How binding the claim is.
    pub level: Level,
    /// Makes the claim visible; returns when it holds and ends early (by an assertion of the trial) when not.
    pub run: fn(&Trial),
}

impl Case {
    /// The usual fields of a documented behaviour.
    pub const MUST: Self = Self {
        id: "",
        claim: "",
        source: "",
        since: Version::V1_8,
        until: None,
        needs: &[],
        settings: "",
        level: Level::Must,
        run: |_| {},
    };
    /// The usual fields of a behaviour that clients can do without.
    pub const SHOULD: Self = Self {
        level: Level::Should,
        ..Self::MUST
    };
    /// The usual fields of an undocumented behaviour.
    pub const REAL: Self = Self {
        level: Level::Real,
        ..Self::MUST
    };

    /// Whether the case runs on a server of its own rather than on one that it shares.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        !self.settings.is_empty() || self.needs.contains(&Feature::OwnServer)
    }

    /// Whether the claim is not made of this version.
    #[must_use]
    pub fn is_of_another_version(&self, version: Version) -> bool {
        version < self.since || self.until.is_some_and(|until| version >= until)
    }

    /// Why the case says nothing about such a target, if so.
    #[must_use]
    pub fn skip_reason(&self, facts: &Facts) -> Option<String> {
        let version = facts.version;
        if version < self.since {
            return Some(format!(
                "holds since {}, the target is {version}",
                self.since
            ));
        }
        if let Some(until) = self.until.filter(|until| version >= *until) {
            return Some(format!("holds before {until}, the target is {version}"));
        }
        let configured = (!self.settings.is_empty()).then_some(&Feature::OwnSettings);
        let mut needs = self.needs.iter().chain(configured);
        let missing = needs.find(|feature| !facts.has(**feature))?;
        Some(format!("needs {missing}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn skips_by_version_and_feature() {
        let facts = Facts {
            version: Version::new(1, 12, 0),
            build: String::new(),
            node: String::new(),
            datacenter: String::new(),
            shortest_ttl: Duration::from_secs(10),
            features: vec![Feature::Blocking],
            genuine: false,
        };
        let case = Case {
            since: Version::V1_10,
            until: Some(Version::V1_13),
            needs: &[Feature::Blocking],
            ..Case::MUST
        };
        let reason = |case: Case| case.skip_reason(&facts);
        assert_eq!(reason(case), None);
        assert_eq!(
            reason(Case {
                since: Version::V1_13,
                ..case
            })
            .as_deref(),
            Some("holds since 1.13.0, the target is 1.12.0")
        );
        assert_eq!(
            reason(Case {
                until: Some(Version::V1_12),
                ..case
            })
            .as_deref(),
            Some("holds before 1.12.0, the target is 1.12.0")
        );
        assert_eq!(
            reason(Case {
                needs: &[Feature::Blocking, Feature::OwnServer],
                ..case
            })
            .as_deref(),
            Some("needs a server of its own")
        );
        assert_eq!(
            reason(Case {
                settings: "{}",
                ..case
            })
            .as_deref(),
            Some("needs a server of its own with other settings")
        );
    }
}
