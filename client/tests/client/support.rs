//! A server, a client, and time in the hands of the test.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use proconsul::Server;
use proconsul_client::recipes::Keeper;
use proconsul_client::{Client, Clock, NewSession, Sleep};
use tokio::sync::watch;

/// A server whose time stands still, and a client that does not wait for a lock-delay to end by itself.
pub(crate) fn frozen() -> (Server, Client) {
    let server = Server::builder().frozen().start().expect("a free port");
    let client = Client::new(&server.url()).expect("an address");
    (server, client)
}

pub(crate) async fn keeper(client: &Client) -> Keeper {
    let session = NewSession::new().ttl(Duration::from_secs(10));
    Keeper::start(client, session).await.expect("a session")
}

/// A frozen server, and a client whose time is in the hands of the test.
pub(crate) fn driven() -> (Server, Client, ManualClock) {
    let (server, _) = frozen();
    let clock = ManualClock::new();
    let client = Client::builder()
        .address(server.url())
        .clock(Arc::new(clock.clone()))
        .build();
    (server, client.expect("an address"), clock)
}

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub(crate) struct ManualClock {
    now: watch::Sender<Duration>,
    /// Every sleep that was asked for.
    asked: Arc<Mutex<Vec<Duration>>>,
    changed: watch::Sender<()>,
}

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self {
            now: watch::Sender::new(Duration::ZERO),
            asked: Arc::default(),
            changed: watch::Sender::new(()),
        }
    }

    pub(crate) fn advance(&self, duration: Duration) {
        self.now.send_modify(|now| *now += duration);
    }

    /// Returns when sleeps of this length have been asked for so many times in all.
    pub(crate) async fn asked(&self, duration: Duration, times: usize) {
        let mut changed = self.changed.subscribe();
        loop {
            let asked = self
                .asked
                .lock()
                .iter()
                .filter(|&&asked| asked == duration)
                .count();
            if asked >= times {
                return;
            }
            changed.changed().await.expect("the clock lives");
        }
    }

    /// Waits for the sleep that comes after so many failures, which is cut by chance, and lets it pass.
    pub(crate) async fn pass_backoff(&self, failures: u32) {
        let longest = Duration::from_millis(100) * (1 << (failures - 1));
        let mut changed = self.changed.subscribe();
        loop {
            let found = {
                let mut asked = self.asked.lock();
                let at = asked
                    .iter()
                    .position(|asked| (longest / 2..=longest).contains(asked));
                at.map(|at| asked.remove(at))
            };
            if let Some(found) = found {
                return self.advance(found);
            }
            changed.changed().await.expect("the clock lives");
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.now.borrow()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let mut now = self.now.subscribe();
        let until = self.now() + duration;
        self.asked.lock().push(duration);
        self.changed.send_replace(());
        Box::pin(async move {
            let _ = now.wait_for(|now| *now >= until).await;
        })
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
