//! Barriers: waiting for a moment instead of sleeping. Their patience is the machine's time, not the server's.

use std::time::Duration;

use super::Control;
use crate::engine::{Blocked, BlockedOn, Unmet};
use crate::history::{Filter, Record};

impl Control {
    /// The blocking queries that wait now, oldest first.
    #[must_use]
    pub fn blocked(&self) -> Vec<Blocked> {
        self.engine.blocked()
    }

    /// How many requests have come and are not answered: worked on, blocked, or held by a fault. A request that a
    /// program has sent and that is not among them is still on its way.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.engine.open_requests()
    }

    /// Waits until at least `count` requests are blocked on something, and returns them.
    ///
    /// # Errors
    /// That did not happen within `patience`; says what was blocked instead.
    pub fn wait_blocked(
        &self,
        on: &BlockedOn,
        count: usize,
        patience: Duration,
    ) -> Result<Vec<Blocked>, Unmet> {
        self.engine.wait_blocked(on, count, patience)
    }

    /// Waits until the history has a record that is meant, and returns the first. One that is there already counts,
    /// so nothing is missed between an action and the wait; [`Filter::after`] leaves older ones out.
    ///
    /// # Errors
    /// None came within `patience`.
    pub fn wait_for(&self, filter: &Filter, patience: Duration) -> Result<Record, Unmet> {
        self.engine.wait_for(filter, patience)
    }

    /// Waits until no request is being worked on: each is answered, blocked, or held by a fault.
    ///
    /// # Errors
    /// Some were still being worked on when `patience` was over; says which.
    pub fn wait_idle(&self, patience: Duration) -> Result<(), Unmet> {
        self.engine.wait_idle(patience)
    }
}
