//! The rules of a policy, read from their text.

mod decode;

use std::fmt;

use super::kind::{GivenRule, KINDS, Kind, SCALARS, Scalar};
use super::level::{Allows, Level};
use super::table::Levels;
use decode::DecodeError;
use proconsul_gocompat::quote::QuotedBy;
use proconsul_gocompat::quote::printable::Unicode;
use proconsul_hcl::{self as hcl, Arguments, HclError};
use proconsul_version::{Behaviour, Version};

/// The rules of one policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The rules about names, in the order in which they are checked.
    pub(super) named: Vec<NamedRule>,
    scalars: [Option<Level>; SCALARS.len()],
}

/// A rule about a name, or about all names that begin with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedRule {
    pub(super) kind: Kind,
    pub(super) is_prefix: bool,
    pub(super) name: Box<str>,
    pub(super) levels: Levels,
}

impl Rules {
    /// Reads the text of a policy, in HCL 1 or JSON, as a release of Consul does.
    ///
    /// # Errors
    /// What that release refuses, in its words.
    pub fn parse(text: &str, version: Version) -> Result<Rules, RulesError> {
        let scalars = SCALARS.map(|scalar| scalar.exists_in(version).then_some(scalar));
        Self::read(text, scalars, &[false, true], version)
    }

    /// Reads the text of a token of the old system, which releases before 1.11 have. Its rules are all about names that
    /// begin with a text, and other ones are ignored (acl.md 8.5.r5).
    ///
    /// # Errors
    /// What that release refuses, in its words.
    pub fn parse_old(text: &str, version: Version) -> Result<Rules, RulesError> {
        let is_old = |scalar| matches!(scalar, Scalar::Keyring | Scalar::Operator);
        let scalars = SCALARS.map(|scalar| is_old(scalar).then_some(scalar));
        let mut rules = Self::read(text, scalars, &[false], version)?;
        rules
            .named
            .iter_mut()
            .for_each(|rule| rule.is_prefix = true);
        Ok(rules)
    }

    fn read(
        text: &str,
        scalars: [Option<Scalar>; SCALARS.len()],
        prefixes: &[bool],
        version: Version,
    ) -> Result<Rules, RulesError> {
        let syntax = |error| RulesError(Problem::Syntax(error));
        let arguments = if version.has(Behaviour::AclArgumentsOnce) {
            Arguments::Once
        } else {
            Arguments::Repeated
        };
        let items = if hcl::is_json(text) {
            hcl::json::parse(text)
        } else {
            hcl::parse(text, arguments)
        }
        .map_err(syntax)?;
        let unicode = version.go().unicode;
        let mut rules = Rules::default();
        // All is read before anything is checked.
        let mut given = Vec::new();
        let mut texts = [const { String::new() }; SCALARS.len()];
        let read = |scalar: Option<Scalar>, text: &mut String| match scalar {
            Some(scalar) => decode::scalar(&items, scalar.rule(), text),
            None => Ok(()),
        };
        let decoded = |error| RulesError(Problem::Decode(error));
        read(scalars[0], &mut texts[0]).map_err(decoded)?;
        for kind in KINDS {
            for is_prefix in prefixes {
                decode::named(&items, kind, *is_prefix, &mut given).map_err(decoded)?;
            }
        }
        for (scalar, text) in scalars.into_iter().zip(&mut texts).skip(1) {
            read(scalar, text).map_err(decoded)?;
        }
        rules.check_scalar(0, &texts[0], unicode)?;
        for rule in given {
            rules.named.push(checked(rule, unicode)?);
        }
        for (place, text) in texts.iter().enumerate().skip(1) {
            rules.check_scalar(place, text, unicode)?;
        }
        Ok(rules)
    }

    fn check_scalar(
        &mut self,
        place: usize,
        text: &str,
        unicode: Unicode,
    ) -> Result<(), RulesError> {
        self.scalars[place] = match level(text, false) {
            None if text.is_empty() => None,
            None => {
                return Err(RulesError(Problem::Scalar {
                    rule: SCALARS[place].rule(),
                    given: text.to_owned(),
                    unicode,
                }));
            }
            level => level,
        };
        Ok(())
    }

    /// Returns what the policy says about something without names.
    pub(super) fn scalar(&self, scalar: Scalar) -> Option<Level> {
        self.scalars[scalar as usize]
    }
}

/// Reads a level; `list` only where there is such a thing.
fn level(text: &str, has_list: bool) -> Option<Level> {
    Level::of(text).filter(|level| has_list || level.allows != Allows::List)
}

/// Checks a rule about a name: its policy first, which must be there, then its intentions.
fn checked(rule: GivenRule, unicode: Unicode) -> Result<NamedRule, RulesError> {
    let policy = level(&rule.policy, rule.kind == Kind::Key);
    let intentions = level(&rule.intentions, false);
    match (policy, intentions) {
        (Some(policy), intentions) if intentions.is_some() || rule.intentions.is_empty() => {
            Ok(NamedRule {
                kind: rule.kind,
                is_prefix: rule.is_prefix,
                name: rule.name.into(),
                levels: Levels { policy, intentions },
            })
        }
        (policy, _) => Err(RulesError(Problem::Named {
            rule,
            is_about_intentions: policy.is_some(),
            unicode,
        })),
    }
}

/// Why a text gives no rules. Shown in Consul's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError(Problem);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// The text is neither HCL nor JSON.
    Syntax(HclError),
    /// A rule has another form than its kind.
    Decode(DecodeError),
    /// A rule without a name has another level.
    Scalar {
        rule: &'static str,
        given: String,
        unicode: Unicode,
    },
    /// A rule about a name has another level, or no policy.
    Named {
        rule: GivenRule,
        is_about_intentions: bool,
        unicode: Unicode,
    },
}

impl fmt::Display for RulesError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Syntax(error) => write!(formatter, "Failed to parse ACL rules: {error}"),
            Problem::Decode(error) => write!(formatter, "Failed to parse ACL rules: {error}"),
            Problem::Scalar {
                rule,
                given,
                unicode,
            } => {
                let given = QuotedBy(*unicode, given.as_bytes());
                write!(formatter, "Invalid {rule} policy: {given}")
            }
            Problem::Named {
                rule,
                is_about_intentions,
                unicode,
            } => {
                let quoted = |text: &str| QuotedBy(*unicode, text.as_bytes()).to_string();
                let name = rule.kind.rule(rule.is_prefix);
                let what = if *is_about_intentions {
                    "intentions policy"
                } else {
                    "policy"
                };
                let (go_type, field) = rule.kind.go_names();
                write!(
                    formatter,
                    "Invalid {name} {what}: &acl.{go_type}{{{field}:{}, Policy:{}",
                    quoted(&rule.name),
                    quoted(&rule.policy)
                )?;
                if rule.kind == Kind::Service {
                    write!(formatter, ", Intentions:{}", quoted(&rule.intentions))?;
                }
                if rule.kind.shows_enterprise() {
                    formatter.write_str(", EnterpriseRule:acl.EnterpriseRule{}")?;
                }
                formatter.write_str("}")
            }
        }
    }
}

impl std::error::Error for RulesError {}

#[cfg(test)]
mod tests;
