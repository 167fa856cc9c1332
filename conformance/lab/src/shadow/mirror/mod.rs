//! Does at the emulator what was done at the real server, in the order in which that answered, and compares.
//!
//! One thread does all of it. A request that waits for a change is sent when the program sends it; everything else when the real server
//! has answered it, so that writes come in the order in which they came to be there (`order.rs` for those that overlapped). A read that
//! overlapped with a write may show the state before or after it: while it is on its way, the emulator is asked before each write what
//! it would answer (`views`), and one of these must be alike.

mod arrival;
mod blocked;
mod late;
mod link;
mod order;
mod relation;
mod rights;
mod unsure;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use self::arrival::Arrivals;
use self::blocked::Blocked;
use self::late::Late;
use self::link::{final_reply, plain};
use self::order::Timed;
use self::relation::{Race, relates};
use self::unsure::Unsure;
use crate::shadow::agents::{Agents, is_measured};
use crate::shadow::capture::{Event, Place, Unseen, blocks};
use crate::shadow::findings::{Findings, route};
use crate::shadow::judge::{Indexes, Judgement, judge};
use crate::shadow::mapping::Mapping;
use proconsul_conformance::time::{Deadline, Stopwatch, pause};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::transcript::Names;
use proconsul_conformance::wire::{Address, Connection, Outcome};

/// With nothing to do, how long until reads that are overdue are looked for.
const IDLE: Duration = Duration::from_millis(20);
/// Reads that differ are looked after at such distances even while something is in the queue.
const LONGEST_BUSY: Duration = Duration::from_millis(200);
/// Between two looks at servers that may yet come to say the same.
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);
/// So many reads on their way are asked for before a write, and so many of their views are kept.
const MOST_VIEWS: usize = 32;

/// The two servers and how long they may take.
#[derive(Clone)]
pub(super) struct Servers {
    /// By the number of the agent, as all here.
    pub(super) real: Vec<Address>,
    pub(super) emulator: Vec<Address>,
    pub(super) names: Vec<(Names, Names)>,
    pub(super) agents: (Agents, Agents),
    pub(super) grace: Duration,
    /// How long the emulator may take to answer what does not wait.
    pub(super) patience: Duration,
    /// The emulator's token, where the servers have ACLs.
    pub(super) token: Option<String>,
}

/// A request of the program whose answer is awaited.
pub(super) struct Flight {
    pub(super) connection: u64,
    pub(super) asked: Asked,
    _place: Place,
    /// What the emulator would have answered, before each write since.
    pub(super) views: Vec<Outcome>,
    /// When it was sent, by the count of [`Mirror::tick`].
    pub(super) sent: u64,
    /// Writes that overlapped with each other were done meanwhile, and their order may show in the answer.
    is_raced: bool,
    blocked: Option<Blocked>,
}

impl Flight {
    /// Keeps what the emulator would answer now.
    fn see(&mut self, view: Outcome) {
        if self.views.len() >= MOST_VIEWS {
            self.views.remove(0);
        }
        self.views.push(view);
    }
}

/// A request and the real server's answer to it.
pub(super) struct Done {
    pub(super) id: u64,
    pub(super) flight: Flight,
    pub(super) outcome: Outcome,
    /// When it was answered, by the count of [`Mirror::tick`].
    pub(super) answered: u64,
}

/// Who does all of it.
pub(super) struct Mirror {
    pub(super) servers: Servers,
    pub(super) mapping: Mapping,
    pub(super) findings: Findings,
    pub(super) flights: HashMap<u64, Flight>,
    events: Receiver<Event>,
    pub(super) woken: Sender<Event>,
    /// Events that were looked at too early.
    pub(super) backlog: VecDeque<Event>,
    unseen: Arc<Unseen>,
    /// The emulator's connection for each of the program's, by agent and number; 0 is for looks of our own.
    links: HashMap<(usize, u64), Connection>,
    arrivals: Arrivals,
    /// Reads that may yet be alike.
    late: Vec<Late>,
    /// How many writes were done.
    writes: u64,
    /// How many requests and answers there were.
    ticks: u64,
    unsure: Unsure,
    /// Reads that are begun here after writes with which they overlapped.
    behind_a_race: HashSet<u64>,
    /// Nothing more will come.
    is_ended: bool,
    idled: Stopwatch,
    /// Kinds of requests that differ however long one waits.
    pub(super) unsettled: HashSet<String>,
    /// Why the emulator is asked no more.
    pub(super) dead: Option<String>,
}

