//! What decided a question.

use std::fmt;

use super::kind::SCALARS;
use super::level::Allows;
use super::rules::Rules;

/// An answer, and what decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The answer.
    pub is_allowed: bool,
    /// The rule that decided; `None` where no rule says anything, so that the default policy did.
    pub by: Option<Deciding<'a>>,
}

/// The rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deciding<'a> {
    /// The rule's name in the language, such as `key_prefix`.
    pub rule: &'static str,
    /// What it is about; `None` for a rule without a name, such as `operator`.
    pub name: Option<&'a str>,
    /// What it allows; for a question about intentions, what it allows with those.
    pub allows: Allows,
}

/// The rule as a policy has it.
impl fmt::Display for Deciding<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, name, allows } = self;
        let level = allows.name();
        match name {
            Some(name) => write!(formatter, "{rule} {name:?} {{ policy = {level:?} }}"),
            None => write!(formatter, "{rule} = {level:?}"),
        }
    }
}

impl Rules {
    /// Whether this policy has a rule that decided something.
    pub fn has(&self, deciding: &Deciding<'_>) -> bool {
        let Some(name) = deciding.name else {
            let mut scalars = SCALARS.into_iter();
            return scalars
                .any(|scalar| scalar.rule() == deciding.rule && self.scalar(scalar).is_some());
        };
        let mut named = self.named.iter();
        named.any(|rule| *rule.name == *name && rule.kind.rule(rule.is_prefix) == deciding.rule)
    }
}
