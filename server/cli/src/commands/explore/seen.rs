//! What a run knows of the state of a real Consul, and the records of what changes in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proconsul_engine::Engine;
use proconsul_engine::history::{CallId, Happened, RefusedBecause, ReleasedBy};
use proconsul_os::time;
use proconsul_store::{Cause, Key};
use serde_json::Value;

use super::asked::About;

/// The state as the last look has seen it.
#[derive(Debug)]
pub(super) struct Seen {
    engine: Arc<Engine>,
    /// Whether the run is over, and nothing may change any more.
    pub(super) is_over: bool,
    /// The keys that the run has named.
    keys: BTreeMap<String, Known>,
    /// The sessions that the run has created and that have not ended.
    pub(super) sessions: BTreeMap<String, Session>,
    /// Until when keys cannot be acquired, in the machine's time.
    pub(super) delays: BTreeMap<String, Duration>,
}

/// A key that the run has named.
#[derive(Debug)]
struct Known {
    row: Option<Row>,
    /// Whether it was missing before.
    is_own: bool,
}

/// What is looked at of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    modified: u64,
    holder: Option<String>,
}

/// What is looked at of a session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) has_ttl: bool,
    pub(super) lock_delay: Duration,
    /// The first of its checks.
    pub(super) check: String,
}

/// What the state is looked at after; after nothing that is known by default.
#[derive(Debug, Default)]
pub(super) struct Because<'a> {
    /// The contender's request; `None` for one of our own.
    pub(super) call: Option<CallId>,
    pub(super) about: Option<&'a About>,
}

impl Row {
    /// Reads what Consul shows of a key.
    pub(super) fn of(row: &Value) -> Self {
        Self {
            modified: row["ModifyIndex"].as_u64().unwrap_or_default(),
            holder: row["Session"].as_str().map(str::to_owned),
        }
    }
}

impl Because<'_> {
    /// Returns the request that a change of a key follows from.
    fn of_key(&self, key: &str) -> Option<CallId> {
        let about = self.about.filter(|about| about.names(key));
        about.and(self.call)
    }

    /// Returns why a session has ended, and the request that this follows from. Of a session without a TTL nobody sees why,
    /// if no request here has ended it: its first check is named.
    fn of_end(&self, id: &str, session: &Session) -> (Option<CallId>, Cause) {
        let is_destroyed = self.about.and_then(About::destroyed) == Some(id);
        let registers = |about: &About| about.path == "/v1/catalog/register";
        match self.about {
            Some(_) if is_destroyed => (self.call, Cause::Destroyed),
            Some(about) if registers(about) => {
                (self.call, Cause::CheckCritical("serfHealth".to_owned()))
            }
            _ if session.has_ttl => (None, Cause::Lapsed),
            _ => (None, Cause::CheckCritical(session.check.clone())),
        }
    }
}

impl Seen {
    /// Knows nothing, and records in the history of this engine.
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        Self {
            engine: Arc::clone(engine),
            is_over: false,
            keys: BTreeMap::new(),
            sessions: BTreeMap::new(),
            delays: BTreeMap::new(),
        }
    }

    pub(super) fn knows(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Notes what a key is before the run changes it.
    pub(super) fn learn(&mut self, key: &str, row: Option<Row>) {
        let is_own = row.is_none();
        let known = self.keys.entry(key.to_owned());
        known.or_insert(Known { row, is_own });
    }

    pub(super) fn holder(&self, key: &str) -> Option<&str> {
        self.keys.get(key)?.row.as_ref()?.holder.as_deref()
    }

    /// Returns the keys that were missing before the run.
    pub(super) fn own_keys(&self) -> impl Iterator<Item = &str> {
        let own = self.keys.iter().filter(|(_, known)| known.is_own);
        own.map(|(key, _)| key.as_str())
    }

    /// Returns the keys that may have changed: those that are held, and those that a request names.
    pub(super) fn may_have_changed(&self, because: &Because<'_>) -> impl Iterator<Item = &str> {
        let names = |key: &str| because.about.is_some_and(|about| about.names(key));
        let keys = self.keys.keys().map(String::as_str);
        keys.filter(move |key| self.holder(key).is_some() || names(key))
    }

    /// Records that a session has ended, and what follows for its keys.
    pub(super) fn ended(&mut self, id: &str, because: &Because<'_>) {
        let Some(session) = self.sessions.remove(id) else {
            return;
        };
        let (call, cause) = because.of_end(id, &session);
        let ended = Happened::SessionEnded {
            session: id.to_owned(),
            cause: cause.clone(),
        };
        self.record(call, ended);
        let held = self.keys.keys().filter(|key| self.holder(key) == Some(id));
        for key in held.cloned().collect::<Vec<String>>() {
            let released = Happened::Released {
                key: Key::new(&key),
                session: id.to_owned(),
                cause: ReleasedBy::SessionEnd(cause.clone()),
            };
            self.record(call, released);
            let lasts = session.lock_delay;
            if !lasts.is_zero() {
                let began = Happened::LockDelayBegan {
                    key: Key::new(&key),
                    lasts,
                };
                self.record(call, began);
                self.delays.insert(key.clone(), time::elapsed() + lasts);
            }
            let known = self.keys.get_mut(&key);
            if let Some(row) = known.and_then(|known| known.row.as_mut()) {
                row.holder = None;
            }
        }
    }

    /// Records how a key has changed.
    pub(super) fn changed(&mut self, key: &str, row: Option<Row>, because: &Because<'_>) {
        let Some(known) = self.keys.get_mut(key) else {
            return;
        };
        let before = std::mem::replace(&mut known.row, row.clone());
        if before == row {
            return;
        }
        let call = because.of_key(key);
        let named = || Key::new(key);
        self.record(
            call,
            match row {
                Some(_) => Happened::KeyWritten { key: named() },
                None => Happened::KeyDeleted { key: named() },
            },
        );
        let is_deleted = row.is_none();
        let holder = |row: Option<Row>| row.and_then(|row| row.holder);
        let (before, after) = (holder(before), holder(row));
        if before == after {
            return;
        }
        if let Some(session) = before {
            let released = Happened::Released {
                key: named(),
                session,
                cause: match is_deleted {
                    true => ReleasedBy::Delete,
                    false => ReleasedBy::Holder,
                },
            };
            self.record(call, released);
        }
        if let Some(session) = after {
            let acquired = Happened::Acquired {
                key: named(),
                session,
                again: false,
            };
            self.record(call, acquired);
        }
    }

    /// Returns the record of an acquire that has changed no holder: the session held the key before, or does not get it.
    pub(super) fn outcome(
        &self,
        key: &str,
        session: &str,
        before: Option<&str>,
        is_acquired: bool,
    ) -> Option<Happened> {
        let (named, session_text) = (Key::new(key), session.to_owned());
        if is_acquired {
            return (before == Some(session)).then_some(Happened::Acquired {
                key: named,
                session: session_text,
                again: true,
            });
        }
        let left = self.delays.get(key).copied().unwrap_or_default();
        let left = left.saturating_sub(time::elapsed());
        let reason = match self.holder(key) {
            Some(other) => RefusedBecause::HeldBy(other.to_owned()),
            None => RefusedBecause::LockDelay(left),
        };
        Some(Happened::AcquireRefused {
            key: named,
            session: session_text,
            reason,
        })
    }

    fn record(&self, call: Option<CallId>, what: Happened) {
        Engine::of_call(call, || self.engine.record(what));
    }
}
