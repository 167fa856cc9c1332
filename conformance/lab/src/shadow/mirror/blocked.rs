//! Reads that wait for a change: who woke, and who did not.
//!
//! Such a read is sent to the emulator when the program sends it. When one of the two has answered, the other has the grace time to do
//! so; a wait that runs out has the sixteenth more that Consul adds to it by chance (kv.md 5.2).

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::arrival::Arrival;
use super::{Mirror, final_reply};
use crate::shadow::capture::Event;
use proconsul_conformance::case::feature::go_duration;
use proconsul_conformance::time::{Deadline, Stopwatch};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Connection, Outcome, Reply};

/// How long a read waits that does not say so, and the longest that any waits (kv.md 5.2).
const USUAL_WAIT: Duration = Duration::from_secs(300);
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// So much longer than its wait may a read take before the emulator is taken for dead.
const SLOW: Duration = Duration::from_secs(60);

/// A read that waits on both servers. Dropping it ends the emulator's.
pub(super) struct Blocked {
    pub(super) real: Option<Outcome>,
    /// With how long it took.
    emulated: Option<(Outcome, Duration)>,
    /// Until when the other may answer.
    deadline: Option<Deadline>,
    handle: Option<TcpStream>,
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle
            && handle.shutdown(Shutdown::Both).is_err()
        {
            // It has ended already.
        }
    }
}

impl Blocked {
    /// Sends the read to the emulator; its answer comes as an event.
    pub(super) fn start(id: u64, asked: &Asked, mirror: &mut Mirror) -> Self {
        let opened = Connection::open(&mirror.servers.emulator[asked.agent]);
        let mut blocked = Self {
            real: None,
            emulated: None,
            deadline: None,
            handle: None,
        };
        let mut link = match opened {
            Ok(link) => link,
            Err(why) => {
                mirror.dead = Some(format!("the emulator is gone: {why}"));
                return blocked;
            }
        };
        blocked.handle = link.handle().ok();
        let asked = &mirror.servers.dressed(asked);
        let arrival = Arrival::of(asked, mirror);
        let is_answered = Arc::clone(&arrival.is_answered);
        link.send(&asked.to_bytes());
        let (events, to_head) = (mirror.woken.clone(), asked.method == "HEAD");
        let patience = longest(asked) + SLOW;
        let watch = Stopwatch::start();
        std::thread::spawn(move || {
            let outcome = final_reply(&mut link, to_head, patience);
            let took = watch.elapsed();
            is_answered.store(true, Ordering::SeqCst);
            if events.send(Event::Woke { id, outcome, took }).is_err() {
                // Nobody compares any more.
            }
        });
        // What the program does next comes later here, too.
        arrival.wait(mirror);
        blocked
    }
}

/// The wait that a read asks for.
fn wait(asked: &Asked) -> Duration {
    let given = asked.parameter("wait").and_then(go_duration);
    given.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT)
}

/// The longest that a read may wait.
fn longest(asked: &Asked) -> Duration {
    wait(asked) + wait(asked) / 16
}

fn index_of(reply: &Reply) -> Option<u64> {
    reply.header("X-Consul-Index")?.parse().ok()
}

impl Mirror {
    /// Whether the real server's wait has run out: it shows what the program knew.
    fn ran_out(asked: &Asked, outcome: &Outcome) -> bool {
        let Outcome::Reply(reply) = outcome else {
            return false;
        };
        let hash = asked.parameter("hash").is_some_and(|hash| !hash.is_empty());
        match (index_of(reply), asked.index()) {
            (Some(shown), Some(index)) => shown <= index,
            _ => hash && reply.header("X-Consul-Contenthash") == asked.parameter("hash"),
        }
    }

    /// The emulator has answered a read.
    pub(super) fn woke(&mut self, id: u64, outcome: Outcome, took: Duration) {
        let agent = self.flights.get(&id).map(|flight| flight.asked.agent);
        if !matches!(outcome, Outcome::Reply(_)) && agent.is_some_and(|agent| self.is_gone(agent)) {
            return;
        }
        if let Some(blocked) = self
            .flights
            .get_mut(&id)
            .and_then(|flight| flight.blocked.as_mut())
        {
            blocked.emulated = Some((outcome, took));
            blocked.handle = None;
            self.conclude(id);
        }
    }

