//! What contenders believed, beside what they could know.
//!
//! A contender may believe that it holds a lock as long as its lease lasts: until one TTL after it has sent the last renewal
//! whose response has arrived, because the server waits for two TTLs. It may not where a response has shown it the loss.

use super::call::{Answer, Call};
use super::span::{At, Span};
use super::story::{Belief, Hold, Session, Story};
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::contender::Contender;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for belief in &story.beliefs {
        let own = story.own_holds(belief.by);
        for hold in lost_during(&own, belief) {
            late(story, limits, belief, hold, &own, findings);
        }
        unfounded(story, limits, belief, &own, findings);
    }
}

/// Returns the holds of a contender that ended during a belief, and the last that it had acquired when the belief began: a
/// response to an acquire may arrive when the lock is lost again.
///
/// A belief names no key. It is right as long as one of the holds is.
fn lost_during<'a>(own: &[&'a Hold], belief: &Belief) -> Vec<&'a Hold> {
    let before = own.iter().rfind(|hold| hold.span.from <= belief.span.from);
    let is_covered = |hold: &&&Hold| {
        hold.span.overlaps(belief.span)
            || before.is_some_and(|before| std::ptr::eq(*before, **hold))
    };
    let lost = own.iter().filter(is_covered).copied();
    lost.filter(|hold| hold.is_over && !hold.by_itself)
        .collect()
}

/// When a contender may no longer believe, and why.
pub(super) struct Until {
    pub(super) at: At,
    why: String,
}

/// Returns until when a contender may believe in a lock that it has lost; `None` if it could not know of the loss.
pub(super) fn may_believe_until(
    story: &Story<'_>,
    limits: &Limits,
    by: Contender,
    hold: &Hold,
) -> Option<Until> {
    let shown = shown(story, by, hold);
    match (shown, lease_end(story, limits, hold)) {
        (Some(shown), lease) if lease.is_none_or(|lease| shown <= lease.max(hold.end.at)) => {
            Some(Until {
                at: shown,
                why: format!("a response showed {by} the loss at {:.3}s", seconds(shown)),
            })
        }
        (_, Some(lease)) => Some(Until {
            at: lease.max(hold.end.at),
            why: format!("the lease of {by} was over at {:.3}s", seconds(lease)),
        }),
        (_, None) => None,
    }
}

/// Returns when the lease of a holder was over that has lost the lock. Without a TTL there is no lease.
///
/// Renewals after the loss count, too: where somebody deletes the key, the session lives on.
fn lease_end(story: &Story<'_>, limits: &Limits, hold: &Hold) -> Option<At> {
    let session = story.session(&hold.session)?;
    let mut end = lease_at(story, session, hold.end.at)?;
    for (sent, arrived) in answered_leases(story, session) {
        // Later it is over, whatever comes.
        if arrived <= end.saturating_add(nanos(limits.slack)) {
            end = end.max(sent.saturating_add(nanos(session.ttl)));
        }
    }
    Some(end)
}

/// Returns how long the lease of a session lasts as its owner knows it at a moment: until one TTL after it had sent the last
/// request that made the session live on and whose response has arrived.
pub(super) fn lease_at(story: &Story<'_>, session: &Session, at: At) -> Option<At> {
    if session.ttl.is_zero() {
        return None;
    }
    let known = answered_leases(story, session).into_iter();
    let known = known.filter(|(_, arrived)| *arrived <= at);
    let sent = known.map(|(sent, _)| sent).max();
    let sent = sent.unwrap_or(session.created);
    Some(sent.saturating_add(nanos(session.ttl)))
}

/// Returns when the requests were sent and answered that have made a session live on, in the order of the answers.
fn answered_leases(story: &Story<'_>, session: &Session) -> Vec<(At, At)> {
    let calls = session.leases.iter().filter_map(|lease| lease.call);
    let calls = calls.filter_map(|call| story.calls.get(&call));
    let answered = calls.filter_map(|call| Some((call.at, call.answer?.at)));
    let mut answered: Vec<(At, At)> = answered.collect();
    answered.sort_by_key(|(_, arrived)| *arrived);
    answered
}

