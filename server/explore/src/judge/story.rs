//! A recorded run, as verdicts look at it: who held what, who believed what, and what each could know.

use std::collections::BTreeMap;
use std::time::Duration;

use proconsul_engine::faults::RequestKind;

use crate::action::Action;
use crate::run::{Event, Run, What};
use crate::schedule::{Contender, Decision};

/// A moment in nanoseconds of the server's clock.
pub(super) type At = u64;

/// An interval of time; `to` is the end of the run for what has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: At,
    pub(super) to: At,
}

impl Span {
    pub(super) fn contains(self, at: At) -> bool {
        (self.from..self.to).contains(&at)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    pub(super) fn length(self) -> Duration {
        Duration::from_nanos(self.to.saturating_sub(self.from))
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) by: Option<Contender>,
    pub(super) kind: RequestKind,
    pub(super) target: String,
    /// The key that its path names.
    pub(super) key: Option<String>,
    pub(super) at: At,
    /// When it was answered, and with which status.
    pub(super) answered: Option<(At, u16)>,
    /// Whether the schedule did something to it.
    pub(super) is_hit: bool,
}

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) by: Option<Contender>,
    pub(super) ttl: Duration,
    /// When the requests were sent that have created or renewed it and whose responses have arrived.
    pub(super) leases: Vec<At>,
    pub(super) created: At,
    pub(super) ended: Option<At>,
}

/// A time during which a session held a key.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) key: String,
    pub(super) session: String,
    pub(super) by: Option<Contender>,
    pub(super) span: Span,
    /// Whether it has ended.
    pub(super) is_over: bool,
    /// Why it ended.
    pub(super) why: String,
    /// Whether a request of the holder itself ended it.
    pub(super) by_itself: bool,
    /// When the lock-delay that followed was over.
    pub(super) free_from: At,
}

/// A time during which a contender believed that it held the lock.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    pub(super) by: Contender,
    pub(super) span: Span,
    pub(super) is_over: bool,
    pub(super) token: Option<String>,
}

