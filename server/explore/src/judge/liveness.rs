//! What should happen in time: takeovers, reads of changes, and an end of requests and sessions.

use std::collections::{BTreeMap, VecDeque};

use super::story::{Hold, Span, Story};
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::run::What;
use crate::schedule::Contender;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    free_locks(story, limits, findings);
    unknown_holders(story, limits, findings);
    busy_loops(story, limits, findings);
    sessions(story, limits, findings);
    missed_values(story, limits, findings);
    for (by, at, how) in &story.exits {
        let text = format!("{by} ended: {how}");
        findings.push(finding(Property::Ended, Some(*by), *at, text));
    }
}

/// Returns the first part of a span, as long as the bound, in which some contender is well all the time.
fn idle_part(story: &Story<'_>, limits: &Limits, free: Span) -> Option<Span> {
    let bound = nanos(limits.bound);
    let mut starts = vec![free.from];
    let bad = story
        .paused
        .iter()
        .chain(&story.apart)
        .map(|(_, span)| span.to);
    starts.extend(bad.chain(story.leaderless.iter().map(|span| span.to)));
    starts.sort_unstable();
    let parts = starts.into_iter().map(|from| Span {
        from,
        to: from.saturating_add(bound),
    });
    let mut parts = parts.filter(|part| part.from >= free.from && part.to <= free.to);
    parts.find(|part| {
        let mut all = Contender::all(story.run.setup.contenders);
        all.any(|one| story.is_well(one, *part))
    })
}

fn free_locks(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for (place, hold) in story.holds.iter().enumerate() {
        if !hold.is_over {
            continue;
        }
        let mut later = story.holds[place + 1..].iter();
        let next = later.find(|later| later.key == hold.key);
        let free = Span {
            from: hold.free_from,
            to: next.map_or(story.end, |next| next.span.from),
        };
        if let Some(part) = idle_part(story, limits, free) {
            let text = format!(
                "nobody took {:?}, which has been free since {:.3}s ({})",
                hold.key,
                seconds(free.from),
                hold.why,
            );
            findings.push(finding(Property::NobodyLeads, None, part.to, text));
            return;
        }
    }
}

/// Locks that are held by a contender that does not believe so.
fn unknown_holders(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    if !story.run.setup.tells_beliefs {
        return;
    }
    for hold in &story.holds {
        let Some(by) = hold.by else {
            continue;
        };
        for part in unbelieved(story, hold, by) {
            if part.length() < limits.bound || !story.is_well(by, part) {
                continue;
            }
            let text = format!(
                "nobody leads: {by} holds {:?} since {:.3}s and does not believe so since {:.3}s",
                hold.key,
                seconds(hold.span.from),
                seconds(part.from),
            );
            let at = part.from.saturating_add(nanos(limits.bound));
            findings.push(finding(Property::NobodyLeads, Some(by), at, text));
            return;
        }
    }
}

/// Returns the parts of a hold during which its contender does not believe in it.
fn unbelieved(story: &Story<'_>, hold: &Hold, by: Contender) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut from = hold.span.from;
    for belief in story.beliefs.iter().filter(|belief| belief.by == by) {
        if belief.span.overlaps(hold.span) {
            parts.push(Span {
                from,
                to: belief.span.from.max(from),
            });
            from = belief.span.to.min(hold.span.to);
        }
    }
    parts.push(Span {
        from,
        to: hold.span.to,
    });
    parts
}

fn busy_loops(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let mut recent: BTreeMap<Contender, VecDeque<u64>> = BTreeMap::new();
    let guard = story.run.setup.guard.as_deref();
    for call in story.calls.values() {
        let is_guarded = guard.is_some_and(|guard| {
            let key = call.key.as_deref();
            key.is_some_and(|key| key.starts_with(guard))
        });
        let Some(by) = call.by.filter(|_| !is_guarded) else {
            continue;
        };
        let times = recent.entry(by).or_default();
        times.push_back(call.at);
        while times
            .front()
            .is_some_and(|first| call.at - first > 1_000_000_000)
        {
            times.pop_front();
        }
        if times.len() > limits.requests {
            let text = format!(
                "{by} sent {} requests in a second, the last of them {}",
                times.len(),
                call.target
            );
            findings.push(finding(Property::BusyLoop, Some(by), call.at, text));
            return;
        }
    }
}

fn sessions(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for by in Contender::all(story.run.setup.contenders) {
        let own = story
            .sessions
            .values()
            .filter(|session| session.by == Some(by));
        let live = own.filter(|session| session.ended.is_none()).count();
        if live > limits.sessions {
            let text = format!("{live} sessions of {by} are left");
            findings.push(finding(Property::SessionsPileUp, Some(by), story.end, text));
        }
    }
}

/// A contender that watches a key reads each of its changes, or a later one, within the bound.
fn missed_values(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let changes: BTreeMap<&str, u64> = story
        .run
        .events
        .iter()
        .filter_map(|event| match &event.what {
            What::Written { key } | What::Deleted { key } => Some((key.as_str(), event.at)),
            _ => None,
        })
        .collect();
    for by in Contender::all(story.run.setup.contenders) {
        for (key, changed) in &changes {
            let own = || {
                let own = story.calls.values().filter(|call| call.by == Some(by));
                own.filter(|call| call.key.as_deref() == Some(*key))
            };
            let watches = |call: &&super::story::Call| call.kind == RequestKind::Watch;
            let waits = own().filter(watches).any(|call| {
                call.at < *changed && call.answered.is_none_or(|(at, _)| at >= *changed)
            });
            let is_holder = story
                .holds
                .iter()
                .any(|hold| hold.by == Some(by) && hold.key == *key && hold.span.from >= *changed);
            let reads =
                own().filter(|call| matches!(call.kind, RequestKind::Watch | RequestKind::Read));
            let mut answered = reads.filter_map(|call| call.answered);
            let has_read = answered.any(|(at, status)| at >= *changed && status != 500);
            let part = Span {
                from: *changed,
                to: changed.saturating_add(nanos(limits.bound)),
            };
            if waits && !has_read && !is_holder && part.to <= story.end && story.is_well(by, part) {
                let text = format!(
                    "{by}, which watches {key:?}, has not read its change of {:.3}s",
                    seconds(*changed)
                );
                findings.push(finding(Property::MissedValue, Some(by), part.to, text));
                return;
            }
        }
    }
}
