//! What should happen in time: a free lock is taken, its holder knows of it, and nobody ends.

use super::beliefs::may_believe_until;
use super::call::Call;
use super::span::{At, Span};
use super::story::{Hold, Lease, Story};
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::contender::Contender;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    free_locks(story, limits, findings);
    unknown_holders(story, limits, findings);
    for (by, at, how) in &story.exits {
        let text = format!("{by} ended: {how}");
        findings.push(finding(Property::Ended, Some(*by), *at, text));
    }
}

/// Locks that are free though a contender that is well wants them.
fn free_locks(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for (place, hold) in story.holds.iter().enumerate() {
        if !hold.is_over || !story.locks.contains(&hold.key) {
            continue;
        }
        let mut later = story.holds[place + 1..].iter();
        let next = later.find(|later| later.key == hold.key);
        let free = Span {
            from: hold.free_from,
            to: next.map_or(story.end, |next| next.span.from),
        };
        let idle = Contender::all(story.run.setup.contenders)
            .find_map(|one| Some((one, idle_part(story, limits, one, hold, free)?)));
        if let Some((by, part)) = idle {
            let text = format!(
                "nobody took {:?}, which has been free since {:.3}s (it was lost at {:.3}s: {}), though {by} wants it",
                hold.key,
                seconds(free.from),
                seconds(hold.span.to),
                hold.why,
            );
            findings.push(finding(Property::NobodyLeads, Some(by), part.to, text));
            return;
        }
    }
}

/// Returns the first part of the time for which a lock was free during which a contender that wants it could have taken it.
///
/// Who has lost it and has not released it itself wants it, as soon as it can know of the loss.
fn idle_part(
    story: &Story<'_>,
    limits: &Limits,
    one: Contender,
    lost: &Hold,
    free: Span,
) -> Option<Span> {
    let mut held = story.holds.iter();
    let last = held
        .rfind(|hold| hold.by == Some(one) && hold.key == lost.key && hold.span.to <= lost.span.to);
    let known = last.filter(|last| !last.by_itself);
    let known = known.and_then(|last| may_believe_until(story, limits, one, last));
    if let Some(known) = known {
        let from = free.from.max(known.at);
        let part = story.well_part(one, Span { from, ..free }, limits.bound);
        if part.is_some() {
            return part;
        }
    }
    let since = last.map_or(0, |last| last.span.to);
    let part = story.well_part(one, free, limits.bound)?;
    asks(story, one, &lost.key, since, part).then_some(part)
}

/// Returns whether a contender asks about a lock while it is free, or the last that it heard about it since a moment was an
/// error.
fn asks(story: &Story<'_>, one: Contender, key: &str, since: At, part: Span) -> bool {
    let has_tried =
        |(by, tried, at): &(Contender, &str, At)| *by == one && *tried == key && part.contains(*at);
    if story.tries.iter().any(has_tried) {
        return true;
    }
    let calls = story.calls.values().filter(|call| {
        let is_of_lock = call.pursues() && call.key.as_deref() == Some(key);
        call.by == Some(one) && is_of_lock && (since..part.to).contains(&call.at)
    });
    // Who holds another lock may look at this one for other reasons.
    let mut others = story.holds.iter().filter(|hold| hold.by == Some(one));
    let is_observer = others.any(|other| {
        let is_other = other.key != key && story.locks.contains(&other.key);
        is_other && other.span.overlaps(part)
    });
    let calls = calls.filter(|call| call.kind == RequestKind::Acquire || !is_observer);
    let is_asking = |call: &Call| call.over.is_none_or(|over| over >= part.from);
    let has_failed = |call: &Call| call.over.is_some() && !call.is_answered_well();
    let calls: Vec<&Call> = calls.collect();
    calls.iter().any(|call| is_asking(call)) || calls.last().is_some_and(|last| has_failed(last))
}

/// Locks that are held by a contender that does not believe so, while nobody else does.
fn unknown_holders(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    if !story.run.setup.tells_beliefs {
        return;
    }
    let locks = story.holds.iter();
    for hold in locks.filter(|hold| story.locks.contains(&hold.key)) {
        let Some(by) = hold.by else {
            continue;
        };
        for part in unbelieved(story, hold) {
            let from = part.from.max(lapses_by(story, hold, part));
            let rest = Span { from, to: part.to };
            let Some(idle) = story.well_part(by, rest, limits.bound) else {
                continue;
            };
            let text = format!(
                "{by} has held {:?} since {:.3}s, and no contender has believed since {:.3}s that it holds a lock",
                hold.key,
                seconds(hold.span.from),
                seconds(part.from),
            );
            findings.push(finding(Property::NobodyLeads, Some(by), idle.to, text));
            return;
        }
    }
}

/// Returns the parts of a hold during which no contender believes that it holds a lock.
fn unbelieved(story: &Story<'_>, hold: &Hold) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut from = hold.span.from;
    // In the order in which they began.
    for belief in &story.beliefs {
        if belief.span.overlaps(hold.span) {
            let to = belief.span.from;
            parts.push(Span { from, to });
            from = from.max(belief.span.to);
        }
    }
    let to = hold.span.to;
    parts.push(Span { from, to });
    parts.retain(|part| part.from < part.to);
    parts
}

/// Returns when the session of a holder ends by itself that renews it no more, such as one that has been started anew and
/// does not know its session. A session that is renewed, or has no TTL, ends at no time: then nothing excuses its owner.
fn lapses_by(story: &Story<'_>, hold: &Hold, part: Span) -> At {
    let Some(session) = story.session(&hold.session) else {
        return 0;
    };
    let sent = |lease: &Lease| {
        let call = lease.call.and_then(|call| story.calls.get(&call));
        call.map_or(lease.applied, |call| call.at)
    };
    // A renewal may be on its way when the belief ends.
    let is_late = |at: At| at > part.from.saturating_add(nanos(session.ttl)) && at < part.to;
    let is_renewed = session.leases.iter().any(|lease| is_late(sent(lease)));
    if is_renewed {
        return 0;
    }
    let applied = session.leases.iter().map(|lease| lease.applied);
    let leaders = story.leaders.iter().copied();
    let last = applied.chain(leaders).filter(|at| *at < part.to).max();
    let last = last.unwrap_or(session.created);
    last.saturating_add(2 * nanos(session.ttl))
}
