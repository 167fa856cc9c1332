//! What reads show of keys, and whether the responses are linearizable. The leader always shows what is: only a follower, which
//! answers `?stale`, can show what was.

use std::collections::BTreeSet;

use super::call::Call;
use super::story::Story;
use super::{Finding, Property, finding, seconds};
use crate::run::{Event, What};

/// A change of a key.
struct Change<'a> {
    key: &'a str,
    is_delete: bool,
    event: &'a Event,
    /// The request that it follows from.
    call: Option<&'a Call>,
}

/// Returns whether a response shows the state of a follower.
pub(super) fn is_of_follower(call: &Call) -> bool {
    call.is_read() && call.answer.is_some_and(|answer| answer.read_at.is_some())
}

pub(super) fn judge(story: &Story<'_>, findings: &mut Vec<Finding>) {
    let changes = changes(story);
    for call in story.calls.values() {
        let Some((by, answer)) = call.by.zip(call.answer) else {
            continue;
        };
        let Some(read_at) = answer.read_at.filter(|_| call.is_answered_well()) else {
            continue;
        };
        let mut changes = changes.iter().rev();
        let missed = changes.find(|change| {
            change.event.n > read_at && shows(call, change.key) && is_known(story, change, call)
        });
        if let Some(missed) = missed {
            let text = format!(
                "{by} read {} as it was before {:?} was {} at {:.3}s",
                call.target,
                missed.key,
                if missed.is_delete {
                    "deleted"
                } else {
                    "written"
                },
                seconds(missed.event.at),
            );
            findings.push(finding(Property::StaleRead, Some(by), answer.at, text));
            return;
        }
    }
}

fn changes<'a>(story: &'a Story<'_>) -> Vec<Change<'a>> {
    let mut keys = BTreeSet::new();
    let changed = story.run.events.iter().filter_map(|event| {
        let (key, is_delete) = match &event.what {
            What::Written { key } => (key, false),
            What::Deleted { key } => (key, true),
            _ => return None,
        };
        // The deletion of a prefix changes no key of that name, unless there is one.
        if !is_delete {
            keys.insert(key);
        } else if !keys.remove(key) {
            return None;
        }
        Some(Change {
            key,
            is_delete,
            event,
            call: story.cause_of(event),
        })
    });
    changed.collect()
}

/// Returns whether a read would show a change of this key. A list of keys shows no values.
fn shows(read: &Call, key: &str) -> bool {
    read.covers(key) && !read.has("keys")
}

/// Returns whether a change was there for all to see when `read` was sent: it had been answered, or another response had shown
/// it.
fn is_known(story: &Story<'_>, change: &Change<'_>, read: &Call) -> bool {
    let is_before = |call: &Call| call.answer.is_some_and(|answer| answer.n < read.n);
    let is_done =
        |call: &Call| is_before(call) && call.answer.is_some_and(|answer| answer.status == 200);
    let has_shown = |call: &Call| {
        let is_shown = match call.answer.and_then(|answer| answer.read_at) {
            Some(read_at) => read_at >= change.event.n,
            None => call.n > change.event.n,
        };
        is_shown && is_before(call) && call.is_answered_well() && shows(call, change.key)
    };
    change.call.is_some_and(is_done) || story.calls.values().any(has_shown)
}
