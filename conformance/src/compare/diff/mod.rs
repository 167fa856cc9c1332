//! Two live targets, case by case: whatever they say differently, apart from what differs by nature (see [`crate::compare::normalize`]).

use std::num::NonZero;

use crate::case::Case;
use crate::case::selection::Selection;
use crate::cases;
use crate::compare::difference::difference;
use crate::compare::normalize::normalize;
use crate::runner::parallel;
use crate::runner::verdict::Failure;
use crate::runner::{CaseResult, Report, Runner, State};
use crate::target::Target;
use crate::target::site::ToolError;
use crate::time::Stopwatch;
use crate::wire::transcript::{Line, Transcript};

/// Runs the selected cases on both targets and compares what was said. A case passes when both say the same, whether or not its claim
/// holds; it is skipped when one of them does not qualify, or when two right servers need not agree.
///
/// Runs as many cases at once as both targets can keep apart (see [`Target::undisturbed`]); use pools to make that more than one.
///
/// # Errors
/// A selection that names no case, or a target that died midway.
pub fn diff(
    left: &Target,
    right: &Target,
    selection: &Selection,
    observer: &(dyn Fn(&CaseResult) + Sync),
) -> Result<Report, ToolError> {
    let watch = Stopwatch::start();
    let selected = selection.of(&cases::all())?;
    let jobs = left.undisturbed().min(right.undisturbed());
    let results = parallel::each(jobs, &selected, |case| {
        let result = diff_one(left, right, case)?;
        observer(&result);
        Ok(result)
    })?;
    Ok(Report {
        target: format!("{} against {}", left.name(), right.name()),
        build: format!("{} against {}", left.facts().build, right.facts().build),
        results,
        took: watch.elapsed(),
    })
}

fn diff_one(left: &Target, right: &Target, case: &'static Case) -> Result<CaseResult, ToolError> {
    let watch = Stopwatch::start();
    let run = |target| Runner::new(target).run_one_alive(case);
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| run(left));
        let other = run(right);
        let one = one.join().expect("every panic of a case is caught");
        (one, other)
    });
    let (one, other) = (one?, other?);
    let state = judge(&one, &other, (left.name(), right.name()));
    Ok(CaseResult {
        case,
        state,
        took: watch.elapsed(),
        transcript: both(left, &one.transcript, right, &other.transcript),
    })
}

fn judge(one: &CaseResult, other: &CaseResult, names: (&str, &str)) -> State {
    for (result, name) in [(one, names.0), (other, names.1)] {
        match &result.state {
            State::Skip(reason) => return State::Skip(format!("{name}: {reason}")),
            State::Error(why) => return State::Error(format!("{name}: {why}")),
            State::Pass | State::Fail(_) | State::Deviation { .. } => {}
        }
    }
    if let Some(why) = one
        .transcript
        .incomparable
        .or(other.transcript.incomparable)
    {
        return State::Skip(format!("not compared: {why}"));
    }
    match difference(&normalize(&one.transcript), &normalize(&other.transcript)) {
        None => State::Pass,
        Some(lines) => State::Fail(Failure {
            message: format!("the two differ (- {}, + {}):\n{lines}", names.0, names.1),
            place: one.case.id.to_owned(),
        }),
    }
}

/// Both transcripts, one after the other.
fn both(left: &Target, one: &Transcript, right: &Target, other: &Transcript) -> Transcript {
    let heading =
        |target: &Target| Line::Note(format!("{} ({})", target.name(), target.facts().build));
    let mut lines = vec![heading(left)];
    lines.extend(one.lines.iter().cloned());
    lines.push(heading(right));
    lines.extend(other.lines.iter().cloned());
    Transcript {
        lines,
        names: one.names.clone(),
        incomparable: one.incomparable.or(other.incomparable),
    }
}

/// A pool's size for comparing: enough to wait in parallel, few enough for a small machine.
pub const SERVERS: NonZero<usize> = NonZero::new(4).expect("four is not zero");

#[cfg(test)]
mod tests;
