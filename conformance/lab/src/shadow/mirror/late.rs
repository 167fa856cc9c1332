//! Reads that are not alike at once, and may yet be.
//!
//! The real server may show a write that it has not answered yet, or do by itself, a moment earlier or later than the emulator, what each
//! does at a time of its own: a session that lapses, a check that is run, a service of the agent's that comes to be in the catalog. Until
//! its time is over, such a read is compared again: what the real server answered with what the emulator would answer now; and, when no
//! write is on its way, both are asked again, at growing distances. It differs when they still did whenever both were asked; where no
//! such moment came, it is not judged.

use std::collections::HashSet;
use std::time::Duration;

use super::link::{ask, plain};
use super::relation::Race;
use super::{BETWEEN_LOOKS, Mirror};
use crate::shadow::capture::Event;
use crate::shadow::findings::route;
use crate::shadow::judge::Indexes;
use proconsul_conformance::time::Deadline;
use proconsul_conformance::wire::Outcome;
use proconsul_conformance::wire::asked::Asked;

/// More reads than this are not kept: they differ.
const MOST: usize = 32;
/// What an agent has done it enters into the catalog at a time of its own: a real 1.8.7 that was told to reload did so 1.6 s later.
const OWN_TIME: Duration = Duration::from_secs(5);
/// So often both are asked again before they differ, and at most so long after the time before.
const FEWEST_LOOKS: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_millis(800);
/// After so many times its time a read is given up, however much is being written.
const AT_MOST: u32 = 10;

/// A read that is compared again.
pub(super) struct Late {
    asked: Asked,
    real: Outcome,
    emulated: Outcome,
    /// Writes that were on their way when the real server answered.
    open: HashSet<u64>,
    /// How many writes had been done then.
    writes: u64,
    /// It overlapped with writes that overlapped.
    is_raced: bool,
    deadline: Deadline,
    /// Until when a moment for asking both is waited for.
    end: Deadline,
    next: Deadline,
    pause: Duration,
    /// How often both were asked and differed, and how often that must be.
    looks: u32,
    fewest: u32,
}

/// What comes of asking both again.
enum Again {
    Settled,
    Unjudged,
    Open,
}

/// Whether an answer is made of what was written alone, and not of what an agent enters by itself.
fn is_exact(asked: &Asked) -> bool {
    asked.key().is_some() || asked.path().starts_with("/v1/session/")
}

/// Whether the moments of a read's state are compared: the agent enters what it runs into the catalog by itself, between any two writes.
fn indexes_of(late: &Late) -> Indexes {
    match is_exact(&late.asked) {
        true => Indexes::Compared,
        false => Indexes::LeftOut,
    }
}

impl Mirror {
    /// How long two servers may take until both answer this read, and alike.
    pub(super) fn patience_of(&self, asked: &Asked) -> Duration {
        let of_an_agent = ["/v1/catalog/", "/v1/health/", "/v1/query/"];
        let may_be_late = of_an_agent
            .iter()
            .any(|path| asked.path().starts_with(path));
        match may_be_late {
            true => self.servers.grace.max(OWN_TIME),
            false => self.servers.grace,
        }
    }

    /// Compares a read again for a while, a shorter one if its kind is known to differ.
    pub(super) fn postpone(
        &mut self,
        asked: &Asked,
        real: Outcome,
        emulated: Outcome,
        is_raced: bool,
    ) {
        if self.unsure.touches(asked) {
            return self.findings.unjudged(asked, Some(real));
        }
        let writes = self.flights.iter();
        let writes = writes.filter(|(_, flight)| !flight.asked.is_read());
        let is_hopeless = self.unsettled.contains(&route(asked));
        let patience = self.patience_of(asked);
        let late = Late {
            asked: asked.clone(),
            real,
            emulated,
            open: writes.map(|(id, _)| *id).collect(),
            writes: self.writes,
            is_raced,
            deadline: Deadline::after(if is_hopeless {
                Duration::ZERO
            } else {
                patience
            }),
            end: Deadline::after(patience * AT_MOST),
            next: Deadline::after(Duration::ZERO),
            pause: BETWEEN_LOOKS,
            looks: 0,
            fewest: if is_hopeless { 1 } else { FEWEST_LOOKS },
        };
        match self.late.len() < MOST {
            true => self.late.push(late),
            false => self.too_late(late),
        }
    }

