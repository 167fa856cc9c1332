//! How much of Consul a target covers, and how much of that it does right: two figures, which are never mixed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Level;
use crate::case::feature::Facts;
use crate::command::output::read;
use crate::report::coverage::{AREAS, topic};
use crate::runner::{CaseResult, Report, State};
use crate::target::site::ToolError;
use crate::time::today;
use crate::wire::Outcome;
use crate::wire::transcript::{Exchange, Line};

/// With what a server answers where it has no such endpoint.
const NO_SUCH_ENDPOINT: [u16; 3] = [404, 405, 501];

/// What one target scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The version of the suite.
    pub suite: String,
    /// What the target is called.
    pub target: String,
    /// The release that it says it is. It is held to what this release does.
    pub version: String,
    /// The day of the run.
    pub date: String,
    /// Every area, in the order of the README.
    pub areas: Vec<Area>,
    /// The covered cases that do not hold.
    pub incorrect: Vec<String>,
    /// Why cases are not covered, and how many.
    pub not_covered: BTreeMap<String, usize>,
}

/// The cases of one area, by level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Its name.
    pub name: String,
    /// Documented behaviour that clients rely on.
    pub must: Count,
    /// Behaviour that clients can do without.
    pub should: Count,
    /// What Consul does though no document says so.
    pub real: Count,
}

/// Some cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// How many there are of the target's release.
    pub cases: usize,
    /// How many of these the target could be asked: it has the endpoints and whatever else the cases need.
    pub covered: usize,
    /// How many of the covered ones hold.
    pub correct: usize,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.covered += other.covered;
        self.correct += other.correct;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cases {
            0 => formatter.pad("-"),
            cases => formatter.pad(&format!("{}/{}/{cases}", self.correct, self.covered)),
        }
    }
}

impl Area {
    fn of_level(&mut self, level: Level) -> &mut Count {
        match level {
            Level::Must => &mut self.must,
            Level::Should => &mut self.should,
            Level::Real => &mut self.real,
        }
    }

    fn all(&self) -> Count {
        let mut all = self.must;
        all.add(self.should);
        all.add(self.real);
        all
    }
}

impl Score {
    /// The score of a target with these facts in a run of all cases, or of some, without known deviations.
    ///
    /// # Panics
    /// When the topic of a case is in no area.
    #[must_use]
    pub fn of(report: &Report, facts: &Facts) -> Self {
        let areas = AREAS.iter().map(|(name, ..)| Area {
            name: (*name).to_owned(),
            must: Count::default(),
            should: Count::default(),
            real: Count::default(),
        });
        let mut score = Self {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            target: report.target.clone(),
            version: facts.version.to_string(),
            date: today(),
            areas: areas.collect(),
            incorrect: Vec::new(),
            not_covered: BTreeMap::new(),
        };
        let absent = absent_endpoints(&report.results);
        for result in &report.results {
            if result.case.is_of_another_version(facts.version) {
                continue;
            }
            let topic = topic(result.case);
            let area = AREAS.iter().position(|(_, own, _)| own.contains(&topic));
            let area = &mut score.areas[area.expect("each topic is in an area")];
            let count = area.of_level(result.case.level);
            count.cases += 1;
            match not_covered(result, &absent) {
                Some(why) => *score.not_covered.entry(why).or_default() += 1,
                None => {
                    count.covered += 1;
                    if result.state == State::Pass {
                        count.correct += 1;
                    } else {
                        score.incorrect.push(result.case.id.to_owned());
                    }
                }
            }
        }
        score
    }

