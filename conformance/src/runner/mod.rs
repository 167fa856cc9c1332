//! Runs cases on a target, many at once, and says what became of each.

pub mod asked;
pub mod deviation;
pub mod parallel;
pub mod skips;
pub(crate) mod verdict;

use std::num::NonZero;
use std::time::Duration;

use crate::case::Case;
use crate::case::selection::Selection;
use crate::case::trial::Trial;
use crate::cases;
use crate::runner::deviation::Deviations;
use crate::runner::verdict::{Failure, Halt, caught};
use crate::target::Target;
use crate::target::site::ToolError;
use crate::time::Stopwatch;
use crate::wire::Outcome;
use crate::wire::transcript::{Line, Transcript};

/// Cases at once. Most of them wait most of the time; more than this would meet a stock Consul's limit of 200 connections per client.
const JOBS: usize = 48;

/// What became of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The claim holds.
    Pass,
    /// The claim does not hold; or it does although a deviation says that it would not.
    Fail(Failure),
    /// The case says nothing about this target, and why.
    Skip(String),
    /// The claim does not hold, which is known.
    Deviation {
        /// What the list of deviations says.
        why: String,
        /// How it did not hold.
        failure: Failure,
    },
    /// The suite could not tell.
    Error(String),
}

impl State {
    /// One word for reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Skip(_) => "skip",
            Self::Deviation { .. } => "deviation",
            Self::Error(_) => "error",
        }
    }
}

/// A case and what became of it.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// The case.
    pub case: &'static Case,
    /// What became of it.
    pub state: State,
    /// Real time it took.
    pub took: Duration,
    /// What was said and heard.
    pub transcript: Transcript,
}

/// A finished run.
#[derive(Debug, Clone)]
pub struct Report {
    /// What the target is called.
    pub target: String,
    /// The version that it says it is, with build parts.
    pub build: String,
    /// One result per selected case, in the order of the registry.
    pub results: Vec<CaseResult>,
    /// Real time of the whole run.
    pub took: Duration,
}

impl CaseResult {
    /// A case that was not run.
    pub(crate) fn skipped(case: &'static Case, why: &str) -> Self {
        Self {
            case,
            state: State::Skip(why.to_owned()),
            took: Duration::ZERO,
            transcript: Transcript::default(),
        }
    }
}

impl Report {
    pub(crate) fn of(target: &Target, results: Vec<CaseResult>, took: Duration) -> Self {
        Self {
            target: target.name().to_owned(),
            build: target.facts().build.clone(),
            results,
            took,
        }
    }

    /// How many results have the state of that name.
    #[must_use]
    pub fn count(&self, state: &str) -> usize {
        let named = |result: &&CaseResult| result.state.name() == state;
        self.results.iter().filter(named).count()
    }

    /// 0: every claim that was looked at holds, or deviates as expected; 1: one does not; 2: the suite itself failed.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match (self.count("error"), self.count("fail")) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        }
    }
}

type Observer<'a> = Box<dyn Fn(&CaseResult) + Send + Sync + 'a>;

/// How to run cases on one target.
pub struct Runner<'a> {
    target: &'a Target,
    deviations: Deviations,
    jobs: usize,
    observer: Observer<'a>,
}

impl<'a> Runner<'a> {
    /// A runner without expected deviations.
    #[must_use]
    pub fn new(target: &'a Target) -> Self {
        Self {
            target,
            deviations: Deviations::none(),
            jobs: JOBS,
            observer: Box::new(|_| {}),
        }
    }

    /// Expects these deviations.
    #[must_use]
    pub fn deviations(mut self, deviations: Deviations) -> Self {
        self.deviations = deviations;
        self
    }

    /// Runs so many cases at once.
    #[must_use]
    pub fn jobs(mut self, jobs: NonZero<usize>) -> Self {
        self.jobs = jobs.get();
        self
    }

