//! Time: the server's clock is the test's to move.

use std::time::Duration;

use super::Controls;
use proconsul_engine::Advance;
use proconsul_engine::clock::Rate;
use proconsul_engine::history::Record;
#[cfg(feature = "control-http")]
use proconsul_store::Deadline;
use proconsul_store::timestamp::Timestamp;

/// # Time
impl Controls {
    /// Returns the time on the server's clock, which began when the server was made.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Moves the clock as `Server::advance` does, on any runtime, without holding a thread. Dropping the future stops
    /// the clock at the moment that it has reached.
    pub async fn advance_async(&self, duration: Duration) -> Vec<Record> {
        self.engine.advance(Advance::By(duration)).await
    }

    /// Moves the clock as `Server::advance_to_next` does, on any runtime, without holding a thread.
    pub async fn advance_to_next_async(&self) -> Vec<Record> {
        self.engine.advance(Advance::ToNext).await
    }

    /// Returns the time until something next happens by itself; `None` if nothing ever will.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let deadline = self.engine.next_deadline()?;
        Some(deadline.since(self.now()))
    }

    /// Returns everything that will happen by itself but the ends of waits, in the order in which it is due.
    #[cfg(feature = "control-http")]
    pub(crate) fn due(&self) -> Vec<(Timestamp, Deadline)> {
        self.engine.snapshot().pending()
    }

    /// Stops the clock: nothing happens by itself until the test moves it, and a request that a fault holds for a time waits
    /// for that, too ([`Controls::held`]).
    pub fn freeze(&self) {
        self.engine.set_rate(Rate::FROZEN);
    }

    /// Lets the clock run as the host's does: the machine's, or tokio's for a server in its caller's runtime.
    pub fn resume(&self) {
        self.engine.set_rate(Rate::REAL);
    }

    /// Lets the clock run at a multiple of the host's time.
    pub fn set_rate(&self, rate: Rate) {
        self.engine.set_rate(rate);
    }

    /// Returns how fast the clock runs.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.engine.clock().rate()
    }

    /// From now on the clock jumps to the next deadline whenever at least `clients` requests are open and every one of
    /// them is blocked: a program that only waits for Consul does not wait at all. Meant for a frozen clock.
    pub fn auto_advance(&self, clients: usize) {
        self.engine.auto_advance(Some(clients));
    }

    /// Ends what [`Controls::auto_advance`] began.
    pub fn stop_auto_advance(&self) {
        self.engine.auto_advance(None);
    }

    /// Lets `duration` pass as `Server::jump` does, on any runtime, without holding a thread.
    pub async fn jump_async(&self, duration: Duration) -> Vec<Record> {
        self.engine.advance(Advance::Late(duration)).await
    }
}