impl Mirror {
    pub(super) fn new(
        servers: Servers,
        mapping: Mapping,
        findings: Findings,
        (woken, events): (Sender<Event>, Receiver<Event>),
        unseen: &Arc<Unseen>,
    ) -> Self {
        Self {
            servers,
            mapping,
            findings,
            flights: HashMap::new(),
            events,
            woken,
            backlog: VecDeque::new(),
            unseen: Arc::clone(unseen),
            links: HashMap::new(),
            arrivals: Arrivals::default(),
            late: Vec::new(),
            writes: 0,
            ticks: 0,
            unsure: Unsure::default(),
            behind_a_race: HashSet::new(),
            is_ended: false,
            idled: Stopwatch::start(),
            unsettled: HashSet::new(),
            dead: None,
        }
    }

    /// Compares until the relay is over; returns what was found.
    pub(super) fn run(mut self) -> Findings {
        loop {
            match self.next(IDLE) {
                Some(Event::Over) => break,
                Some(event) => self.take(event),
                None => self.idle(),
            }
            if self.idled.elapsed() > LONGEST_BUSY {
                self.try_late(None);
                self.idled = Stopwatch::start();
            }
        }
        self.is_ended = true;
        // Reads that the real server has answered are still waited for.
        while self.awaits_the_emulator() || !self.late.is_empty() {
            match self.next(IDLE) {
                Some(event) => self.take(event),
                None => self.idle(),
            }
        }
        self.findings.dead = self.dead;
        self.findings
    }

