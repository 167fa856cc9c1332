//! A program that takes a lock, works under it, gives it back, and begins again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use parking_lot::Mutex;
use proconsul::Server;
use proconsul::control::Timestamp;
use proconsul::history::Interval;
use proconsul_client::recipes::{Election, Held, Keeper, Leadership, Lock, Lost};
use proconsul_client::{Client, Clock, Error, NewSession};

use super::time::DrivenClock;
use super::world::{KEY, LOCK_DELAY, Recipe, TTL};

/// What contenders believed, when they have stopped to.
pub(crate) type Beliefs = Arc<Mutex<Vec<Interval>>>;

/// Whether a contender does what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// It stops when its lock is lost.
    Full,
    /// It works on.
    NeverLooks,
}

#[derive(Clone)]
pub(crate) struct Contender {
    pub(crate) client: Client,
    pub(crate) clock: DrivenClock,
    pub(crate) control: Server,
    pub(crate) recipe: Recipe,
    pub(crate) care: Care,
    pub(crate) beliefs: Beliefs,
}

/// From the moment at which a contender knows that it has the lock to the one at which it stops; also when it is stopped.
struct Believing<'a> {
    contender: &'a Contender,
    session: String,
    from: Timestamp,
}

impl Drop for Believing<'_> {
    fn drop(&mut self) {
        self.contender.beliefs.lock().push(Interval {
            session: self.session.clone(),
            from: self.from,
            to: self.contender.control.now(),
        });
    }
}

enum Guard {
    Lock(Held),
    Leadership(Leadership),
}

impl Guard {
    fn lost(&self) -> Pin<Box<dyn Future<Output = Lost> + Send>> {
        match self {
            Self::Lock(held) => Box::pin(held.lost()),
            Self::Leadership(leadership) => Box::pin(leadership.lost()),
        }
    }

    async fn give_back(self) -> Result<(), Error> {
        match self {
            Self::Lock(held) => held.release().await,
            Self::Leadership(leadership) => leadership.resign().await,
        }
    }
}

impl Contender {
    /// Runs until it is stopped.
    pub(crate) async fn run(self, mut rng: Rng) {
        loop {
            let session = NewSession::new().ttl(TTL).lock_delay(LOCK_DELAY);
            if let Ok(session) = Keeper::start(&self.client, session).await {
                while session.is_lost().is_none() && self.once(&session, &mut rng).await.is_ok() {}
            }
            self.clock.sleep(milliseconds(&mut rng, 100..3000)).await;
        }
    }

    /// Takes the lock once, and works under it.
    async fn once(&self, session: &Keeper, rng: &mut Rng) -> Result<(), Error> {
        let guard = self.acquire(session).await?;
        let believing = Believing {
            contender: self,
            session: session.id().to_string(),
            from: self.control.now(),
        };
        let work = self.clock.sleep(milliseconds(rng, 500..9500));
        match self.care {
            Care::Full => tokio::select! {
                biased;
                _ = guard.lost() => {}
                () = work => {}
            },
            Care::NeverLooks => {
                work.await;
                for _ in 0..10 {
                    self.clock.sleep(TTL / 2).await;
                }
            }
        }
        drop(believing);
        if rng.bool() {
            guard.give_back().await?;
        } else {
            drop(guard);
        }
        self.clock.sleep(milliseconds(rng, 1..2000)).await;
        Ok(())
    }

    async fn acquire(&self, session: &Keeper) -> Result<Guard, Error> {
        match self.recipe {
            Recipe::Lock => {
                let lock = Lock::new(&self.client, KEY);
                Ok(Guard::Lock(lock.acquire(session).await?))
            }
            Recipe::Election => {
                let election = Election::new(&self.client, KEY);
                Ok(Guard::Leadership(election.campaign(session, "me").await?))
            }
        }
    }
}

fn milliseconds(rng: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(rng.u64(range))
}
