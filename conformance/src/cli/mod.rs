//! `proconsul-conformance run|score|diff|record|replay|report|list`.

mod run;
mod score;
mod verbs;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use proconsul_conformance::command::output::{Output, read, say, write_html};
use proconsul_conformance::command::target::{Start, TargetChoice};
use proconsul_conformance::compare::diff::diff;
use proconsul_conformance::compare::fixtures::{Changes, record, replay};
use proconsul_conformance::report::document::Document;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::{Selection, ToolError, cases};

/// Holds a server against what Consul does.
///
/// Exit status: 0 every claim holds, 1 one does not, 2 the suite could not do its work.
#[derive(Debug, Parser)]
#[command(name = "proconsul-conformance", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs cases on one target.
    Run(run::Run),
    /// Says how much of Consul a server covers, and how much of that it does right.
    Score(score::Score),
    /// Runs cases on two targets and shows what they say differently.
    Diff(Diff),
    /// Writes down what a real Consul says.
    Record(Record),
    /// Holds a target against what was written down, without any Consul.
    Replay(Replay),
    /// Makes one report of several: targets beside each other.
    Report(Merge),
    /// Lists cases with their claims.
    List(Choice),
    /// Makes the figures in README.md and in the book anew, in the repository that is the current folder.
    Coverage,
}

#[derive(Debug, Args)]
struct Diff {
    /// One target: an address, a binary's path, or the word consul for the binary that is found. A binary may be followed by arguments
    /// of its own, as in "target/debug/proconsul --as-version=1.8.7".
    #[arg(value_name = "TARGET")]
    left: String,
    /// The other.
    #[arg(value_name = "TARGET")]
    right: String,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Record {
    #[command(flatten)]
    target: TargetChoice,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    output: Output,
    /// The folder that gets a folder per version.
    #[arg(long, value_name = "FOLDER", default_value = "fixtures")]
    to: PathBuf,
}

#[derive(Debug, Args)]
struct Replay {
    /// The recordings of one version, such as fixtures/1.8.7.
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
    #[command(flatten)]
    target: TargetChoice,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    known: Known,
}

/// What is known of the target.
#[derive(Debug, Args)]
struct Known {
    /// Known differences of this target: TOML lines "case id" = "why". May be repeated.
    #[arg(long, value_name = "FILE")]
    deviations: Vec<PathBuf>,
}

impl Known {
    fn deviations(&self) -> Result<Deviations, ToolError> {
        let files: Result<Vec<String>, ToolError> =
            self.deviations.iter().map(|file| read(file)).collect();
        Deviations::parse(&files?.join("\n"), &cases::all())
    }
}

#[derive(Debug, Args)]
struct Merge {
    /// JSON reports of earlier runs, one column each.
    #[arg(required = true, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// The page to write.
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

#[derive(Debug, Args)]
struct Choice {
    /// Only cases whose id contains this, or matches it as a whole when it has * or ? in it.
    #[arg(value_name = "CASE")]
    only: Vec<String>,
    /// Not these cases.
    #[arg(long, value_name = "CASE")]
    skip: Vec<String>,
}

impl Choice {
    /// The selection, refused before anything is started when it names no case.
    fn selection(&self) -> Result<Selection, ToolError> {
        let only = Selection::only(self.only.iter().cloned());
        let selection = only.without(self.skip.iter().cloned());
        selection.of(&cases::all()).map(|_| selection)
    }
}

/// Does what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let done = match &Cli::parse().verb {
        Verb::Run(verb) => verb.run(),
        Verb::Score(verb) => verb.run(),
        Verb::Diff(verb) => run_diff(verb),
        Verb::Record(verb) => run_record(verb),
        Verb::Replay(verb) => run_replay(verb),
        Verb::Report(verb) => merge(verb),
        Verb::List(choice) => list(choice),
        Verb::Coverage => verbs::coverage(),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(ToolError(message)) => {
            let message = format!("proconsul-conformance: {message}");
            say(&mut io::stderr().lock(), &message);
            ExitCode::from(2)
        }
    }
}

fn run_diff(verb: &Diff) -> Result<u8, ToolError> {
    let selection = verb.choice.selection()?;
    let left = verb.start.open(&verb.left)?;
    let right = verb.start.open(&verb.right)?;
    let report = diff(&left, &right, &selection, &|result| {
        verb.output.line(result);
    })?;
    verb.output.finish(&report)
}

fn run_record(verb: &Record) -> Result<u8, ToolError> {
    let selection = verb.choice.selection()?;
    let target = verb.target.open_pool()?;
    let report = record(&target, &selection, &verb.to, &|result| {
        verb.output.line(result);
    })?;
    let status = verb.output.finish(&report)?;
    let version = target.facts().version;
    if let Some(changes) = Changes::since_the_last(&verb.to, version, &selection)? {
        say(&mut io::stdout().lock(), &changes.to_string());
    }
    Ok(status)
}

fn run_replay(verb: &Replay) -> Result<u8, ToolError> {
    let selection = verb.choice.selection()?;
    let deviations = verb.known.deviations()?;
    let target = verb.target.open_pool()?;
    let report = replay(&target, &deviations, &selection, &verb.from, &|result| {
        verb.output.line(result);
    })?;
    verb.output.finish(&report)
}

fn merge(verb: &Merge) -> Result<u8, ToolError> {
    let documents = verb.from.iter().map(|file| document(file));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    write_html(&verb.html, &documents)?;
    Ok(0)
}

fn document(file: &Path) -> Result<Document, ToolError> {
    Document::from_json(&read(file)?)
        .map_err(|error| ToolError(format!("{}: {error}", file.display())))
}

fn list(choice: &Choice) -> Result<u8, ToolError> {
    let mut out = io::stdout().lock();
    for case in choice.selection()?.of(&cases::all())? {
        let line = format!("{}\n    {} ({})", case.id, case.claim, case.level);
        say(&mut out, &line);
    }
    Ok(0)
}
