//! What `compat` found, as text, Markdown and JUnit's XML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::differ::{Difference, Kind, differences, headers, reasons};
use super::place::Run;
use super::record::Answer;
use proconsul_explore::{escaped, escaped_attribute};
use proconsul_version::Behaviour;

/// How many answers that differ are shown in full.
const SHOWN: usize = 3;
/// How much of a body is shown.
const BODY: usize = 200;
/// How many lines of a command's output are shown, of its end.
const LINES: usize = 15;

/// What a command that names no tests is called as a test.
const COMMAND: &str = "the command";

/// The runs, compared with that of one release.
pub(super) struct Comparison<'a> {
    runs: &'a [Run],
    base: &'a Run,
}

impl<'a> Comparison<'a> {
    /// Compares with the newest release on which the command passed, or on which the fewest tests failed.
    pub(super) fn of(runs: &'a [Run]) -> Self {
        let failing = |run: &Run| run.tests.values().filter(|passed| !**passed).count();
        let mut newest_first = runs.iter().rev();
        let first = newest_first.next().expect("there is a release");
        let base = newest_first.fold(first, |best, run| {
            let is_better = (!run.passed, failing(run)) < (!best.passed, failing(best));
            if is_better { run } else { best }
        });
        Self { runs, base }
    }

    /// Returns the tests that a run breaks: they pass on the other release. A command that names no tests is one itself.
    fn broken(&self, run: &Run) -> Vec<String> {
        let passes = |test: &&String| self.base.tests.get(*test) != Some(&false);
        let failed = run.tests.iter().filter(|(_, passed)| !**passed);
        let failed: Vec<String> = failed
            .map(|(test, _)| test)
            .filter(passes)
            .cloned()
            .collect();
        if failed.is_empty() && !run.passed && self.base.passed {
            return vec![COMMAND.to_owned()];
        }
        failed
    }

    /// Whether a release breaks something, or the command passes on none.
    pub(super) fn is_broken(&self) -> bool {
        !self.base.passed || self.runs.iter().any(|run| !self.broken(run).is_empty())
    }

    fn differences(&self, run: &Run) -> Vec<Difference> {
        differences(&self.base.exchanges, &run.exchanges)
    }

    fn summary(&self, run: &Run) -> String {
        let tests = match run.tests.len() {
            0 => String::new(),
            all => {
                let passed = run.tests.values().filter(|passed| **passed).count();
                format!(", {passed} of {all} tests passed")
            }
        };
        let requests = match run.exchanges.len() {
            1 => "1 request".to_owned(),
            count => format!("{count} requests"),
        };
        format!("{}{tests}, {requests}", run.ended)
    }
}

/// Returns the report for a terminal.
pub(super) fn text(comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    for run in comparison.runs {
        let broken = comparison.broken(run).len();
        let mark = if broken > 0 { "BREAKS" } else { "" };
        let line = format!(
            "{:<10} {:<7} {}",
            run.place.to_string(),
            mark,
            comparison.summary(run)
        );
        text += line.trim_end();
        text.push('\n');
    }
    let base = &comparison.base.place;
    if !comparison.base.passed {
        let _ = writeln!(
            text,
            "\nIt passes on none. {base}:\n{}",
            end_of(&comparison.base.output)
        );
    }
    for run in comparison.runs {
        let broken = comparison.broken(run);
        if !broken.is_empty() {
            let _ = writeln!(
                text,
                "\n{} breaks, which {base} does not:\n  {}",
                run.place,
                broken.join("\n  ")
            );
            text += &explained(comparison, run);
        }
    }
    text
}

/// Returns the end of a command's output.
fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| format!("  | {line}\n")).collect()
}

/// Returns which answers differ from those of the other release, and why they may.
fn explained(comparison: &Comparison<'_>, run: &Run) -> String {
    let found = comparison.differences(run);
    let of_headers = found.iter().filter(|row| row.kind == Kind::Headers).count();
    let told = &found[..found.len() - of_headers];
    let mut text = String::new();
    let mut reasons = BTreeSet::new();
    for difference in told.iter().take(SHOWN) {
        text += &shown(comparison, run, difference, &mut reasons);
    }
    if told.is_empty() {
        text += "\nNo answer has another status or body.\n";
    }
    let left = told.len().saturating_sub(SHOWN);
    if left > 0 || of_headers > 0 {
        let _ = writeln!(
            text,
            "\nMore answers that differ: {left}, and {of_headers} in headers alone."
        );
    }
    let _ = writeln!(
        text,
        "\nThe end of its output:\n{}",
        end_of(&run.output).trim_end()
    );
    text
}

