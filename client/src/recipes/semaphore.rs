//! So many holders at a time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Lost;
use super::guard::{Guard, Undo};
use super::keeper::{Alive, Keeper, Turn};
use crate::api::kv::Pair;
use crate::client::Client;
use crate::clock::Backoff;
use crate::error::Error;
use crate::watch::next_index;

/// What Consul's own tools put into the flags of a semaphore's keys. Observed from `consul lock -n` 1.8.7.
const SEMAPHORE_FLAGS: u64 = 0xe0f6_9a2b_aa41_4de0;

/// A semaphore below a prefix: at most `limit` sessions have a slot. In the format of Consul's own tools: a key
/// `<prefix>/<session>` for each contender, and `<prefix>/.lock` with the limit and the holders as JSON.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use proconsul_client::NewSession;
/// use proconsul_client::recipes::{Keeper, Semaphore};
///
/// let semaphore = Semaphore::new(&client, "db/writers", 2);
/// let (a, b, c) = tokio::try_join!(
///     Keeper::start(&client, NewSession::new()),
///     Keeper::start(&client, NewSession::new()),
///     Keeper::start(&client, NewSession::new()),
/// )?;
/// let first = semaphore.acquire(&a).await?;
/// let second = semaphore.acquire(&b).await?;
/// assert!(semaphore.try_acquire(&c).await?.is_none());
/// first.release().await?;
/// let third = semaphore.acquire(&c).await?;
/// # drop((second, third));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Semaphore {
    client: Client,
    prefix: String,
    limit: u32,
    value: Vec<u8>,
}

/// A slot that is held. Dropping it gives it back in the background.
#[derive(Debug)]
#[must_use = "dropping it gives the slot back"]
pub struct Slot {
    guard: Guard,
}

/// The content of `<prefix>/.lock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Table {
    limit: u32,
    #[serde(deserialize_with = "holders")]
    holders: BTreeMap<String, bool>,
}

/// Consul's tools write a map of ids to `true`; its guide shows a list of ids.
fn holders<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, bool>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Holders {
        Map(BTreeMap<String, bool>),
        List(Vec<String>),
        Null,
    }
    Ok(match Holders::deserialize(deserializer)? {
        Holders::Map(map) => map,
        Holders::List(ids) => ids.into_iter().map(|id| (id, true)).collect(),
        Holders::Null => BTreeMap::new(),
    })
}

/// All keys of the semaphore at one moment.
struct State {
    table: Table,
    /// What a change of the table must name; 0 when there is none yet.
    modify_index: u64,
    /// Whether our contender key is held by our session.
    contending: bool,
    index: u64,
}

impl State {
    fn holds(&self, alive: &Alive) -> bool {
        self.contending && self.table.holders.contains_key(alive.id.as_str())
    }
}

impl Semaphore {
    /// A semaphore below a prefix, with `limit` slots; all contenders must name the same limit.
    #[must_use]
    pub fn new(client: &Client, prefix: impl Into<String>, limit: u32) -> Self {
        let prefix: String = prefix.into();
        Self {
            client: client.clone(),
            prefix: prefix.trim_end_matches('/').to_owned(),
            limit,
            value: Vec::new(),
        }
    }

    /// What stands in the contender's own key, for people (default: nothing).
    #[must_use]
    pub fn value(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.value = value.into();
        self
    }

    /// Waits for a slot and takes it. Trouble of the network or the leader is waited out as long as the session lives.
    ///
    /// # Errors
    /// [`Error::SessionLost`]; [`Error::Conflict`] when the prefix is used for something else or with another limit;
    /// [`Error::Input`] for a limit of 0; what is not transient ([`Error::is_transient`]).
    pub async fn acquire(&self, session: &Keeper) -> Result<Slot, Error> {
        let alive = session.alive();
        tokio::select! {
            biased;
            _ = alive.lost() => Err(Error::SessionLost),
            slot = self.acquire_alive(&alive) => slot,
        }
    }

