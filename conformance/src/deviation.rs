//! Known differences of a target: case id -> why. Each must still fail, or the run is red.

use std::collections::BTreeMap;

use crate::case::Case;
use crate::target::ToolError;

/// The expected deviations of one target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deviations {
    reasons: BTreeMap<String, String>,
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
        Self::parse(include_str!("../deviations.toml"), cases)
    }

    /// Reads TOML lines `"case id" = "why"`.
    ///
    /// # Errors
    /// Anything else, an id that no case has, and an entry without a reason.
    pub fn parse(text: &str, cases: &[&Case]) -> Result<Self, ToolError> {
        let reasons: BTreeMap<String, String> = toml::from_str(text)
            .map_err(|error| ToolError(format!("deviations: {}", error.message())))?;
        for (id, why) in &reasons {
            if !cases.iter().any(|case| case.id == id) {
                return Err(ToolError(format!("deviations: no case is called `{id}`")));
            }
            if why.trim().is_empty() {
                return Err(ToolError(format!("deviations: `{id}` does not say why")));
            }
        }
        Ok(Self { reasons })
    }

    /// Why the target does not do what this case claims, if that is known.
    #[must_use]
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.reasons.get(id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: Case = Case {
        id: "a/b",
        ..Case::MUST
    };

    #[test]
    fn reads_ids_with_reasons_and_nothing_else() {
        let parse = |text: &str| Deviations::parse(text, &[&CASE]);
        let one = parse("\"a/b\" = \"not yet\"").expect("a good file");
        assert_eq!(one.reason("a/b"), Some("not yet"));
        assert_eq!(one.reason("a"), None);
        assert!(parse("\"a/c\" = \"x\"").unwrap_err().0.contains("a/c"));
        assert!(
            parse("\"a/b\" = \" \"")
                .unwrap_err()
                .0
                .contains("does not say why")
        );
        assert!(parse("a = 1").is_err());
    }

    #[test]
    fn the_file_of_the_emulator_is_good() {
        Deviations::of_the_emulator(&crate::cases::all()).expect("deviations.toml names cases");
    }
}
