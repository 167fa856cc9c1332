//! One leader, and everybody knows who.

use super::Lost;
use super::keeper::Keeper;
use super::lock::{Fence, Held, Lock};
use crate::api::kv::Pair;
use crate::api::session::SessionId;
use crate::client::Client;
use crate::error::Error;
use crate::watch::Watch;

/// An election on a key: candidates lock it, with who they are as its value; observers watch it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use proconsul_client::NewSession;
/// use proconsul_client::recipes::{Election, Keeper};
///
/// let election = Election::new(&client, "service/leader");
/// let mut observer = election.observe();
/// assert!(observer.next().await?.is_none());
///
/// let session = Keeper::start(&client, NewSession::new()).await?;
/// let leadership = election.campaign(&session, "10.0.0.7:80").await?;
/// let leader = observer.next().await?.expect("somebody leads");
/// assert_eq!(leader.value, b"10.0.0.7:80");
/// leadership.resign().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Election {
    client: Client,
    lock: Lock,
}

/// Being the leader. Dropping it resigns in the background.
#[derive(Debug)]
#[must_use = "dropping it resigns"]
pub struct Leadership {
    held: Held,
}

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leader {
    /// What the leader says about itself.
    pub value: Vec<u8>,
    /// Its session.
    pub session: SessionId,
    /// How often the key was acquired. It is no fencing token: see [`Fence::index`].
    pub lock_index: u64,
}

/// Follows who leads, from [`Election::observe`].
#[derive(Debug)]
#[must_use = "an observer does nothing until the next leader is awaited"]
pub struct Observer {
    watch: Watch<Option<Pair>>,
    /// What was reported; `None` before the first report.
    known: Option<Option<Leader>>,
}

impl Election {
    /// An election on a key, which should be used for nothing else.
    #[must_use]
    pub fn new(client: &Client, key: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            lock: Lock::new(client, key),
        }
    }

    /// The flags of the key; see [`Lock::flags`].
    #[must_use]
    pub fn flags(mut self, flags: u64) -> Self {
        self.lock = self.lock.flags(flags);
        self
    }

    /// Waits to be the leader. `value` is what observers see.
    ///
    /// # Errors
    /// Those of [`Lock::acquire`].
    pub async fn campaign(
        &self,
        session: &Keeper,
        value: impl Into<Vec<u8>>,
    ) -> Result<Leadership, Error> {
        let held = self.lock.clone().value(value).acquire(session).await?;
        Ok(Leadership { held })
    }

    /// Who leads now; `None` when nobody does.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn leader(&self) -> Result<Option<Leader>, Error> {
        let answer = self.client.kv().get(self.lock.key()).await?;
        Ok(answer.value.and_then(leader_of))
    }

    /// Follows who leads.
    pub fn observe(&self) -> Observer {
        Observer {
            watch: self.client.watch_key(self.lock.key()),
            known: None,
        }
    }
}

fn leader_of(pair: Pair) -> Option<Leader> {
    Some(Leader {
        session: pair.session?,
        value: pair.value,
        lock_index: pair.lock_index,
    })
}

impl Observer {
    /// Who leads: first as it is, then whenever it changes; `None` when nobody does. A leader between two calls may
    /// be missed, the present one is not.
    ///
    /// # Errors
    /// That of one failed request; call again to go on.
    pub async fn next(&mut self) -> Result<Option<Leader>, Error> {
        loop {
            let leader = self.watch.next().await?.value.and_then(leader_of);
            if self.known.as_ref() != Some(&leader) {
                self.known = Some(leader.clone());
                return Ok(leader);
            }
        }
    }
}

impl Leadership {
    /// What to show to whatever the leader changes.
    #[must_use]
    pub fn fence(&self) -> &Fence {
        self.held.fence()
    }

    /// Why the leadership is lost; `None` while it is held as far as is known here.
    #[must_use]
    pub fn is_lost(&self) -> Option<Lost> {
        self.held.is_lost()
    }

    /// Ends when the leadership is lost. Stop acting as the leader then.
    pub fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        self.held.lost()
    }

    /// Gives the leadership up; another candidate gets it without a lock-delay.
    ///
    /// # Errors
    /// Those of [`Held::release`].
    pub async fn resign(self) -> Result<(), Error> {
        self.held.release().await
    }
}