/// What a run comes to.
pub(super) struct Story<'a> {
    pub(super) run: &'a Run,
    pub(super) calls: BTreeMap<u64, Call>,
    /// The requests by the numbers of their events.
    by_event: BTreeMap<u64, u64>,
    events: BTreeMap<u64, &'a Event>,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) holds: Vec<Hold>,
    pub(super) beliefs: Vec<Belief>,
    /// When contenders stood still, or did not run.
    pub(super) paused: Vec<(Contender, Span)>,
    /// When the links of contenders were silent or cut.
    pub(super) apart: Vec<(Contender, Span)>,
    /// When there was no leader.
    pub(super) leaderless: Vec<Span>,
    /// When the schedule did something.
    pub(super) hits: Vec<At>,
    /// When contenders ended by themselves, and what the driver says about it.
    pub(super) exits: Vec<(Contender, At, String)>,
    pub(super) end: At,
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        let mut story = Self {
            run,
            calls: BTreeMap::new(),
            by_event: BTreeMap::new(),
            events: run.events.iter().map(|event| (event.n, event)).collect(),
            sessions: BTreeMap::new(),
            holds: Vec::new(),
            beliefs: Vec::new(),
            paused: Vec::new(),
            apart: Vec::new(),
            leaderless: Vec::new(),
            hits: Vec::new(),
            exits: Vec::new(),
            end: run.setup.ended,
        };
        for event in &run.events {
            story.add(event);
        }
        story
    }

    fn add(&mut self, event: &'a Event) {
        let at = event.at;
        match &event.what {
            What::Request {
                call,
                by,
                method,
                target,
            } => {
                self.by_event.insert(event.n, *call);
                self.calls.insert(*call, Call::new(*by, method, target, at));
            }
            What::Answer {
                call,
                status,
                fault,
            } => self.answered(*call, at, *status, fault.is_some()),
            What::Acquired { again: true, .. }
            | What::Blocked { .. }
            | What::Written { .. }
            | What::Deleted { .. }
            | What::AcquireRejected { .. } => {}
            What::Belief { .. } if !self.run.setup.tells_beliefs => {}
            What::Belief { by, holds, token } => {
                self.believes(Contender(*by), at, *holds, token.as_ref());
            }
            What::Schedule { text } => self.scheduled(at, text),
            What::Driver { text } => {
                if let Some((name, how)) = text.split_once(" ended by itself: ") {
                    let by = name.parse::<Contender>();
                    self.exits.extend(by.map(|by| (by, at, how.to_owned())));
                }
            }
            _ => self.add_lock(event),
        }
    }

    fn add_lock(&mut self, event: &Event) {
        let at = event.at;
        match &event.what {
            What::Created { session, ttl } => {
                let by = self.cause_of(event).and_then(|call| call.by);
                let session_of = Session {
                    by,
                    ttl: Duration::from_nanos(*ttl),
                    leases: Vec::new(),
                    created: at,
                    ended: None,
                };
                self.sessions.insert(session.clone(), session_of);
                self.lease(event, session);
            }
            What::Renewed { session } => self.lease(event, session),
            What::Ended { session, .. } => {
                if let Some(of) = self.sessions.get_mut(session) {
                    of.ended = Some(at);
                }
            }
            What::Acquired { key, session, .. } => {
                let by = self.sessions.get(session).and_then(|session| session.by);
                self.holds.push(Hold {
                    key: key.clone(),
                    session: session.clone(),
                    by,
                    span: Span {
                        from: at,
                        to: self.end,
                    },
                    is_over: false,
                    why: String::new(),
                    by_itself: false,
                    free_from: self.end,
                });
            }
            What::Released { key, why, .. } => {
                let by = self.cause_of(event).and_then(|call| call.by);
                if let Some(hold) = self.open_hold(key) {
                    hold.span.to = at;
                    hold.is_over = true;
                    hold.why.clone_from(why);
                    hold.by_itself = by.is_some() && by == hold.by;
                    hold.free_from = at;
                }
            }
            What::LockDelay { key, lasts } => {
                let mut holds = self.holds.iter_mut().rev();
                if let Some(hold) = holds.find(|hold| hold.key == *key) {
                    hold.free_from = at.saturating_add(*lasts);
                }
            }
            What::LockDelayOver { key } => {
                let mut holds = self.holds.iter_mut().rev();
                if let Some(hold) = holds.find(|hold| hold.key == *key) {
                    hold.free_from = at;
                }
            }
            _ => {}
        }
    }

    fn open_hold(&mut self, key: &str) -> Option<&mut Hold> {
        let mut holds = self.holds.iter_mut().rev();
        holds.find(|hold| hold.key == key && !hold.is_over)
    }

    /// Returns the request that an event follows from, directly or not.
    pub(super) fn cause_of(&self, event: &Event) -> Option<&Call> {
        let mut cause = event.cause?;
        loop {
            if let Some(call) = self.by_event.get(&cause) {
                return self.calls.get(call);
            }
            cause = self.events.get(&cause)?.cause?;
        }
    }

    /// A request has created or renewed a session. That counts for its client when the response arrives.
    fn lease(&mut self, event: &Event, session: &str) {
        let sent = self.cause_of(event).map(|call| call.at);
        if let Some(of) = self.sessions.get_mut(session) {
            of.leases.extend(sent);
        }
    }

    fn answered(&mut self, call: u64, at: At, status: Option<u16>, is_hit: bool) {
        let Some(of) = self.calls.get_mut(&call) else {
            return;
        };
        of.answered = status.map(|status| (at, status));
        of.is_hit |= is_hit;
        let sent = of.at;
        if status.is_none() {
            // Its client never learned that the session lives on.
            for session in self.sessions.values_mut() {
                session.leases.retain(|lease| *lease != sent);
            }
        }
    }

    fn believes(&mut self, by: Contender, at: At, holds: bool, token: Option<&String>) {
        let mut beliefs = self.beliefs.iter_mut().rev();
        let open = beliefs.find(|belief| belief.by == by && !belief.is_over);
        match (open, holds) {
            (Some(open), false) => {
                open.span.to = at;
                open.is_over = true;
            }
            (None, true) => self.beliefs.push(Belief {
                by,
                span: Span {
                    from: at,
                    to: self.end,
                },
                is_over: false,
                token: token.cloned(),
            }),
            (Some(_), true) | (None, false) => {}
        }
    }

    fn scheduled(&mut self, at: At, text: &str) {
        self.hits.push(at);
        let whole = Span {
            from: at,
            to: self.end,
        };
        let bounded = |lasts: Duration| Span {
            from: at,
            to: at.saturating_add(u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX)),
        };
        let Ok(decision) = text.parse::<Decision>() else {
            return;
        };
        match decision.action {
            Action::Pause(one, lasts) => self.paused.push((one, bounded(lasts))),
            Action::Restart(one, lasts) => {
                self.paused.push((one, bounded(lasts)));
                self.believes(one, at, false, None);
            }
            Action::Silence(one, lasts) | Action::Cut(one, lasts) => {
                self.apart.push((one, lasts.map_or(whole, bounded)));
            }
            Action::LoseLeader => self.leaderless.push(bounded(Duration::from_secs(3))),
            _ => {}
        }
    }

    /// Returns whether a contender runs and can reach Consul during the whole span, and Consul has a leader.
    pub(super) fn is_well(&self, contender: Contender, span: Span) -> bool {
        let mine = |(one, bad): &(Contender, Span)| *one == contender && bad.overlaps(span);
        !self.paused.iter().any(mine)
            && !self.apart.iter().any(mine)
            && !self.leaderless.iter().any(|bad| bad.overlaps(span))
            && !self
                .exits
                .iter()
                .any(|(one, at, _)| *one == contender && *at < span.to)
    }
}

impl Call {
    fn new(by: Option<u8>, method: &str, target: &str, at: At) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let has = |name: &str| {
            let mut names = query.split('&').map(|pair| pair.split('=').next());
            names.any(|one| one == Some(name))
        };
        let path = decoded(path);
        Self {
            by: by.map(Contender),
            kind: RequestKind::of(method, path.as_bytes(), has),
            target: target.to_owned(),
            key: path.strip_prefix("/v1/kv/").map(str::to_owned),
            at,
            answered: None,
            is_hit: false,
        }
    }
}

/// Decodes `%2F` and the like.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let code = others.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
