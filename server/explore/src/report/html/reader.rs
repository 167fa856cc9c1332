//! Reads a run into a scene.

use std::collections::BTreeMap;
use std::time::Duration;

use proconsul_engine::faults::RequestKind;

use super::super::operations::{Operations, Step};
use super::super::timeline::session_names;
use super::scene::{At, Hold, Lane, Lock, Mark, Scene, Session, Span, Trouble};
use crate::action::Action;
use crate::contender::Contender;
use crate::run::{Event, What};
use crate::schedule::Decision;
use crate::search::Broken;

/// How much of the time after the finding is shown, and how much of the time before what led to it.
const MARGIN: f64 = 0.14;
/// The least time that is shown.
const LEAST: At = 500_000_000;
/// How long there is no leader where a schedule loses it.
const LEADERLESS: Duration = Duration::from_secs(3);

/// Reads what happened in the run that was found.
pub(super) fn scene(broken: &Broken) -> Scene {
    let run = &broken.run;
    let setup = &run.setup;
    let operations = Operations::of(run);
    let lanes = Contender::all(setup.contenders).map(|_| Lane::default());
    let mut reader = Reader {
        names: session_names(run),
        sessions: BTreeMap::new(),
        decisions: broken
            .schedule
            .decisions
            .iter()
            .map(ToString::to_string)
            .collect(),
        guard: setup.guard.as_deref(),
        scene: Scene {
            tells_beliefs: setup.tells_beliefs,
            has_guard: setup.guard.is_some(),
            shown: shown(broken),
            end: setup.ended,
            locks: Vec::new(),
            leaderless: Vec::new(),
            changes: Vec::new(),
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
        let is_write = matches!(one.kind, RequestKind::Write | RequestKind::Delete);
        let key = one.key.as_deref().filter(|_| is_write && !one.is_applied);
        let is_guarded = key
            .zip(setup.guard.as_deref())
            .is_some_and(|(key, guard)| key.starts_with(guard));
        // A value that was there already is written, too, and changes nothing.
        let written = one
            .end
            .filter(|(_, status)| is_guarded && *status == Some(200));
        let lane = one.by.and_then(|by| scene.lanes.get_mut(by.index()));
        if let Some(lane) = lane {
            lane.writes.extend(written.map(|(at, _)| at));
            lane.requests.push(one);
        }
    }
    scene
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
    // What lasts until the end shows that it does.
    let end = run.setup.ended.max(LEAST);
    let end = end.saturating_add((end - from.min(end)) / 50);
    Span {
        from: from.min(to.saturating_sub(LEAST)),
        to: to.max(from + LEAST).min(end),
    }
}

struct Reader<'a> {
    names: BTreeMap<String, String>,
    /// The sessions by their ids: whose each is, and its place among them.
    sessions: BTreeMap<String, (Contender, usize)>,
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
            What::Driver { text } => self.driven(at, text),
            What::Created { session, .. } => {
                let name = self.name(session);
                let lane = by.and_then(|by| Some((by, self.lane(Some(by))?)));
                if let Some((by, lane)) = lane {
                    let place = (by, lane.sessions.len());
                    lane.sessions.push(Session {
                        name,
                        span: open,
                        is_over: false,
                        holds: Vec::new(),
                    });
                    self.sessions.insert(session.clone(), place);
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
            Action::CutAgent(one, lasts) => (Trouble::AgentAway, one, lasts),
            Action::PauseAgent(one, lasts) | Action::RestartAgent(one, lasts) => {
                (Trouble::AgentAway, one, Some(lasts))
            }
            Action::LagAgent(one, lasts) => (Trouble::AgentLate, one, Some(lasts)),
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

    fn driven(&mut self, at: At, text: &str) {
        if let Some(path) = text.strip_prefix("changed ") {
            self.scene.changes.push((at, path.to_owned()));
            return;
        }
        let ended = text.split_once(" ended by itself: ");
        let lane = ended.and_then(|(name, _)| self.lane(name.parse().ok()));
        if let Some(lane) = lane {
            lane.marks.push(Mark {
                at,
                number: None,
                text: text.to_owned(),
            });
            // What it believed ended with it.
            lane.believes(Span { from: at, to: at }, false, None);
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
        let (by, number) = *self.sessions.get(id)?;
        self.scene.lanes[by.index()].sessions.get_mut(number)
    }

    /// Returns the contender that has made a session.
    fn maker(&self, id: &str) -> Option<Contender> {
        self.sessions.get(id).map(|(by, _)| *by)
    }

    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }
}
