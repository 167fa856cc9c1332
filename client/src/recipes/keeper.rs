//! A session that is kept alive.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::Lost;
use super::guard::{LostReceiver, LostSender, OwnLost, OwnTask, Undo};
use crate::api::session::{NewSession, SessionId};
use crate::client::Client;
use crate::clock::Backoff;
use crate::error::Error;

/// How long a session without a TTL may go unheard of before its guards stop vouching, and twice the time between
/// two looks at it.
const GRACE_WITHOUT_TTL: Duration = Duration::from_secs(15);

/// The part of a TTL that one renewal may take. A half is left when the first one is sent: one that hangs leaves time
/// for a second one, and most of a third.
const RENEWALS_IN_A_TTL: u32 = 6;

/// A session that is renewed every half of its TTL, and destroyed at the end.
///
/// A renewal that is not answered within a sixth of the TTL is given up and sent again.
///
/// It counts as lost ([`Keeper::lost`]) when Consul says that it is gone, and already when it could not be renewed for
/// one TTL: Consul expires it after one to two of them, so nobody else can hold a lock yet. A session without a TTL
/// is looked at in the same way, as if it had one of 15 s.
///
/// Dropping it destroys the session in the background; [`Keeper::close`] says whether that worked.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use std::time::Duration;
///
/// use proconsul_client::NewSession;
/// use proconsul_client::recipes::Keeper;
///
/// let session = Keeper::start(&client, NewSession::new().name("worker").ttl(Duration::from_secs(15))).await?;
/// println!("session {}", session.id());
/// session.close().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the session"]
pub struct Keeper {
    // Fields are dropped in order: no renewal after the end, and whoever waits for the loss hears of it.
    renewals: OwnTask,
    end: OwnLost,
    undo: Undo,
    alive: Alive,
}

/// What recipes hold of a keeper.
#[derive(Clone, Debug)]
pub(super) struct Alive {
    pub(super) id: SessionId,
    lost: LostReceiver,
    /// One per key that a recipe of this session wants: a session may lock a key twice, its owners may not.
    keys: Arc<Keys>,
}

type Keys = parking_lot::Mutex<BTreeMap<String, Arc<Mutex<()>>>>;

/// The right to lock a key in the name of a session.
pub(super) type Turn = OwnedMutexGuard<()>;

impl Keeper {
    /// Creates a session and keeps it. Runs a task on the current tokio runtime.
    ///
    /// # Errors
    /// Those of [`Sessions::create`](crate::Sessions::create).
    pub async fn start(client: &Client, session: NewSession) -> Result<Self, Error> {
        let before = client.clock().now();
        let id = client.sessions().create(&session).await?;
        let period = session.ttl_set().unwrap_or(GRACE_WITHOUT_TTL);
        let sender = LostSender::new();
        let alive = Alive {
            id: id.clone(),
            lost: sender.receiver(),
            keys: Arc::default(),
        };
        let renewals = Renewals {
            client: client.clone(),
            id: id.clone(),
            ttl: period,
            confirmed: before,
        };
        let to = sender.clone();
        let renewals = OwnTask::spawn(async move { to.send(renewals.run().await) });
        let client = client.clone();
        let undo = Undo::new(move || async move { client.sessions().destroy(&id).await });
        Ok(Self {
            renewals,
            end: OwnLost(sender),
            undo,
            alive,
        })
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.alive.id
    }

    /// Why the session is lost; `None` while it is not.
    #[must_use]
    pub fn is_lost(&self) -> Option<Lost> {
        self.alive.is_lost()
    }

    /// Ends when the session is lost.
    pub fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        let receiver = self.alive.lost.clone();
        async move { receiver.wait().await }
    }

    /// Destroys the session: its keys are released or deleted, and its lock-delay guards them. To let others in at
    /// once, release the guards first.
    ///
    /// # Errors
    /// When Consul could not be reached. The session then expires by its TTL.
    pub async fn close(self) -> Result<(), Error> {
        let Self {
            renewals,
            end,
            undo,
            alive: _,
        } = self;
        drop(renewals);
        // Who works under a lock of this session learns first that it ends.
        drop(end);
        undo.now().await
    }

    pub(super) fn alive(&self) -> Alive {
        self.alive.clone()
    }
}

impl Alive {
    pub(super) fn is_lost(&self) -> Option<Lost> {
        self.lost.get()
    }

    pub(super) async fn lost(&self) -> Lost {
        self.lost.wait().await
    }

    /// Why a key is not ours any more, although nobody here gave it up.
    pub(super) async fn why(&self, client: &Client) -> Lost {
        if let Some(lost) = self.is_lost() {
            return lost;
        }
        match client.sessions().info(&self.id).await {
            Ok(info) if info.value.is_none() => Lost::Session,
            _ => Lost::Taken,
        }
    }

    fn turn_of(&self, key: &str) -> Arc<Mutex<()>> {
        let mut keys = self.keys.lock();
        Arc::clone(keys.entry(key.to_owned()).or_default())
    }

    /// Waits until no other guard of this session has the key.
    pub(super) async fn turn(&self, key: &str) -> Turn {
        self.turn_of(key).lock_owned().await
    }

    /// `None` when another guard of this session has the key.
    pub(super) fn try_turn(&self, key: &str) -> Option<Turn> {
        self.turn_of(key).try_lock_owned().ok()
    }
}

struct Renewals {
    client: Client,
    id: SessionId,
    ttl: Duration,
    /// When the last request that Consul confirmed was sent.
    confirmed: Duration,
}

impl Renewals {
    async fn run(mut self) -> Lost {
        loop {
            self.client.clock().sleep(self.ttl / 2).await;
            if let Some(lost) = self.renew().await {
                return lost;
            }
        }
    }

    /// Tries until Consul has confirmed the session, or one TTL has passed.
    async fn renew(&mut self) -> Option<Lost> {
        let clock = Arc::clone(self.client.clock());
        let left = (self.confirmed + self.ttl).saturating_sub(clock.now());
        if left.is_zero() {
            return Some(Lost::Unconfirmed);
        }
        // Around the attempts and the waits between them: neither may outlast the vouching.
        tokio::select! {
            biased;
            lost = self.try_to_renew() => lost,
            () = clock.sleep(left) => Some(Lost::Unconfirmed),
        }
    }

    async fn try_to_renew(&mut self) -> Option<Lost> {
        let clock = Arc::clone(self.client.clock());
        let mut backoff = Backoff::default();
        loop {
            let now = clock.now();
            let sessions = self.client.sessions();
            let answer = tokio::select! {
                biased;
                answer = sessions.renew(&self.id) => answer.ok(),
                () = clock.sleep(self.ttl / RENEWALS_IN_A_TTL) => None,
            };
            match answer {
                Some(Some(_)) => {
                    self.confirmed = now;
                    return None;
                }
                Some(None) => return Some(Lost::Session),
                None => clock.sleep(backoff.failed()).await,
            }
        }
    }
}
