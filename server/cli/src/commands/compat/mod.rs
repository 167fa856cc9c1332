//! The verb `compat`: runs a command once for each release of Consul, and says which release breaks what.

mod differ;
mod place;
mod record;
mod report;
mod seen;

use std::collections::VecDeque;

use proconsul::Version;
use proconsul_os::CORES;
use tokio::task::JoinSet;

use super::{Failure, Given, Outcome};
use crate::output;
use place::{Place, Run};
use report::Comparison;

commands! {
    "compat" "-- COMMAND..." compat "Runs a command once for each release, and says which release breaks what (not in Consul)" {
        Text "against" "The path of a real Consul that is one more release";
        Number "jobs" "How many run at once (default: one for each core)";
        Text "junit" "A file for the report as JUnit's XML";
        Text "markdown" "A file for the report as Markdown";
        Text "versions" "The releases, with commas (default: 1.8.7,1.14,1.18,1.21.5,1.22,2.1)";
    }
}

/// The releases after which tests broke most.
const VERSIONS: &str = "1.8.7,1.14,1.18,1.21.5,1.22,2.1";
/// The exit code where a release breaks something.
const BROKEN: u8 = 1;
/// That of a command line that is not understood, and of a command that does not start.
const MISUSE: u8 = 2;

fn misuse(text: impl Into<String>) -> Failure {
    Failure {
        text: text.into(),
        code: MISUSE,
    }
}

async fn compat(given: Given) -> Outcome {
    let words = given.rest().to_vec();
    if words.is_empty() {
        return Err(misuse("expected a command behind the flags"));
    }
    let places = places(&given)?;
    let jobs = given
        .number("jobs")
        .map_or(*CORES, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX));
    let runs = run_all(places, &words, jobs.max(1)).await.map_err(misuse)?;
    let comparison = Comparison::of(&runs);
    for (flag, text) in [
        ("junit", report::junit(&comparison)),
        ("markdown", report::markdown(&comparison)),
    ] {
        if let Some(file) = given.filled(flag) {
            let written = std::fs::write(file, text);
            written.map_err(|error| misuse(format!("-{flag}: {file}: {error}")))?;
        }
    }
    let text = report::text(&comparison);
    if comparison.is_broken() {
        output::out(&text);
        return Err(Failure {
            text: String::new(),
            code: BROKEN,
        });
    }
    Ok(text)
}

/// Returns what the command runs on, the earliest release first.
fn places(given: &Given) -> Result<Vec<Place>, Failure> {
    let named = given.filled("versions").unwrap_or(VERSIONS).split(',');
    let versions = named.map(|text| {
        let version: Result<Version, _> = text.trim().parse();
        version.map_err(|error| misuse(format!("-versions: {error}")))
    });
    let mut versions = versions.collect::<Result<Vec<_>, _>>()?;
    versions.sort();
    versions.dedup();
    let real = given
        .filled("against")
        .map(|path| Place::Consul(path.to_owned()));
    Ok(versions
        .into_iter()
        .map(Place::Release)
        .chain(real)
        .collect())
}

/// Runs the command on all places, some at once, and returns the runs in the order of the places.
async fn run_all(places: Vec<Place>, words: &[String], jobs: usize) -> Result<Vec<Run>, String> {
    let mut waiting: VecDeque<_> = places.into_iter().enumerate().collect();
    let mut running = JoinSet::new();
    let mut runs = Vec::new();
    loop {
        while running.len() < jobs
            && let Some((number, place)) = waiting.pop_front()
        {
            let words = words.to_vec();
            running.spawn(async move { (number, place::run(place, &words).await) });
        }
        let Some(done) = running.join_next().await else {
            break;
        };
        let (number, run) = done.map_err(|error| error.to_string())?;
        let run = run?;
        output::err(&format!("{}: {}\n", run.place, run.ended));
        runs.push((number, run));
    }
    runs.sort_by_key(|(number, _)| *number);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}
