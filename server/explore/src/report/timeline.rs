//! A run as lines: who did what, and when.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::contender::Contender;
use crate::judge::Finding;
use crate::run::{Run, What};

/// A line of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When, since the start of the server.
    pub at: Duration,
    /// Whose line it is: a contender's; `None` for Consul's and the schedule's.
    pub by: Option<Contender>,
    /// What kind of line it is.
    pub kind: LineKind,
    /// What happened.
    pub text: String,
}

/// What kind of line a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The schedule did something.
    Schedule,
    /// A lock was acquired or lost, or a session made or ended.
    Lock,
    /// A contender said what it believes.
    Belief,
    /// A request that the schedule or Consul did not answer as usual, or a write.
    Request,
    /// What is proved.
    Finding,
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.as_secs_f64();
        let by = self.by.map_or(" ".to_owned(), |by| by.to_string());
        let mark = match self.kind {
            LineKind::Schedule => ">",
            LineKind::Finding => "!",
            LineKind::Lock | LineKind::Belief | LineKind::Request => " ",
        };
        write!(formatter, "{at:>9.3}s {mark} {by}  {}", self.text)
    }
}

/// Returns the names of the sessions of a run: `a's session 1` in place of an id.
#[must_use]
pub fn session_names(run: &Run) -> BTreeMap<String, String> {
    let mut by_request = BTreeMap::new();
    let mut counts: BTreeMap<Option<u8>, u32> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for event in &run.events {
        match &event.what {
            What::Request { by, .. } => drop(by_request.insert(event.n, *by)),
            What::Created { session, .. } => {
                let by = event
                    .cause
                    .and_then(|cause| by_request.get(&cause).copied());
                let by = by.flatten();
                let count = counts.entry(by).or_default();
                *count += 1;
                let of = by.map_or("another's".to_owned(), |by| format!("{}'s", Contender(by)));
                names.insert(session.clone(), format!("{of} session {count}"));
            }
            _ => {}
        }
    }
    names
}

/// Returns the lines of a run that matter for what was found, in order.
#[must_use]
pub fn timeline(run: &Run, findings: &[Finding]) -> Vec<Line> {
    let names = session_names(run);
    let mut calls = BTreeMap::new();
    let mut by_event = BTreeMap::new();
    let mut lines = Vec::new();
    for event in &run.events {
        if let What::Request {
            call,
            by,
            method,
            target,
        } = &event.what
        {
            let target = target.split("&token=").next().unwrap_or_default();
            calls.insert(*call, (by.map(Contender), format!("{method} {target}")));
            by_event.insert(event.n, by.map(Contender));
        }
        let by_cause = event.cause.and_then(|cause| by_event.get(&cause).copied());
        let line = line(&event.what, by_cause.flatten(), &calls);
        lines.extend(line.map(|(by, kind, text)| Line {
            at: event.time(),
            by,
            kind,
            text,
        }));
    }
    lines.extend(findings.iter().map(|finding| Line {
        at: finding.at,
        by: finding.contender,
        kind: LineKind::Finding,
        text: format!("{}: {}", finding.property.name(), finding.text),
    }));
    lines.sort_by_key(|line| line.at);
    for line in &mut lines {
        for (id, name) in &names {
            line.text = line.text.replace(id, name);
        }
    }
    lines
}

type Calls = BTreeMap<u64, (Option<Contender>, String)>;

fn line(
    what: &What,
    by_cause: Option<Contender>,
    calls: &Calls,
) -> Option<(Option<Contender>, LineKind, String)> {
    Some(match what {
        What::Schedule { text } => (None, LineKind::Schedule, text.clone()),
        What::Driver { text } => (None, LineKind::Schedule, text.clone()),
        What::Belief { by, holds, token } => {
            let word = if *holds {
                "believes that it holds the lock"
            } else {
                "believes that it has lost the lock"
            };
            let token = token.as_ref().map(|token| format!(", token {token}"));
            let text = format!("{word}{}", token.unwrap_or_default());
            (Some(Contender(*by)), LineKind::Belief, text)
        }
        What::Answer {
            call,
            status,
            fault,
            ..
        } => {
            let (by, request) = calls.get(call)?;
            let is_usual = matches!(status, Some(200 | 404)) && fault.is_none();
            if by.is_none() || is_usual {
                return None;
            }
            let status = status.map_or("no response".to_owned(), |status| status.to_string());
            (*by, LineKind::Request, format!("{request}: {status}"))
        }
        What::Acquired {
            key,
            session,
            again: false,
        } => (
            by_cause,
            LineKind::Lock,
            format!("{session} acquires {key:?}"),
        ),
        What::Released { key, session, why } => (
            by_cause,
            LineKind::Lock,
            format!("{session} loses {key:?}: {why}"),
        ),
        What::LockDelay { key, lasts } => {
            let lasts = Duration::from_nanos(*lasts);
            (
                None,
                LineKind::Lock,
                format!("{key:?} cannot be acquired for {lasts:?}"),
            )
        }
        What::Created { session, .. } => (by_cause, LineKind::Lock, format!("{session} begins")),
        What::Ended { session, why } => {
            (by_cause, LineKind::Lock, format!("{session} ends: {why}"))
        }
        What::Request { .. }
        | What::Blocked { .. }
        | What::Written { .. }
        | What::Deleted { .. }
        | What::Acquired { .. }
        | What::AcquireRejected { .. }
        | What::LockDelayOver { .. }
        | What::Renewed { .. } => return None,
    })
}
