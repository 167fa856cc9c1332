//! The pure machine: commands go in with a point in time, replies and effects come out.
//!
//! The store reads no clock, makes no ids, wakes nobody and knows no wire format. The same commands at the
//! same times give the same store, row for row. Its tables are persistent maps, so a clone of the store is a
//! snapshot that shares everything with it and costs a few reference counts.
//!
//! # Invariants
//! * No index in any row exceeds the index of the last applied command.
//! * A key that a session holds is released or deleted in the command that ends the session.
//! * Whoever applies a command at `now` has first applied what was due before: [`Store::due`].

mod agent;
mod catalog;
mod check;
mod check_table;
mod command;
mod effects;
mod event;
mod image;
mod index;
mod invalidation;
mod key;
mod kv;
mod lock_delay;
mod looks;
mod node;
mod node_id;
mod prepared_query;
mod proxy;
mod query;
mod radix;
mod registration;
mod rules;
mod service;
mod session;
mod session_id;
pub mod timestamp;
mod tombstone;
mod travel;
mod txn;
mod txn_catalog;
pub mod watch;

use std::sync::Arc;
use std::time::Duration;

use service::{ABSENT_IN_CATALOG, ABSENT_IN_HEALTH};

pub use agent::{
    Agent, AgentCommand, AgentImage, Alias, CheckSource, CheckSpec, Due, InARow, LocalCheck,
    LocalService, Probe, ProbeRun, ProbeTarget, ServiceSpec, Sidecar, Start, Thresholds,
};
pub use command::{AcquireRefused, Command, Content, KvVerb, KvWrite, Refusal, Reply};
pub use effects::{Cause, Effects, HolderChange, SessionEnd, Touched};
pub use event::{EventRow, NewEvent};
#[cfg(feature = "serde")]
pub use image::form;
pub use image::{Flaw, Image, TableIndexes};
pub use index::Index;
pub use key::Key;
pub use kv::KvRow;
pub use node_id::{NodeIdFlaw, check_node_id};
pub use prepared_query::{
    NewPreparedQuery, PreparedQueryId, PreparedQueryRefusal, PreparedQueryRow, PreparedQueryTarget,
    PreparedQueryWrite, ServiceSearch, Template,
};
pub use proxy::{ExposedPath, Proxy, Upstream};
pub use query::{Answer, Entry, Instance, Query, ReadSet, Rows, Watch};
pub use registration::{
    CheckDefinition, CheckRow, Deregistration, Headers, Labels, NewCheck, NewNode, NewService,
    NodeRow, Registration, ServiceAddress, ServiceRow, Weights,
};
pub use rules::Rules;
pub use session::{Behavior, NewSession, ServiceCheck, SessionRow};
pub use session_id::{IdError, SessionId};
pub use txn::{TxnError, TxnOperation, TxnOutcome, TxnRefusal, TxnResult, TxnVerb};
pub use txn_catalog::{CatalogOperation, CatalogSubject, CatalogVerb};

use crate::timestamp::Timestamp;

/// The size from which Consul splits the raft entry of a KV write, each part taking an index (kv.md 2.2).
const RAFT_ENTRY_BYTES: usize = 524_288;
/// What a raft entry holds besides key and value, roughly; Consul's own figure varies with the request.
const RAFT_ENTRY_OVERHEAD: usize = 128;

/// All state of one Consul: keys, sessions, catalog, and the deadlines that hang on them.
#[derive(Clone, Debug)]
pub struct Store {
    rules: Rules,
    applied: Index,
    kv: kv::KvTable,
    tombstones: tombstone::Tombstones,
    lock_delays: lock_delay::LockDelays,
    sessions: session::SessionTable,
    catalog: catalog::Catalog,
    agent: Agent,
    prepared_queries: prepared_query::PreparedQueries,
    events: event::Events,
}

/// What a command came to.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The answer, or why there is none.
    pub result: Result<Reply, Refusal>,
    /// What changed.
    pub effects: Effects,
}

/// One command under way: the store, the moment, the index that everything it touches gets.
struct Change<'a> {
    store: &'a mut Store,
    now: Timestamp,
    index: Index,
    effects: Effects,
    /// What alias checks have to look at again.
    stirred: agent::Stirred,
}

impl Store {
    /// An empty store whose next command gets the index after `applied`.
    #[must_use]
    pub fn new(rules: Rules, applied: Index) -> Self {
        Self {
            rules,
            applied,
            kv: kv::KvTable::default(),
            tombstones: tombstone::Tombstones::default(),
            lock_delays: lock_delay::LockDelays::default(),
            sessions: session::SessionTable::default(),
            catalog: catalog::Catalog::default(),
            agent: Agent::default(),
            prepared_queries: prepared_query::PreparedQueries::default(),
            events: event::Events::default(),
        }
    }

    /// The index of the last command that took one.
    #[must_use]
    pub fn applied(&self) -> Index {
        self.applied
    }

