//! A key that lives as long as its session.

use super::Lost;
use super::guard::{Guard, Undo};
use super::keeper::{Alive, Keeper};
use crate::api::session::Behavior;
use crate::api::txn::TxnOutcome;
use crate::client::Client;
use crate::error::Error;

/// A key that goes away with the program that published it: an address, a worker's state.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use proconsul_client::recipes::{EphemeralKey, Keeper};
/// use proconsul_client::{Behavior, NewSession};
///
/// let session = Keeper::start(&client, NewSession::new().behavior(Behavior::Delete)).await?;
/// let published = EphemeralKey::new(&client, "workers/7").publish(&session, "idle").await?;
/// published.set("busy").await?;
/// session.close().await?;
/// assert!(client.kv().get("workers/7").await?.value.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EphemeralKey {
    client: Client,
    key: String,
}

/// A published key. Dropping it deletes the key in the background.
#[derive(Debug)]
#[must_use = "dropping it deletes the key"]
pub struct Published {
    guard: Guard,
    key: EphemeralKey,
    alive: Alive,
}

impl EphemeralKey {
    /// A key to publish.
    #[must_use]
    pub fn new(client: &Client, key: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            key: key.into(),
        }
    }

    /// Writes the key in the name of a session.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another session has published it, or its lock-delay is in force; [`Error::Input`] for
    /// a session without [`Behavior::Delete`], with which the key would stay; [`Error::SessionLost`].
    pub async fn publish(
        &self,
        session: &Keeper,
        value: impl Into<Vec<u8>>,
    ) -> Result<Published, Error> {
        let alive = session.alive();
        let info = self.client.sessions().info(&alive.id).await?.value;
        match info.map(|info| info.behavior) {
            Some(Behavior::Delete) => {}
            Some(Behavior::Release) => {
                return Err(Error::Input(
                    "an ephemeral key needs a session with Behavior::Delete".to_owned(),
                ));
            }
            None => return Err(Error::SessionLost),
        }
        let undo = self.undo(&alive);
        if let Err(error) = self.write(&alive, value.into()).await {
            if !error.may_be_applied() {
                undo.forget();
            }
            return Err(error);
        }
        let mut watch = self.client.watch_key(&self.key);
        let client = self.client.clone();
        let watched = alive.clone();
        let monitor = async move {
            loop {
                let change = tokio::select! {
                    biased;
                    lost = watched.lost() => return lost,
                    change = watch.next() => change,
                };
                if let Ok(answer) = change
                    && answer.value.and_then(|pair| pair.session).as_ref() != Some(&watched.id)
                {
                    return watched.why(&client).await;
                }
            }
        };
        Ok(Published {
            guard: Guard::new(undo, monitor),
            key: self.clone(),
            alive,
        })
    }

    async fn write(&self, alive: &Alive, value: Vec<u8>) -> Result<(), Error> {
        let written = self.client.kv().write(&self.key, value);
        match written.acquire(&alive.id).await {
            Ok(true) => Ok(()),
            // The lock-delay that follows the end of our own session is answered in the same way.
            Ok(false) if alive.why(&self.client).await != Lost::Taken => Err(Error::SessionLost),
            Ok(false) => Err(Error::Conflict(format!(
                "{} belongs to another session, or its lock-delay is in force",
                self.key
            ))),
            Err(error) if error.is_session_lost() => Err(Error::SessionLost),
            Err(error) => Err(error),
        }
    }

    /// Deletes the key if it is still ours.
    fn undo(&self, alive: &Alive) -> Undo {
        let (client, key, session) = (self.client.clone(), self.key.clone(), alive.id.clone());
        Undo::new(move || async move {
            let deletion = client.txn().check_session(&key, &session).delete(&key);
            match deletion.commit().await? {
                // Rolled back: it was not ours any more, which is what was asked for.
                TxnOutcome::Committed(_) | TxnOutcome::RolledBack(_) => Ok(()),
            }
        })
    }
}

impl Published {
    /// Writes another value.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the key is not ours any more; [`Error::SessionLost`]; see [`Error`].
    pub async fn set(&self, value: impl Into<Vec<u8>>) -> Result<(), Error> {
        self.key.write(&self.alive, value.into()).await
    }

    /// Why the key is lost; `None` while it is there as far as is known here.
    #[must_use]
    pub fn is_lost(&self) -> Option<Lost> {
        self.guard.get()
    }

    /// Ends when the key is lost.
    pub fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        self.guard.lost()
    }

    /// Deletes the key.
    ///
    /// # Errors
    /// When Consul did not hear it. The key then stays until the session ends.
    pub async fn withdraw(self) -> Result<(), Error> {
        self.guard.release().await
    }
}
