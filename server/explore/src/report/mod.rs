//! What a search hands back.

mod edn;
mod export;
pub(crate) mod html;
pub(crate) mod junit;
mod operations;
#[cfg(test)]
mod samples;
pub(crate) mod test_code;
mod text;
pub(crate) mod timeline;

use std::fmt;
use std::time::Duration;

use crate::judge::Property;
use crate::search::{Broken, Options, Purpose, Search, Summary};

/// The outcome of a search: broken, not broken in so many runs, or not judged. It is never "correct".
#[derive(Clone, Debug)]
#[must_use = "a report says whether something is broken"]
pub struct Report {
    /// What was searched.
    pub options: Options,
    /// What all runs came to.
    pub summary: Summary,
    /// What was found.
    pub broken: Option<Broken>,
    /// What was found and then did not show again in most tries of the same schedule.
    pub unconfirmed: Vec<Broken>,
    /// How long the search took, in the machine's time.
    pub took: Duration,
    /// After which time something was found, before it was made small.
    pub found_after: Option<Duration>,
}

impl Report {
    /// Returns the report of a search that is over.
    pub fn of(search: &Search, took: Duration, found_after: Option<Duration>) -> Self {
        Self {
            options: search.options().clone(),
            summary: search.summary().clone(),
            broken: search.broken().cloned(),
            unconfirmed: search.unconfirmed().to_vec(),
            took,
            // A finding that did not show again is none.
            found_after: found_after.filter(|_| search.broken().is_some()),
        }
    }

    /// Asserts that nothing was found, and that something could have been.
    ///
    /// # Panics
    /// Something is broken, or nothing could be judged, or there are locks and no contender ever took one over; with the whole
    /// report.
    #[track_caller]
    pub fn assert_not_broken(&self) {
        let is_judged =
            !self.is_not_judged() && (self.summary.takeovers > 0 || self.needs_no_takeover());
        assert!(self.broken.is_none() && is_judged, "{self}");
    }

    /// Returns whether nobody took over a lock in most of the runs, so that the search proves little. Contenders that only
    /// watch have no locks, and some properties need none.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.needs_no_takeover() && self.summary.takeovers * 2 < self.summary.tried()
    }

    fn needs_no_takeover(&self) -> bool {
        let only = &self.options.limits.only;
        let asks_for_others = !only.is_empty() && only.iter().all(|one| !one.is_of_locks());
        let only_watches = self.lacks(Property::TwoHolders) && !self.lacks(Property::MissedValue);
        asks_for_others || only_watches
    }

    /// Whether a property is not wanted, or no run let it be judged.
    fn lacks(&self, property: Property) -> bool {
        let mut not_judged = self.summary.not_judged.iter();
        !self.options.limits.judges(property) || not_judged.any(|(missing, _)| *missing == property)
    }

    /// Returns whether nothing was found, and nothing that was wanted could be judged: nobody acquired a lock or watched a key.
    #[must_use]
    pub fn is_not_judged(&self) -> bool {
        let mut wanted = match self.options.limits.only.as_slice() {
            [] => [Property::TwoHolders, Property::MissedValue].iter(),
            only => only.iter(),
        };
        self.broken.is_none() && wanted.all(|property| self.lacks(*property))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.broken {
            Some(broken) => fmt_broken(broken, formatter)?,
            None if self.is_not_judged() => writeln!(formatter, "not judged: {}", self.why_not())?,
            None => {
                let all: u64 = self.summary.runs.values().sum();
                let runs = Some(self.summary.tried()).filter(|tried| *tried > 0);
                writeln!(formatter, "not broken in {}", in_runs(runs.unwrap_or(all)))?;
            }
        }
        self.fmt_summary(formatter)
    }
}

fn fmt_broken(broken: &Broken, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(formatter, "broken: {}", broken.finding)?;
    writeln!(formatter, "  {}", broken.finding.property.meaning())?;
    writeln!(formatter, "\nthe schedule:")?;
    for line in broken.schedule.to_string().lines() {
        writeln!(formatter, "  {line}")?;
    }
    for decision in &broken.schedule.decisions {
        let action = &decision.action;
        writeln!(formatter, "  # {}: {}", action.name(), action.source())?;
    }
    writeln!(formatter, "\nthe run:")?;
    for line in timeline::timeline(&broken.run, std::slice::from_ref(&broken.finding)) {
        writeln!(formatter, "  {line}")?;
    }
    let (hits, replays) = broken.replays;
    write!(
        formatter,
        "\nfound in run {} ({}); {hits} of {replays} replays break it",
        broken.found_in,
        broken.purpose.in_words(),
    )?;
    match broken.is_repeated {
        Some(true) => formatter.write_str(", each the same byte for byte")?,
        Some(false) => formatter.write_str(
            ", not the same byte for byte: the contenders draw on something that the seed does not decide",
        )?,
        None => {}
    }
    writeln!(formatter, "; seed {}", broken.seed)
}

