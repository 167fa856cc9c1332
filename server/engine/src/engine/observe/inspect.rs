//! What the controls do to the state: explain a key, go back to a checkpoint, wake without a change, end sessions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::calls::Blocked;
use crate::engine::Engine;
use crate::engine::mutate::{Checkpoint, Mutation, State};
use crate::entropy::Entropy;
use crate::history::{Happened, History};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{
    Deadline, Deregistration, Key, NewNode, Refusal, Registration, SessionId, Store, Subject,
};

/// Who holds a key, and what keeps others from acquiring it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The key.
    pub key: Key,
    /// Whether it exists.
    pub exists: bool,
    /// The session that holds it, as the client spelled it.
    pub holder: Option<String>,
    /// When the holder acquired it; `None` if the history does not go back so far.
    pub held_since: Option<Timestamp>,
    /// The time until the holder's session lapses unless it is renewed; `None` without a TTL.
    pub lapses_in: Option<Duration>,
    /// How often the key was acquired: `LockIndex`.
    pub lock_index: u64,
    /// What is left of its lock-delay.
    pub lock_delay_left: Option<Duration>,
    /// The requests that wait for it to change.
    pub waiting: Vec<Blocked>,
    /// The last record about it, in words.
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
    /// Explains who holds a key, since when, and which requests wait for it.
    #[must_use]
    pub fn explain(&self, key: &Key) -> Explanation {
        self.with_state(|state, now| state.explain(now, key))
    }

    /// Keeps the state under a name, in place of an earlier one. This copies nothing.
    pub fn checkpoint(&self, name: &str) {
        self.mutate(|mutation| {
            mutation.note(format!("checkpoint {name:?}"));
            let checkpoint = mutation.checkpoint();
            let checkpoints = &mut mutation.state().checkpoints;
            checkpoints.insert(name.to_owned(), checkpoint);
        });
    }

    /// Returns the current state, to go back to.
    pub fn initial(&self) -> Checkpoint {
        self.mutate(|mutation| mutation.checkpoint())
    }

    /// Goes back to a checkpoint: keys, sessions, catalog and indexes are what they were, and deadlines are as far
    /// away as they were. Blocked requests are answered with the new state. Returns whether the checkpoint exists.
    pub fn rollback(&self, name: &str) -> bool {
        self.mutate(|mutation| {
            let Some(checkpoint) = mutation.state().checkpoints.get(name).cloned() else {
                return false;
            };
            mutation.note(format!("rollback to {name:?}"));
            mutation.go_back(checkpoint);
            true
        })
    }

    /// Goes back to the state of the start, and forgets all checkpoints.
    pub fn reset(&self, initial: &Checkpoint) {
        let forgotten = self.mutate(|mutation| {
            mutation.note("reset");
            mutation.go_back(initial.clone());
            std::mem::take(&mut mutation.state().checkpoints)
        });
        // They may own many rows, which are freed without the lock.
        drop(forgotten);
    }

    /// Restarts: keeps everything but lock-delays, with TTLs that start anew; or goes back to the given state.
    pub fn restart(&self, wiped_to: Option<&Checkpoint>) {
        self.mutate(|mutation| match wiped_to {
            None => {
                mutation.note("restart, state kept");
                mutation.replace(Store::change_leader);
            }
            Some(initial) => {
                mutation.note("restart, nothing kept");
                mutation.go_back(initial.clone());
            }
        });
    }

    /// Another server becomes the leader: TTLs start anew, and lock-delays end if `ends_lock_delays`.
    pub fn change_leader(&self, ends_lock_delays: bool) {
        self.mutate(|mutation| {
            if ends_lock_delays {
                mutation.note("new leader, lock-delays end");
                mutation.replace(Store::change_leader);
            } else {
                mutation.note("new leader");
                mutation.replace(Store::start_ttls);
            }
        });
    }

    /// Lowers every index by `by`, as of a Consul that was built anew with the same data; see [`Store::lower_indexes`].
    pub fn lower_indexes(&self, by: u64) {
        self.mutate(|mutation| {
            mutation.note(format!("indexes lowered by {by}"));
            mutation.replace(|store, _| store.lower_indexes(by));
        });
    }

    /// Returns the state that is kept under a name.
    #[must_use]
    pub fn kept_as(&self, name: &str) -> Option<Store> {
        let state = self.lock();
        let checkpoint = state.checkpoints.get(name)?;
        Some(checkpoint.store.clone())
    }

    /// Returns an engine over an earlier state with the same clock: a server that has fallen behind.
    #[must_use]
    pub fn fallen_behind(&self, past: &Store) -> Engine {
        let clock = Arc::clone(&self.clock);
        Engine::over(past.clone(), clock, Entropy::seeded(0), History::off())
    }

    /// Returns an engine over the same state with the same clock, at which nobody has looked yet.
    #[must_use]
    pub fn unused(&self) -> Engine {
        self.fallen_behind(&self.snapshot())
    }

    /// Returns the names of the checkpoints.
    #[must_use]
    pub fn checkpoints(&self) -> Vec<String> {
        self.lock().checkpoints.keys().cloned().collect()
    }

    /// Deletes a checkpoint. Returns whether it existed.
    pub fn delete_checkpoint(&self, name: &str) -> bool {
        let deleted = self.mutate(|mutation| {
            let deleted = mutation.state().checkpoints.remove(name)?;
            mutation.note(format!("delete checkpoint {name:?}"));
            Some(deleted)
        });
        deleted.is_some()
    }

    /// Answers the requests that are blocked on keys under `prefix`, though nothing has changed. Returns their number.
    pub fn wake_spuriously(&self, prefix: &[u8]) -> usize {
        let text = String::from_utf8_lossy(prefix).into_owned();
        let concerned = |read: &Subject| {
            read.key()
                .is_some_and(|key| key.as_bytes().starts_with(prefix))
        };
        self.mutate(|mutation| {
            mutation.note(format!("spurious wake of {text:?}"));
            let parked = mutation.state().calls.parked();
            let parked = parked.filter(|(_, parked)| concerned(&parked.read));
            let told: Vec<_> = parked.map(|(_, parked)| Arc::clone(&parked.told)).collect();
            let count = told.len();
            mutation.answer(told);
            count
        })
    }

    /// Lets a session lapse now, whatever its TTL.
    ///
    /// # Errors
    /// Unknown session.
    pub fn expire_session(&self, id: &str) -> Result<(), Refusal> {
        self.mutate(|mutation| {
            let row = mutation.store().session(id)?;
            let row = row.ok_or_else(|| Refusal::SessionNotFound(id.to_owned()))?;
            let session = row.session.id;
            mutation.note(format!("expire session {id}"));
            let Ok(()) = mutation.apply(Deadline::Lapse(session));
            Ok(())
        })
    }

    /// Sets the status of a check. Returns whether the node has the check.
    pub fn set_check_status(&self, node: &str, check: &str, status: &str) -> bool {
        self.mutate(|mutation| {
            let Some(row) = mutation.store().check(node, check) else {
                return false;
            };
            let mut set = row.check.clone();
            status.clone_into(&mut set.status);
            let registration = Registration {
                node: NewNode {
                    node: row.node.clone(),
                    ..NewNode::default()
                },
                skip_node_update: true,
                checks: vec![set],
                ..Registration::default()
            };
            mutation.note(format!("check {check:?} of node {node:?} is {status}"));
            mutation.apply(registration).is_ok()
        })
    }

    /// Deletes a node with its services, checks and sessions.
    pub fn delete_node(&self, node: &str) {
        let Ok(()) = self.mutate(|mutation| {
            mutation.note(format!("delete node {node:?}"));
            mutation.apply(Deregistration::Node(node.to_owned()))
        });
    }
}