    /// Applies a command at `now`.
    ///
    /// # Panics
    /// When something was due before `now` and has not been applied: the caller broke [`Store::due`].
    pub fn apply(&mut self, now: Timestamp, command: Command) -> Applied {
        assert!(
            self.next_deadline().is_none_or(|deadline| deadline > now)
                || matches!(
                    command,
                    Command::Lapse { .. }
                        | Command::EndLockDelay { .. }
                        | Command::ReapTombstones { .. }
                )
                || command.is_due_of_agent(),
            "everything that is due is applied before the next command"
        );
        let before = self.applied;
        let entries = self.raft_entries(now, &command);
        self.applied = Index(self.applied.0 + entries);
        let mut change = Change {
            index: self.applied,
            store: self,
            now,
            effects: Effects::default(),
            stirred: agent::Stirred::default(),
        };
        let by_agent = matches!(command, Command::Agent(_));
        let result = change.run(command);
        change.agent_aliases_follow();
        if !by_agent {
            change.agent_looks_later();
        }
        let mut effects = change.effects;
        effects.index = (self.applied > before).then_some(self.applied);
        Applied { result, effects }
    }

    /// How many raft indexes a command takes (kv.md 4.1).
    fn raft_entries(&self, now: Timestamp, command: &Command) -> u64 {
        match command {
            Command::Kv(KvWrite { key, verb }) => match verb {
                KvVerb::Acquire(..) if self.lock_delays.left(now, key).is_some() => 0,
                KvVerb::Set(content)
                | KvVerb::Cas(content, _)
                | KvVerb::Acquire(content, _)
                | KvVerb::Release(content, _) => {
                    let bytes = key.as_bytes().len() + content.value.len() + RAFT_ENTRY_OVERHEAD;
                    bytes.div_ceil(RAFT_ENTRY_BYTES) as u64
                }
                KvVerb::Delete | KvVerb::DeleteCas(_) | KvVerb::DeleteTree => 1,
            },
            Command::Txn(operations) => u64::from(self.pre_check(now, operations).is_empty()),
            Command::SessionDestroy { id } => {
                // Where ids are UUIDs it is raft that finds out that one is malformed or unknown.
                let known = matches!(self.session(id), Ok(Some(_)));
                u64::from(known || self.rules.session_ids_are_uuids)
            }
            Command::PutPreparedQuery(write) => match &write.target {
                PreparedQueryTarget::New(_) => 1,
                PreparedQueryTarget::Existing(id) => {
                    u64::from(self.prepared_query_target(id).is_ok())
                }
            },
            Command::DeletePreparedQuery { id } => {
                u64::from(self.prepared_query_target(id).is_ok())
            }
            Command::SessionRenew { .. }
            | Command::EndLockDelay { .. }
            | Command::Fire(_)
            | Command::Agent(_) => 0,
            Command::SessionCreate(_)
            | Command::Register(_)
            | Command::Deregister(_)
            | Command::Lapse { .. }
            | Command::ReapTombstones { .. } => 1,
        }
    }

    /// Answers a read. It changes nothing, and takes no time as an argument: nothing that can be read over
    /// the wire depends on the moment, only on what has been applied.
    ///
    /// # Errors
    /// The read names a session by a malformed id, where Consul minds.
    pub fn query(&self, query: &Query) -> Result<Answer, Refusal> {
        match query {
            Query::KvGet(key) => Ok(self.kv_get(key)),
            Query::KvList(prefix) => Ok(self.kv_list(prefix)),
            Query::SessionInfo(id) => self.session_info(id),
            Query::SessionList => Ok(self.session_list()),
            Query::SessionNode(node) => Ok(self.session_node(node)),
            Query::Nodes => Ok(self.nodes()),
            Query::Node(node) => Ok(self.node(node)),
            Query::Services(node_meta) => Ok(self.services(node_meta)),
            Query::Service(name) => Ok(self.service(name, ABSENT_IN_CATALOG)),
            Query::ServiceHealth(name) => Ok(self.service(name, ABSENT_IN_HEALTH)),
            Query::Connect(name) => Ok(self.connect(name)),
            Query::ConnectHealth(name) => Ok(self.connect_health(name)),
            Query::ServiceChecks(name, node_meta) => Ok(self.service_checks(name, node_meta)),
            Query::PreparedQueries => Ok(self.prepared_queries()),
            Query::PreparedQuery(id) => self.prepared_query(id).map_err(Refusal::PreparedQuery),
            Query::PreparedQueryFor(name) => self
                .prepared_query_for(name)
                .map_err(Refusal::PreparedQuery),
            Query::Events(name) => Ok(self.events(name.as_deref())),
            Query::NodeChecks(node) => Ok(self.node_checks(node)),
            Query::ChecksInState(state, node_meta) => Ok(self.checks_in_state(state, node_meta)),
            Query::AgentService(id) => Ok(self.agent_service(id)),
        }
    }