    /// Calls this with each result as it comes, from several threads.
    #[must_use]
    pub fn on_result(mut self, observer: impl Fn(&CaseResult) + Send + Sync + 'a) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Runs the selected cases.
    ///
    /// # Errors
    /// A selection that names no case, or a target that died midway.
    pub fn run(&self, selection: &Selection) -> Result<Report, ToolError> {
        self.run_cases(&selection.of(&cases::all())?)
    }

    /// Runs these cases.
    ///
    /// # Errors
    /// A target that died midway.
    pub fn run_cases(&self, cases: &[&'static Case]) -> Result<Report, ToolError> {
        let watch = Stopwatch::start();
        let results = parallel::each(self.jobs, cases, |case| {
            let result = self.run_one_alive(case)?;
            (self.observer)(&result);
            Ok::<_, ToolError>(result)
        })?;
        Ok(Report::of(self.target, results, watch.elapsed()))
    }

    /// Runs one case, or says why it is skipped; an error when the target is gone afterwards.
    pub(crate) fn run_one_alive(&self, case: &'static Case) -> Result<CaseResult, ToolError> {
        let result = self.run_one(case);
        if lost_contact(&result) && !self.target.is_alive(case, &result.transcript.names.host) {
            return Err(died(self.target, case));
        }
        Ok(result)
    }

    /// Runs one case, or says why it is skipped.
    #[must_use]
    pub fn run_one(&self, case: &'static Case) -> CaseResult {
        if let Some(reason) = case.skip_reason(self.target.facts()) {
            return CaseResult::skipped(case, &reason);
        }
        let watch = Stopwatch::start();
        let (state, transcript) = self.try_case(case);
        CaseResult {
            case,
            state,
            took: watch.elapsed(),
            transcript,
        }
    }

    fn try_case(&self, case: &Case) -> (State, Transcript) {
        let lease = match self.target.open(case) {
            Ok(lease) => lease,
            Err(error) => return (self.unopened(case, error.0), Transcript::default()),
        };
        let site = lease.site();
        if let Err(error) = site.check() {
            return (State::Error(error.0), Transcript::default());
        }
        let trial = Trial::new(site.clone(), self.target.facts().clone());
        let end = caught(|| (case.run)(&trial));
        let transcript = trial.transcript();
        // What another server answered says nothing, whatever the case made of it. What cleaning up does to a server is no claim
        // (1.8.7 does not survive it when the node goes that an alias follows).
        let still_ours = site.check();
        trial.clean_up();
        let state = match still_ours {
            Ok(()) => self.judge(case, end),
            Err(error) => State::Error(error.0),
        };
        (state, transcript)
    }

    /// What it means that there is no server for a case. One that refuses the case's settings may be known to; nothing else is excused.
    fn unopened(&self, case: &Case, message: String) -> State {
        let known = self.deviations.of(case.id);
        let failure = Failure {
            message,
            place: case.id.to_owned(),
        };
        match known.filter(|_| !case.settings.is_empty()) {
            Some(known) if known.explains(&failure) => State::Deviation {
                why: known.why.clone(),
                failure,
            },
            _ => State::Error(failure.message),
        }
    }

    fn judge(&self, case: &Case, end: Result<(), Halt>) -> State {
        match (end, self.deviations.of(case.id)) {
            (Ok(()), None) => State::Pass,
            (Ok(()), Some(known)) => State::Fail(Failure {
                message: format!(
                    "passes, but is listed as an expected deviation ({}): take it off the list",
                    known.why
                ),
                place: "deviations.toml".to_owned(),
            }),
            (Err(Halt::Failed(failure)), None) => State::Fail(failure),
            (Err(Halt::Failed(failure)), Some(known)) if known.explains(&failure) => {
                State::Deviation {
                    why: known.why.clone(),
                    failure,
                }
            }
            (Err(Halt::Failed(failure)), Some(known)) => State::Fail(Failure {
                message: format!(
                    "fails otherwise than its expected deviation says ({:?}): {}",
                    known.fails, failure.message
                ),
                place: failure.place,
            }),
            (Err(Halt::Unreachable(why)), _) => State::Error(format!("no connection: {why}")),
            (Err(Halt::Suite(why)), _) => State::Error(why),
        }
    }
}

/// Whether the transcript shows that the target may be gone.
fn lost_contact(result: &CaseResult) -> bool {
    // What is known to fail may have brought the target down all the same.
    let failed = !matches!(result.state, State::Pass | State::Skip(_));
    failed
        && result.transcript.lines.iter().rev().any(|line| match line {
            Line::Exchange(exchange) => !matches!(exchange.outcome, Some(Outcome::Reply(_))),
            Line::Note(_) => false,
        })
        || matches!(result.state, State::Error(_))
}

fn died(target: &Target, case: &Case) -> ToolError {
    ToolError(format!(
        "{} died midway: it no longer answers (noticed by the case {})",
        target.name(),
        case.id
    ))
}

/// Runs the selected cases on a target.
///
/// # Errors
/// A selection that names no case, or a target that died midway.
///
/// # Examples
/// ```no_run
/// use proconsul_conformance::{Selection, Target};
///
/// let target = Target::address("127.0.0.1:8500")?;
/// let report = proconsul_conformance::run(&target, &Selection::only(["kv/*"]))?;
/// assert_eq!(report.exit_status(), 0, "{report}");
/// # Ok::<(), proconsul_conformance::ToolError>(())
/// ```
pub fn run(target: &Target, selection: &Selection) -> Result<Report, ToolError> {
    Runner::new(target).run(selection)
}

#[cfg(test)]
mod tests;
