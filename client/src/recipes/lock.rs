//! One holder at a time.

use std::time::Duration;

use super::Lost;
use super::guard::{Guard, Undo};
use super::keeper::{Alive, Keeper, Turn};
use crate::api::kv::Pair;
use crate::api::session::SessionId;
use crate::client::Client;
use crate::clock::Backoff;
use crate::error::Error;
use crate::watch::next_index;

/// What Consul's own tools put into the flags of a lock's key, so that locks and semaphores are told apart. Observed
/// from `consul lock` 1.8.7.
const LOCK_FLAGS: u64 = 0x2ddc_cbc0_58a5_0c18;

/// A lock on a key. Excludes all other lockers of the key, whatever they are written in.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use proconsul_client::NewSession;
/// use proconsul_client::recipes::{Keeper, Lock};
///
/// let lock = Lock::new(&client, "jobs/report").value("me");
/// let session = Keeper::start(&client, NewSession::new()).await?;
/// let held = lock.acquire(&session).await?;
/// assert!(held.fence().index > 0);
///
/// let other = Keeper::start(&client, NewSession::new()).await?;
/// assert!(lock.try_acquire(&other).await?.is_none());
/// held.release().await?;
/// assert!(lock.try_acquire(&other).await?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lock {
    client: Client,
    key: String,
    value: Vec<u8>,
    flags: u64,
    retry: Duration,
}

/// A token to show to what is changed under a lock: it can refuse everybody with a lower index of the same key, and can ask Consul whether the session still holds it. Consul's guides call it a sequencer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fence {
    /// The key of the lock.
    pub key: String,
    /// The ModifyIndex of the key after it was acquired. It grows with each new holder, as long as Consul is not restored.
    /// LockIndex does not: a plain write sets it to 0, and a key that was deleted begins at 1 again.
    pub index: u64,
    /// The holder.
    pub session: SessionId,
}

/// A lock that is held. Dropping it releases in the background.
#[derive(Debug)]
#[must_use = "dropping it releases the lock"]
pub struct Held {
    guard: Guard,
    fence: Fence,
}

/// What one look at the key showed.
enum Step {
    Held(Fence),
    /// Somebody holds it; look again when the key is beyond this index.
    Busy(u64),
    /// Nobody holds it, and it may not be taken yet: a lock-delay.
    Delayed,
}