impl Report {
    /// Returns why the first of the wanted properties is not judged.
    fn why_not(&self) -> &'static str {
        let first = self.summary.not_judged.first();
        first.map_or("there was no run", |(_, why)| why)
    }

    fn fmt_summary(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.summary;
        let runs = summary.runs.iter();
        let runs = runs.map(|(purpose, count)| format!("{count} {}", purpose.in_words()));
        let all: u64 = summary.runs.values().sum();
        let rate = rate(all, self.took);
        writeln!(
            formatter,
            "{} in {:.1} s, {rate} a second: {}; seed {}",
            in_runs(all),
            self.took.as_secs_f64(),
            runs.collect::<Vec<_>>().join(", "),
            self.options.seed,
        )?;
        // A replay only repeats: it tries nothing.
        if summary.tried() > 0 {
            writeln!(
                formatter,
                "a lock was lost in {} of {}, and taken over by another contender in {}",
                summary.losses,
                in_runs(summary.tried()),
                summary.takeovers,
            )?;
        }
        if self.broken.is_none() && self.is_idle() {
            writeln!(
                formatter,
                "most runs were idle: no contender took over a lock"
            )?;
        }
        writeln!(
            formatter,
            "kinds of requests and actions that met: {} ({} pairs to draw from)",
            summary.coverage.len(),
            summary.pairs,
        )?;
        for depth in 1..=3 {
            if let Some(missed) = summary.missed(depth).filter(|_| self.broken.is_none()) {
                let runs = summary.runs.get(&Purpose::Drawn(depth)).copied();
                writeln!(
                    formatter,
                    "a bug that {depth} of these decisions show was missed with p <= {missed:.3} ({})",
                    in_runs(runs.unwrap_or_default()),
                )?;
            }
        }
        for (property, why) in &summary.not_judged {
            writeln!(formatter, "not judged: {}, because {why}", property.name())?;
        }
        for broken in &self.unconfirmed {
            writeln!(formatter, "{}", in_words(broken))?;
        }
        Ok(())
    }
}

/// Returns what is to be said of a finding that did not show again.
fn in_words(unconfirmed: &Broken) -> String {
    let (hits, tries) = unconfirmed.replays;
    let schedule = unconfirmed.schedule.to_string();
    let decisions = schedule.lines().collect::<Vec<_>>().join("; ");
    format!(
        "found in run {} and in {hits} of {tries} replays, so not counted: a busy machine or a rare bug: {} ({decisions})",
        unconfirmed.found_in, unconfirmed.finding,
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "it is an estimate for people"
)]
fn rate(runs: u64, took: Duration) -> u64 {
    (runs as f64 / took.as_secs_f64().max(0.001)).round() as u64
}

/// Returns a number of runs in words: `1 run`, `20 runs`.
fn in_runs(count: impl fmt::Display) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} run{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_show_again_is_told() {
        let mut report = samples::not_broken();
        let once = Broken {
            found_in: 165,
            replays: (1, 4),
            ..samples::broken().broken.expect("the sample is broken")
        };
        report.unconfirmed.push(once);
        let text = report.to_string();
        let line = "\nfound in run 165 and in 1 of 4 replays, so not counted: a busy machine or a rare bug: two-believers: ";
        assert!(text.starts_with("not broken in 62 runs\n"), "{text}");
        assert!(text.contains(line), "{text}");
        let page = html::html(&report);
        assert!(
            page.contains("<h3>Found, and not again</h3>\n<p>Found in run 165 and in 1 of 4"),
            "{page}"
        );
    }

    #[test]
    fn a_replay_that_breaks_nothing_says_in_how_many_runs() {
        let mut report = samples::not_broken();
        report.summary.runs = [(Purpose::Replay, 20)].into();
        let text = report.to_string();
        assert!(text.starts_with("not broken in 20 runs\n"), "{text}");
        report.summary.runs = [(Purpose::Replay, 1)].into();
        let text = report.to_string();
        assert!(text.starts_with("not broken in 1 run\n1 run in "), "{text}");
        // They tried nothing, so nothing is said of what was tried.
        assert!(!text.contains("a lock was lost"), "{text}");
    }

    #[test]
    fn a_property_that_is_not_judged_is_not_called_not_broken() {
        let mut report = samples::not_broken();
        let why = "no two contenders use the same lock";
        report.summary.not_judged = vec![(Property::NobodyLeads, why)];
        assert!(!report.is_not_judged());
        report.options.limits.only = vec![Property::NobodyLeads];
        assert!(report.is_not_judged());
        let text = report.to_string();
        assert!(text.starts_with(&format!("not judged: {why}\n")), "{text}");
    }

    #[test]
    fn a_search_for_what_needs_no_lock_is_not_idle_without_takeovers() {
        let mut report = samples::not_broken();
        report.summary.takeovers = 0;
        assert!(report.is_idle());
        report.options.limits.only = vec![Property::LostUpdate];
        assert!(!report.is_idle());
        report.assert_not_broken();
        report.options.limits.only.push(Property::StaleWrite);
        assert!(report.is_idle());
    }

    #[test]
    fn a_search_of_a_watch_alone_is_judged() {
        let mut report = samples::not_broken();
        report.summary.not_judged = vec![(Property::TwoHolders, "nobody has acquired a lock")];
        assert!(!report.is_not_judged());
    }
}
