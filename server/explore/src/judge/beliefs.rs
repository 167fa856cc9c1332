//! What contenders believed, beside what they could know.
//!
//! A contender may believe that it holds a lock as long as its lease lasts: until one TTL after it has sent the last renewal
//! whose response has arrived, because the server waits for two TTLs. It may not where a response has shown it the loss.

use super::story::{At, Belief, Hold, Story};
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::schedule::Contender;
use proconsul_engine::faults::RequestKind;

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for belief in &story.beliefs {
        let Some(hold) = hold_of(story, belief) else {
            continue;
        };
        late(story, limits, belief, hold, findings);
    }
    tokens(story, findings);
    acts_after_loss(story, limits, findings);
    gives_up(story, limits, findings);
}

/// Returns the lock that a belief is about: the last one that its contender had acquired when it began, or acquired soon
/// after, because a word may overtake the record.
fn hold_of<'a>(story: &'a Story<'_>, belief: &Belief) -> Option<&'a Hold> {
    let own = || story.holds.iter().filter(|hold| hold.by == Some(belief.by));
    let before = own().rfind(|hold| hold.span.from <= belief.span.from);
    before.or_else(|| own().next())
}

/// When a contender may no longer believe, and why.
struct Until {
    at: At,
    why: String,
}

/// Returns until when a contender may believe in a lock that it has lost.
fn may_believe_until(story: &Story<'_>, limits: &Limits, by: Contender, hold: &Hold) -> Until {
    let lost = hold.span.to;
    let session = story.sessions.get(&hold.session);
    let lease = session
        .filter(|session| !session.ttl.is_zero())
        .and_then(|session| {
            let sent = session.leases.iter().filter(|sent| **sent <= lost).max();
            let sent = sent.copied().unwrap_or(session.created);
            Some(sent.checked_add(nanos(session.ttl))?.max(lost))
        });
    let shown = story.calls.values().filter(|call| {
        let (answered, status) = call.answered.unwrap_or_default();
        let of_key = call.key.as_deref() == Some(&hold.key);
        let of_session = call.target.contains(&hold.session);
        let reads = matches!(call.kind, RequestKind::Read | RequestKind::Watch);
        call.by == Some(by)
            && answered >= lost
            && !call.is_hit
            && match call.kind {
                _ if reads => of_key && matches!(status, 200 | 404) && answered > lost,
                RequestKind::Renew => of_session && status == 404,
                _ => false,
            }
    });
    let shown = shown
        .filter_map(|call| call.answered)
        .map(|(at, _)| at)
        .min();
    let (at, why) = match (shown, lease) {
        (Some(shown), lease) if lease.is_none_or(|lease| shown <= lease) => (
            shown,
            format!("a response showed it the loss at {:.3}s", seconds(shown)),
        ),
        (_, Some(lease)) => (
            lease,
            format!("its lease was over at {:.3}s", seconds(lease)),
        ),
        (_, None) => (story.end, String::new()),
    };
    // While it stands still it can do nothing.
    let stood = story
        .paused
        .iter()
        .filter(|(one, span)| *one == by && span.to >= at);
    let at = stood.map(|(_, span)| span.to).max().unwrap_or(at).max(at);
    Until {
        at: at.saturating_add(nanos(limits.slack)),
        why,
    }
}

fn late(
    story: &Story<'_>,
    limits: &Limits,
    belief: &Belief,
    hold: &Hold,
    findings: &mut Vec<Finding>,
) {
    let by = belief.by;
    if !hold.is_over || hold.by_itself || belief.span.to <= hold.span.to {
        return;
    }
    let until = may_believe_until(story, limits, by, hold);
    if belief.span.to <= until.at || until.at >= story.end {
        return;
    }
    let text = format!(
        "{by} believed that it held {:?}: {}, and it had lost the lock at {:.3}s ({})",
        hold.key,
        until.why,
        seconds(hold.span.to),
        hold.why,
    );
    findings.push(finding(Property::NoticedLate, Some(by), until.at, text));
    let others = story.beliefs.iter().filter(|other| other.by != by);
    for other in others {
        let Some(theirs) = hold_of(story, other).filter(|theirs| theirs.key == hold.key) else {
            continue;
        };
        let from = until.at.max(other.span.from).max(theirs.span.from);
        let to = belief.span.to.min(other.span.to).min(theirs.span.to);
        if from < to {
            let text = format!(
                "both {by} and {} believed that they held {:?}: {} has it since {:.3}s; of {by} {}",
                other.by,
                hold.key,
                other.by,
                seconds(theirs.span.from),
                until.why,
            );
            findings.push(finding(Property::TwoBelievers, Some(by), from, text));
        }
    }
}

