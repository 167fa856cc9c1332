//! Time: the server's clock is the test's to move.

use std::time::Duration;

use super::{Server, parked};
use proconsul_engine::clock::Rate;
use proconsul_engine::history::Record;
use proconsul_engine::{Advance, Advanced};
#[cfg(feature = "control-http")]
use proconsul_store::Deadline;
use proconsul_store::timestamp::Timestamp;

/// # Time
impl Server {
    /// Returns the time on the server's clock, which began when the server was made.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Moves the clock on by `duration`, frozen or not: sessions expire, lock-delays end, waits time out and tombstones
    /// go, in their order. The requests that wait for any of it have been answered when this returns.
    ///
    /// Checks that are run at intervals, and clients that wait again and again, make new deadlines on the way. After
    /// 10,000 of these the clock goes the rest of the way at once: what is due still happens in its order and at its
    /// own time, but waiters are answered, and checks run, at the end. So `Duration::MAX` is no endless loop. Time ends
    /// 292 years after the start of the clock; what would happen then or later never does.
    ///
    /// Returns what it caused, in order.
    ///
    /// ```
    /// use std::time::Duration;
    /// use proconsul::history::Kind;
    ///
    /// let server = proconsul::Server::builder().frozen().start()?;
    /// let session = proconsul::control::Session::ttl(Duration::from_secs(10));
    /// server.sessions().create(session)?;
    /// assert!(server.advance(Duration::from_secs(19)).is_empty());
    /// let caused = server.advance(Duration::from_secs(1));
    /// assert_eq!(caused[0].what.kind(), Kind::SessionEnded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Only what hangs on the server's clock follows it. A client's own timers run in the machine's time: a loop that
    /// renews a session every few seconds has not run once when an hour has been skipped, and the session expires. So
    /// advance by less than the TTL at a time and renew by hand in between, or let the clock run at a rate at which the
    /// loop keeps up ([`Server::set_rate`]): at rate 10 a TTL of 60 s is 6 s of the loop's.
    ///
    /// Checks that become due are run, and are waited for as long as they make progress: without progress for half a second at
    /// the most, and for clients that do not read their answers for 5 s, in all. One advance begins when the one before
    /// has ended; all of them end when the server stops.
    ///
    /// # Panics
    /// When the calling thread runs all tasks of a tokio current-thread runtime, as the body of a plain
    /// `#[tokio::test]` does, and what was waited for did not come: a check whose target lives on that runtime, a
    /// client on it that has to read a long answer, or another advance. [`Server::advance_async`] waits for them.
    /// Anything else works there, too, since servers have threads of their own.
    #[track_caller]
    pub fn advance(&self, duration: Duration) -> Vec<Record> {
        self.advance_here(Advance::By(duration), "advance")
    }

    /// Moves the clock as [`Server::advance`] does, on any runtime, without holding a thread. Dropping the future stops
    /// the clock at the moment that it has reached.
    pub async fn advance_async(&self, duration: Duration) -> Vec<Record> {
        self.engine.advance(Advance::By(duration)).await
    }

    /// Moves the clock to the next moment at which something happens by itself, and returns what did; nothing if
    /// nothing will ever be due.
    ///
    /// # Panics
    /// As [`Server::advance`].
    #[track_caller]
    pub fn advance_to_next(&self) -> Vec<Record> {
        self.advance_here(Advance::ToNext, "advance_to_next")
    }

    /// Moves the clock as [`Server::advance_to_next`] does, on any runtime, without holding a thread.
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
    /// for that, too ([`Server::held`]).
    pub fn freeze(&self) {
        self.engine.set_rate(Rate::FROZEN);
    }

    /// Lets the clock run as the machine's does.
    pub fn resume(&self) {
        self.engine.set_rate(Rate::REAL);
    }

    /// Lets the clock run at a multiple of the machine's time.
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

    /// Ends what [`Server::auto_advance`] began.
    pub fn stop_auto_advance(&self) {
        self.engine.auto_advance(None);
    }

    /// Lets `duration` pass as if the server's process had been stopped meanwhile: what was due on the way happens at
    /// its end, late and all at once. Returns what happened.
    ///
    /// # Panics
    /// As [`Server::advance`].
    #[track_caller]
    pub fn jump(&self, duration: Duration) -> Vec<Record> {
        self.advance_here(Advance::Late(duration), "jump")
    }

    /// Lets `duration` pass as [`Server::jump`] does, on any runtime, without holding a thread.
    pub async fn jump_async(&self, duration: Duration) -> Vec<Record> {
        self.engine.advance(Advance::Late(duration)).await
    }

    /// Moves the clock, and parks this thread meanwhile. Returns what that caused.
    ///
    /// # Panics
    /// The calling thread runs all tasks of a current-thread runtime, and the clock would wait for one of them, in
    /// vain: that must not look like an advance that went well. `name` is the method that the caller used.
    #[track_caller]
    fn advance_here(&self, advance: Advance, name: &str) -> Vec<Record> {
        let stops_others = parked::stops_its_runtime();
        assert!(
            !stops_others || !self.engine.is_advancing(),
            "`{name}` would wait for another that moves the clock, on the thread of a current-thread runtime: no task \
             would go on meanwhile, use `{name}_async(..).await`"
        );
        let Advanced { caused, in_vain } = parked::park_on(self.engine.advance_and_settle(advance));
        if let Some(whom) = in_vain.filter(|_| stops_others) {
            panic!(
                "`{name}` timed out waiting for {whom}, on the thread of a current-thread runtime: no task went on \
                 meanwhile, use `{name}_async(..).await`"
            );
        }
        caused
    }
}
