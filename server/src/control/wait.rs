//! Barriers: waiting for a moment instead of sleeping. Their patience is the machine's time, not the server's.
//!
//! Each has two forms: one that parks the calling thread, and an `async` one that ends in `_async`.

use std::time::Duration;

use super::{Server, parked};
use proconsul_engine::barrier::{self, Barrier};
use proconsul_engine::history::{Filter, Record};
use proconsul_engine::{Blocked, BlockedOn, State, Unmet};

/// # Waiting
impl Server {
    /// Waits until at least `count` requests are blocked on something, and returns them.
    ///
    /// # Errors
    /// That did not happen within `patience`; says what was blocked instead. The server stopped. Or the calling thread
    /// runs all tasks of a tokio current-thread runtime, as the body of a plain `#[tokio::test]` does: parked, it would
    /// keep the client from going on that it waits for. This is refused at once, whatever is blocked already; use
    /// [`Server::wait_blocked_async`](crate::control::Controls::wait_blocked_async). On a multi-thread runtime and in `spawn_blocking` both forms work.
    pub fn wait_blocked(
        &self,
        on: &BlockedOn,
        count: usize,
        patience: Duration,
    ) -> Result<Vec<Blocked>, Unmet> {
        let barrier = barrier::blocked(on, count);
        self.wait_here(barrier, patience, "wait_blocked_async")
    }

    /// Waits until the history has a record that matches `filter`, and returns the first. Existing records count, so
    /// nothing is missed between an action and the wait; [`Filter::after`] leaves older ones out.
    ///
    /// # Errors
    /// No such record came within `patience`. Otherwise as [`Server::wait_blocked`].
    pub fn wait_for(&self, filter: &Filter, patience: Duration) -> Result<Record, Unmet> {
        self.wait_here(barrier::recorded(filter), patience, "wait_for_async")
    }

    /// Waits until no request is being worked on: each is answered, blocked, or held by a fault.
    ///
    /// # Errors
    /// Some were still being worked on when `patience` was over; says which. Otherwise as [`Server::wait_blocked`].
    pub fn wait_idle(&self, patience: Duration) -> Result<(), Unmet> {
        self.wait_here(barrier::idle(), patience, "wait_idle_async")
    }

    /// Waits for a barrier, and parks this thread meanwhile. Fails at once if the thread would wait for itself, which names
    /// `twin` as the method to use.
    fn wait_here<T>(
        &self,
        barrier: Barrier<impl FnMut(&State) -> Option<T>>,
        patience: Duration,
        twin: &'static str,
    ) -> Result<T, Unmet> {
        if parked::stops_its_runtime() {
            return Err(self.engine().blocks_its_runtime(barrier, twin));
        }
        parked::park_on(self.engine().wait_until(barrier, patience))
    }
}