fn tokens(story: &Story<'_>, findings: &mut Vec<Finding>) {
    let mut last: Option<(Contender, u64)> = None;
    for belief in &story.beliefs {
        let number = belief.token.as_ref().and_then(|token| token.parse().ok());
        let Some(token) = number else {
            continue;
        };
        if let Some((before, greater)) = last.filter(|(_, last)| *last >= token) {
            let text = format!(
                "{} holds the lock with the token {token}, and {before} held it before with {greater}",
                belief.by
            );
            let at = belief.span.from;
            findings.push(finding(Property::TokenBack, Some(belief.by), at, text));
        }
        last = Some((belief.by, token));
    }
}

/// Guarded writes that arrive after their sender has said that the lock is lost, and before it holds one again.
fn acts_after_loss(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let Some(guard) = story.run.setup.guard.as_deref() else {
        return;
    };
    let slack = nanos(limits.slack);
    let writes = story.calls.values().filter(|call| {
        let is_write = matches!(call.kind, RequestKind::Write | RequestKind::Delete);
        let key = call.key.as_deref();
        is_write && key.is_some_and(|key| key.starts_with(guard))
    });
    for write in writes {
        let own = || {
            story
                .beliefs
                .iter()
                .filter(|belief| Some(belief.by) == write.by)
        };
        let holds = own().any(|belief| belief.span.contains(write.at));
        let lost = own().rfind(|belief| belief.is_over && belief.span.to <= write.at);
        let Some(lost) = lost.filter(|lost| !holds && lost.span.to + slack < write.at) else {
            continue;
        };
        let text = format!(
            "{} wrote {:?}: it had said at {:.3}s that it had lost the lock",
            lost.by,
            write.key.as_deref().unwrap_or_default(),
            seconds(lost.span.to),
        );
        findings.push(finding(
            Property::ActedAfterLoss,
            Some(lost.by),
            write.at,
            text,
        ));
        return;
    }
}

/// Beliefs that end while the session holds the lock, though nothing went wrong in the time before.
fn gives_up(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for belief in story.beliefs.iter().filter(|belief| belief.is_over) {
        let at = belief.span.to;
        let own = story.holds.iter().filter(|hold| hold.by == Some(belief.by));
        // It may have released the lock at once, which is still without a reason.
        let slack = nanos(limits.slack);
        let mut own = own.filter(|hold| hold.span.from <= at);
        let Some(hold) = own.rfind(|hold| {
            !hold.is_over || hold.span.to >= at || (hold.by_itself && hold.span.to + slack >= at)
        }) else {
            continue;
        };
        let session = story.sessions.get(&hold.session);
        let ttl = session.map_or(0, |session| nanos(session.ttl));
        let recent = at.saturating_sub(2 * ttl).min(hold.span.from)..=at;
        let is_undisturbed = !story.hits.iter().any(|hit| recent.contains(hit))
            && story.is_well(
                belief.by,
                super::Span {
                    from: *recent.start(),
                    to: at,
                },
            );
        if is_undisturbed {
            let text = format!(
                "{} said that it had lost {:?}, which its session {} held, and nothing had gone wrong",
                belief.by, hold.key, hold.session
            );
            findings.push(finding(Property::GivesUpLock, Some(belief.by), at, text));
            return;
        }
    }
}