    async fn acquire_alive(&self, alive: &Alive) -> Result<Slot, Error> {
        let undo = self.undo(alive, alive.turn(&self.prefix).await);
        let mut backoff = Backoff::default();
        let mut index = 0;
        loop {
            match self.step(alive, index).await {
                Ok(None) => return Ok(self.slot(alive, undo)),
                Ok(Some(0)) => {
                    backoff.succeeded();
                    index = 0;
                }
                Ok(Some(seen)) => {
                    backoff.succeeded();
                    index = next_index(index, seen);
                }
                Err(error) if error.is_transient() => {
                    index = 0;
                    self.client.clock().sleep(backoff.failed()).await;
                }
                Err(error) if error.is_session_lost() => {
                    undo.forget();
                    return Err(Error::SessionLost);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a slot if one is free now.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`], and transient ones.
    pub async fn try_acquire(&self, session: &Keeper) -> Result<Option<Slot>, Error> {
        let alive = session.alive();
        if alive.is_lost().is_some() {
            return Err(Error::SessionLost);
        }
        let Some(turn) = alive.try_turn(&self.prefix) else {
            return Ok(None);
        };
        let undo = self.undo(&alive, turn);
        loop {
            match self.step(&alive, 0).await {
                Ok(None) => return Ok(Some(self.slot(&alive, undo))),
                // Another contender changed the table first; it may still have room.
                Ok(Some(0)) => {}
                Ok(Some(_)) => {
                    undo.now().await?;
                    return Ok(None);
                }
                Err(error) if error.is_session_lost() => {
                    undo.forget();
                    return Err(Error::SessionLost);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// `None`: the slot is ours. Else the index to look again beyond; 0 for at once.
    async fn step(&self, alive: &Alive, index: u64) -> Result<Option<u64>, Error> {
        if self.limit == 0 {
            return Err(Error::Input("a semaphore needs a limit above 0".to_owned()));
        }
        let mut state = self.look(alive, index).await?;
        if !state.contending {
            let kv = self.client.kv();
            let write = kv.write(&self.own_key(alive), self.value.clone());
            if !write.flags(SEMAPHORE_FLAGS).acquire(&alive.id).await? {
                return Err(Error::Conflict(format!(
                    "{} is held by another session",
                    self.own_key(alive)
                )));
            }
            return Ok(Some(0));
        }
        if state.holds(alive) {
            return Ok(None);
        }
        if state.table.holders.len() >= self.limit as usize {
            return Ok(Some(state.index.max(1)));
        }
        state.table.holders.insert(alive.id.to_string(), true);
        let taken = self.change(&state).await?;
        Ok(if taken { None } else { Some(0) })
    }

    /// The state, freed of holders that do not live any more.
    async fn look(&self, alive: &Alive, index: u64) -> Result<State, Error> {
        let client = self.client.but(|options| options.index(index));
        let answer = client.kv().list(&format!("{}/", self.prefix)).await?;
        let pairs = &answer.value;
        let lock = pairs.iter().find(|pair| pair.key == self.table_key());
        let mut table = match lock {
            Some(pair) => self.table(pair)?,
            None => Table {
                limit: self.limit,
                holders: BTreeMap::new(),
            },
        };
        let lives = |id: &str| {
            let key = format!("{}/{id}", self.prefix);
            let mut own = pairs.iter().filter(|pair| pair.key == key);
            own.any(|pair| {
                pair.session
                    .as_ref()
                    .is_some_and(|held| held.as_str() == id)
            })
        };
        table.holders.retain(|id, _| lives(id));
        Ok(State {
            table,
            modify_index: lock.map_or(0, |pair| pair.modify_index),
            contending: lives(alive.id.as_str()),
            index: answer.meta.index,
        })
    }

    fn table(&self, pair: &Pair) -> Result<Table, Error> {
        if pair.flags != SEMAPHORE_FLAGS {
            return Err(Error::Conflict(format!(
                "{} has the flags {} and not those of a semaphore",
                pair.key, pair.flags
            )));
        }
        let table: Table = pair
            .json()
            .map_err(|error| Error::Conflict(format!("{} is no semaphore ({error})", pair.key)))?;
        if table.limit != self.limit {
            return Err(Error::Conflict(format!(
                "{} has a limit of {} and not of {}",
                pair.key, table.limit, self.limit
            )));
        }
        Ok(table)
    }

    /// Writes the table if nobody else did.
    async fn change(&self, state: &State) -> Result<bool, Error> {
        let table = serde_json::to_vec(&state.table).expect("ids and a number are JSON");
        let kv = self.client.kv();
        let write = kv.write(&self.table_key(), table).flags(SEMAPHORE_FLAGS);
        write.cas(state.modify_index).await
    }

    fn table_key(&self) -> String {
        format!("{}/.lock", self.prefix)
    }

    fn own_key(&self, alive: &Alive) -> String {
        format!("{}/{}", self.prefix, alive.id)
    }

    /// Takes us out of the table and deletes our key. The turn ends with that, not before.
    fn undo(&self, alive: &Alive, turn: Turn) -> Undo {
        let (semaphore, alive) = (self.clone(), alive.clone());
        Undo::new(move || async move {
            let _turn = turn;
            let mut backoff = Backoff::default();
            loop {
                let error = match semaphore.leave(&alive).await {
                    Ok(true) => return Ok(()),
                    Ok(false) => continue,
                    Err(error) => error,
                };
                if alive.is_lost().is_some() {
                    // The others see that our key is not held, and take us out.
                    return Ok(());
                }
                if !error.is_transient() {
                    return Err(error);
                }
                semaphore.client.clock().sleep(backoff.failed()).await;
            }
        })
    }

    /// `false` when another contender was faster: try again.
    async fn leave(&self, alive: &Alive) -> Result<bool, Error> {
        let mut state = self.look(alive, 0).await?;
        if state.table.holders.remove(alive.id.as_str()).is_some() && !self.change(&state).await? {
            return Ok(false);
        }
        self.client.kv().delete(&self.own_key(alive)).await?;
        Ok(true)
    }

    fn slot(&self, alive: &Alive, undo: Undo) -> Slot {
        let (semaphore, alive) = (self.clone(), alive.clone());
        let monitor = async move {
            tokio::select! {
                biased;
                lost = alive.lost() => lost,
                () = semaphore.until_not_holding(&alive) => alive.why(&semaphore.client).await,
            }
        };
        Slot {
            guard: Guard::new(undo, monitor),
        }
    }

    async fn until_not_holding(&self, alive: &Alive) {
        let mut index = 0;
        let mut backoff = Backoff::default();
        loop {
            match self.look(alive, index).await {
                Ok(state) if !state.holds(alive) => return,
                Ok(state) => {
                    backoff.succeeded();
                    index = if state.index < index {
                        0
                    } else {
                        state.index.max(1)
                    };
                }
                // Somebody put something else in its place.
                Err(Error::Conflict(_)) => return,
                Err(_) => {
                    index = 0;
                    self.client.clock().sleep(backoff.failed()).await;
                }
            }
        }
    }
}

impl Slot {
    /// Why the slot is lost; `None` while it is held as far as is known here.
    #[must_use]
    pub fn is_lost(&self) -> Option<Lost> {
        self.guard.get()
    }

    /// Ends when the slot is lost. Stop working under it then.
    pub fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        self.guard.lost()
    }

    /// Gives the slot back. Tries again as long as the session lives.
    ///
    /// # Errors
    /// What is not transient, e.g. 403. The slot then stays taken until the session ends.
    pub async fn release(self) -> Result<(), Error> {
        self.guard.release().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_written_as_consuls_tools_do_and_read_as_the_guide_has_it() {
        let table: Table =
            serde_json::from_str(r#"{"Limit":2,"Holders":["a"]}"#).expect("the guide's form");
        let text = serde_json::to_string(&table).expect("it is JSON");
        assert_eq!(text, r#"{"Limit":2,"Holders":{"a":true}}"#);
        let empty: Table =
            serde_json::from_str(r#"{"Limit":2,"Holders":null}"#).expect("Go's empty map");
        assert!(empty.holders.is_empty());
    }
}
