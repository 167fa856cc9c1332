//! What the schedule did in a run, and whether a contender could do anything at a time.

use super::call::{Answer, Call};
use super::nanos;
use super::span::{At, Span};
use super::story::{BeliefEnd, Hold, Moment, Session, Story};
use crate::action::{Action, REBUILT_AFTER, SLIGHT};
use crate::contender::Contender;
use crate::run::{Event, What};
use crate::schedule::Decision;
use std::time::Duration;

/// How long there is no leader after [`Action::LoseLeader`].
const NO_LEADER: Duration = Duration::from_secs(3);
/// The time until the failure of an agent is noticed, at least: autopilot removes no server that is back sooner.
const NOTICED: Duration = Duration::from_secs(5);
/// For how long after its return a server that autopilot has removed does not vote, at most.
const NO_VOTE: Duration = Duration::from_secs(21);

impl<'a> Story<'a> {
    pub(super) fn requested(&mut self, event: &Event, mut call: Call) {
        call.n = event.n;
        call.at = event.at;
        call.is_blind = self.is_blind(&call);
        self.calls.insert(call.number, call);
    }

    /// Returns whether a watch has an index of before all indexes went back, and its client has read nothing since. Consul
    /// answers such a watch when its time is over, and shows no change before.
    fn is_blind(&self, call: &Call) -> bool {
        let Some(by) = call.by.filter(|_| call.is_watch()) else {
            return false;
        };
        !self.lowered.is_empty() && !self.seen.contains(&(by, call.path.clone()))
    }

    pub(super) fn answered(&mut self, number: u64, event: &Event) {
        let What::Answer {
            status, read_at, ..
        } = event.what
        else {
            return;
        };
        let lowered = self.lowered.last().copied();
        let Some(call) = self.calls.get_mut(&number) else {
            return;
        };
        call.over = Some(event.at);
        call.answer = status.map(|status| Answer {
            n: event.n,
            at: event.at,
            status,
            read_at,
        });
        let call = &self.calls[&number];
        if let (Some(by), Some(lowered)) = (call.by, lowered)
            && call.may_read()
            && call.is_answered_well()
            && self.is_made_after(call, lowered)
        {
            let path = call.path.clone();
            self.seen.insert((by, path));
        }
    }

    /// Returns whether the response to a request shows what was so after a moment. It may have been made before that, and
    /// have been under way for a while.
    pub(super) fn is_made_after(&self, call: &Call, moment: Moment) -> bool {
        if call.n > moment.n {
            return true;
        }
        let is_later = call.answer.is_some_and(|answer| answer.n > moment.n);
        let around = Span {
            from: moment.at.saturating_sub(1),
            to: moment.at.saturating_add(1),
        };
        let is_apart =
            |(one, span): &(Contender, Span)| Some(*one) == call.by && span.overlaps(around);
        let mut apart = self.apart.iter().chain(&self.paused);
        is_later && !matches!(call.hit, Some(Action::DelayResponse(_))) && !apart.any(is_apart)
    }

    pub(super) fn scheduled(&mut self, event: &Event, text: &str) {
        let Event { n, at, .. } = *event;
        let decision = text.parse::<Decision>();
        if !decision
            .as_ref()
            .is_ok_and(|one| self.is_slight(&one.action))
        {
            self.hits.push(at);
        }
        let Ok(Decision { place, action }) = decision else {
            return;
        };
        let mut calls = self.calls.values_mut().rev();
        let named = calls.find(|call| {
            call.by == Some(place.contender) && call.kind == place.kind && call.over.is_none()
        });
        if let Some(call) = named.filter(|_| action.hits_only_the_request()) {
            call.hit = Some(action);
            return;
        }
        let whole = Span {
            from: at,
            to: self.end,
        };
        let lasting = |lasts: Option<Duration>| match lasts {
            Some(lasts) => Span {
                from: at,
                to: at.saturating_add(nanos(lasts)),
            },
            None => whole,
        };
        match action {
            Action::Pause(one, lasts) => self.paused.push((one, lasting(Some(lasts)))),
            Action::Restart(one, lasts) => {
                self.restarts.push((one, lasting(Some(lasts))));
                self.end_belief(one, at, BeliefEnd::Died);
            }
            Action::Silence(one, lasts) | Action::Cut(one, lasts) => {
                self.apart.push((one, lasting(lasts)));
            }
            Action::LagAgent(one, lasts) => self.apart.push((one, lasting(Some(lasts)))),
            Action::CutAgent(one, lasts) => self.agent_lost(one, lasting(lasts)),
            Action::PauseAgent(one, lasts) | Action::RestartAgent(one, lasts) => {
                self.agent_lost(one, lasting(Some(lasts)));
            }
            Action::LoseLeader => self.outages.push(lasting(Some(NO_LEADER))),
            // The token may be everybody's.
            Action::RevokeToken => self.outages.push(whole),
            Action::Rebuild => {
                self.outages.push(lasting(Some(REBUILT_AFTER)));
                self.lower(Moment { n, at });
            }
            _ => {}
        }
    }

