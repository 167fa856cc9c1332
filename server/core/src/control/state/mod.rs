//! The state without HTTP: keys, sessions, and going back to what was.

#[cfg(feature = "dump")]
pub(super) mod dump;
#[cfg(feature = "dump")]
pub(super) mod export;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Controls;
use proconsul_store::{
    Behavior, CheckRow, ChecksInState, Content, Entry, Index, Key, KvList, KvRow, KvVerb, KvWrite,
    Labels, NewSession, NodeInfo, NodeList, NodeRow, Read, Refusal, ServiceRow, SessionDestroy,
    SessionList, SessionRenew, SessionRow,
};

/// The keys of a server; from [`Controls::kv`].
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a>(&'a Controls);

/// The sessions of a server; from [`Controls::sessions`].
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a>(&'a Controls);

/// The catalog of a server; from [`Controls::catalog`].
#[derive(Clone, Copy, Debug)]
pub struct Catalog<'a>(&'a Controls);

/// A session to create. The default has no TTL, Consul's lock-delay of 15 s, and releases its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a session is created by `Sessions::create`"]
pub struct Session {
    name: String,
    ttl: Duration,
    lock_delay: Duration,
    behavior: Behavior,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            name: String::new(),
            ttl: Duration::ZERO,
            lock_delay: Duration::from_secs(15),
            behavior: Behavior::Release,
        }
    }
}

impl Session {
    /// Returns a session that expires unless it is renewed within twice `ttl`. No minimum is enforced here.
    pub fn ttl(ttl: Duration) -> Self {
        Self {
            ttl,
            ..Self::default()
        }
    }

    /// Sets the name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the lock-delay.
    pub fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.lock_delay = lock_delay;
        self
    }

    /// Deletes the session's keys when it ends.
    pub fn deletes_its_keys(mut self) -> Self {
        self.behavior = Behavior::Delete;
        self
    }
}

/// # State
impl Controls {
    /// The keys.
    #[must_use]
    pub fn kv(&self) -> Keys<'_> {
        Keys(self)
    }

    /// The sessions.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// Nodes, services and checks.
    #[must_use]
    pub fn catalog(&self) -> Catalog<'_> {
        Catalog(self)
    }

    /// The index of the last change.
    #[must_use]
    pub fn index(&self) -> Index {
        self.engine.snapshot().applied()
    }

    /// Goes back to the state in which the server was started, and forgets all checkpoints: a server that the tests of
    /// a run share does not grow. Blocked requests are answered with that state. Indexes go back, too; clock,
    /// history and faults stay as they are.
    pub fn reset(&self) {
        self.engine.reset(&self.initial);
    }

    /// Keeps the state under a name. It costs the same whatever the number of keys: nothing is copied.
    pub fn checkpoint(&self, name: &str) {
        self.engine.checkpoint(name);
    }

    /// Returns the names of the checkpoints, in byte order.
    #[must_use]
    pub fn checkpoints(&self) -> Vec<String> {
        self.engine.checkpoints()
    }

    /// Deletes a checkpoint, and frees what only it still holds.
    ///
    /// # Errors
    /// Unknown checkpoint.
    pub fn delete_checkpoint(&self, name: &str) -> Result<(), UnknownCheckpoint> {
        if self.engine.delete_checkpoint(name) {
            return Ok(());
        }
        Err(self.unknown_checkpoint(name))
    }

    fn unknown_checkpoint(&self, name: &str) -> UnknownCheckpoint {
        UnknownCheckpoint {
            name: name.to_owned(),
            known: self.engine.checkpoints(),
        }
    }

    /// Goes back to a checkpoint: keys, sessions, catalog and indexes; deadlines are as far away as they were then.
    /// Blocked requests are answered with the new state, whose index may be lower than the client's.
    ///
    /// # Errors
    /// Unknown checkpoint.
    pub fn rollback(&self, name: &str) -> Result<(), UnknownCheckpoint> {
        if self.engine.rollback(name) {
            return Ok(());
        }
        Err(self.unknown_checkpoint(name))
    }
}

/// Unknown name of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCheckpoint {
    /// The name.
    pub name: String,
    /// The names of the existing checkpoints.
    pub known: Vec<String>,
}

impl std::fmt::Display for UnknownCheckpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, known } = self;
        write!(formatter, "no checkpoint {name:?}; there are {known:?}")
    }
}

impl std::error::Error for UnknownCheckpoint {}

impl Keys<'_> {
    /// Returns the row of a key; `None` if it does not exist.
    #[must_use]
    pub fn get(self, key: impl AsRef<[u8]>) -> Option<Arc<KvRow>> {
        let store = self.0.engine.snapshot();
        store.row(&Key::new(key)).map(Arc::clone)
    }

    /// Returns all keys with this prefix and their rows, in byte order.
    #[must_use]
    pub fn list(self, prefix: impl AsRef<[u8]>) -> Vec<Entry> {
        self.0.rows(&KvList(Key::new(prefix)))
    }

    /// Writes a key.
    pub fn put(self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        let written = self.write(key, KvVerb::Set(content(value)));
        written.expect("an unconditional write is not refused");
    }

    /// Deletes a key.
    pub fn delete(self, key: impl AsRef<[u8]>) {
        let deleted = self.write(key, KvVerb::Delete);
        deleted.expect("an unconditional delete is not refused");
    }

    /// Deletes all keys with this prefix.
    pub fn delete_tree(self, prefix: impl AsRef<[u8]>) {
        let deleted = self.write(prefix, KvVerb::DeleteTree);
        deleted.expect("an unconditional delete is not refused");
    }

    /// Acquires a key for a session. Returns whether it did; [`Controls::explain`] says why not.
    ///
    /// # Errors
    /// Unknown session.
    pub fn acquire(
        self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        session: &str,
    ) -> Result<bool, Refusal> {
        self.write(key, KvVerb::Acquire(content(value), session.to_owned()))
    }

    /// Releases a key that a session holds. Returns whether it did.
    ///
    /// # Errors
    /// The session id is empty.
    pub fn release(
        self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        session: &str,
    ) -> Result<bool, Refusal> {
        self.write(key, KvVerb::Release(content(value), session.to_owned()))
    }

    fn write(self, key: impl AsRef<[u8]>, verb: KvVerb) -> Result<bool, Refusal> {
        let key = Key::new(key);
        self.apply(KvWrite { key, verb })
    }

    pub(super) fn apply(self, write: KvWrite) -> Result<bool, Refusal> {
        let Err(refused) = self.0.engine.apply(write) else {
            return Ok(true);
        };
        refused.error().cloned().map_or(Ok(false), Err)
    }
}

