//! What the server alone shows of locks: holders, and writes of former holders.

use super::story::{At, Story};
use super::{Finding, Property, finding, seconds};
use crate::run::What;
use crate::schedule::Contender;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, findings: &mut Vec<Finding>) {
    two_holders(story, findings);
    stale_writes(story, findings);
    lost_updates(story, findings);
}

fn two_holders(story: &Story<'_>, findings: &mut Vec<Finding>) {
    for (place, first) in story.holds.iter().enumerate() {
        let later = story.holds[place + 1..].iter();
        let mut later = later.filter(|later| later.key == first.key);
        if let Some(second) = later.find(|later| later.span.overlaps(first.span)) {
            let text = format!(
                "session {} acquired {:?}, which session {} held",
                second.session, first.key, first.session
            );
            findings.push(finding(Property::TwoHolders, None, second.span.from, text));
        }
    }
}

/// A write of a key, by whom, and when.
struct Write<'a> {
    key: &'a str,
    by: Contender,
    at: At,
    /// Whether it is unconditional.
    is_plain: bool,
}

fn writes<'a>(story: &'a Story<'_>) -> Vec<Write<'a>> {
    let written = story.run.events.iter().filter_map(|event| {
        let (What::Written { key } | What::Deleted { key }) = &event.what else {
            return None;
        };
        let call = story.cause_of(event)?;
        Some(Write {
            key,
            by: call.by?,
            at: event.at,
            is_plain: !["cas=", "acquire=", "release="]
                .iter()
                .any(|name| call.target.contains(name))
                && call.key.as_deref() == Some(key),
        })
    });
    written.collect()
}

/// A guarded write belongs to whoever sent it. It is stale if another has acquired the lock since its sender lost it, and has
/// written a guarded key already.
fn stale_writes(story: &Story<'_>, findings: &mut Vec<Finding>) {
    let Some(guard) = story.run.setup.guard.as_deref() else {
        return;
    };
    let writes = writes(story);
    let guarded: Vec<_> = writes
        .iter()
        .filter(|write| write.key.starts_with(guard))
        .collect();
    for write in &guarded {
        let mut own = story.holds.iter().filter(|hold| hold.by == Some(write.by));
        // The last lock that it held before, if it has lost that.
        let before = own.rfind(|hold| hold.span.from <= write.at);
        let Some(lost) = before.filter(|hold| hold.is_over && hold.span.to < write.at) else {
            continue;
        };
        let next = story.holds.iter().find(|hold| {
            hold.key == lost.key
                && hold.by != lost.by
                && hold.span.from >= lost.span.to
                && hold.span.from < write.at
        });
        let Some(next) = next else {
            continue;
        };
        let mut of_next = guarded.iter().filter(|other| Some(other.by) == next.by);
        let first = of_next.find(|other| (next.span.from..write.at).contains(&other.at));
        if let (Some(first), Some(by)) = (first, next.by) {
            let text = format!(
                "{} wrote {:?}: it had lost {:?} at {:.3}s, and {by}, which has it since {:.3}s, had written {:?} at {:.3}s",
                write.by,
                write.key,
                lost.key,
                seconds(lost.span.to),
                seconds(next.span.from),
                first.key,
                seconds(first.at),
            );
            findings.push(finding(
                Property::StaleWrite,
                Some(write.by),
                write.at,
                text,
            ));
            return;
        }
    }
}

/// A contender reads a key, another writes it, and the first writes it unconditionally.
fn lost_updates(story: &Story<'_>, findings: &mut Vec<Finding>) {
    let writes = writes(story);
    let guard = story.run.setup.guard.as_deref();
    for write in writes.iter().filter(|write| write.is_plain) {
        // Guarded keys are protected by the lock, or by nothing: see stale writes.
        let is_guarded = guard.is_some_and(|guard| write.key.starts_with(guard));
        let is_lock = story.holds.iter().any(|hold| hold.key == write.key);
        if is_guarded || is_lock {
            continue;
        }
        let reads = story.calls.values().filter(|call| {
            call.by == Some(write.by)
                && call.key.as_deref() == Some(write.key)
                && call
                    .answered
                    .is_some_and(|(at, status)| status == 200 && at < write.at)
                && matches!(call.kind, RequestKind::Read | RequestKind::Watch)
        });
        let Some(read) = reads
            .filter_map(|call| call.answered)
            .map(|(at, _)| at)
            .max()
        else {
            continue;
        };
        let between = writes.iter().find(|other| {
            other.by != write.by && other.key == write.key && (read..write.at).contains(&other.at)
        });
        if let Some(other) = between {
            let text = format!(
                "{} overwrote {:?}, which it had read at {:.3}s and {} had written at {:.3}s",
                write.by,
                write.key,
                seconds(read),
                other.by,
                seconds(other.at),
            );
            findings.push(finding(
                Property::LostUpdate,
                Some(write.by),
                write.at,
                text,
            ));
            return;
        }
    }
}