/// Returns a request with both answers, and the reasons that have not been told yet.
fn shown(
    comparison: &Comparison<'_>,
    run: &Run,
    difference: &Difference,
    told: &mut BTreeSet<Behaviour>,
) -> String {
    let (base, exchange) = (comparison.base, &difference.base);
    let mut text = format!("\n{} {}\n", exchange.method, exchange.target);
    if !exchange.body.is_empty() {
        let _ = writeln!(text, "  body: {}", cut(&exchange.body));
    }
    let own = exchange.answer.iter().map(|answer| (&base.place, answer));
    for (place, answer) in own.chain([(&run.place, &difference.other)]) {
        let said = match answer.status {
            Some(status) => format!("{status} {}", cut(&answer.body)),
            None => "closed without an answer".to_owned(),
        };
        let _ = writeln!(text, "  {place}: {said}");
    }
    let answers = |answer: &&Answer| answer.status.is_some() && difference.other.status.is_some();
    if let Some(own) = exchange.answer.as_ref().filter(answers) {
        text += &different_headers(own, &difference.other);
    }
    for row in reasons(&exchange.target, base.version, run.version) {
        if told.insert(row) {
            text += &reason(row);
        }
    }
    text
}

fn reason(row: Behaviour) -> String {
    let id = row.row().id;
    format!("  may be explained by {id}: {}\n", row.text())
}

/// Returns the headers that only one of two answers has, or that have other values.
fn different_headers(own: &Answer, other: &Answer) -> String {
    let (own, other) = (headers(own), headers(other));
    let names: BTreeSet<&str> = own.keys().chain(other.keys()).copied().collect();
    let differ = names
        .into_iter()
        .filter(|name| own.get(name) != other.get(name));
    let differ: Vec<&str> = differ.collect();
    if differ.is_empty() {
        return String::new();
    }
    format!("  headers that differ: {}\n", differ.join(", "))
}

/// Returns the beginning of a body in one line.
fn cut(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_end();
    let line: String = text.chars().take(BODY).collect();
    let line = line.replace('\n', " ");
    if line.len() < text.len() {
        line + "…"
    } else {
        line
    }
}

/// Returns the report as Markdown: a table, and what each release breaks.
pub(super) fn markdown(comparison: &Comparison<'_>) -> String {
    let mut text = "| release | outcome | breaks |\n|---|---|---|\n".to_owned();
    for run in comparison.runs {
        let broken = comparison.broken(run).join(", ");
        let _ = writeln!(
            text,
            "| {} | {} | {broken} |",
            run.place,
            comparison.summary(run)
        );
    }
    for run in comparison
        .runs
        .iter()
        .filter(|run| !comparison.broken(run).is_empty())
    {
        let explained = explained(comparison, run);
        let _ = writeln!(
            text,
            "\n## {}\n\n```text\n{}\n```",
            run.place,
            explained.trim()
        );
    }
    text
}

/// Returns the report as JUnit's XML: a suite for each release, with its tests.
pub(super) fn junit(comparison: &Comparison<'_>) -> String {
    const NAME: &str = "proconsul compat";
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for run in comparison.runs {
        let mut cases: Vec<(&str, bool)> = run
            .tests
            .iter()
            .map(|(test, passed)| (test.as_str(), *passed))
            .collect();
        if cases.is_empty() {
            cases.push((COMMAND, run.passed));
        }
        let failed = cases.iter().filter(|(_, passed)| !passed).count();
        (tests, failures) = (tests + cases.len(), failures + failed);
        let place = escaped_attribute(&run.place.to_string());
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{place}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"{:.3}\">",
            cases.len(),
            run.took.as_secs_f64(),
        );
        let broken = comparison.broken(run);
        for (name, passed) in cases {
            let begin = format!(
                "    <testcase classname=\"{place}\" name=\"{}\"",
                escaped_attribute(name)
            );
            let _ = if passed {
                writeln!(suites, "{begin}/>")
            } else if broken.iter().any(|test| test == name) {
                let why = escaped(&explained(comparison, run));
                writeln!(
                    suites,
                    "{begin}><failure message=\"this release breaks it\">{why}</failure></testcase>"
                )
            } else {
                writeln!(
                    suites,
                    "{begin}><failure message=\"it fails on the best release, too\"/></testcase>"
                )
            };
        }
        suites += "  </testsuite>\n";
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{NAME}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n{suites}</testsuites>\n"
    )
}