impl Lock {
    /// A lock on a key, which should be used for nothing else.
    #[must_use]
    pub fn new(client: &Client, key: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            key: key.into(),
            value: Vec::new(),
            flags: LOCK_FLAGS,
            retry: Duration::from_secs(1),
        }
    }

    /// What stands in the key while it is held (default: nothing).
    #[must_use]
    pub fn value(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.value = value.into();
        self
    }

    /// The flags of the key, when others that contend for it do not use those of Consul's own tools (e.g. 0 for a
    /// plain `?acquire=`). A key with other flags than these is a [`Error::Conflict`].
    #[must_use]
    pub fn flags(mut self, flags: u64) -> Self {
        self.flags = flags;
        self
    }

    /// How often to try during a lock-delay, of whose end Consul tells nobody (default 1 s).
    #[must_use]
    pub fn retry(mut self, retry: Duration) -> Self {
        self.retry = retry;
        self
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Waits for the lock and takes it. Trouble of the network or the leader is waited out as long as the session
    /// lives. Another guard of the same session is waited for like any other holder.
    ///
    /// # Errors
    /// [`Error::SessionLost`]; [`Error::Conflict`] when the key is used for something else; what is not transient
    /// ([`Error::is_transient`]), e.g. 403.
    pub async fn acquire(&self, session: &Keeper) -> Result<Held, Error> {
        let alive = session.alive();
        tokio::select! {
            biased;
            _ = alive.lost() => Err(Error::SessionLost),
            held = self.acquire_alive(&alive) => held,
        }
    }

    async fn acquire_alive(&self, alive: &Alive) -> Result<Held, Error> {
        // From here on the lock may be ours, whatever we hear, and whether or not we are still awaited.
        let undo = self.undo(alive, alive.turn(&self.key).await);
        let mut index = 0;
        let mut backoff = Backoff::default();
        let clock = self.client.clock();
        loop {
            match self.step(alive, index).await {
                Ok(Step::Held(fence)) => return Ok(self.held(alive, fence, undo)),
                Ok(Step::Busy(seen)) => {
                    backoff.succeeded();
                    index = next_index(index, seen);
                }
                Ok(Step::Delayed) => {
                    index = 0;
                    clock.sleep(self.retry).await;
                }
                Err(error) if error.is_transient() => {
                    index = 0;
                    clock.sleep(backoff.failed()).await;
                }
                Err(error) if error.is_session_lost() => {
                    undo.forget();
                    return Err(Error::SessionLost);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the lock if it is free now; `None` when somebody has it or its lock-delay is in force.
    ///
    /// # Errors
    /// As [`Lock::acquire`], and transient ones.
    pub async fn try_acquire(&self, session: &Keeper) -> Result<Option<Held>, Error> {
        let alive = session.alive();
        if alive.is_lost().is_some() {
            return Err(Error::SessionLost);
        }
        let Some(turn) = alive.try_turn(&self.key) else {
            return Ok(None);
        };
        let undo = self.undo(&alive, turn);
        match self.step(&alive, 0).await {
            Ok(Step::Held(fence)) => Ok(Some(self.held(&alive, fence, undo))),
            Ok(Step::Busy(_) | Step::Delayed) => {
                undo.forget();
                Ok(None)
            }
            Err(error) if error.is_session_lost() => {
                undo.forget();
                Err(Error::SessionLost)
            }
            Err(error) => Err(error),
        }
    }

    async fn step(&self, alive: &Alive, index: u64) -> Result<Step, Error> {
        let (pair, seen) = self.look(index).await?;
        if let Some(pair) = &pair {
            if pair.flags != self.flags {
                return Err(Error::Conflict(format!(
                    "{} has the flags {} and not those of this lock, {}",
                    self.key, pair.flags, self.flags
                )));
            }
            match &pair.session {
                Some(holder) if *holder == alive.id => {
                    // An answer was lost, and the lock is ours.
                    return Ok(Step::Held(self.fence(pair)));
                }
                Some(_) => return Ok(Step::Busy(seen)),
                None => {}
            }
        }
        let kv = self.client.kv();
        let write = kv.write(&self.key, self.value.clone()).flags(self.flags);
        let taken = write.acquire(&alive.id).await?;
        let (pair, seen) = self.look(0).await?;
        Ok(match pair {
            Some(pair) if pair.session.as_ref() == Some(&alive.id) => Step::Held(self.fence(&pair)),
            Some(pair) if pair.session.is_some() => Step::Busy(seen),
            // Taken, and taken away within a moment.
            _ if taken => Step::Busy(0),
            _ => Step::Delayed,
        })
    }

    async fn look(&self, index: u64) -> Result<(Option<Pair>, u64), Error> {
        let client = self.client.but(|options| options.index(index));
        let answer = client.kv().get(&self.key).await?;
        Ok((answer.value, answer.meta.index))
    }

    fn fence(&self, pair: &Pair) -> Fence {
        Fence {
            key: self.key.clone(),
            index: pair.modify_index,
            session: pair
                .session
                .clone()
                .expect("it is looked at because it is held"),
        }
    }

    /// Gives the key back, with the value that it has. The turn ends with that, not before: a second guard of the
    /// same session would lose the key to it.
    fn undo(&self, alive: &Alive, turn: Turn) -> Undo {
        let (lock, alive) = (self.clone(), alive.clone());
        Undo::new(move || async move {
            let _turn = turn;
            let mut backoff = Backoff::default();
            loop {
                let kv = lock.client.kv();
                let write = kv.write(&lock.key, lock.value.clone()).flags(lock.flags);
                match write.release(&alive.id).await {
                    // `false`: it was not ours any more, which is what was asked for.
                    Ok(_) => return Ok(()),
                    Err(error) if error.is_transient() && alive.is_lost().is_none() => {
                        lock.client.clock().sleep(backoff.failed()).await;
                    }
                    Err(_) if alive.is_lost().is_some() => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn held(&self, alive: &Alive, fence: Fence, undo: Undo) -> Held {
        let mut watch = self.client.watch_key(&self.key);
        let client = self.client.clone();
        let alive = alive.clone();
        let monitor = async move {
            loop {
                let change = tokio::select! {
                    biased;
                    lost = alive.lost() => return lost,
                    change = watch.next() => change,
                };
                // An error says nothing about the lock. While it lasts, the keeper's renewals decide.
                if let Ok(answer) = change
                    && answer.value.and_then(|pair| pair.session).as_ref() != Some(&alive.id)
                {
                    return alive.why(&client).await;
                }
            }
        };
        Held {
            guard: Guard::new(undo, monitor),
            fence,
        }
    }
}

impl Held {
    /// What to show to whatever is changed under the lock.
    #[must_use]
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Why the lock is lost; `None` while it is held as far as is known here.
    #[must_use]
    pub fn is_lost(&self) -> Option<Lost> {
        self.guard.get()
    }

    /// Ends when the lock is lost. Stop working under it then.
    pub fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        self.guard.lost()
    }

    /// Gives the lock back; others get it without a lock-delay. Tries again as long as the session lives.
    ///
    /// # Errors
    /// What is not transient, e.g. 403. The lock then stays until the session ends.
    pub async fn release(self) -> Result<(), Error> {
        self.guard.release().await
    }
}
