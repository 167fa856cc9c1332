//! What a picture of a run shows, without where it is drawn: locks, and for each contender its sessions, beliefs and requests.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::operations::{Operation, Operations, Step};
use super::super::timeline::session_names;
use crate::action::Action;
use crate::run::{Event, What};
use crate::schedule::{Contender, Decision};
use crate::search::Broken;

/// A moment in nanoseconds of the server's clock.
pub(super) type At = u64;

/// How much of the time after the finding is shown, and how much of the time before what led to it.
const MARGIN: f64 = 0.14;
/// The least time that is shown.
const LEAST: At = 500_000_000;
/// How long there is no leader where a schedule loses it.
const LEADERLESS: Duration = Duration::from_secs(3);

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
    id: String,
    pub(super) name: String,
    pub(super) span: Span,
    is_over: bool,
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
}

impl Trouble {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::StandsStill => "paused",
            Self::Stopped => "not running",
            Self::Silent => "silent link",
            Self::Cut => "cut link",
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
    pub(super) lanes: Vec<Lane>,
}

impl Scene {
    pub(super) fn of(broken: &Broken) -> Self {
        let run = &broken.run;
        let setup = &run.setup;
        let operations = Operations::of(run);
        let lanes = Contender::all(setup.contenders).map(|_| Lane::default());
        let mut reader = Reader {
            names: session_names(run),
            decisions: broken
                .schedule
                .decisions
                .iter()
                .map(ToString::to_string)
                .collect(),
            guard: setup.guard.as_deref(),
            scene: Self {
                tells_beliefs: setup.tells_beliefs,
                has_guard: setup.guard.is_some(),
                shown: shown(broken),
                end: setup.ended,
                locks: Vec::new(),
                leaderless: Vec::new(),
                lanes: lanes.collect(),
            },
        };
        for step in &operations.steps {
            if let Step::Other(event, root) = step {
                let by = root.and_then(|root| operations.all[root].by);
                reader.read(event, by);
            }
        }
        let mut scene = reader.scene;
        for one in operations.all {
            let lane = one.by.and_then(|by| scene.lanes.get_mut(by.index()));
            if let Some(lane) = lane {
                lane.requests.push(one);
            }
        }
        scene
    }
}

/// Returns which part of a run is shown: from what led to the finding until shortly after it.
fn shown(broken: &Broken) -> Span {
    let run = &broken.run;
    let found = u64::try_from(broken.finding.at.as_nanos()).unwrap_or(u64::MAX);
    let found = found.min(run.setup.ended);
    let is_before = |event: &&Event| event.at <= found;
    let mut events = run.events.iter().filter(is_before);
    let first = events.find(|event| matches!(event.what, What::Schedule { .. }));
    let held = first.and_then(|first| {
        let before = run.events.iter().filter(|event| event.at <= first.at);
        let mut acquired = before.filter(|event| matches!(event.what, What::Acquired { .. }));
        acquired.next_back().map(|event| event.at.min(first.at))
    });
    let first = first.map_or(0, |first| held.unwrap_or(first.at));
    let margin = |length: At| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "it is a margin of a picture"
        )]
        let margin = (length as f64 * MARGIN) as At;
        margin
    };
    // A start that is near is shown, too.
    let from = if first > found / 3 {
        first.saturating_sub(margin(found - first))
    } else {
        0
    };
    let to = found.saturating_add(margin(found - from));
    let end = run.setup.ended.max(LEAST);
    Span {
        from: from.min(to.saturating_sub(LEAST)),
        to: to.max(from + LEAST).min(end),
    }
}

struct Reader<'a> {
    names: BTreeMap<String, String>,
    decisions: Vec<String>,
    guard: Option<&'a str>,
    scene: Scene,
}

