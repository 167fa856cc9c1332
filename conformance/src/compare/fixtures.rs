//! Recordings of what a real Consul said, and holding a target against them without any Consul present.
//!
//! One folder per version: `recorded.json` says of what, when and how; one text file per case holds the normalized transcript.
//! Only a real Consul is recorded, and only what two runs in a row agree on; recordings are never edited by hand.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::case::feature::{Facts, Feature};
use crate::case::selection::Selection;
use crate::case::version::Version;
use crate::cases;
use crate::compare::accepted;
use crate::compare::difference::difference;
use crate::compare::normalize::normalize;
use crate::compare::not_recorded::NotRecorded;
use crate::compare::settle::settled;
use crate::runner::deviation::Deviations;
use crate::runner::parallel;
use crate::runner::verdict::Failure;
use crate::runner::{CaseResult, Report, Runner, State};
use crate::target::Target;
use crate::target::site::ToolError;
use crate::time::{Stopwatch, today};

const ABOUT: &str = "recorded.json";

/// Of what a folder of recordings was made. A target is held against it only when it agrees in all but build and date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The version that the server said it was.
    pub version: String,
    /// The same with revision and Go version.
    pub build: String,
    /// The day of the recording.
    pub date: String,
    /// JSON was printed over many lines, as a dev agent does.
    pub dev: bool,
    /// The shortest TTL that a session could have, in milliseconds.
    pub shortest_ttl_ms: u64,
}

