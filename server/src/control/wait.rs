//! Barriers: waiting for a moment instead of sleeping. Their patience is the machine's time, not the server's.
//!
//! Each has two forms: one that parks the calling thread, and an `async` one that ends in `_async`.

use std::time::Duration;

use super::{Server, parked};
use proconsul_engine::barrier::{self, Barrier};
use proconsul_engine::history::{Filter, Record};
use proconsul_engine::{Blocked, BlockedOn, Held, State, Unmet};

/// # Waiting
impl Server {
    /// Returns the blocking queries that wait now, oldest first.
    #[must_use]
    pub fn blocked(&self) -> Vec<Blocked> {
        self.engine.blocked()
    }

    /// Returns the requests that faults hold now, oldest first. Where the clock stands still, those that are held for a
    /// time wait for the test to move it.
    #[must_use]
    pub fn held(&self) -> Vec<Held> {
        self.engine.held()
    }

    /// Returns the number of open requests: worked on, blocked, or held by a fault. A request that was sent and is not
    /// among them has not arrived yet.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.engine.open_requests()
    }

    /// Waits until at least `count` requests are blocked on something, and returns them.
    ///
    /// # Errors
    /// That did not happen within `patience`; says what was blocked instead. The server stopped. Or the calling thread
    /// runs all tasks of a tokio current-thread runtime, as the body of a plain `#[tokio::test]` does: parked, it would
    /// keep the client from going on that it waits for. This is refused at once, whatever is blocked already; use
    /// [`Server::wait_blocked_async`]. On a multi-thread runtime and in `spawn_blocking` both forms work.
    pub fn wait_blocked(
        &self,
        on: &BlockedOn,
        count: usize,
        patience: Duration,
    ) -> Result<Vec<Blocked>, Unmet> {
        let barrier = barrier::blocked(on, count);
        self.wait_here(barrier, patience, "wait_blocked_async")
    }

    /// Waits as [`Server::wait_blocked`] does, on any runtime, without holding a thread. Patience is the machine's
    /// time, even where a test has paused tokio's.
    ///
    /// # Errors
    /// That did not happen within `patience`, or the server stopped.
    pub async fn wait_blocked_async(
        &self,
        on: &BlockedOn,
        count: usize,
        patience: Duration,
    ) -> Result<Vec<Blocked>, Unmet> {
        self.engine
            .wait_until(barrier::blocked(on, count), patience)
            .await
    }

    /// Waits until the history has a record that matches `filter`, and returns the first. Existing records count, so
    /// nothing is missed between an action and the wait; [`Filter::after`] leaves older ones out.
    ///
    /// # Errors
    /// No such record came within `patience`. Otherwise as [`Server::wait_blocked`].
    pub fn wait_for(&self, filter: &Filter, patience: Duration) -> Result<Record, Unmet> {
        self.wait_here(barrier::recorded(filter), patience, "wait_for_async")
    }

    /// Waits as [`Server::wait_for`] does, on any runtime, without holding a thread.
    ///
    /// # Errors
    /// No such record came within `patience`, or the server stopped.
    pub async fn wait_for_async(
        &self,
        filter: &Filter,
        patience: Duration,
    ) -> Result<Record, Unmet> {
        self.engine
            .wait_until(barrier::recorded(filter), patience)
            .await
    }

    /// Waits until no request is being worked on: each is answered, blocked, or held by a fault.
    ///
    /// # Errors
    /// Some were still being worked on when `patience` was over; says which. Otherwise as [`Server::wait_blocked`].
    pub fn wait_idle(&self, patience: Duration) -> Result<(), Unmet> {
        self.wait_here(barrier::idle(), patience, "wait_idle_async")
    }

    /// Waits as [`Server::wait_idle`] does, on any runtime, without holding a thread.
    ///
    /// # Errors
    /// Some were still being worked on when `patience` was over, or the server stopped.
    pub async fn wait_idle_async(&self, patience: Duration) -> Result<(), Unmet> {
        self.engine.wait_until(barrier::idle(), patience).await
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
            return Err(self.engine.blocks_its_runtime(barrier, twin));
        }
        parked::park_on(self.engine.wait_until(barrier, patience))
    }
}