impl Reader<'_> {
    fn read(&mut self, event: &Event, by: Option<Contender>) {
        let at = event.at;
        let open = Span {
            from: at,
            to: self.scene.end,
        };
        match &event.what {
            What::Written { key } | What::Deleted { key } => {
                let is_guarded = self.guard.is_some_and(|guard| key.starts_with(guard));
                if let Some(lane) = self.lane(by).filter(|_| is_guarded) {
                    lane.writes.push(at);
                }
            }
            What::Belief { by, holds, token } => {
                if let Some(lane) = self.lane(Some(Contender(*by))) {
                    lane.believes(open, *holds, token.clone());
                }
            }
            What::Schedule { text } => self.scheduled(at, text),
            What::Driver { text } => {
                let ended = text.split_once(" ended by itself: ");
                let lane = ended.and_then(|(name, _)| self.lane(name.parse().ok()));
                if let Some(lane) = lane {
                    lane.marks.push(Mark {
                        at,
                        number: None,
                        text: text.clone(),
                    });
                }
            }
            What::Created { session, .. } => {
                let name = self.name(session);
                if let Some(lane) = self.lane(by) {
                    lane.sessions.push(Session {
                        id: session.clone(),
                        name,
                        span: open,
                        is_over: false,
                        holds: Vec::new(),
                    });
                }
            }
            What::Ended { session, .. } => {
                if let Some(session) = self.session(session) {
                    session.span.to = at;
                    session.is_over = true;
                }
            }
            _ => self.read_lock(event),
        }
    }

    fn read_lock(&mut self, event: &Event) {
        let at = event.at;
        let open = Span {
            from: at,
            to: self.scene.end,
        };
        match &event.what {
            What::Acquired {
                key,
                session,
                again: false,
            } => {
                let hold = Hold {
                    by: self.maker(session),
                    name: self.name(session),
                    span: open,
                    is_over: false,
                    why: String::new(),
                };
                self.lock(key).holds.push(hold);
                if let Some(session) = self.session(session) {
                    session.holds.push(open);
                }
            }
            What::Released { key, session, why } => {
                let mut holds = self.lock(key).holds.iter_mut();
                if let Some(hold) = holds.rfind(|hold| !hold.is_over) {
                    hold.span.to = at;
                    hold.is_over = true;
                    hold.why.clone_from(why);
                }
                let session = self.session(session);
                if let Some(span) = session.and_then(|session| session.holds.last_mut()) {
                    span.to = at;
                }
            }
            What::LockDelay { key, lasts } => {
                let to = at.saturating_add(*lasts);
                self.lock(key).delays.push(Span { from: at, to });
            }
            What::LockDelayOver { key } => {
                if let Some(delay) = self.lock(key).delays.last_mut() {
                    delay.to = delay.to.min(at);
                }
            }
            What::AcquireRejected { key, .. } => self.lock(key).rejected.push(at),
            _ => {}
        }
    }

    fn scheduled(&mut self, at: At, text: &str) {
        let Ok(decision) = text.parse::<Decision>() else {
            return;
        };
        let number = self.decisions.iter().position(|one| one == text);
        let mark = Mark {
            at,
            number: number.map(|number| number + 1),
            text: text.to_owned(),
        };
        if let Some(lane) = self.lane(Some(decision.place.contender)) {
            lane.marks.push(mark);
        }
        let until =
            |lasts: Duration| at.saturating_add(u64::try_from(lasts.as_nanos()).unwrap_or(At::MAX));
        let (trouble, one, lasts) = match decision.action {
            Action::Pause(one, lasts) => (Trouble::StandsStill, one, Some(lasts)),
            Action::Restart(one, lasts) => (Trouble::Stopped, one, Some(lasts)),
            Action::Silence(one, lasts) => (Trouble::Silent, one, lasts),
            Action::Cut(one, lasts) => (Trouble::Cut, one, lasts),
            Action::LoseLeader => {
                let to = until(LEADERLESS);
                self.scene.leaderless.push(Span { from: at, to });
                return;
            }
            _ => return,
        };
        let to = lasts.map_or(self.scene.end, until);
        if let Some(lane) = self.lane(Some(one)) {
            lane.troubles.push((trouble, Span { from: at, to }));
            if trouble == Trouble::Stopped {
                // What a killed process believed is over.
                lane.believes(Span { from: at, to }, false, None);
            }
        }
    }

    fn lane(&mut self, by: Option<Contender>) -> Option<&mut Lane> {
        self.scene.lanes.get_mut(by?.index())
    }

    fn lock(&mut self, key: &str) -> &mut Lock {
        let locks = &mut self.scene.locks;
        let found = locks.iter().position(|lock| lock.key == key);
        let place = found.unwrap_or_else(|| {
            locks.push(Lock {
                key: key.to_owned(),
                ..Lock::default()
            });
            locks.len() - 1
        });
        &mut locks[place]
    }

    fn session(&mut self, id: &str) -> Option<&mut Session> {
        let mut all = self
            .scene
            .lanes
            .iter_mut()
            .flat_map(|lane| &mut lane.sessions);
        all.find(|session| session.id == id)
    }

    /// Returns the contender that has made a session.
    fn maker(&self, id: &str) -> Option<Contender> {
        let mut lanes = self.scene.lanes.iter().zip(0..);
        let found = lanes.find(|(lane, _)| lane.sessions.iter().any(|session| session.id == id));
        found.map(|(_, number)| Contender(number))
    }

    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }
}

impl Lane {
    fn believes(&mut self, from: Span, holds: bool, token: Option<String>) {
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