    /// All cases.
    #[must_use]
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        self.areas.iter().for_each(|area| all.add(area.all()));
        all
    }

    /// The score as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data is JSON") + "\n"
    }

    /// Reads what [`Self::to_json`] wrote, from all files of a folder in the order of their names.
    ///
    /// # Errors
    /// A folder that cannot be read, or a file that is no score.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, ToolError> {
        let failed = |error| ToolError(format!("cannot read {}: {error}", folder.display()));
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let files: BTreeSet<_> = entries.flatten().map(|entry| entry.path()).collect();
        let scores = files.iter().map(|file| {
            serde_json::from_str(&read(file)?)
                .map_err(|error| ToolError(format!("{}: no score: {error}", file.display())))
        });
        scores.collect()
    }

    /// The score as a picture for a README, in SVG.
    #[must_use]
    pub fn badge(&self) -> String {
        let all = self.all();
        let left = format!("Consul {}", self.version);
        let right = format!(
            "{} correct of {} covered",
            percent(all.correct, all.covered),
            percent(all.covered, all.cases)
        );
        // A letter of 11 px is about 7 px wide.
        let [first, second] = [&left, &right].map(|text| text.chars().count() * 7 + 10);
        let width = first + second;
        let (of_left, of_right) = (first / 2, first + second / 2);
        let color = match all.correct == all.covered {
            true => "#2e7d32",
            false => "#b26a00",
        };
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{left}: {right}">
<rect width="{first}" height="20" fill="#444"/><rect x="{first}" width="{second}" height="20" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="{of_left}" y="14">{left}</text><text x="{of_right}" y="14">{right}</text></g>
</svg>
"##
        )
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        let (target, version) = (&self.target, &self.version);
        writeln!(formatter, "{target}, held to Consul {version}")?;
        writeln!(
            formatter,
            "covered: {} of {} cases ({})",
            all.covered,
            all.cases,
            percent(all.covered, all.cases)
        )?;
        writeln!(
            formatter,
            "correct: {} of {} covered cases ({})\n",
            all.correct,
            all.covered,
            percent(all.correct, all.covered)
        )?;
        let head = "correct/covered/cases";
        writeln!(
            formatter,
            "{head:<34} {:>14} {:>14} {:>14}",
            "must", "should", "real"
        )?;
        for area in &self.areas {
            let (name, must, should, real) = (&area.name, area.must, area.should, area.real);
            writeln!(formatter, "{name:<34} {must:>14} {should:>14} {real:>14}")?;
        }
        for case in &self.incorrect {
            write!(formatter, "\nincorrect: {case}")?;
        }
        for (why, count) in &self.not_covered {
            write!(formatter, "\nnot covered {count}: {why}")?;
        }
        Ok(())
    }
}

/// The table of the book: a line for each score.
pub(super) fn scoreboard(scores: &[Score]) -> String {
    let mut text = String::from(
        "\nHow much each server covers of the release that it says it is, and how much of that holds (`proconsul-conformance score`):\n\n| server | held to | cases | covered | correct | `must` | `should` | `real` | day |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for score in scores {
        let all = score.all();
        let mut levels = [Count::default(); 3];
        for area in &score.areas {
            let own = [area.must, area.should, area.real];
            let pairs = levels.iter_mut().zip(own);
            pairs.for_each(|(level, own)| level.add(own));
        }
        let levels = levels.map(|level| format!("{} of {}", level.correct, level.covered));
        let cells = [
            score.target.clone(),
            score.version.clone(),
            all.cases.to_string(),
            format!("{} ({})", all.covered, percent(all.covered, all.cases)),
            format!("{} ({})", all.correct, percent(all.correct, all.covered)),
            levels.join(" | "),
            score.date.clone(),
        ];
        writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes all");
    }
    text
}

/// A share, rounded down: 100 % is all.
fn percent(part: usize, whole: usize) -> String {
    match (part * 1000).checked_div(whole) {
        None => "none".to_owned(),
        Some(1000) => "100 %".to_owned(),
        Some(tenths) => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// Why the result says nothing about how right the target is, if so.
fn not_covered(result: &CaseResult, absent: &BTreeSet<String>) -> Option<String> {
    match &result.state {
        State::Skip(why) => Some(why.clone()),
        State::Error(_) => Some("the suite could not tell".to_owned()),
        State::Pass => None,
        State::Fail(_) | State::Deviation { .. } => exchanges(result)
            .filter_map(endpoint)
            .find(|endpoint| absent.contains(endpoint))
            .map(|endpoint| format!("needs {endpoint}, which the target does not have")),
    }
}

/// The endpoints at which the target never answered as if it had them.
fn absent_endpoints(results: &[CaseResult]) -> BTreeSet<String> {
    let mut endpoints: BTreeMap<String, bool> = BTreeMap::new();
    for exchange in results.iter().flat_map(exchanges) {
        if let (Some(endpoint), Some(Outcome::Reply(reply))) =
            (endpoint(exchange), &exchange.outcome)
        {
            let exists = !NO_SUCH_ENDPOINT.contains(&reply.status);
            *endpoints.entry(endpoint).or_default() |= exists;
        }
    }
    let absent = endpoints.into_iter().filter(|(_, exists)| !exists);
    absent.map(|(endpoint, _)| endpoint).collect()
}

fn exchanges(result: &CaseResult) -> impl Iterator<Item = &Exchange> {
    result
        .transcript
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Exchange(exchange) => Some(exchange),
            Line::Note(_) => None,
        })
}

