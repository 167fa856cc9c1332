//! Reads that are not alike at once, and may yet be.
//!
//! The real server may show a write that it has not answered yet, or do by itself, a moment earlier or later than the emulator, what each
//! does at a time of its own: a session that lapses, a check that is run, a service of the agent's that comes to be in the catalog. Until
//! the grace time is over, such a read is compared again: what the real server answered with what the emulator would answer now; and,
//! when no write is on its way, both are asked again.

use std::collections::HashSet;

use super::{Mirror, ask, plain};
use crate::shadow::findings::route;
use crate::shadow::judge::Indexes;
use crate::time::Deadline;
use crate::wire::Outcome;
use crate::wire::asked::Asked;

/// More reads than this are not kept: they differ.
const MOST: usize = 32;

/// A read that is compared again.
pub(super) struct Late {
    asked: Asked,
    real: Outcome,
    emulated: Outcome,
    /// Writes that were on their way when the real server answered.
    open: HashSet<u64>,
    /// How many writes had been done then.
    writes: u64,
    deadline: Deadline,
}

impl Mirror {
    /// Compares a read again for a while, unless its kind is known to differ.
    pub(super) fn postpone(&mut self, asked: &Asked, real: Outcome, emulated: Outcome) {
        let writes = self.flights.iter();
        let writes = writes.filter(|(_, flight)| !flight.asked.is_read());
        let late = Late {
            asked: asked.clone(),
            real,
            emulated,
            open: writes.map(|(id, _)| *id).collect(),
            writes: self.writes,
            deadline: self.patience_with(&route(asked)),
        };
        match self.late.len() < MOST {
            true => self.late.push(late),
            false => self.too_late(late),
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
            if self.is_same_by_now(&late) {
                self.findings.settled += 1;
            } else if late.deadline.left().is_none() {
                self.too_late(late);
            } else {
                self.late.push(late);
            }
        }
    }

    fn is_same_by_now(&mut self, late: &Late) -> bool {
        let Late { asked, real, .. } = late;
        let view = self.look(asked);
        let judgement = self.judge(asked, real, &view);
        if judgement.is_same() {
            self.same(asked, real, &view, judgement);
            return true;
        }
        if !late.open.is_empty() || late.deadline.left().is_none() {
            return false;
        }
        let is_exact = asked.key().is_some() || asked.path().starts_with("/v1/session/");
        if is_exact && late.writes != self.writes {
            // A later write may have made alike what was not.
            return false;
        }
        let now = ask(&self.servers.real, &plain(asked));
        let view = self.look(asked);
        let indexes = match is_exact {
            true => Indexes::Compared,
            // The agent enters what it runs into the catalog by itself, between any two writes.
            false => Indexes::LeftOut,
        };
        let judgement = self.judge_with(indexes, asked, &now, &view);
        if judgement.is_same() {
            self.same(asked, &now, &view, judgement);
            return true;
        }
        false
    }

    fn too_late(&mut self, late: Late) {
        self.unsettled.insert(route(&late.asked));
        let judgement = self.judge(&late.asked, &late.real, &late.emulated);
        self.differs(&late.asked, late.real, late.emulated, judgement);
    }
}
