//! Setting the scene: explaining a key, going back to a checkpoint, waking without a change, ending sessions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::calls::{Blocked, Told};
use super::observe::key_of;
use super::{Checkpoint, Engine, State, wake};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::history::{Happened, History, WokenBy};
use crate::store::{
    CheckRow, Command, Flaw, Image, Key, NewNode, Query, Refusal, Registration, SessionId, Store,
};
use crate::timestamp::Timestamp;

/// Who holds a key, and what is in the way of others.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The key.
    pub key: Key,
    /// Whether it exists.
    pub exists: bool,
    /// The session that holds it, as the client spelled it.
    pub holder: Option<String>,
    /// Since when, as far as the history still knows.
    pub held_since: Option<Timestamp>,
    /// When the holder's session lapses unless it is renewed; none for a session without a TTL.
    pub lapses_in: Option<Duration>,
    /// How often the key was acquired: `LockIndex`.
    pub lock_index: u64,
    /// How long nobody can acquire it.
    pub lock_delay_left: Option<Duration>,
    /// Who waits for it to change.
    pub waiting: Vec<Blocked>,
    /// What last happened to it, in words.
    pub last: Option<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: ", self.key)?;
        match (&self.holder, self.exists) {
            (Some(holder), _) => write!(formatter, "held by {holder}")?,
            (None, true) => formatter.write_str("held by nobody")?,
            (None, false) => formatter.write_str("does not exist")?,
        }
        if let Some(since) = self.held_since {
            let since = since.since(Timestamp::ZERO).as_secs_f64();
            write!(formatter, " since {since:.3}s")?;
        }
        if let Some(left) = self.lapses_in {
            write!(formatter, ", whose session lapses in {left:?}")?;
        }
        write!(formatter, ", LockIndex {}", self.lock_index)?;
        if let Some(left) = self.lock_delay_left {
            write!(formatter, ", lock-delay for another {left:?}")?;
        }
        write!(formatter, ", {} waiting", self.waiting.len())?;
        let last = self.last.as_ref();
        last.map_or(Ok(()), |last| write!(formatter, "; last: {last}"))
    }
}

impl Engine {
    /// Who holds a key, since when, and who waits for it.
    #[must_use]
    pub fn explain(&self, key: &Key) -> Explanation {
        self.with_state(|state, now| state.explain(now, key))
    }

    /// Keeps the state under a name, in place of what the name stood for. Nothing is copied.
    pub fn checkpoint(&self, name: &str) {
        self.with_state(|state, now| {
            let store = state.store.clone();
            state
                .checkpoints
                .insert(name.to_owned(), Checkpoint { at: now, store });
        });
    }

    /// Goes back to a checkpoint: keys, sessions, catalog and indexes are what they were, and deadlines are as far
    /// away as they were. Whoever is blocked is answered with what is there now. Whether there is such a checkpoint.
    pub fn rollback(&self, name: &str) -> bool {
        let checkpoint = self.lock().checkpoints.get(name).cloned();
        let Some(Checkpoint { at, mut store }) = checkpoint else {
            return false;
        };
        store.carry(at, self.clock.now());
        self.replace_store(store);
        true
    }

    /// An engine over a checkpoint, which nothing ever changes: what a server sees that has fallen behind. It goes by
    /// the same clock.
    #[must_use]
    pub fn as_of(&self, name: &str) -> Option<Engine> {
        let store = self.lock().checkpoints.get(name)?.store.clone();
        let clock = Arc::clone(&self.clock);
        Some(Engine::still(store, clock))
    }

    fn still(mut store: Store, clock: Arc<Clock>) -> Engine {
        store.drop_deadlines();
        Engine::over(store, clock, Entropy::seeded(0), History::off())
    }

    /// The names of the checkpoints.
    #[must_use]
    pub fn checkpoints(&self) -> Vec<String> {
        self.lock().checkpoints.keys().cloned().collect()
    }

    /// Deletes a checkpoint. Whether it was there.
    pub fn delete_checkpoint(&self, name: &str) -> bool {
        // Its store may be the last that holds many rows, which are freed after the lock is.
        let deleted = self.lock().checkpoints.remove(name);
        deleted.is_some()
    }

    /// Deletes all checkpoints.
    pub fn forget_checkpoints(&self) {
        let deleted = std::mem::take(&mut self.lock().checkpoints);
        drop(deleted);
    }

    /// Puts another store in the place of this one. Whoever is blocked is answered with what is there now: its
    /// index may be lower than the one that the client knows.
    pub fn replace_store(&self, store: Store) {
        let mut woken = Vec::new();
        {
            let mut state = self.lock();
            state.store = store;
            let now = self.clock.now();
            state.store.run_checks_again(now);
            let everybody: Vec<Arc<Told>> = state.waiters.all();
            state.answer(now, everybody, &mut woken);
        }
        self.deadlines.notify_one();
        wake(&woken);
        self.announce();
    }