    /// Compares the answers to a read if both are there; else says until when the other may come.
    pub(super) fn conclude(&mut self, id: u64) {
        let Some(flight) = self.flights.get(&id) else {
            return;
        };
        let Some(blocked) = &flight.blocked else {
            return;
        };
        let grace = self.patience_of(&flight.asked);
        let deadline = match (&blocked.real, &blocked.emulated) {
            (Some(_), Some(_)) => return self.compare(id),
            (Some(real), None) => match Self::ran_out(&flight.asked, real) {
                true => Some(Deadline::after(grace + wait(&flight.asked) / 16)),
                false => Some(Deadline::after(grace)),
            },
            // A wait that has run out here will run out there.
            (None, Some((_, took))) => {
                (*took < wait(&flight.asked)).then(|| Deadline::after(grace))
            }
            (None, None) => None,
        };
        if let Some(blocked) = self
            .flights
            .get_mut(&id)
            .and_then(|flight| flight.blocked.as_mut())
        {
            blocked.deadline = deadline;
        }
    }

    fn compare(&mut self, id: u64) {
        let Some(mut flight) = self.flights.remove(&id) else {
            return;
        };
        let both = flight
            .blocked
            .take()
            .map(|mut blocked| (blocked.real.take(), blocked.emulated.take()));
        let Some((Some(real), Some((emulated, _)))) = both else {
            return;
        };
        let asked = flight.asked;
        let judgement = self.judge(&asked, &real, &emulated);
        if judgement.is_same() {
            return self.same(&asked, &real, &emulated, judgement);
        }
        // Both may have looked at another moment of several changes that came at once; each must have seen a state that there was.
        let now = self.look(&asked);
        flight.views.push(now);
        let was_seen = flight.views.iter().any(|view| alike(view, &emulated));
        if was_seen {
            for view in &flight.views {
                let judgement = self.judge(&asked, &real, view);
                if judgement.is_same() {
                    return self.same(&asked, &real, view, judgement);
                }
            }
        }
        // Several writes came at once, and either may have seen any of the states between them.
        if was_seen || flight.is_raced || self.waits_for_a_race(&asked) {
            return self.postpone(&asked, real, emulated, true);
        }
        self.differs(&asked, real, emulated, judgement);
    }

    /// Whether a read is to exceed an index from writes that overlapped: what comes after it there may come before it here.
    fn waits_for_a_race(&self, asked: &Asked) -> bool {
        let index = self.mapping.to_emulator(asked).index();
        index.is_some() && !self.mapping.knows(asked)
            || self.mapping.is_raced(&index.into_iter().collect())
    }

    /// Whether a read that the real server has answered may yet be answered here.
    pub(super) fn awaits_the_emulator(&self) -> bool {
        let awaits = |blocked: &Blocked| blocked.real.is_some() && blocked.deadline.is_some();
        !self.is_over()
            && self
                .flights
                .values()
                .any(|flight| flight.blocked.as_ref().is_some_and(awaits))
    }

    /// Reports the reads that only one server has answered, when the other's time is up.
    pub(super) fn overdue(&mut self) {
        let is_overdue = |blocked: &Blocked| {
            let deadline = blocked.deadline.as_ref();
            deadline.is_some_and(|deadline| deadline.left().is_none())
        };
        let flights = self.flights.iter();
        let overdue = flights.filter(|(_, flight)| flight.blocked.as_ref().is_some_and(is_overdue));
        let mut overdue: Vec<u64> = overdue.map(|(id, _)| *id).collect();
        overdue.sort_unstable();
        for id in overdue {
            let Some(mut flight) = self.flights.remove(&id) else {
                continue;
            };
            let Some(mut blocked) = flight.blocked.take() else {
                continue;
            };
            if self.is_over() {
                self.findings.dropped += 1;
                continue;
            }
            let (real, emulated) = (blocked.real.take(), blocked.emulated.take());
            let emulated = emulated.map(|(outcome, _)| outcome);
            if flight.is_raced || self.waits_for_a_race(&flight.asked) {
                self.findings.unjudged(&flight.asked, real);
                continue;
            }
            if self.servers.may_depend_on_rights(&flight.asked) {
                self.findings.by_rights += 1;
                continue;
            }
            let lines = match real {
                Some(_) => "- (answered)\n+ (still waits)\n",
                None => "- (still waits)\n+ (answered)\n",
            };
            self.findings
                .differs(&flight.asked, real, emulated, lines.to_owned());
        }
    }
}

/// Whether one server has given two answers of the same state: the moment of a reply is not part of it.
fn alike(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Reply(one), Outcome::Reply(other)) => {
            let index = |reply: &Reply| index_of(reply);
            (one.status, &one.body, index(one)) == (other.status, &other.body, index(other))
        }
        _ => one == other,
    }
}
