//! Lets the suite loose on mutants.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::proxy::Proxy;
use super::shared::Switch;
use super::{Alter, Mutant};
use proconsul_conformance::case::Case;
use proconsul_conformance::case::selection::Selection;
use proconsul_conformance::cases;
use proconsul_conformance::report::document::MutantDocument;
use proconsul_conformance::runner::parallel;
use proconsul_conformance::runner::{CaseResult, Runner, State};
use proconsul_conformance::target::Target;
use proconsul_conformance::target::site::{Site, ToolError};
use proconsul_conformance::time::Stopwatch;

/// Mutants at once. Most of their cases wait most of the time.
const AT_ONCE: usize = 12;
/// Cases at once against one mutant.
const JOBS: usize = 3;

/// What a case that fails is tried on once more.
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

impl Verdict {
    /// The verdict as a report holds it.
    #[must_use]
    pub fn document(&self) -> MutantDocument {
        let (killed_by, how) = match &self.fate {
            Fate::Killed { by, how } => (Some((*by).to_owned()), how.clone()),
            Fate::Survived => (None, String::new()),
        };
        MutantDocument {
            name: self.mutant.name.to_owned(),
            what: self.mutant.what.to_owned(),
            killed_by,
            how,
            seconds: self.took.as_secs_f64(),
        }
    }
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

/// Lets the suite loose on each of these mutants of a good target, several at once; `observer` hears of each as its fate is known.
///
/// # Errors
/// As [`hunt`].
pub fn run(
    target: &Target,
    mutants: &[&'static Mutant],
    observer: &(dyn Fn(&Verdict) + Sync),
) -> Result<Vec<Verdict>, ToolError> {
    parallel::each(AT_ONCE, mutants, |mutant| {
        let verdict = hunt(target, mutant)?;
        observer(&verdict);
        Ok(verdict)
    })
}

/// Lets the suite loose on one mutant of a good target.
///
/// A case that fails must pass behind a proxy that alters nothing to count. Cases that are still at work when the mutant has fallen go on
/// against the good target and clean up behind themselves; this returns when the last of them has.
///
/// # Errors
/// A target that cannot be wrapped, or is gone.
pub fn hunt(target: &Target, mutant: &'static Mutant) -> Result<Verdict, ToolError> {
    let watch = Stopwatch::start();
    let harmless = altered(target, &HARMLESS, &Arc::default())?;
    let switch = Arc::new(Switch::default());
    let hunt = Hunt {
        target: altered(target, mutant, &switch)?,
        order: in_order(mutant, &cases::all())?,
        next: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    };
    switch.arm();
    let (fate, took) = std::thread::scope(|scope| {
        let (sender, failures) = mpsc::channel();
        for _ in 0..JOBS {
            let (hunt, sender) = (&hunt, Sender::clone(&sender));
            scope.spawn(move || hunt.take_part(&sender));
        }
        drop(sender);
        // A case that fails without the mutant, too, has only been out of luck.
        let kills = |failure: &CaseResult| {
            let again = Runner::new(&harmless).run_one(failure.case);
            matches!(again.state, State::Pass)
        };
        let fate = fate(failures.iter().find(kills));
        hunt.over.store(true, Ordering::SeqCst);
        switch.disarm();
        (fate, watch.elapsed())
    });
    Ok(Verdict { mutant, fate, took })
}

/// The cases on their way through one mutant.
struct Hunt {
    target: Target,
    order: Vec<&'static Case>,
    next: AtomicUsize,
    over: AtomicBool,
}

impl Hunt {
    /// Runs one case after the other until none is left or the mutant has fallen, and tells of those that fail.
    fn take_part(&self, failures: &Sender<CaseResult>) {
        while !self.over.load(Ordering::SeqCst) {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(case) = self.order.get(number) else {
                return;
            };
            let result = Runner::new(&self.target).run_one(case);
            if matches!(result.state, State::Fail(_)) && failures.send(result).is_err() {
                // The mutant has fallen to another case.
                return;
            }
        }
    }
}

/// The site of a good server, altered for as long as the site lives.
///
/// # Errors
/// When no proxy can listen before it.
pub fn in_place_of(site: Site, mutant: &'static Mutant) -> Result<Site, ToolError> {
    let switch = Arc::new(Switch::default());
    switch.arm();
    before(site, mutant, &switch)
}

fn before(site: Site, mutant: &'static Mutant, switch: &Arc<Switch>) -> Result<Site, ToolError> {
    let proxy = Proxy::start(&site, mutant, switch)
        .map_err(|error| ToolError(format!("cannot listen for {}: {error}", mutant.name)))?;
    Ok(proxy.before(site))
}

/// The target with a proxy before each of its servers.
fn altered(
    target: &Target,
    mutant: &'static Mutant,
    switch: &Arc<Switch>,
) -> Result<Target, ToolError> {
    let switch = Arc::clone(switch);
    target.behind(mutant.name, move |site| before(site, mutant, &switch))
}

/// The cases of the mutant's own topics before all others; among each, those that need a server of their own come last.
fn in_order(mutant: &Mutant, cases: &[&'static Case]) -> Result<Vec<&'static Case>, ToolError> {
    let own = Selection::only(mutant.topics.iter().copied()).of(&cases::all())?;
    let is_own = |case: &Case| own.iter().any(|other| other.id == case.id);
    let mut order = cases.to_vec();
    order.sort_by_key(|case| (!is_own(case), case.is_alone()));
    Ok(order)
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