    /// The whole state as plain data.
    #[must_use]
    pub fn image(&self) -> Image {
        let (store, now) = self.with_state(|state, now| (state.store.clone(), now));
        store.image(now)
    }

    /// Goes over to the state of an image. Whoever is blocked is answered with what is there now.
    ///
    /// # Errors
    /// No store can be in this state; nothing has changed.
    pub fn load(&self, image: Image) -> Result<(), Flaw> {
        let (store, now) = self.with_state(|state, now| (state.store.clone(), now));
        self.replace_store(store.with_image(image, now)?);
        Ok(())
    }

    /// What a restart leaves of the state; see [`Store::change_leader`].
    pub fn restart(&self) {
        let mut store = self.snapshot();
        store.change_leader(self.clock.now());
        self.replace_store(store);
    }

    /// Lowers every index by `by`, as a Consul does that lost its log; see [`Store::lower_indexes`].
    pub fn lower_indexes(&self, by: u64) {
        let mut store = self.snapshot();
        store.lower_indexes(by);
        self.replace_store(store);
    }

    /// Answers everybody who is blocked on keys under `prefix`, though nothing has changed. How many.
    pub fn wake_spuriously(&self, prefix: &[u8]) -> usize {
        let mut woken = Vec::new();
        {
            let mut state = self.lock();
            let now = self.clock.now();
            let concerned =
                |query: &Query| key_of(query).is_some_and(|key| key.as_bytes().starts_with(prefix));
            let parked = state.calls.parked();
            let parked = parked.filter(|(_, parked)| concerned(&parked.query));
            let told: Vec<_> = parked.map(|(_, parked)| Arc::clone(&parked.told)).collect();
            state.answer(now, told, &mut woken);
        }
        wake(&woken);
        self.announce();
        woken.len()
    }

    /// Lets a session lapse now, whatever its TTL.
    ///
    /// # Errors
    /// There is no such session.
    pub fn expire_session(&self, id: &str) -> Result<(), Refusal> {
        let known = self.with_store(|store, _| {
            let row = store.session(id)?;
            Ok(row.map(|row| row.session.id))
        })?;
        let session = known.ok_or_else(|| Refusal::SessionNotFound(id.to_owned()))?;
        self.apply(Command::Lapse { session }).map(|_| ())
    }

    /// Sets the status of a check that is there.
    ///
    /// # Errors
    /// Its service is gone.
    pub fn set_check_status(&self, row: &CheckRow, status: &str) -> Result<(), Refusal> {
        let mut check = row.check.clone();
        status.clone_into(&mut check.status);
        let registration = Registration {
            node: NewNode {
                node: row.node.clone(),
                ..NewNode::default()
            },
            skip_node_update: true,
            service: None,
            checks: vec![check],
        };
        self.apply(Command::Register(Box::new(registration)))
            .map(|_| ())
    }
}

impl State {
    /// Makes the next look of these waiters their answer.
    fn answer(&mut self, now: Timestamp, told: Vec<Arc<Told>>, woken: &mut Vec<Arc<Told>>) {
        for told in told {
            told.mark_pending();
            told.mark_at_once();
            if let Some(call) = told.call {
                self.wake_call(now, call, WokenBy::Control);
            }
            woken.push(told);
        }
    }

    fn explain(&self, now: Timestamp, key: &Key) -> Explanation {
        let row = self.store.row(key);
        let holder = row.and_then(|row| row.session.as_deref());
        let id = holder.and_then(|holder| SessionId::parse(holder).ok().flatten());
        let lapses_at = id.and_then(|id| self.store.lapses_at(id));
        let about_key = self
            .history
            .after(0)
            .filter(|record| record.what.key() == Some(key));
        let mut held_since = None;
        let mut last = None;
        for record in about_key {
            if let Happened::Acquired { again: false, .. } = &record.what {
                held_since = Some(record.at);
            }
            last = Some(record.what.to_string());
        }
        let waits = |blocked: &Blocked| match &blocked.query {
            Query::KvGet(read) => read == key,
            Query::KvList(prefix) => key.as_bytes().starts_with(prefix.as_bytes()),
            _ => false,
        };
        Explanation {
            key: key.clone(),
            exists: row.is_some(),
            held_since: held_since.filter(|_| holder.is_some()),
            holder: holder.map(str::to_owned),
            lapses_in: lapses_at.map(|at| at.since(now)),
            lock_index: row.map_or(0, |row| row.lock_index),
            lock_delay_left: self.store.lock_delay_left(now, key),
            waiting: self.calls.blocked().filter(waits).collect(),
            last,
        }
    }
}