    /// Notes that reads which overlapped with one of these writes, which overlapped, may have seen what the emulator never was.
    pub(super) fn race_late(&mut self, writes: &HashSet<u64>, race: &Race) {
        for late in &mut self.late {
            late.is_raced |= !late.open.is_disjoint(writes) && race.shows_in(&late.asked);
        }
    }

    /// Compares them all again; `write` is one that has just been done.
    pub(super) fn try_late(&mut self, write: Option<u64>) {
        for mut late in std::mem::take(&mut self.late) {
            if let Some(write) = write {
                late.open.remove(&write);
            }
            if self.is_over() {
                self.findings.dropped += 1;
                continue;
            }
            if write.is_some() && !is_exact(&late.asked) {
                // Many of these would be looked at after each write, and none is of the write's making.
                self.late.push(late);
                continue;
            }
            let again = match self.is_same_by_now(&late) {
                true => Again::Settled,
                false if write.is_none() => self.ask_again(&mut late),
                false => Again::Open,
            };
            let is_sure = late.looks >= late.fewest || self.was_overwritten(&late);
            match again {
                Again::Settled => self.findings.settled += 1,
                Again::Unjudged => self.findings.unjudged(&late.asked, Some(late.real)),
                Again::Open if late.deadline.left().is_none() && is_sure => self.too_late(late),
                Again::Open if late.end.left().is_some() => self.late.push(late),
                Again::Open if late.looks > 0 => self.too_late(late),
                Again::Open => self.findings.unjudged(&late.asked, Some(late.real)),
            }
        }
    }

    /// Whether the emulator would now answer as the real server has.
    fn is_same_by_now(&mut self, late: &Late) -> bool {
        let view = self.look(&late.asked);
        let indexes = indexes_of(late);
        let judgement = self.judge_with(indexes, &late.asked, &late.real, &view);
        let is_same = judgement.is_same();
        if is_same {
            self.same(&late.asked, &late.real, &view, judgement);
        }
        is_same
    }

    /// Whether what both would answer now says nothing of what they have: a later write may have made alike what was not.
    fn was_overwritten(&self, late: &Late) -> bool {
        is_exact(&late.asked)
            && !late.is_raced
            && late.open.is_empty()
            && late.writes != self.writes
    }

    /// Whether the emulator has done all that the real server has: nothing is being written, and what comes next is no write.
    fn is_quiet(&mut self) -> bool {
        while let Ok(event) = self.events.try_recv() {
            self.backlog.push_back(event);
        }
        let is_write =
            |event: &Event| matches!(event, Event::Asked { asked, .. } if !asked.is_read());
        self.is_ended
            || !self.backlog.iter().any(is_write)
                && self.flights.values().all(|flight| flight.asked.is_read())
    }

    /// Asks both, if it is time and nothing is being written.
    fn ask_again(&mut self, late: &mut Late) -> Again {
        if late.next.left().is_some() || self.was_overwritten(late) || !self.is_quiet() {
            return Again::Open;
        }
        let asked = &late.asked;
        let now = ask(&self.servers.real, &plain(asked));
        let view = self.look(asked);
        let indexes = match late.is_raced {
            true => Indexes::LeftOut,
            false => indexes_of(late),
        };
        let judgement = self.judge_with(indexes, asked, &now, &view);
        let is_same = judgement.is_same();
        if is_same && is_exact(asked) && late.writes != self.writes {
            return Again::Unjudged;
        }
        if is_same {
            self.same(asked, &now, &view, judgement);
            return Again::Settled;
        }
        if self.is_quiet() {
            late.looks += 1;
        }
        late.next = Deadline::after(late.pause);
        late.pause = (late.pause * 2).min(LONGEST_PAUSE);
        Again::Open
    }

    fn too_late(&mut self, late: Late) {
        self.unsettled.insert(route(&late.asked));
        let judgement = self.judge(&late.asked, &late.real, &late.emulated);
        self.differs(&late.asked, late.real, late.emulated, judgement);
    }
}