    /// The next event, `None` when none comes within so long.
    pub(super) fn next(&mut self, patience: Duration) -> Option<Event> {
        if let Some(event) = self.backlog.pop_front() {
            return Some(event);
        }
        match self.events.recv_timeout(patience) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Over),
        }
    }

    /// Nothing is in the queue: looks after what is waited for.
    fn idle(&mut self) {
        self.overdue();
        self.try_late(None);
        self.idled = Stopwatch::start();
    }

    /// Counts requests and answers in the order in which they passed.
    pub(super) fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Asked {
                id,
                connection,
                asked,
                place,
            } => self.asked(id, connection, *asked, place),
            Event::Answered {
                id,
                outcome,
                place: _place,
            } => self.answered(id, outcome),
            Event::GivenUp { id } => self.given_up(id),
            Event::Hung { connection } => self.links.retain(|(_, open), _| *open != connection),
            Event::Woke { id, outcome, took } => self.woke(id, outcome, took),
            Event::Over => {}
        }
    }

    /// Whether nothing is to be compared any more: the emulator is gone, or has missed something.
    pub(super) fn is_over(&self) -> bool {
        self.dead.is_some() || self.unseen.is_cut.load(Ordering::SeqCst)
    }

    pub(super) fn asked(&mut self, id: u64, connection: u64, asked: Asked, place: Place) {
        let blocked = match blocks(&asked) && !self.is_over() {
            true => {
                self.mapping.learn_own(&asked);
                Some(Blocked::start(id, &self.mapping.to_emulator(&asked), self))
            }
            false => None,
        };
        let flight = Flight {
            connection,
            asked,
            _place: place,
            views: Vec::new(),
            sent: self.tick(),
            is_raced: self.behind_a_race.remove(&id),
            blocked,
        };
        self.flights.insert(id, flight);
    }

    fn answered(&mut self, id: u64, outcome: Outcome) {
        if !matches!(outcome, Outcome::Reply(_))
            && !self.is_over()
            && let Some(flight) = self.flights.get(&id)
        {
            self.is_the_real_one_gone(flight.asked.agent);
        }
        if self.is_over() {
            if self.flights.remove(&id).is_some() {
                self.findings.dropped += 1;
            }
            return;
        }
        if self.was_made_by_rights(id, &outcome) {
            return;
        }
        if let Some(flight) = self.flights.get_mut(&id)
            && let Some(blocked) = &mut flight.blocked
        {
            blocked.real = Some(outcome);
            return self.conclude(id);
        }
        let Some(flight) = self.flights.remove(&id) else {
            return;
        };
        let done = Done {
            id,
            flight,
            outcome,
            answered: self.tick(),
        };
        if done.flight.asked.is_read() {
            return self.read(done);
        }
        let mut group = order::gathered(self, done);
        let race = Race::of(&group.iter());
        let last_before = self.begin_race(&group, &race);
        let mut lost = unsure::unshown(&group);
        let first = group[0].1.flight.asked.clone();
        let all: Vec<String> = group.iter().flat_map(unsure::keys_of_done).collect();
        while let Some(done) = order::next(self, &mut group) {
            let id = done.id;
            self.views_before_a_write();
            if !self.write(done, &race) {
                lost.extend(all.iter().cloned());
            }
            self.try_late(Some(id));
        }
        self.unsure.add(lost);
        if let Some(before) = last_before
            && let Some(after) = order::last_index(self, &first)
        {
            self.mapping.add_race(before, after);
        }
    }

    /// Notes which reads may show the order of these writes; returns the emulator's last index before it does them.
    fn begin_race(&mut self, group: &VecDeque<Timed>, race: &Race) -> Option<u64> {
        if group.len() < 2 {
            return None;
        }
        for flight in self.flights.values_mut() {
            flight.is_raced |= race.shows_in(&flight.asked);
        }
        let ids = group.iter().map(|(_, done)| done.id).collect();
        self.race_late(&ids, race);
        for event in &self.backlog {
            // Sent while these were on their way, and begun here only after them.
            if let Event::Asked { id, asked, .. } = event
                && group
                    .iter()
                    .any(|(_, done)| relates(asked, &done.flight.asked))
            {
                self.behind_a_race.insert(*id);
            }
        }
        order::last_index(self, &group.front()?.1.flight.asked)
    }

    /// The program no longer waits. What it has written is written all the same, as far as anybody knows.
    fn given_up(&mut self, id: u64) {
        let Some(flight) = self.flights.remove(&id) else {
            return;
        };
        if !flight.asked.is_read() && !self.is_over() {
            self.views_before_a_write();
            let asked = self.mapping.to_emulator(&flight.asked);
            drop(self.exchange(flight.connection, &asked));
            self.try_late(Some(id));
        }
    }

    /// What the emulator answers on the connection that stands for one of the program's.
    pub(super) fn exchange(&mut self, connection: u64, asked: &Asked) -> Outcome {
        let emulator = &self.servers.emulator[asked.agent];
        let kept = self.links.remove(&(asked.agent, connection));
        let is_kept = kept.is_some();
        let opened = kept.map_or_else(|| Connection::open(emulator), Ok);
        let mut link = match opened {
            Ok(link) => link,
            Err(why) => {
                self.dead = Some(format!("the emulator is gone: {why}"));
                return Outcome::Unreachable(why);
            }
        };
        link.send(&self.servers.dressed(asked).to_bytes());
        let patience = self.servers.patience;
        let outcome = final_reply(&mut link, asked.method == "HEAD", patience);
        match &outcome {
            Outcome::Reply(reply) => {
                let close = reply
                    .header("Connection")
                    .is_some_and(|value| value == "close");
                if !close && reply.version == "HTTP/1.1" {
                    self.links.insert((asked.agent, connection), link);
                }
            }
            // It was closed while nobody used it.
            Outcome::Closed if is_kept => return self.exchange(connection, asked),
            Outcome::Silent { .. } => {
                self.dead = Some(format!("the emulator does not answer within {patience:?}"));
            }
            Outcome::Closed | Outcome::Broken { .. } | Outcome::Unreachable(_) => {
                self.is_gone(asked.agent);
            }
        }
        outcome
    }

    /// Whether nobody listens where the emulator was; then nothing is compared any more.
    pub(super) fn is_gone(&mut self, agent: usize) -> bool {
        if let Err(why) = Connection::open(&self.servers.emulator[agent]) {
            self.dead = Some(format!("the emulator is gone: {why}"));
        }
        self.dead.is_some()
    }

    /// Whether nobody listens where the real server was. What it did last nobody knows, so nothing is compared any more, even if it comes
    /// back.
    fn is_the_real_one_gone(&mut self, agent: usize) {
        if let Err(why) = Connection::open(&self.servers.real[agent]) {
            self.dead = Some(format!("the real server is gone: {why}"));
        }
    }

    /// What the emulator would answer now, if the request did not wait.
    pub(super) fn look(&mut self, asked: &Asked) -> Outcome {
        let plain = plain(&self.mapping.to_emulator(asked));
        self.exchange(0, &plain)
    }

    pub(super) fn judge(&self, asked: &Asked, real: &Outcome, emulated: &Outcome) -> Judgement {
        self.judge_with(Indexes::Compared, asked, real, emulated)
    }

    pub(super) fn judge_with(
        &self,
        indexes: Indexes,
        asked: &Asked,
        real: &Outcome,
        emulated: &Outcome,
    ) -> Judgement {
        let names = &self.servers.names[asked.agent];
        let judgement = judge(&self.mapping, names, indexes, asked, real, emulated);
        let (of_real, of_emulator) = &self.servers.agents;
        if judgement.is_same() {
            return judgement;
        }
        let (real, emulated) = (of_real.by_name(real), of_emulator.by_name(emulated));
        let by_name = judge(&self.mapping, names, indexes, asked, &real, &emulated);
        if by_name.is_same() || of_real.are_several() {
            by_name
        } else {
            judgement
        }
    }

    /// Asks for the reads on their way before something changes.
    fn views_before_a_write(&mut self) {
        let mut reads: Vec<u64> = self.flights.keys().copied().collect();
        reads.retain(|id| self.flights[id].asked.is_read());
        reads.sort_unstable();
        reads.truncate(MOST_VIEWS);
        for id in reads {
            let asked = self.flights[&id].asked.clone();
            let view = self.look(&asked);
            if let Some(flight) = self.flights.get_mut(&id) {
                flight.see(view);
            }
        }
    }

    fn read(&mut self, done: Done) {
        let Done {
            flight, outcome, ..
        } = &done;
        self.mapping.learn_own(&flight.asked);
        let asked = self.mapping.to_emulator(&flight.asked);
        let emulated = self.exchange(flight.connection, &asked);
        let candidates = std::iter::once(&emulated).chain(&flight.views);
        let alike = candidates
            .map(|candidate| (candidate, self.judge(&flight.asked, outcome, candidate)))
            .find(|(_, judgement)| judgement.is_same());
        if let Some((candidate, judgement)) = alike {
            let candidate = candidate.clone();
            return self.same(&flight.asked, outcome, &candidate, judgement);
        }
        let Flight {
            asked, is_raced, ..
        } = done.flight;
        self.postpone(&asked, done.outcome, emulated, is_raced);
    }

    /// Does a write, which may be one of several that overlapped; false if they were not done in the real server's order, as it turns out.
    fn write(&mut self, done: Done, race: &Race) -> bool {
        self.writes += 1;
        order::learn_cas(self, &done);
        let Done {
            id,
            flight,
            outcome,
            ..
        } = done;
        self.mapping.learn_own(&flight.asked);
        let asked = self.mapping.to_emulator(&flight.asked);
        let mut emulated = self.exchange(flight.connection, &asked);
        let mut judgement = self.judge(&flight.asked, &outcome, &emulated);
        // What ends by itself, a session or a lock-delay, may end a moment later here; a refusal has changed nothing.
        let kind = route(&flight.asked);
        let mut is_in_order = true;
        if race.is_one_of(&flight.asked) && !judgement.is_same() {
            let unordered = self.judge_with(Indexes::LeftOut, &flight.asked, &outcome, &emulated);
            if unordered.is_same() {
                judgement = unordered;
            } else {
                is_in_order = !race.decides(&flight.asked);
            }
        }
        let is_unsure = !is_in_order || self.unsure.touches(&flight.asked);
        if !judgement.is_same() && !is_unsure && refuses(&emulated) && !refuses(&outcome) {
            let deadline = self.patience_with(&kind);
            while !judgement.is_same() && refuses(&emulated) && deadline.left().is_some() {
                pause(BETWEEN_LOOKS);
                // Nobody is asked again meanwhile: the emulator is behind.
                self.try_late(Some(id));
                emulated = self.exchange(flight.connection, &asked);
                judgement = self.judge(&flight.asked, &outcome, &emulated);
            }
            if !judgement.is_same() {
                self.unsettled.insert(kind);
            }
        }
        match judgement.is_same() {
            true => self.same(&flight.asked, &outcome, &emulated, judgement),
            false if !is_in_order => self.findings.unjudged(&flight.asked, Some(outcome)),
            false => self.differs(&flight.asked, outcome, emulated, judgement),
        }
        is_in_order
    }

    /// How long two servers may take to say the same: no time where they never did.
    pub(super) fn patience_with(&self, kind: &str) -> Deadline {
        let is_hopeless = self.unsettled.contains(kind);
        Deadline::after(if is_hopeless {
            Duration::ZERO
        } else {
            self.servers.grace
        })
    }

    fn learn(&mut self, asked: &Asked, real: &Outcome, emulated: &Outcome, judgement: Judgement) {
        if let (Outcome::Reply(real), Outcome::Reply(emulated)) = (real, emulated) {
            self.mapping.learn_headers(asked.path(), real, emulated);
        }
        judgement.learn(&mut self.mapping);
    }

    pub(super) fn same(
        &mut self,
        asked: &Asked,
        real: &Outcome,
        emulated: &Outcome,
        judgement: Judgement,
    ) {
        self.learn(asked, real, emulated, judgement);
        self.unsure.agreed(asked);
        self.findings.same(asked, real);
    }

    pub(super) fn differs(
        &mut self,
        asked: &Asked,
        real: Outcome,
        emulated: Outcome,
        mut judgement: Judgement,
    ) {
        let lines = judgement.difference.take().unwrap_or_default();
        self.learn(asked, &real, &emulated, judgement);
        if self.dead.is_some() {
            self.findings.dropped += 1;
            return;
        }
        if self.servers.may_depend_on_rights(asked) {
            self.findings.by_rights += 1;
            return;
        }
        let is_measured = self.servers.agents.0.are_several() && is_measured(asked);
        if is_measured || self.unsure.touches(asked) {
            self.findings.unjudged(asked, Some(real));
            return;
        }
        self.findings
            .differs(asked, Some(real), Some(emulated), lines);
    }
}

/// Whether an answer says that nothing was done.
fn refuses(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Reply(reply) => reply.status >= 400 || reply.body.starts_with(b"false"),
        _ => false,
    }
}
