//! Known differences of a target: case id -> why, and what fails. Each must still fail in that way, or the run is red.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::case::Case;
use crate::runner::verdict::Failure;
use crate::target::site::ToolError;

/// What a target is known to do otherwise than one case claims.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Why the claim does not hold.
    pub why: String,
    /// What the failed assertion says: a part of its message, in which `*` stands for any text.
    pub fails: String,
}

impl Deviation {
    /// Whether a failure is the known one.
    #[must_use]
    pub fn explains(&self, failure: &Failure) -> bool {
        let mut rest = failure.message.as_str();
        self.fails.split('*').all(|part| {
            let found = rest.split_once(part).map(|(_, after)| after);
            rest = found.unwrap_or_default();
            found.is_some()
        })
    }
}

/// The expected deviations of one target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deviations {
    known: BTreeMap<String, Deviation>,
}

impl Deviations {
    /// A target that is held to every claim.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The emulator's, as kept beside the cases.
    ///
    /// # Errors
    /// When the file is not what [`Self::parse`] reads.
    pub fn of_the_emulator(cases: &[&Case]) -> Result<Self, ToolError> {
        Self::parse(include_str!("../../deviations.toml"), cases)
    }

    /// Reads TOML lines `"case id" = { why = "the reason", fails = "part of the failure's message" }`.
    ///
    /// # Errors
    /// Anything else, an id that no case has, and an entry that does not say why or what fails.
    pub fn parse(text: &str, cases: &[&Case]) -> Result<Self, ToolError> {
        let known = toml::from_str(text)
            .map_err(|error| ToolError(format!("deviations: {}", error.message())))?;
        Self::checked(known, cases)
    }

    /// Takes entries that were read.
    ///
    /// # Errors
    /// An id that no case has, and an entry that does not say why or what fails.
    pub(crate) fn checked(
        known: BTreeMap<String, Deviation>,
        cases: &[&Case],
    ) -> Result<Self, ToolError> {
        for (id, deviation) in &known {
            if !cases.iter().any(|case| case.id == id) {
                return Err(ToolError(format!("deviations: no case is called `{id}`")));
            }
            if deviation.why.trim().is_empty() {
                return Err(ToolError(format!("deviations: `{id}` does not say why")));
            }
            if deviation
                .fails
                .split('*')
                .all(|part| part.trim().is_empty())
            {
                let text = format!("deviations: `{id}` does not say what fails");
                return Err(ToolError(text));
            }
        }
        Ok(Self { known })
    }

    /// The ids of the cases that are known to deviate, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// What is known about the target and this case, if anything is.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<&Deviation> {
        self.known.get(id)
    }

    /// Why the target does not do what this case claims, if that is known.
    #[must_use]
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.of(id).map(|deviation| deviation.why.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: Case = Case {
        id: "a/b",
        ..Case::MUST
    };

    fn parse(text: &str) -> Result<Deviations, ToolError> {
        Deviations::parse(text, &[&CASE])
    }

    #[test]
    fn reads_ids_with_reasons_and_nothing_else() {
        let one = parse(r#""a/b" = { why = "not yet", fails = "came 200" }"#);
        let one = one.expect("a good file");
        assert_eq!(one.reason("a/b"), Some("not yet"));
        assert_eq!(one.reason("a"), None);
        for (text, why) in [
            (r#""a/c" = { why = "x", fails = "y" }"#, "called `a/c`"),
            (r#""a/b" = { why = " ", fails = "y" }"#, "does not say why"),
            (
                r#""a/b" = { why = "x", fails = "* *" }"#,
                "does not say what",
            ),
            (r#""a/b" = { why = "x" }"#, "missing field `fails`"),
            (r#""a/b" = "not yet""#, "invalid type"),
            ("a = 1", "invalid type"),
        ] {
            let error = parse(text).expect_err(text).0;
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn only_the_failure_that_is_named_is_explained() {
        let explains = |fails: &str, message: &str| {
            let text = format!("\"a/b\" = {{ why = \"known\", fails = {fails:?} }}");
            let failure = Failure {
                message: message.to_owned(),
                place: String::new(),
            };
            let known = parse(&text).expect("a good line");
            known.of("a/b").expect("it is known").explains(&failure)
        };
        let message = "GET /v1/kv/k: expected 403; came 200 \"v\" after 1.2ms";
        for fails in ["expected 403", "GET*: expected 403; came 200", "came 200*"] {
            assert!(explains(fails, message), "{fails}");
        }
        for fails in ["expected 404", "came 200*expected", "PUT*: expected 403"] {
            assert!(!explains(fails, message), "{fails}");
        }
    }

    #[test]
    fn the_file_of_the_emulator_is_good() {
        Deviations::of_the_emulator(&crate::cases::all()).expect("deviations.toml names cases");
    }
}
