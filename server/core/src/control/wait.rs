//! Barriers: waiting for a moment instead of sleeping. Their patience is the host's time, not the server's.
//!
//! Here are the `async` forms; the driver may have others that park the calling thread.

use std::time::Duration;

use super::Controls;
use proconsul_engine::barrier;
use proconsul_engine::history::{Filter, Record};
use proconsul_engine::{Blocked, BlockedOn, Held, Unmet};

/// # Waiting
impl Controls {
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

    /// Waits as `Server::wait_blocked` does, on any runtime, without holding a thread. Patience is the machine's
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

    /// Waits as `Server::wait_for` does, on any runtime, without holding a thread.
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

    /// Waits as `Server::wait_idle` does, on any runtime, without holding a thread.
    ///
    /// # Errors
    /// Some were still being worked on when `patience` was over, or the server stopped.
    pub async fn wait_idle_async(&self, patience: Duration) -> Result<(), Unmet> {
        self.engine.wait_until(barrier::idle(), patience).await
    }
}