    /// The agent of a contender is away. It may be the leader; and together with another one that is away, or does not vote again yet,
    /// the rest may be too few to have one.
    fn agent_lost(&mut self, one: Contender, span: Span) {
        let until = |end: At| end.saturating_add(nanos(NO_LEADER));
        self.outages.push(Span {
            from: span.from,
            to: until(span.from),
        });
        let others = self.agents_lost.iter();
        let others = others.filter(|(other, _)| *other != one);
        let both = others.filter_map(|(_, lost)| {
            let may_be_removed = lost.to.saturating_sub(lost.from) >= nanos(NOTICED);
            let (votes_again, to) = match may_be_removed {
                true => (lost.to.saturating_add(nanos(NO_VOTE)), span.to.max(lost.to)),
                false => (lost.to, span.to.min(lost.to)),
            };
            let (from, to) = (span.from, until(to));
            (votes_again > from).then_some(Span { from, to })
        });
        self.outages.extend(both);
        self.agents_lost.push((one, span));
        // It knows its leader again soon after it is back.
        let to = until(span.to);
        self.apart.push((one, Span { to, ..span }));
    }

    pub(super) fn driven(&mut self, event: &Event, text: &'a str) {
        let Event { n, at, .. } = *event;
        if text.starts_with("new leader") {
            self.leaders.push(at);
        } else if text.starts_with("indexes lowered") {
            self.lower(Moment { n, at });
        } else if let Some(path) = text.strip_prefix("changed ") {
            self.changed.push((path, at));
        } else if let Some((name, how)) = text.split_once(" ended by itself: ")
            && let Ok(by) = name.parse()
        {
            self.end_belief(by, at, BeliefEnd::Died);
            self.exits.push((by, at, how.to_owned()));
        }
    }

    /// All indexes go back. What waits is answered at once with an index of now; what is still under way will wait.
    fn lower(&mut self, moment: Moment) {
        self.lowered.push(moment);
        self.seen.clear();
        for call in self.calls.values_mut() {
            let is_under_way = call.over.is_none() && !call.is_parked;
            call.is_blind |= is_under_way && call.is_watch();
        }
    }

    /// Returns whether an action is a delay that is no fault of anything: of a small part of each TTL.
    pub(super) fn is_slight(&self, action: &Action) -> bool {
        let ttls = self.sessions.values().map(|session| session.ttl);
        let least = ttls.filter(|ttl| !ttl.is_zero()).min();
        let (Action::Delay(delay) | Action::DelayResponse(delay)) = action else {
            return false;
        };
        least.is_some_and(|ttl| *delay * SLIGHT <= ttl)
    }

    /// Returns a session, in whatever case a client has spelled it.
    pub(super) fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(&id.to_lowercase())
    }

    /// Returns what a contender held that may be the lock, in the order in which it acquired it. Where contenders have no key in
    /// common, as with a semaphore, that is all that it held.
    pub(super) fn own_holds(&self, by: Contender) -> Vec<&Hold> {
        let own = || self.holds.iter().filter(|hold| hold.by == Some(by));
        let locks: Vec<_> = own()
            .filter(|hold| self.locks.contains(&hold.key))
            .collect();
        match locks.is_empty() {
            true => own().collect(),
            false => locks,
        }
    }

    /// Returns when a contender has acted that could act from `at` on: after the slack, in which it did not stand still.
    pub(super) fn acts_by(&self, by: Contender, at: At, slack: Duration) -> At {
        let slack = nanos(slack);
        let paused = self.paused.iter().filter(|(one, _)| *one == by);
        paused.fold(at.saturating_add(slack), |until, (_, span)| {
            if span.from <= until && span.to > at {
                until.max(span.to.saturating_add(slack))
            } else {
                until
            }
        })
    }

    /// Returns the times at which a contender could not do what it should.
    fn bad_times(&self, contender: Contender) -> impl Iterator<Item = Span> {
        let of_one = self.paused.iter().chain(&self.restarts);
        let of_one = of_one.chain(&self.apart).chain(&self.kept);
        let of_one = of_one.filter(move |(one, _)| *one == contender);
        let exits = self.exits.iter().filter(move |(one, ..)| *one == contender);
        let exits = exits.map(|(_, at, _)| Span {
            from: *at,
            to: self.end,
        });
        let of_one = of_one.map(|(_, span)| *span).chain(exits);
        of_one.chain(self.outages.iter().copied())
    }

    /// Returns whether a contender runs and can reach Consul during the whole span, nothing is kept from it, and Consul has a
    /// leader.
    pub(super) fn is_well(&self, contender: Contender, span: Span) -> bool {
        !self.bad_times(contender).any(|bad| bad.overlaps(span))
    }

    /// Returns the first part of a span, as long as `lasts`, during which a contender is well.
    pub(super) fn well_part(&self, one: Contender, span: Span, lasts: Duration) -> Option<Span> {
        let ends = self.bad_times(one).map(|bad| bad.to);
        let mut starts: Vec<At> = ends.filter(|end| span.contains(*end)).collect();
        starts.push(span.from);
        starts.sort_unstable();
        let mut parts = starts.into_iter().map(|from| Span {
            from,
            to: from.saturating_add(nanos(lasts)),
        });
        parts.find(|part| part.to <= span.to && self.is_well(one, *part))
    }
}
