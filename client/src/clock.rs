//! Time as the client sees it: the only file that reads machine time or sleeps.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A sleep of a [`Clock`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What timeouts of calls, renewals, back-offs and lock retries are timed by.
///
/// The default is tokio's clock, which is the machine's time unless a test pauses it. A test that moves a server's clock
/// gives its client one that moves with it: a TTL then passes for both.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Time since some fixed moment. Never goes back.
    fn now(&self) -> Duration;
    /// Ends when `duration` has passed.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// tokio's clock.
#[derive(Debug)]
struct TokioClock {
    start: tokio::time::Instant,
}

impl Clock for TokioClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        #[expect(clippy::disallowed_methods, reason = "this is the client's clock")]
        Box::pin(tokio::time::sleep(duration))
    }
}

pub(crate) fn of_tokio() -> Arc<dyn Clock> {
    #[expect(clippy::disallowed_methods, reason = "this is the client's clock")]
    let start = tokio::time::Instant::now();
    Arc::new(TokioClock { start })
}

/// Waits that grow: 100 ms, doubled with each failure up to 10 s, each cut by up to a half at random so that many
/// clients do not come back at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(100);
    const MOST: Duration = Duration::from_secs(10);

    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// How long to wait after one more failure.
    pub(crate) fn failed(&mut self) -> Duration {
        let doubled = Self::FIRST.saturating_mul(1 << self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        doubled.min(Self::MOST).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_start_again() {
        let mut backoff = Backoff::default();
        let first = backoff.failed();
        assert!(first >= Backoff::FIRST / 2 && first <= Backoff::FIRST);
        let last = (0..20).map(|_| backoff.failed()).last();
        let last = last.expect("twenty waits");
        assert!(last >= Backoff::MOST / 2 && last <= Backoff::MOST);
        backoff.succeeded();
        assert!(backoff.failed() <= Backoff::FIRST);
    }
}