fn content(value: impl AsRef<[u8]>) -> Content {
    Content {
        value: Bytes::copy_from_slice(value.as_ref()),
        flags: 0,
    }
}

impl Sessions<'_> {
    /// Returns all sessions, in the order of their ids.
    #[must_use]
    pub fn list(self) -> Vec<Arc<SessionRow>> {
        self.0.rows(&SessionList)
    }

    /// Creates a session on the agent's own node, and returns its id.
    ///
    /// # Errors
    /// The node, or its check `serfHealth`, was deregistered, or is critical.
    pub fn create(self, session: Session) -> Result<String, Refusal> {
        let lock_delay = i64::try_from(session.lock_delay.as_nanos());
        let seconds = session.ttl.as_secs_f64();
        let new = NewSession {
            id: self.0.engine.new_session_id(),
            name: session.name,
            node: self.0.node_name.clone(),
            lock_delay_ns: lock_delay.unwrap_or(i64::MAX),
            behavior: session.behavior,
            ttl_text: if session.ttl.is_zero() {
                String::new()
            } else {
                format!("{seconds}s")
            },
            ttl: session.ttl,
            node_checks: Some(vec!["serfHealth".to_owned()]),
            service_checks: None,
            checks: Vec::new(),
        };
        let row = self.0.engine.apply(new)?;
        Ok(row.session.id.to_string())
    }

    /// Starts the TTL of a session anew.
    ///
    /// # Errors
    /// Unknown session.
    pub fn renew(self, id: &str) -> Result<(), Refusal> {
        let renewed = self.0.engine.apply(SessionRenew(id.to_owned()));
        renewed.map(|_| ())
    }

    /// Destroys a session, if it exists.
    ///
    /// # Errors
    /// The id is malformed, where Consul minds.
    pub fn destroy(self, id: &str) -> Result<(), Refusal> {
        self.0.engine.apply(SessionDestroy(id.to_owned()))
    }

    /// Expires a session now, whatever is left of its TTL: its keys are released or deleted, and lock-delays begin.
    ///
    /// # Errors
    /// Unknown session.
    pub fn expire(self, id: &str) -> Result<(), Refusal> {
        self.0.engine.expire_session(id)
    }
}

impl Catalog<'_> {
    /// Returns all nodes, in the order of their names.
    #[must_use]
    pub fn nodes(self) -> Vec<Arc<NodeRow>> {
        self.0.rows(&NodeList(Labels::new()))
    }

    /// Returns the services of a node, in the order of their ids; empty for an unknown node.
    #[must_use]
    pub fn services_of(self, node: &str) -> Vec<Arc<ServiceRow>> {
        let found = self.0.rows(&NodeInfo(node.to_owned()));
        found.map(|(_, services)| services).unwrap_or_default()
    }

    /// Returns all checks, in the order of node and id.
    #[must_use]
    pub fn checks(self) -> Vec<Arc<CheckRow>> {
        let all = ChecksInState("any".to_owned(), Labels::new());
        self.0.rows(&all)
    }

    /// Makes a check critical, which ends the sessions that are bound to it. `serfHealth` of the agent's own node is
    /// the check that sessions are bound to unless they say otherwise.
    ///
    /// # Errors
    /// The node has no such check.
    pub fn fail_check(self, node: &str, check: &str) -> Result<(), UnknownCheck> {
        self.set_check(node, check, "critical")
    }

    /// Makes a check passing.
    ///
    /// # Errors
    /// The node has no such check.
    pub fn pass_check(self, node: &str, check: &str) -> Result<(), UnknownCheck> {
        self.set_check(node, check, "passing")
    }

    fn set_check(self, node: &str, check: &str, status: &str) -> Result<(), UnknownCheck> {
        if self.0.engine.set_check_status(node, check, status) {
            return Ok(());
        }
        Err(UnknownCheck {
            node: node.to_owned(),
            check: check.to_owned(),
        })
    }

    /// Deletes a node with its services, checks and sessions.
    pub fn delete_node(self, node: &str) {
        self.0.engine.delete_node(node);
    }
}

/// Unknown check of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCheck {
    /// The node.
    pub node: String,
    /// The id of the check.
    pub check: String,
}

impl std::fmt::Display for UnknownCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, check } = self;
        write!(formatter, "node {node:?} has no check {check:?}")
    }
}

impl std::error::Error for UnknownCheck {}

impl Controls {
    fn rows<R: Read<Refused = Infallible>>(&self, read: &R) -> R::Rows {
        let Ok(answer) = self.engine.read(read);
        answer.rows
    }

    /// Records in the history what the test does.
    pub fn note(&self, action: &str) {
        self.engine
            .record(proconsul_engine::history::Happened::Control {
                action: action.to_owned(),
            });
    }
}