/// Returns when the first response arrived that showed a contender that it had lost the lock.
fn shown(story: &Story<'_>, by: Contender, hold: &Hold) -> Option<At> {
    let own = || story.calls.values().filter(|call| call.by == Some(by));
    // Who follows the key alone may read a prefix for other reasons.
    let is_followed = own().any(|call| call.is_read() && call.names(&hold.key));
    let shows = |call: &Call, answer: Answer| match call.kind {
        // Only a session that has ended is not found.
        RequestKind::Renew => call.is_of_session(&hold.session) && answer.status == 404,
        _ => {
            let is_meant = call.names(&hold.key) || !is_followed;
            is_meant
                && call.shows_holder(&hold.key)
                && matches!(answer.status, 200 | 404)
                && story.is_made_after(call, hold.end)
        }
    };
    let answers = own().filter_map(|call| Some((call, call.answer?)));
    let showing = answers.filter(|(call, answer)| shows(call, *answer));
    showing.map(|(_, answer)| answer.at).min()
}

fn late(
    story: &Story<'_>,
    limits: &Limits,
    belief: &Belief,
    hold: &Hold,
    own: &[&Hold],
    findings: &mut Vec<Finding>,
) {
    let by = belief.by;
    let Some(until) = may_believe_until(story, limits, by, hold) else {
        return;
    };
    let from = story.acts_by(by, until.at.max(belief.span.from), limits.slack);
    // It may hold another lock, or this one again.
    let again = own.iter().filter(|other| other.span.to > hold.span.to);
    let again = again.map(|other| other.span.from).min();
    let wrong = Span {
        from,
        to: belief.span.to.min(again.unwrap_or(At::MAX)),
    };
    if wrong.from >= wrong.to {
        return;
    }
    let lost = format!(
        "{by} had lost the lock at {:.3}s ({}), and {}",
        seconds(hold.end.at),
        hold.why,
        until.why
    );
    let text = format!("{by} believed that it held {:?}: {lost}", hold.key);
    findings.push(finding(Property::NoticedLate, Some(by), wrong.from, text));
    let of_lock = |one: &&Hold| one.key == hold.key;
    if let Some((from, other)) = other_believer(story, wrong, of_lock) {
        let text = format!("{}; {lost}", both(by, other));
        findings.push(finding(Property::TwoBelievers, Some(by), from, text));
    }
}

/// A belief of who has acquired nothing, while another holds a lock and believes so.
fn unfounded(
    story: &Story<'_>,
    limits: &Limits,
    belief: &Belief,
    own: &[&Hold],
    findings: &mut Vec<Finding>,
) {
    let by = belief.by;
    let from = story.acts_by(by, belief.span.from, limits.slack);
    let first = own.iter().map(|hold| hold.span.from).min();
    let wrong = Span {
        from,
        to: belief.span.to.min(first.unwrap_or(At::MAX)),
    };
    let is_lock = |one: &&Hold| story.locks.contains(&one.key);
    if let Some((from, other)) = other_believer(story, wrong, is_lock) {
        let text = format!("{}; {by} had not acquired it", both(by, other));
        findings.push(finding(Property::TwoBelievers, Some(by), from, text));
    }
}

/// Returns the first hold of a contender that believes in it during a span in which another does wrongly, and when that
/// begins.
fn other_believer<'a>(
    story: &'a Story<'_>,
    wrong: Span,
    is_meant: impl Fn(&&Hold) -> bool,
) -> Option<(At, &'a Hold)> {
    let holds = story.holds.iter().filter(is_meant);
    let both = holds.flat_map(|hold| {
        let beliefs = story.beliefs.iter();
        let theirs = beliefs.filter(move |belief| hold.by == Some(belief.by));
        theirs.filter_map(move |belief| {
            let from = wrong.from.max(belief.span.from).max(hold.span.from);
            let to = wrong.to.min(belief.span.to).min(hold.span.to);
            (from < to).then_some((from, hold))
        })
    });
    both.min_by_key(|(from, _)| *from)
}

fn both(by: Contender, other: &Hold) -> String {
    let name = other.by.map_or(String::new(), |name| name.to_string());
    format!(
        "both {by} and {name} believed that they held {:?}: {name} has held it since {:.3}s",
        other.key,
        seconds(other.span.from),
    )
}
