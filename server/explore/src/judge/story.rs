//! A recorded run, as verdicts look at it: who held what, who believed what, and what each could know.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::call::Call;
use super::span::{At, Span};
use crate::contender::Contender;
use crate::run::{Event, Run, What};

/// A place in the order of events, and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The number of the event.
    pub(super) n: u64,
    pub(super) at: At,
}

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) by: Option<Contender>,
    pub(super) ttl: Duration,
    /// The requests that have created and renewed it.
    pub(super) leases: Vec<Lease>,
    pub(super) created: At,
    pub(super) ended: Option<At>,
}

/// What makes a session live on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    /// The number of the request.
    pub(super) call: Option<u64>,
    /// When the request was applied.
    pub(super) applied: At,
}

/// A time during which a session held a key.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) key: String,
    pub(super) session: String,
    pub(super) by: Option<Contender>,
    pub(super) span: Span,
    /// When it ended; after all events if it has not.
    pub(super) end: Moment,
    /// Whether it has ended.
    pub(super) is_over: bool,
    /// Why it ended.
    pub(super) why: String,
    /// Whether a request of the holder itself ended it.
    pub(super) by_itself: bool,
    /// When the lock-delay that followed was to end.
    pub(super) free_from: At,
}

/// A time during which a contender believed that it held the lock.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    pub(super) by: Contender,
    pub(super) span: Span,
    pub(super) end: BeliefEnd,
}

/// How a belief ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BeliefEnd {
    Open,
    /// The contender said so.
    Said,
    /// The contender was restarted, or ended by itself.
    Died,
}