impl Recorded {
    fn of(facts: &Facts) -> Self {
        Self {
            version: facts.version.to_string(),
            build: facts.build.clone(),
            date: today(),
            dev: facts.has(Feature::DevMode),
            shortest_ttl_ms: u64::try_from(facts.shortest_ttl.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Why a target cannot be held against these recordings, if so.
    fn refusal(&self, target: &Self) -> Option<String> {
        let (what, recorded, here) = self.unlike(target)?;
        Some(format!(
            "the recordings cannot be compared: their {what} is {recorded}, the target's is {here}"
        ))
    }

    /// In what a target is not like the one that was recorded: what, then, and now.
    fn unlike(&self, target: &Self) -> Option<(&'static str, String, String)> {
        let pairs = [
            ("version", self.version.clone(), target.version.clone()),
            ("dev mode", self.dev.to_string(), target.dev.to_string()),
            (
                "session_ttl_min in ms",
                self.shortest_ttl_ms.to_string(),
                target.shortest_ttl_ms.to_string(),
            ),
        ];
        pairs.into_iter().find(|(_, one, other)| one != other)
    }
}

/// Runs the selected cases twice and writes what both runs agree on below `folder/<version>/`.
///
/// A case that does not hold, or whose two runs differ, fails and is not recorded. Recordings of cases that are no more, or no longer
/// compared, are deleted.
///
/// # Errors
/// A target that is not a real Consul, a selection that names no case, a folder that cannot be written or has recordings of a server in
/// another mode.
pub fn record(
    target: &Target,
    selection: &Selection,
    folder: &Path,
    observer: &(dyn Fn(&CaseResult) + Sync),
) -> Result<Report, ToolError> {
    let facts = target.facts();
    if !facts.genuine {
        return Err(ToolError(format!(
            "{} is not recorded: it does not show the inside of a real Consul, and recordings of a double would prove nothing",
            target.name()
        )));
    }
    let selected = selection.of(&cases::all())?;
    let folder = folder.join(facts.version.to_string());
    let about = Recorded::of(facts);
    if folder.join(ABOUT).exists()
        && let Some((what, recorded, here)) = read_about(&folder)?.unlike(&about)
    {
        let folder = folder.display();
        return Err(ToolError(format!(
            "{folder} has recordings whose {what} is {recorded}, the target's is {here}: record into another folder"
        )));
    }
    let about = serde_json::to_string_pretty(&about).expect("plain data is JSON");
    write(&folder.join(ABOUT), &format!("{about}\n"))?;
    for stranger in strangers(&folder, facts.version)? {
        delete(&stranger)?;
    }
    let watch = Stopwatch::start();
    let results = parallel::each(target.undisturbed(), &selected, |case| {
        let result = record_one(target, case, &folder)?;
        observer(&result);
        Ok::<_, ToolError>(result)
    })?;
    Ok(Report::of(target, results, watch.elapsed()))
}

fn record_one(
    target: &Target,
    case: &'static Case,
    folder: &Path,
) -> Result<CaseResult, ToolError> {
    let runner = Runner::new(target);
    let mut result = runner.run_one_alive(case)?;
    if result.state != State::Pass {
        return Ok(result);
    }
    let again = runner.run_one_alive(case)?;
    if let Some(why) = result
        .transcript
        .incomparable
        .or(again.transcript.incomparable)
    {
        if result.transcript.incomparable == again.transcript.incomparable {
            delete(&file_of(folder, case))?;
        }
        result.state = State::Skip(format!("not compared: {why}"));
        return Ok(result);
    }
    let (lines, twice) = (normalize(&result.transcript), normalize(&again.transcript));
    if again.state != State::Pass {
        return Ok(again);
    }
    match difference(&lines, &twice) {
        None => write(&file_of(folder, case), &format!("{}\n", lines.join("\n")))?,
        Some(lines) => {
            result.state = State::Fail(Failure {
                message: format!("two runs on the same server differ:\n{lines}"),
                place: case.id.to_owned(),
            });
        }
    }
    Ok(result)
}

/// Runs the selected cases and compares what was said with the recordings in `folder` (one version's).
///
/// A case that is known to deviate fails as its deviation says, and is not compared; one whose recording is known to differ
/// ([`accepted`]) differs as that list says. A case that can be compared and has no recording fails, unless [`NotRecorded`] says why it has
/// none.
///
/// # Errors
/// A folder without recordings or with one that belongs to no case of its version, a wrong list beside it, a target of another version or
/// mode, a selection that names no case, a target that died midway.
pub fn replay(
    target: &Target,
    deviations: &Deviations,
    selection: &Selection,
    folder: &Path,
    observer: &(dyn Fn(&CaseResult) + Sync),
) -> Result<Report, ToolError> {
    let recorded = read_about(folder)?;
    if let Some(refusal) = recorded.refusal(&Recorded::of(target.facts())) {
        return Err(ToolError(refusal));
    }
    if let Some(stranger) = strangers(folder, target.facts().version)?.first() {
        let stranger = stranger.display();
        let text = format!("{stranger} is a recording of no case: record again, or delete it");
        return Err(ToolError(text));
    }
    let version = target.facts().version;
    let listed = NotRecorded::beside(folder, version, &cases::all())?;
    let accepted = accepted::beside(folder, version, &cases::all())?;
    let selected = selection.of(&cases::all())?;
    let watch = Stopwatch::start();
    let runner = Runner::new(target).deviations(deviations.clone());
    let results = parallel::each(target.undisturbed(), &selected, |case| {
        let mut result = replay_one(&runner, case, folder, listed.reason(case.id))?;
        result.state = accepted::judge(&accepted, &result);
        observer(&result);
        Ok::<_, ToolError>(result)
    })?;
    Ok(Report::of(target, results, watch.elapsed()))
}

/// Replays one case; `unrecorded` is why it is known to have no recording.
fn replay_one(
    runner: &Runner<'_>,
    case: &'static Case,
    folder: &Path,
    unrecorded: Option<&str>,
) -> Result<CaseResult, ToolError> {
    if case.needs.contains(&Feature::MovableClock) {
        let why = "cannot be recorded: nobody moves the clock of a real Consul";
        return Ok(CaseResult::skipped(case, why));
    }
    let recorded = recording(folder, case)?;
    let mut result = runner.run_one_alive(case)?;
    if matches!(result.state, State::Pass | State::Fail(_)) {
        let failed = |message| {
            State::Fail(Failure {
                message,
                place: case.id.to_owned(),
            })
        };
        result.state = match (result.transcript.incomparable, recorded, unrecorded) {
            (Some(why), _, None) => State::Skip(format!("not compared: {why}")),
            (Some(_), _, Some(_)) => failed(
                "it is not compared, and is listed as not recorded: take it off the list"
                    .to_owned(),
            ),
            (None, Some(recorded), _) => held_against(&recorded, &result),
            (None, None, Some(why)) if result.state == State::Pass => {
                State::Skip(format!("has no recording: {why}"))
            }
            (None, None, Some(_)) => result.state,
            (None, None, None) => failed(format!(
                "there is no recording of it, and neither the case nor not-recorded.toml says why: `record {}`",
                case.id
            )),
        };
    }
    Ok(result)
}

/// The lines of a case's recording, if there is one.
///
/// # Errors
/// A file that cannot be read or is no recording.
fn recording(folder: &Path, case: &Case) -> Result<Option<Vec<String>>, ToolError> {
    let file = file_of(folder, case);
    match fs::read_to_string(&file) {
        Ok(text) => {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let is_said =
                |line: &String| matches!(line.as_bytes(), [b'<' | b'>'] | [b'<' | b'>', b' ', ..]);
            match lines.iter().position(|line| !is_said(line)) {
                None => Ok(Some(settled(&lines))),
                Some(at) => Err(ToolError(format!(
                    "{} is no recording: line {} begins with neither `> ` nor `< `",
                    file.display(),
                    at + 1
                ))),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", &file, &error)),
    }
}

/// Whether a case said what was recorded.
fn held_against(recorded: &[String], result: &CaseResult) -> State {
    match difference(recorded, &normalize(&result.transcript)) {
        None => State::Pass,
        Some(lines) => State::Fail(Failure {
            message: format!("differs from the recording (- recorded, + here):\n{lines}"),
            place: result.case.id.to_owned(),
        }),
    }
}

/// Of what the recordings in a folder were made.
///
/// # Errors
/// A folder without recordings, or with a `recorded.json` that does not say what it should.
pub fn read_about(folder: &Path) -> Result<Recorded, ToolError> {
    let file = folder.join(ABOUT);
    let text = fs::read_to_string(&file).map_err(|error| cannot("read", &file, &error))?;
    serde_json::from_str(&text).map_err(|error| ToolError(format!("{}: {error}", file.display())))
}

/// The cases that have a recording in a folder.
#[must_use]
pub fn recorded_cases(folder: &Path) -> Vec<&'static Case> {
    let mut recorded = cases::all();
    recorded.retain(|case| file_of(folder, case).exists());
    recorded
}

fn file_of(folder: &Path, case: &Case) -> PathBuf {
    folder.join(format!("{}.txt", case.id))
}

/// Writes a file whole or not at all.
fn write(file: &Path, text: &str) -> Result<(), ToolError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let unfinished = file.with_extension("unfinished");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&unfinished, text))
        .and_then(|()| fs::rename(&unfinished, file))
        .map_err(|error| cannot("write", file, &error))
}

fn cannot(what: &str, file: &Path, error: &io::Error) -> ToolError {
    ToolError(format!("cannot {what} {}: {error}", file.display()))
}

fn delete(file: &Path) -> Result<(), ToolError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(cannot("delete", file, &error))
        }
        _ => Ok(()),
    }
}

/// The recordings in a folder that belong to no case of its version, in order.
fn strangers(folder: &Path, version: Version) -> Result<Vec<PathBuf>, ToolError> {
    let known: BTreeSet<PathBuf> = cases::all()
        .iter()
        .filter(|case| !case.is_of_another_version(version))
        .map(|case| file_of(folder, case))
        .collect();
    let mut strangers = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| cannot("read", &folder, &error))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "txt") && !known.contains(&path) {
                strangers.push(path);
            }
        }
    }
    strangers.sort();
    Ok(strangers)
}

#[cfg(test)]
#[path = "fixtures_tests.rs"]
mod tests;
