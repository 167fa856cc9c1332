//! What contenders said: their fencing tokens, writes after they had said that the lock was lost, and locks that they gave up.

use std::collections::BTreeMap;

use super::beliefs::lease_at;
use super::span::{At, Span};
use super::story::{Belief, BeliefEnd, Hold, Story};
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::contender::Contender;
use crate::run::What;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    tokens(story, findings);
    acts_after_loss(story, limits, findings);
    gives_up(story, limits, findings);
}

/// The tokens of one hold.
struct Given {
    least: u64,
    greatest: u64,
    /// When the first of them was given out.
    at: At,
}

/// A token belongs to what its contender had acquired last. In the order of the acquires they grow, unless indexes went back.
fn tokens(story: &Story<'_>, findings: &mut Vec<Finding>) {
    let mut given: BTreeMap<usize, Given> = BTreeMap::new();
    for token in &story.tokens {
        let is_lock = |hold: &Hold| story.locks.contains(&hold.key);
        let of = story.holds.iter().rposition(|hold| {
            hold.by == Some(token.by) && hold.span.from <= token.at && is_lock(hold)
        });
        let Some(of) = of else {
            continue;
        };
        let one = given.entry(of).or_insert(Given {
            least: token.number,
            greatest: token.number,
            at: token.at,
        });
        one.least = one.least.min(token.number);
        one.greatest = one.greatest.max(token.number);
    }
    let mut last: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for (place, one) in &given {
        let hold = &story.holds[*place];
        let before = last.insert(&hold.key, (*place, one.greatest));
        let Some((before, greatest)) = before else {
            continue;
        };
        let before = &story.holds[before];
        let between = Span {
            from: before.span.from,
            // At the same moment, too.
            to: one.at.saturating_add(1),
        };
        let mut lowered = story.lowered.iter();
        let is_lowered = lowered.any(|moment| between.contains(moment.at));
        if let (true, Some(by), Some(earlier)) =
            (greatest >= one.least && !is_lowered, hold.by, before.by)
        {
            let text = format!(
                "{by} holds {:?} with the token {}, and {earlier} held it before with {greatest}",
                hold.key, one.least
            );
            findings.push(finding(Property::TokenBack, Some(by), one.at, text));
            return;
        }
    }
}

/// A request to write guarded keys.
struct Write<'a> {
    by: Contender,
    at: At,
    key: &'a str,
}

/// Returns the requests to write guarded keys. A transaction does where it wrote one: what it was to write is not recorded.
fn guarded_writes<'a>(story: &'a Story<'_>, guard: &str) -> Vec<Write<'a>> {
    let mut writes = Vec::new();
    for call in story.calls.values() {
        let is_write = matches!(call.kind, RequestKind::Write | RequestKind::Delete);
        let key = call.key.as_deref().filter(|_| is_write);
        let (by, at) = (call.by, call.at);
        writes.extend(by.zip(key).map(|(by, key)| Write { by, at, key }));
    }
    for event in &story.run.events {
        let (What::Written { key } | What::Deleted { key }) = &event.what else {
            continue;
        };
        let call = story.cause_of(event);
        let call = call.filter(|call| call.kind == RequestKind::Txn);
        let by_txn = call.and_then(|call| Some((call.by?, call.at)));
        writes.extend(by_txn.map(|(by, at)| Write { by, at, key }));
    }
    writes.retain(|write| write.key.starts_with(guard));
    writes.sort_by_key(|write| write.at);
    writes
}

/// Guarded writes that are sent after their sender has said that the lock is lost, and before it acquires one again.
fn acts_after_loss(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let Some(guard) = story.run.setup.guard.as_deref() else {
        return;
    };
    for write in guarded_writes(story, guard) {
        let mut own = story.beliefs.iter().filter(|one| one.by == write.by);
        // The word may come later than the write.
        let soon = write.at.saturating_add(nanos(limits.slack));
        let Some(last) = own.rfind(|belief| belief.span.from <= soon) else {
            continue;
        };
        let said = last.span.to;
        let acquired = story
            .holds
            .iter()
            .any(|hold| hold.by == Some(write.by) && (said..=write.at).contains(&hold.span.from));
        let is_late = write.at > story.acts_by(write.by, said, limits.slack);
        if last.end == BeliefEnd::Said && is_late && !acquired {
            let text = format!(
                "{} wrote {:?}: it had said at {:.3}s that it had lost the lock",
                write.by,
                write.key,
                seconds(said),
            );
            findings.push(finding(
                Property::ActedAfterLoss,
                Some(write.by),
                write.at,
                text,
            ));
            return;
        }
    }
}

/// Beliefs that end while the session holds the lock, though nothing went wrong in the time before. A delay that
/// is slight is nothing wrong.
fn gives_up(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let said = |belief: &&Belief| belief.end == BeliefEnd::Said;
    for belief in story.beliefs.iter().filter(said) {
        let (by, at) = (belief.by, belief.span.to);
        let Some(hold) = given_up(story, limits, belief) else {
            continue;
        };
        let session = story.session(&hold.session);
        let ttl = session.map_or(0, |session| nanos(session.ttl));
        let recent = Span {
            from: at.saturating_sub(2 * ttl).min(hold.span.from),
            to: at.saturating_add(1),
        };
        let is_disturbed = story.hits.iter().any(|hit| recent.contains(*hit));
        // A busy machine may have kept it from a renewal. That is no reason while a quarter of the TTL is left.
        let margin = nanos(limits.slack).min(ttl / 4);
        let lease = session.and_then(|session| lease_at(story, session, at));
        let is_over = lease.is_some_and(|lease| lease <= at.saturating_add(margin));
        if !is_disturbed && !is_over && story.is_well(by, recent) {
            let text = format!(
                "{by} said that it had lost {:?}, which its session {} held, and nothing had gone wrong",
                hold.key, hold.session
            );
            findings.push(finding(Property::GivesUpLock, Some(by), at, text));
            return;
        }
    }
}

/// Returns the lock that a contender gave up when it said that it was lost.
///
/// Whoever gives the lock back because its work is done says the same, and releases the lock before or after the word. That
/// is a fault only of a contender that keeps a lock as long as it can.
fn given_up<'a>(story: &'a Story<'_>, limits: &Limits, belief: &Belief) -> Option<&'a Hold> {
    let at = belief.span.to;
    let own = story.own_holds(belief.by);
    let slack = nanos(limits.slack);
    let recent =
        |hold: &Hold, within: u64| hold.is_over && hold.span.to.saturating_add(within) >= at;
    let mut before = own.iter().rev().filter(|hold| hold.span.from <= at);
    if limits.keeps_lock {
        let is_held = |hold: &Hold| hold.span.to > at || hold.by_itself && recent(hold, slack);
        return before.find(|hold| is_held(hold)).copied();
    }
    let hold = before.find(|hold| hold.span.to > at)?;
    let ttl = story.session(&hold.session).map(|session| session.ttl);
    let grace = nanos(ttl.unwrap_or_default()).saturating_add(slack);
    // It may speak of another lock, which it has just lost or released.
    let speaks_of_another = own
        .iter()
        .any(|other| other.span.to <= at && recent(other, grace));
    let returned_by = match (hold.is_over, hold.by_itself) {
        (true, true) => hold.span.to,
        (true, false) => At::MAX,
        (false, _) => story.end,
    };
    let is_kept = returned_by > at.saturating_add(grace);
    (is_kept && !speaks_of_another).then_some(*hold)
}
