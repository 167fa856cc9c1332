//! Lets the suite loose on mutants.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::proxy::Proxy;
use super::{Alter, Mutant};
use crate::case::Case;
use crate::cases;
use crate::report::console;
use crate::runner::{CaseResult, Runner, State};
use crate::selection::Selection;
use crate::target::{Site, Target, ToolError};
use crate::time::Stopwatch;
use crate::wire::Address;

/// Cases at once against one mutant.
const JOBS: usize = 24;

/// The proxy's own honesty: with this one every case must pass.
static HARMLESS: Mutant = Mutant {
    name: "harmless",
    what: "Nothing is altered",
    topics: &[],
    alter: Alter::Request(|_| {}),
};

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A case failed on it.
    Killed {
        /// Which one.
        by: &'static str,
        /// With which words.
        how: String,
    },
    /// No case failed.
    Survived,
}

/// A mutant and what became of it.
#[derive(Debug)]
pub struct Verdict {
    /// The mutant.
    pub mutant: &'static Mutant,
    /// What became of it.
    pub fate: Fate,
    /// Real time until that was known.
    pub took: Duration,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.mutant.name;
        match &self.fate {
            Fate::Killed { by, how } => {
                write!(
                    formatter,
                    "killed    {name} by {by} ({:.1?}): {how}",
                    self.took
                )
            }
            Fate::Survived => write!(formatter, "SURVIVED  {name}: {}", self.mutant.what),
        }
    }
}

/// Holds the suite against altered servers before the good target at `address`, and says of each what became of it.
///
/// A case that fails must pass without the mutant to count. `observer` hears of each mutant as its fate is known. Cases that are still at work when a mutant has fallen go on against the good
/// target and clean up behind themselves; this returns when the last of them has.
///
/// # Errors
/// When a case fails before the proxy alters anything: then the target is not good, or the proxy not honest.
pub fn run(
    address: &Address,
    mutants: &[&'static Mutant],
    observer: &dyn Fn(&Verdict),
) -> Result<Vec<Verdict>, ToolError> {
    let cases = cases::all();
    let harmless = Altered::start(address, &HARMLESS)?;
    let honest = honest_cases(&harmless.target, &cases)?;
    let mut verdicts = Vec::new();
    std::thread::scope(|scope| {
        for mutant in mutants {
            let watch = Stopwatch::start();
            let altered = Arc::new(Altered::start(address, mutant)?);
            altered.proxy.arm();
            let order = Arc::new(in_order(mutant, &honest)?);
            let (sender, failures) = mpsc::channel();
            let (next, fallen) = (
                Arc::new(AtomicUsize::new(0)),
                Arc::new(AtomicBool::new(false)),
            );
            for _ in 0..JOBS {
                let (altered, order, sender) = (
                    Arc::clone(&altered),
                    Arc::clone(&order),
                    Sender::clone(&sender),
                );
                let (next, fallen) = (Arc::clone(&next), Arc::clone(&fallen));
                scope.spawn(move || {
                    while !fallen.load(Ordering::SeqCst) {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        let Some(case) = order.get(number) else {
                            return;
                        };
                        let result = Runner::new(&altered.target).run_one(case);
                        if matches!(result.state, State::Fail(_)) && sender.send(result).is_err() {
                            // Another case was first.
                        }
                    }
                });
            }
            drop(sender);
            // A case that fails without the mutant, too, has only been out of luck.
            let kills = |failure: &CaseResult| {
                matches!(
                    Runner::new(&harmless.target).run_one(failure.case).state,
                    State::Pass
                )
            };
            let fate = fate(failures.iter().find(kills));
            fallen.store(true, Ordering::SeqCst);
            altered.proxy.disarm();
            let verdict = Verdict {
                mutant,
                fate,
                took: watch.elapsed(),
            };
            observer(&verdict);
            verdicts.push(verdict);
        }
        Ok::<(), ToolError>(())
    })?;
    Ok(verdicts)
}

/// A target behind a proxy.
struct Altered {
    proxy: Proxy,
    target: Target,
}

impl Altered {
    /// The target is probed while the mutant does nothing yet.
    fn start(address: &Address, mutant: &'static Mutant) -> Result<Self, ToolError> {
        let proxy = Proxy::start(address, mutant)
            .map_err(|error| ToolError(format!("cannot listen for {}: {error}", mutant.name)))?;
        let target = Target::shared(mutant.name, Site::new(proxy.address()))?;
        Ok(Self { proxy, target })
    }
}

/// The cases that say something about the target; an error when one of them fails on it as it is.
fn honest_cases(target: &Target, cases: &[&'static Case]) -> Result<Vec<&'static Case>, ToolError> {
    let report = Runner::new(target).run_cases(cases)?;
    let told = |result: &&CaseResult| matches!(result.state, State::Fail(_) | State::Error(_));
    if let Some(result) = report.results.iter().find(told) {
        return Err(ToolError(format!(
            "a case does not hold though nothing is altered yet: {}",
            console::line(result)
        )));
    }
    let passed = |result: &&CaseResult| matches!(result.state, State::Pass);
    let passed = report.results.iter().filter(passed);
    Ok(passed.map(|result| result.case).collect())
}

/// The cases of the mutant's own topics before all others.
fn in_order(mutant: &Mutant, cases: &[&'static Case]) -> Result<Vec<&'static Case>, ToolError> {
    let own = Selection::only(mutant.topics.iter().copied()).of(&cases::all())?;
    let is_own = |case: &&Case| own.iter().any(|other| other.id == case.id);
    let (first, rest): (Vec<_>, Vec<_>) = cases.iter().copied().partition(|case| is_own(case));
    Ok([first, rest].concat())
}

/// What the first failure, if there was one, means.
fn fate(failure: Option<CaseResult>) -> Fate {
    match failure {
        None => Fate::Survived,
        Some(result) => {
            let how = match &result.state {
                State::Fail(failure) => failure
                    .message
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                other => other.name().to_owned(),
            };
            Fate::Killed {
                by: result.case.id,
                how: how.chars().take(160).collect(),
            }
        }
    }
}
