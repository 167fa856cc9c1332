//! Time: the server's clock is the test's to move.

use std::time::Duration;

use super::{Server, parked};
use proconsul_engine::history::Record;
use proconsul_engine::{Advance, Advanced};

/// # Time
impl Server {
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
    /// loop keeps up ([`Server::set_rate`](crate::control::Controls::set_rate)): at rate 10 a TTL of 60 s is 6 s of the loop's.
    ///
    /// Checks that become due are run, and are waited for as long as they make progress: without progress for half a second at
    /// the most, and for clients that do not read their answers for 5 s, in all. One advance begins when the one before
    /// has ended; all of them end when the server stops.
    ///
    /// # Panics
    /// When the calling thread runs all tasks of a tokio current-thread runtime, as the body of a plain
    /// `#[tokio::test]` does, and what was waited for did not come: a check whose target lives on that runtime, a
    /// client on it that has to read a long answer, or another advance. [`Server::advance_async`](crate::control::Controls::advance_async) waits for them.
    /// Anything else works there, too, since servers have threads of their own.
    #[track_caller]
    pub fn advance(&self, duration: Duration) -> Vec<Record> {
        self.advance_here(Advance::By(duration), "advance")
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

    /// Lets `duration` pass as if the server's process had been stopped meanwhile: what was due on the way happens at
    /// its end, late and all at once. Returns what happened.
    ///
    /// # Panics
    /// As [`Server::advance`].
    #[track_caller]
    pub fn jump(&self, duration: Duration) -> Vec<Record> {
        self.advance_here(Advance::Late(duration), "jump")
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
            !stops_others || !self.engine().is_advancing(),
            "`{name}` would wait for another that moves the clock, on the thread of a current-thread runtime: no task \
             would go on meanwhile, use `{name}_async(..).await`"
        );
        let Advanced { caused, in_vain } =
            parked::park_on(self.engine().advance_and_settle(advance));
        if let Some(whom) = in_vain.filter(|_| stops_others) {
            panic!(
                "`{name}` timed out waiting for {whom}, on the thread of a current-thread runtime: no task went on \
                 meanwhile, use `{name}_async(..).await`"
            );
        }
        caused
    }
}
