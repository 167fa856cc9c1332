//! A report as plain data: what the JSON file holds, and what JUnit and HTML are made of.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::runner::{CaseResult, Report, State};
use crate::target::Target;
use crate::target::site::ToolError;
use crate::time::today;
use crate::wire::transcript::render;

/// One run of the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The version of the suite.
    pub suite: String,
    /// What the target was called.
    pub target: String,
    /// The version that it said it was, with build parts.
    pub build: String,
    /// The day of the run.
    pub date: String,
    /// Real time of the whole run.
    pub seconds: f64,
    /// Every selected case, in the order of the registry.
    pub cases: Vec<CaseDocument>,
    /// Altered servers and what became of them; of a run of `mutate`, which has no cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<MutantDocument>,
}

/// One mutant of a run of `mutate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutantDocument {
    /// The mutant's name.
    pub name: String,
    /// What the altered server does.
    pub what: String,
    /// The case that found it out; `None` when it survived.
    pub killed_by: Option<String>,
    /// With which words; empty when it survived.
    pub how: String,
    /// Real time until that was known.
    pub seconds: f64,
}

/// One case of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseDocument {
    /// The case's id.
    pub id: String,
    /// What it claims.
    pub claim: String,
    /// Where the claim comes from.
    pub source: String,
    /// `must`, `should` or `real`.
    pub level: String,
    /// `pass`, `fail`, `skip`, `deviation` or `error`.
    pub state: String,
    /// What failed, what is missing, why it deviates; empty for a pass.
    pub message: String,
    /// Real time it took.
    pub seconds: f64,
    /// What was said and heard, as text.
    pub transcript: String,
}

impl Document {
    /// The document of a report that was finished today.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        Self {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            target: report.target.clone(),
            build: report.build.clone(),
            date: today(),
            seconds: report.took.as_secs_f64(),
            cases: report.results.iter().map(CaseDocument::of).collect(),
            mutants: Vec::new(),
        }
    }

    /// The document of mutants of a target that were let live until today, within `took`.
    #[must_use]
    pub fn of_mutants(target: &Target, mutants: Vec<MutantDocument>, took: Duration) -> Self {
        Self {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.name().to_owned(),
            build: target.facts().build.clone(),
            date: today(),
            seconds: took.as_secs_f64(),
            cases: Vec::new(),
            mutants,
        }
    }

    /// How many cases are in the state of that name.
    #[must_use]
    pub fn count(&self, state: &str) -> usize {
        self.cases.iter().filter(|case| case.state == state).count()
    }

    /// How many mutants no case found out.
    #[must_use]
    pub fn survivors(&self) -> usize {
        let survived = |mutant: &&MutantDocument| mutant.killed_by.is_none();
        self.mutants.iter().filter(survived).count()
    }

    /// The document as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data is JSON")
    }

    /// Reads what [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_json(text: &str) -> Result<Self, ToolError> {
        serde_json::from_str(text)
            .map_err(|error| ToolError(format!("not a report of this suite: {error}")))
    }
}

impl CaseDocument {
    fn of(result: &CaseResult) -> Self {
        let message = match &result.state {
            State::Pass => String::new(),
            State::Fail(failure) => failure.to_string(),
            State::Skip(reason) => reason.clone(),
            State::Deviation { why, failure } => format!("{why}\n{failure}"),
            State::Error(why) => why.clone(),
        };
        Self {
            id: result.case.id.to_owned(),
            claim: result.case.claim.to_owned(),
            source: result.case.source.to_owned(),
            level: result.case.level.to_string(),
            state: result.state.name().to_owned(),
            message,
            seconds: result.took.as_secs_f64(),
            transcript: render(&result.transcript),
        }
    }

    /// The first part of the id.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}
