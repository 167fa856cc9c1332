//! What the server alone shows of locks: holders, and writes of former holders.

use super::call::Call;
use super::span::At;
use super::story::{Hold, Story};
use super::{Finding, Property, finding, seconds};
use crate::contender::Contender;
use crate::run::What;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, findings: &mut Vec<Finding>) {
    two_holders(story, findings);
    let writes = writes(story);
    stale_writes(story, &writes, findings);
    lost_updates(story, &writes, findings);
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

/// A write that took effect: the key, by whom, and when.
struct Write<'a> {
    key: &'a str,
    by: Contender,
    at: At,
    is_delete: bool,
    call: &'a Call,
}

/// Returns the writes of contenders. What an acquire, a release or the end of a session changes is none.
fn writes<'a>(story: &'a Story<'_>) -> Vec<Write<'a>> {
    let written = story.run.events.iter().filter_map(|event| {
        let (key, is_delete) = match &event.what {
            What::Written { key } => (key, false),
            What::Deleted { key } => (key, true),
            _ => return None,
        };
        let call = story.cause_of(event)?;
        let kinds = [RequestKind::Write, RequestKind::Delete, RequestKind::Txn];
        kinds.contains(&call.kind).then_some(())?;
        Some(Write {
            key,
            by: call.by?,
            at: event.at,
            is_delete,
            call,
        })
    });
    written.collect()
}

/// A guarded write belongs to whoever sent it. It is stale if its sender has lost the lock and holds none, and another has
/// acquired the lock since and has written a guarded key already.
fn stale_writes(story: &Story<'_>, writes: &[Write<'_>], findings: &mut Vec<Finding>) {
    let Some(guard) = story.run.setup.guard.as_deref() else {
        return;
    };
    let guarded = writes.iter().filter(|write| write.key.starts_with(guard));
    let guarded: Vec<_> = guarded.collect();
    for write in &guarded {
        let own = story.own_holds(write.by);
        let before: Vec<&Hold> = own
            .into_iter()
            .filter(|hold| hold.span.from <= write.at)
            .collect();
        if before.iter().any(|hold| hold.span.to >= write.at) {
            continue;
        }
        let overtaken = before.iter().rev().find_map(|lost| {
            let next = overtaken_by(story, lost, write.at, &guarded)?;
            Some((lost, next))
        });
        let Some((lost, (next, first))) = overtaken else {
            continue;
        };
        let text = format!(
            "{} {} {:?}: it had lost {:?} at {:.3}s, and {}, which had acquired it at {:.3}s, had written {:?} at {:.3}s",
            write.by,
            if write.is_delete { "deleted" } else { "wrote" },
            write.key,
            lost.key,
            seconds(lost.span.to),
            first.by,
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

/// Returns a later hold by another contender of the lock that was lost, and the first guarded write of that holder before a
/// moment.
fn overtaken_by<'a>(
    story: &'a Story<'_>,
    lost: &Hold,
    at: At,
    guarded: &[&'a Write<'a>],
) -> Option<(&'a Hold, &'a Write<'a>)> {
    let later = story.holds.iter().filter(|hold| {
        hold.key == lost.key && hold.by != lost.by && hold.span.from >= lost.span.to
    });
    let mut later = later.filter(|hold| hold.span.from < at);
    later.find_map(|hold| {
        let mut of_holder = guarded
            .iter()
            .copied()
            .filter(|write| Some(write.by) == hold.by);
        let first = of_holder.find(|write| write.at < at && hold.span.contains(write.at));
        Some((hold, first?))
    })
}

/// A contender reads a key, another writes it, and the first writes it unconditionally.
///
/// Its last request about the key before the write is the read: then the write is made of what was read. A write of the
/// holder of a lock is protected by that, or is a stale one.
fn lost_updates(story: &Story<'_>, writes: &[Write<'_>], findings: &mut Vec<Finding>) {
    let guard = story.run.setup.guard.as_deref();
    for write in writes.iter().filter(|write| is_plain(write)) {
        let is_guarded = guard.is_some_and(|guard| write.key.starts_with(guard));
        let is_lock = story.holds.iter().any(|hold| hold.key == write.key);
        let mut own = story.holds.iter().filter(|hold| hold.by == Some(write.by));
        if is_guarded || is_lock || own.any(|hold| hold.span.contains(write.at)) {
            continue;
        }
        let before = story.calls.range(..write.call.number).rev();
        let mut before = before.map(|(_, call)| call);
        let read = before.find(|call| call.by == Some(write.by) && call.names(write.key));
        let read = read.filter(|call| call.is_read());
        let read = read.and_then(|call| call.answer);
        let Some(read) =
            read.filter(|answer| answer.n < write.call.n && matches!(answer.status, 200 | 404))
        else {
            continue;
        };
        let between = writes.iter().find(|other| {
            let between = read.at..write.at;
            other.by != write.by && other.key == write.key && between.contains(&other.at)
        });
        let Some(other) = between else {
            continue;
        };
        let text = format!(
            "{} {} {:?}, which it had read at {:.3}s and {} had {} at {:.3}s",
            write.by,
            if write.is_delete {
                "deleted"
            } else {
                "overwrote"
            },
            write.key,
            seconds(read.at),
            other.by,
            if other.is_delete {
                "deleted"
            } else {
                "written"
            },
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

/// Returns whether a write takes effect whatever the key is: it is no transaction, and has no index.
fn is_plain(write: &Write<'_>) -> bool {
    write.call.names(write.key) && !write.call.has("cas")
}