impl Mutation<'_> {
    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            at: self.now(),
            store: self.store().clone(),
        }
    }

    fn go_back(&mut self, Checkpoint { at, store: before }: Checkpoint) {
        self.replace(|store, now| {
            *store = before;
            store.carry(at, now);
        });
    }
}

impl State {
    fn explain(&self, now: Timestamp, key: &Key) -> Explanation {
        let row = self.store().row(key);
        let holder = row.and_then(|row| row.session());
        let id = holder.and_then(|holder| SessionId::parse(holder).ok().flatten());
        let lapses_at = id.and_then(|id| self.store().lapses_at(id));
        let about_key = self
            .history
            .after(0)
            .filter(|record| record.what.is_about(key));
        let mut held_since = None;
        let mut last = None;
        for record in about_key {
            if let Happened::Acquired { again: false, .. } = &record.what {
                held_since = Some(record.at);
            }
            last = Some(&record.what);
        }
        let waits = |blocked: &Blocked| match &blocked.read {
            Subject::Key(read) => read == key,
            Subject::Prefix(prefix) => key.as_bytes().starts_with(prefix.as_bytes()),
            _ => false,
        };
        Explanation {
            key: key.clone(),
            exists: row.is_some(),
            held_since: held_since.filter(|_| holder.is_some()),
            holder: holder.map(str::to_owned),
            lapses_in: lapses_at.map(|at| at.since(now)),
            lock_index: row.map_or(0, |row| row.lock_index()),
            lock_delay_left: self.store().lock_delay_left(now, key),
            waiting: self.calls.blocked().filter(waits).collect(),
            last: last.map(ToString::to_string),
        }
    }
}