/// A fencing token that a contender gave out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) by: Contender,
    pub(super) at: At,
    pub(super) number: u64,
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
    pub(super) tokens: Vec<Token>,
    /// Who has tried to acquire which key, and when.
    pub(super) tries: Vec<(Contender, &'a str, At)>,
    /// The keys that are locks. What only one contender uses is none, such as a key for each session.
    pub(super) locks: BTreeSet<String>,
    /// When contenders stood still.
    pub(super) paused: Vec<(Contender, Span)>,
    /// When contenders did not run, because the schedule started them anew.
    pub(super) restarts: Vec<(Contender, Span)>,
    /// When the links of contenders were silent or cut.
    pub(super) apart: Vec<(Contender, Span)>,
    /// When the agents of contenders were away from the others.
    pub(super) agents_lost: Vec<(Contender, Span)>,
    /// When requests of contenders were kept from them.
    pub(super) kept: Vec<(Contender, Span)>,
    /// When Consul could not serve anybody.
    pub(super) outages: Vec<Span>,
    /// When another server became the leader, which starts TTLs anew.
    pub(super) leaders: Vec<At>,
    /// When all indexes went back.
    pub(super) lowered: Vec<Moment>,
    /// Who has read which path since then.
    pub(super) seen: BTreeSet<(Contender, String)>,
    /// What the driver has changed that is no key, by the path at which it is read.
    pub(super) changed: Vec<(&'a str, At)>,
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
            tokens: Vec::new(),
            tries: Vec::new(),
            locks: BTreeSet::new(),
            paused: Vec::new(),
            restarts: Vec::new(),
            apart: Vec::new(),
            agents_lost: Vec::new(),
            kept: Vec::new(),
            outages: Vec::new(),
            leaders: Vec::new(),
            lowered: Vec::new(),
            seen: BTreeSet::new(),
            changed: Vec::new(),
            hits: Vec::new(),
            exits: Vec::new(),
            end: run.setup.ended,
        };
        for event in &run.events {
            story.add(event);
        }
        story.paused.sort_by_key(|(_, span)| span.from);
        story.locks = story.find_locks();
        story.kept = story.find_kept();
        story
    }

    /// Returns the locks: keys that have been acquired, and that more than one contender uses.
    fn find_locks(&self) -> BTreeSet<String> {
        let is_alone = self.run.setup.contenders == 1;
        let calls = self.calls.values().filter(|call| call.pursues());
        let by_calls = calls.filter_map(|call| Some((call.key.as_deref()?, call.by?)));
        let by_tries = self.tries.iter().map(|(by, key, _)| (*key, *by));
        let users: BTreeSet<_> = by_calls.chain(by_tries).collect();
        let count = |key: &str| users.iter().filter(|(used, _)| *used == key).count();
        let held = self.holds.iter();
        let held = held.filter(|hold| !hold.key.contains(&hold.session));
        let locks = held.filter(|hold| is_alone || count(&hold.key) > 1);
        locks.map(|hold| hold.key.clone()).collect()
    }

    fn find_kept(&self) -> Vec<(Contender, Span)> {
        let is_slight = |call: &Call| call.hit.as_ref().is_some_and(|hit| self.is_slight(hit));
        let kept = self.calls.values();
        let kept = kept.filter(|call| call.is_kept() && !is_slight(call));
        let span = |call: &Call| Span {
            from: call.at,
            to: call.over.unwrap_or(self.end),
        };
        kept.filter_map(|call| Some((call.by?, span(call))))
            .collect()
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
                self.requested(event, Call::new(*call, *by, method, target));
            }
            What::Answer { call, .. } => self.answered(*call, event),
            What::Blocked { call } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.is_parked = true;
                }
            }
            What::Written { .. } | What::Deleted { .. } => {}
            What::Belief { .. } if !self.run.setup.tells_beliefs => {}
            What::Belief { by, holds, token } => {
                let by = Contender(*by);
                let token = token.as_ref().and_then(|token| token.parse().ok());
                let token = token.filter(|_| *holds);
                self.tokens
                    .extend(token.map(|number| Token { by, at, number }));
                self.believes(by, at, *holds);
            }
            What::Schedule { text } => self.scheduled(event, text),
            What::Driver { text } => self.driven(event, text),
            _ => self.add_lock(event),
        }
    }

    fn add_lock(&mut self, event: &'a Event) {
        let at = event.at;
        match &event.what {
            What::Created { session, ttl } => {
                let session_of = Session {
                    by: self.cause_of(event).and_then(|call| call.by),
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
            What::AcquireRejected { key, .. } => {
                let by = self.cause_of(event).and_then(|call| call.by);
                self.tries.extend(by.map(|by| (by, key.as_str(), at)));
            }
            What::Acquired {
                key,
                session,
                again,
            } => self.acquired(event, key, session, *again),
            What::Released { key, why, .. } => {
                let by = self.cause_of(event).and_then(|call| call.by);
                let mut holds = self.holds.iter_mut().rev();
                if let Some(hold) = holds.find(|hold| hold.key == *key && !hold.is_over) {
                    hold.span.to = at;
                    hold.end = Moment { n: event.n, at };
                    hold.is_over = true;
                    hold.why.clone_from(why);
                    hold.by_itself = by.is_some() && by == hold.by;
                    hold.free_from = at;
                }
            }
            // It may end earlier, with a new leader, which no contender can know.
            What::LockDelay { key, lasts } => {
                let mut holds = self.holds.iter_mut().rev();
                if let Some(hold) = holds.find(|hold| hold.key == *key && hold.is_over) {
                    hold.free_from = at.saturating_add(*lasts);
                }
            }
            _ => {}
        }
    }

    fn acquired(&mut self, event: &'a Event, key: &'a str, session: &str, again: bool) {
        let at = event.at;
        let by = self.cause_of(event).and_then(|call| call.by);
        self.tries.extend(by.map(|by| (by, key, at)));
        if again {
            return;
        }
        let of_session = || self.sessions.get(session)?.by;
        self.holds.push(Hold {
            key: key.to_owned(),
            session: session.to_owned(),
            by: by.or_else(of_session),
            span: Span {
                from: at,
                to: self.end,
            },
            end: Moment {
                n: u64::MAX,
                at: self.end,
            },
            is_over: false,
            why: String::new(),
            by_itself: false,
            free_from: self.end,
        });
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

    fn lease(&mut self, event: &Event, session: &str) {
        let lease = Lease {
            call: self.cause_of(event).map(|call| call.number),
            applied: event.at,
        };
        if let Some(of) = self.sessions.get_mut(session) {
            of.leases.push(lease);
        }
    }

    fn believes(&mut self, by: Contender, at: At, holds: bool) {
        let mut restarts = self.restarts.iter();
        // What a process has said shortly before it is killed.
        let is_dead = restarts.any(|(one, span)| *one == by && span.contains(at));
        let mut beliefs = self.beliefs.iter();
        let is_open = beliefs.any(|belief| belief.by == by && belief.end == BeliefEnd::Open);
        if !holds {
            self.end_belief(by, at, BeliefEnd::Said);
        } else if !is_open && !is_dead {
            self.beliefs.push(Belief {
                by,
                span: Span {
                    from: at,
                    to: self.end,
                },
                end: BeliefEnd::Open,
            });
        }
    }

    pub(super) fn end_belief(&mut self, by: Contender, at: At, end: BeliefEnd) {
        let mut beliefs = self.beliefs.iter_mut().rev();
        let open = beliefs.find(|belief| belief.by == by && belief.end == BeliefEnd::Open);
        if let Some(open) = open {
            open.span.to = at;
            open.end = end;
        }
    }
}
