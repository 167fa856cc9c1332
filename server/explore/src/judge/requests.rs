//! What the requests of a contender show: busy loops, sessions that are left behind, and changes that a watch has missed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::call::Call;
use super::span::{At, Span};
use super::story::Story;
use super::{Finding, Limits, Property, finding, nanos, seconds};
use crate::contender::Contender;
use crate::run::What;
use proconsul_engine::faults::RequestKind;

/// Over which time requests are counted: a burst is no loop.
const COUNTED: Duration = Duration::from_secs(3);

pub(super) fn judge(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    busy_loops(story, limits, findings);
    sessions(story, limits, findings);
    missed_values(story, limits, findings);
}

/// The work of a holder is not counted: requests about guarded keys, and transactions that have written one.
fn busy_loops(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let guard = story.run.setup.guard.as_deref();
    let is_guarded = |key: &str| guard.is_some_and(|guard| key.starts_with(guard));
    let work: BTreeSet<u64> = story
        .run
        .events
        .iter()
        .filter_map(|event| match &event.what {
            What::Written { key } | What::Deleted { key } if is_guarded(key) => {
                Some(story.cause_of(event)?.number)
            }
            _ => None,
        })
        .collect();
    let mut recent: BTreeMap<Contender, VecDeque<At>> = BTreeMap::new();
    let seconds = usize::try_from(COUNTED.as_secs()).unwrap_or(1);
    for call in story.calls.values() {
        let is_work = work.contains(&call.number) || call.key.as_deref().is_some_and(is_guarded);
        let Some(by) = call.by.filter(|_| !is_work) else {
            continue;
        };
        let times = recent.entry(by).or_default();
        times.push_back(call.at);
        let is_old = |at: &At| call.at.saturating_sub(*at) > nanos(COUNTED);
        while times.front().is_some_and(is_old) {
            times.pop_front();
        }
        if times.len() > limits.requests.saturating_mul(seconds) {
            let text = format!(
                "{by} sent {} requests within {seconds} s, the last of them {}",
                times.len(),
                call.target
            );
            findings.push(finding(Property::BusyLoop, Some(by), call.at, text));
            return;
        }
    }
}

/// Counts the sessions that a contender could end and has not: those that it knows, of its last start, that hold no key.
fn sessions(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    for by in Contender::all(story.run.setup.contenders) {
        let restarts = story.restarts.iter().filter(|(one, _)| *one == by);
        let started = restarts.map(|(_, span)| span.to).max().unwrap_or_default();
        let own = story.sessions.iter().filter(|(_, session)| {
            session.by == Some(by) && session.ended.is_none() && session.created >= started
        });
        let left = own.filter(|(id, session)| {
            let create = session.leases.first().and_then(|lease| lease.call);
            let create = create.and_then(|call| story.calls.get(&call));
            let is_known = create.is_some_and(|call| call.answer.is_some());
            let holds = story
                .holds
                .iter()
                .any(|hold| !hold.is_over && hold.session.eq_ignore_ascii_case(id));
            let is_given_up = story.calls.values().any(|call| {
                call.kind == RequestKind::Destroy && call.by == Some(by) && call.is_of_session(id)
            });
            is_known && !holds && !is_given_up
        });
        let left = left.count();
        if left > limits.sessions {
            let text = format!(
                "at the end {by} has {left} sessions that hold no key and that it has not destroyed"
            );
            findings.push(finding(Property::SessionsPileUp, Some(by), story.end, text));
        }
    }
}

/// A change of something that can be watched.
struct Change<'a> {
    of: Subject<'a>,
    at: At,
    by: Option<Contender>,
    is_delete: bool,
}

/// What changes.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Key(&'a str),
    /// What is read at this path.
    Path(&'a str),
}

impl Subject<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Key(name) | Self::Path(name) => name,
        }
    }

    /// Returns whether a request reads it.
    fn is_read_by(&self, call: &Call) -> bool {
        match self {
            Self::Key(key) => call.covers(key),
            Self::Path(path) => call.path == *path,
        }
    }
}

/// A contender whose watch is open at a change reads that change, or a later one, within the bound.
fn missed_values(story: &Story<'_>, limits: &Limits, findings: &mut Vec<Finding>) {
    let is_long = |call: &&Call| {
        let end = call.over.unwrap_or(story.end);
        call.is_watch() && end.saturating_sub(call.at) >= nanos(limits.bound)
    };
    let watches: Vec<&Call> = story.calls.values().filter(is_long).collect();
    if watches.is_empty() {
        return;
    }
    let changes = changes(story);
    for watch in watches {
        let Some(by) = watch.by else {
            continue;
        };
        let missed = changes.iter().find(|change| {
            let part = Span {
                from: change.at,
                to: change.at.saturating_add(nanos(limits.bound)),
            };
            change.at > watch.at
                && part.to <= watch.over.unwrap_or(story.end)
                && change.by != Some(by)
                && shows(watch, change)
                && story.is_well(by, part)
                && !has_read(story, by, change, part)
        });
        if let Some(change) = missed {
            let text = format!(
                "{by}, which watches {:?}, has not read its change of {:.3}s",
                change.of.name(),
                seconds(change.at)
            );
            let at = change.at.saturating_add(nanos(limits.bound));
            findings.push(finding(Property::MissedValue, Some(by), at, text));
            return;
        }
    }
}

fn changes<'a>(story: &'a Story<'_>) -> Vec<Change<'a>> {
    let of_keys = story.run.events.iter().filter_map(|event| {
        let (key, is_delete) = match &event.what {
            What::Written { key } => (key, false),
            What::Deleted { key } => (key, true),
            _ => return None,
        };
        Some(Change {
            of: Subject::Key(key),
            at: event.at,
            by: story.cause_of(event).and_then(|call| call.by),
            is_delete,
        })
    });
    let of_paths = story.changed.iter().map(|(path, at)| Change {
        of: Subject::Path(path),
        at: *at,
        by: None,
        is_delete: false,
    });
    of_keys.chain(of_paths).collect()
}

/// Returns whether Consul answers a watch at a change. It does not always answer one of a prefix when a key is deleted.
fn shows(watch: &Call, change: &Change<'_>) -> bool {
    let is_alone = watch.names(change.of.name());
    (is_alone || !change.is_delete) && change.of.is_read_by(watch)
}

/// Returns whether a contender has read a change in time, or has tried to acquire the key.
fn has_read(story: &Story<'_>, by: Contender, change: &Change<'_>, within: Span) -> bool {
    let is_in_time = |at: At| within.contains(at);
    let mut own = story.calls.values().filter(|call| call.by == Some(by));
    let has_answer = own.any(|call| {
        let answer = call.answer.filter(|answer| is_in_time(answer.at));
        answer.is_some() && call.is_answered_well() && change.of.is_read_by(call)
    });
    let mut tries = story.tries.iter();
    let name = change.of.name();
    has_answer || tries.any(|(one, key, at)| *one == by && *key == name && is_in_time(*at))
}
