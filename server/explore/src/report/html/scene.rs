//! What a picture of a run shows, without where it is drawn: locks, and for each contender its sessions, beliefs and requests.

use super::super::operations::Operation;
use crate::contender::Contender;

/// A moment in nanoseconds of the server's clock.
pub(super) type At = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: At,
    pub(super) to: At,
}

/// A session that holds a key.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) by: Option<Contender>,
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) is_over: bool,
    pub(super) why: String,
}

/// A key that sessions acquire.
#[derive(Clone, Debug, Default)]
pub(super) struct Lock {
    pub(super) key: String,
    pub(super) holds: Vec<Hold>,
    pub(super) delays: Vec<Span>,
    pub(super) rejected: Vec<At>,
}

/// A session, and when it held a key.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) is_over: bool,
    pub(super) holds: Vec<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct Belief {
    pub(super) span: Span,
    pub(super) is_over: bool,
    pub(super) token: Option<String>,
}

/// What is wrong with a contender, or with Consul, for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    StandsStill,
    Stopped,
    Silent,
    Cut,
    AgentAway,
    AgentLate,
}

impl Trouble {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::StandsStill => "paused",
            Self::Stopped => "not running",
            Self::Silent => "silent link",
            Self::Cut => "cut link",
            Self::AgentAway => "agent away",
            Self::AgentLate => "late agent",
        }
    }
}

/// A decision of the schedule, or a contender's end.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) at: At,
    /// The number of the decision in the schedule; `None` for an end.
    pub(super) number: Option<usize>,
    pub(super) text: String,
}

/// All about one contender.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) sessions: Vec<Session>,
    pub(super) beliefs: Vec<Belief>,
    pub(super) troubles: Vec<(Trouble, Span)>,
    pub(super) marks: Vec<Mark>,
    pub(super) requests: Vec<Operation>,
    /// When it wrote guarded keys.
    pub(super) writes: Vec<At>,
}

/// All that is drawn.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) tells_beliefs: bool,
    pub(super) has_guard: bool,
    /// The time that is shown.
    pub(super) shown: Span,
    pub(super) end: At,
    pub(super) locks: Vec<Lock>,
    pub(super) leaderless: Vec<Span>,
    /// When the driver has changed something that contenders watch, and what.
    pub(super) changes: Vec<(At, String)>,
    pub(super) lanes: Vec<Lane>,
}

impl Lane {
    /// Begins or ends a belief.
    pub(super) fn believes(&mut self, from: Span, holds: bool, token: Option<String>) {
        let open = self.beliefs.last_mut().filter(|belief| !belief.is_over);
        match (open, holds) {
            (Some(open), false) => {
                open.span.to = from.from;
                open.is_over = true;
            }
            (None, true) => self.beliefs.push(Belief {
                span: from,
                is_over: false,
                token,
            }),
            (Some(_), true) | (None, false) => {}
        }
    }

    /// Returns the parts of the beliefs, each with whether a session of the contender holds a key then.
    pub(super) fn believed(&self) -> Vec<(Span, bool)> {
        let mut holds: Vec<Span> = self
            .sessions
            .iter()
            .flat_map(|session| session.holds.clone())
            .collect();
        holds.sort_by_key(|span| span.from);
        let mut parts = Vec::new();
        for Belief { span, .. } in &self.beliefs {
            let mut at = span.from;
            for hold in holds
                .iter()
                .filter(|hold| hold.from < span.to && hold.to > span.from)
            {
                if hold.from > at {
                    parts.push((
                        Span {
                            from: at,
                            to: hold.from,
                        },
                        false,
                    ));
                }
                let to = hold.to.min(span.to);
                parts.push((
                    Span {
                        from: at.max(hold.from),
                        to,
                    },
                    true,
                ));
                at = at.max(to);
            }
            if at < span.to {
                parts.push((
                    Span {
                        from: at,
                        to: span.to,
                    },
                    false,
                ));
            }
        }
        parts
    }
}

/// Returns why a session lost a key, in the words of the web UI.
pub(super) fn in_short(why: &str) -> String {
    let why = why.replace("its session ended, ", "");
    match why.as_str() {
        "the holder let go" => "released".to_owned(),
        "the key was deleted" => "key deleted".to_owned(),
        "its TTL ran out" => "TTL expired".to_owned(),
        "a client destroyed it" => "session destroyed".to_owned(),
        "its node was deleted" => "node deleted".to_owned(),
        _ => why,
    }
}