/// The endpoint that was asked: `/v1/kv`, or three segments of the path, such as `/v1/session/create`.
fn endpoint(exchange: &Exchange) -> Option<String> {
    let line = exchange.sent.split(|byte| *byte == b'\r').next()?;
    let target = str::from_utf8(line).ok()?.split(' ').nth(1)?;
    let path = target.split('?').next()?;
    let mut segments = path.strip_prefix("/v1/")?.split('/');
    match (segments.next()?, segments.next()) {
        (page @ ("kv" | "txn" | "query"), _) => Some(format!("/v1/{page}")),
        (page, Some(name)) => Some(format!("/v1/{page}/{name}")),
        (page, None) => Some(format!("/v1/{page}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::case::Case;
    use crate::case::version::Version;
    use crate::runner::verdict::Failure;
    use crate::wire::transcript::Transcript;
    use crate::wire::{Framing, Reply};

    const KEYS: Case = Case {
        id: "kv/a",
        ..Case::MUST
    };
    const SESSIONS: Case = Case {
        id: "session/a",
        ..Case::SHOULD
    };
    const LATER: Case = Case {
        id: "kv/later",
        since: Version::V1_21_5,
        ..Case::MUST
    };

    fn facts() -> Facts {
        Facts {
            version: Version::V1_8,
            build: String::new(),
            node: String::new(),
            datacenter: String::new(),
            shortest_ttl: Duration::ZERO,
            features: Vec::new(),
            genuine: false,
        }
    }

    /// A case that asked one thing.
    fn asked(case: &'static Case, state: State, line: &str, status: u16) -> CaseResult {
        let mut result = CaseResult::skipped(case, "");
        let reply = Reply {
            version: String::new(),
            status,
            reason: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
        };
        let exchange = Exchange {
            sent: format!("{line} HTTP/1.1\r\n\r\n").into_bytes(),
            outcome: Some(Outcome::Reply(reply)),
            took: Duration::ZERO,
            superseded: false,
        };
        result.transcript = Transcript {
            lines: vec![Line::Exchange(exchange)],
            ..Transcript::default()
        };
        result.state = state;
        result
    }

    fn failed() -> State {
        State::Fail(Failure {
            message: "it does not hold".to_owned(),
            place: String::new(),
        })
    }

    fn scored(results: Vec<CaseResult>) -> Score {
        let report = Report {
            target: "a double".to_owned(),
            build: String::new(),
            results,
            took: Duration::ZERO,
        };
        Score::of(&report, &facts())
    }

    #[test]
    fn what_a_target_lacks_is_not_covered_and_what_it_does_wrong_is_not_correct() {
        let score = scored(vec![
            asked(&KEYS, State::Pass, "GET /v1/kv/a?raw", 200),
            asked(&KEYS, failed(), "GET /v1/kv/b", 404),
            asked(&SESSIONS, failed(), "PUT /v1/session/create", 404),
            CaseResult::skipped(&SESSIONS, "needs a server of its own"),
            CaseResult::skipped(&LATER, "holds since 1.21.5, the target is 1.8.0"),
        ]);
        let keys = score.areas.first().expect("keys come first");
        let count = |cases, covered, correct| Count {
            cases,
            covered,
            correct,
        };
        assert_eq!(keys.must, count(2, 2, 1));
        assert_eq!(score.areas[1].should, count(2, 0, 0));
        assert_eq!(score.all(), count(4, 2, 1));
        let text = score.to_string();
        assert!(
            text.contains("covered: 2 of 4 cases (50.0 %)\ncorrect: 1 of 2 covered cases (50.0 %)"),
            "{text}"
        );
        assert!(text.contains("incorrect: kv/a\n"), "{text}");
        let why = "not covered 1: needs /v1/session/create, which the target does not have";
        assert!(text.contains(why), "{text}");
        assert!(
            text.contains("not covered 1: needs a server of its own"),
            "{text}"
        );
        assert!(score.badge().contains(">50.0 % correct of 50.0 % covered<"));
        let row = "| a double | 1.8.0 | 4 | 2 (50.0 %) | 1 (50.0 %) | 1 of 2 | 0 of 0 | 0 of 0 |";
        assert!(scoreboard(&[score]).contains(row));
    }

    #[test]
    fn only_all_is_a_hundred_percent() {
        assert_eq!(percent(1999, 2000), "99.9 %");
        assert_eq!(percent(2000, 2000), "100 %");
        assert_eq!(percent(0, 0), "none");
    }
}