    /// The next point in time at which something happens by itself. At the end of time nothing does any more, but that
    /// lock-delays end.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.next_of_each().into_iter().flatten().min()
    }

    /// The earliest command that is due at `now`, with its own deadline: apply it at that time, and ask again.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Option<(Timestamp, Command)> {
        let at = self.next_deadline().filter(|at| *at <= now)?;
        let first = self
            .next_of_each()
            .iter()
            .position(|next| *next == Some(at));
        let command = match first? {
            0 => {
                let (_, key) = self.lock_delays.next_end()?;
                Command::EndLockDelay { key: key.clone() }
            }
            1 => {
                let (_, session) = self.sessions.next_lapse()?;
                Command::Lapse { session }
            }
            2 => {
                let (_, due) = self.agent.next_due()?;
                Command::Agent(Box::new(AgentCommand::Due(due.clone())))
            }
            _ => {
                let (_, up_to) = self.tombstones.next_reap()?;
                Command::ReapTombstones { up_to }
            }
        };
        Some((at, command))
    }

    /// When each of these things happens next. At the same moment a guard ends before a session lapses, and reaping comes
    /// last.
    fn next_of_each(&self) -> [Option<Timestamp>; 4] {
        let ever = |at: Option<Timestamp>| at.filter(|at| *at < Timestamp::END);
        [
            self.lock_delays.next_end().map(|(at, _)| *at),
            ever(self.sessions.next_lapse().map(|(at, _)| at)),
            ever(self.agent.next_due().map(|(at, _)| *at)),
            ever(self.tombstones.next_reap().map(|(at, _)| at)),
        ]
    }

    /// How many things are going to happen by themselves.
    #[must_use]
    pub fn deadlines(&self) -> usize {
        self.lock_delays.by_end.len()
            + self.sessions.by_lapse.len()
            + self.agent.deadlines()
            + self.tombstones.reaps.len()
    }

    /// The row of a key.
    #[must_use]
    pub fn row(&self, key: &Key) -> Option<&Arc<KvRow>> {
        self.kv.get(key.as_bytes())
    }

    /// How long `key` cannot be acquired yet, and by nobody.
    #[must_use]
    pub fn lock_delay_left(&self, now: Timestamp, key: &Key) -> Option<Duration> {
        self.lock_delays.left(now, key)
    }
}

impl Change<'_> {
    fn run(&mut self, command: Command) -> Result<Reply, Refusal> {
        match command {
            Command::Kv(write) => {
                if self.lock_delayed(&write) {
                    return Ok(Reply::Written(false));
                }
                self.kv_write(write).map(Reply::Written)
            }
            Command::Txn(operations) => Ok(Reply::Txn(self.transaction(&operations))),
            Command::SessionCreate(session) => self.session_create(session).map(Reply::Session),
            Command::SessionDestroy { id } => {
                let session = self.store.session(&id)?.map(|row| row.session.id);
                if let Some(session) = session {
                    self.invalidate(session, Cause::Destroyed);
                }
                Ok(Reply::Done)
            }
            Command::SessionRenew { id } => self.session_renew(&id).map(Reply::Session),
            Command::Register(registration) => self.register(*registration).map(|()| Reply::Done),
            Command::Deregister(what) => {
                self.deregister(&what);
                Ok(Reply::Done)
            }
            Command::Agent(command) => self.agent(*command),
            Command::PutPreparedQuery(write) => {
                let written = self.put_prepared_query(*write);
                let written = written.map(Reply::PreparedQuery);
                written.map_err(Refusal::PreparedQuery)
            }
            Command::DeletePreparedQuery { id } => {
                let removed = self.remove_prepared_query(&id);
                removed
                    .map(|()| Reply::Done)
                    .map_err(Refusal::PreparedQuery)
            }
            Command::Fire(event) => {
                self.fire(*event);
                Ok(Reply::Done)
            }
            Command::Lapse { session } => {
                self.invalidate(session, Cause::Lapsed);
                Ok(Reply::Done)
            }
            Command::EndLockDelay { key } => {
                self.store.lock_delays.end(&key);
                Ok(Reply::Done)
            }
            Command::ReapTombstones { up_to } => {
                self.store.tombstones.reap(up_to);
                Ok(Reply::Done)
            }
        }
    }

    /// Whether a write is an acquire during the lock-delay of its key. Looked at before the session is, so even
    /// an empty or unknown session is refused in silence (kv.md trap 20), and before raft (trap 22).
    fn lock_delayed(&mut self, write: &KvWrite) -> bool {
        if !matches!(write.verb, KvVerb::Acquire(..)) {
            return false;
        }
        let left = self.store.lock_delays.left(self.now, &write.key);
        self.effects.acquire_refused = left.map(AcquireRefused::LockDelay);
        left.is_some()
    }

    fn kv_write(&mut self, KvWrite { key, verb }: KvWrite) -> Result<bool, Refusal> {
        match verb {
            KvVerb::Set(content) => {
                self.kv_set(&key, content);
                Ok(true)
            }
            KvVerb::Cas(content, index) => Ok(self.kv_cas(&key, content, index)),
            KvVerb::Acquire(content, session) => self.kv_acquire(&key, content, &session),
            KvVerb::Release(content, session) => self.kv_release(&key, content, &session),
            KvVerb::Delete => {
                self.kv_delete(&key);
                Ok(true)
            }
            KvVerb::DeleteCas(index) => Ok(self.kv_delete_cas(&key, index)),
            KvVerb::DeleteTree => {
                self.kv_delete_tree(&key);
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests;
