//! What the emulator says otherwise than was recorded, and is to: kept beside the folders of recordings, in `accepted.toml`, whose entries have
//! the form of [`Deviations`]. Each must still differ, and in that way.

use std::path::Path;

use super::beside;
use crate::case::Case;
use crate::case::version::Version;
use crate::runner::deviation::Deviations;
use crate::runner::verdict::Failure;
use crate::runner::{CaseResult, State};
use crate::target::site::ToolError;

const FILE: &str = "accepted.toml";

/// The differences that are accepted of the release in a folder of recordings.
///
/// # Errors
/// What [`Deviations::parse`] refuses, and a case that has no recording in the folder.
pub fn beside(folder: &Path, version: Version, cases: &[&Case]) -> Result<Deviations, ToolError> {
    let named = |why: String| ToolError(format!("{FILE}, {version}: {why}"));
    let entries = beside::entries(folder, FILE, version)?;
    let accepted = Deviations::checked(entries, cases).map_err(|error| named(error.0))?;
    let is_missing = |id: &&str| !folder.join(format!("{id}.txt")).exists();
    if let Some(id) = accepted.ids().find(is_missing) {
        return Err(named(format!("`{id}` has no recording")));
    }
    Ok(accepted)
}

/// What becomes of a case that was held against its recording.
pub(super) fn judge(accepted: &Deviations, result: &CaseResult) -> State {
    let id = result.case.id;
    let failed = |message| {
        State::Fail(Failure {
            message,
            place: FILE.to_owned(),
        })
    };
    match (&result.state, accepted.of(id)) {
        (State::Fail(failure), Some(known)) if known.explains(failure) => State::Deviation {
            why: known.why.clone(),
            failure: failure.clone(),
        },
        (State::Fail(failure), Some(known)) => failed(format!(
            "differs otherwise than is accepted ({:?}): {}",
            known.fails, failure.message
        )),
        (State::Pass, Some(known)) => failed(format!(
            "says what was recorded, but is listed as an accepted difference ({}): take it off the list",
            known.why
        )),
        (state, _) => state.clone(),
    }
}
