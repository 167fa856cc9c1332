//! Everything that can change the store, and what it answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::agent::AgentCommand;
use super::event::NewEvent;
use super::index::Index;
use super::key::Key;
use super::prepared_query::{PreparedQueryId, PreparedQueryRefusal, PreparedQueryWrite};
use super::registration::{Deregistration, NewNode, NodeRow, Registration};
use super::session::{NewSession, SessionRow};
use super::session_id::{IdError, SessionId};
use super::txn::{TxnOperation, TxnOutcome};

/// One change, complete: what it means does not depend on anything but the store and the time passed in.
#[derive(Clone, Debug)]
pub enum Command {
    /// A write of the KV endpoint.
    Kv(KvWrite),
    /// A transaction with at least one write.
    Txn(Vec<TxnOperation>),
    /// Create a session. The caller has checked what Consul checks before raft (session.md 1.1) and made the id.
    SessionCreate(NewSession),
    /// Destroy the session with this id, as the client spelled it.
    SessionDestroy {
        /// The id, not yet parsed.
        id: String,
    },
    /// Start the TTL of a session anew. Not a raft entry.
    SessionRenew {
        /// The id, not yet parsed.
        id: String,
    },
    /// Register a node, a service, checks (session.md 4.2).
    Register(Box<Registration>),
    /// Take a node, a service or a check out of the catalog (session.md 4.3).
    Deregister(Deregistration),
    /// Change the agent's own services and checks, and the catalog with them (session.md 4.4).
    Agent(Box<AgentCommand>),
    /// Create or replace a prepared query. The caller has checked what Consul checks before raft.
    PutPreparedQuery(Box<PreparedQueryWrite>),
    /// Delete the prepared query with this id, as the client spelled it.
    DeletePreparedQuery {
        /// The id, not yet parsed.
        id: String,
    },
    /// Fire an event. Not a raft entry.
    Fire(Box<NewEvent>),
    /// The TTL of this session ran out: submitted by the engine at its deadline.
    Lapse {
        /// The session that lapses.
        session: SessionId,
    },
    /// The lock-delay of this key is over: submitted by the engine at its deadline. Not a raft entry.
    EndLockDelay {
        /// The key that can be acquired again.
        key: Key,
    },
    /// Forget the tombstones up to an index: submitted by the engine at their deadline (kv.md 4.3).
    ReapTombstones {
        /// The newest tombstone that goes.
        up_to: Index,
    },
}

impl Command {
    /// Whether this is something that the agent does at its own deadline.
    pub(super) fn is_due_of_agent(&self) -> bool {
        matches!(self, Command::Agent(command) if matches!(**command, AgentCommand::Due(_)))
    }
}

/// One write of a key or a tree of keys.
#[derive(Clone, Debug)]
pub struct KvWrite {
    /// The key, or the prefix for [`KvVerb::DeleteTree`].
    pub key: Key,
    /// What happens to it.
    pub verb: KvVerb,
}

/// What a KV write does. The same verbs serve the KV endpoint and transactions.
#[derive(Clone, Debug)]
pub enum KvVerb {
    /// Write whatever is there (kv.md 2.3).
    Set(Content),
    /// Write if the modify index is this one; 0 means that the key must be absent (kv.md 2.4).
    Cas(Content, Index),
    /// Write and become the holder (kv.md 2.5); `lock` in a transaction.
    Acquire(Content, String),
    /// Write and let go (kv.md 2.5); `unlock` in a transaction.
    Release(Content, String),
    /// Delete the key.
    Delete,
    /// Delete the key if its modify index is this one; a missing key counts as deleted (kv.md 3).
    DeleteCas(Index),
    /// Delete every key that starts with the key given.
    DeleteTree,
}

/// What a write puts into a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The value; an empty one is Consul's `null`.
    pub value: Box<[u8]>,
    /// The flags; 0 unless the client gave some, also on writes of an existing key (kv.md trap 4).
    pub flags: u64,
}

/// What a command that ran has to say.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Nothing to say.
    Done,
    /// A conditional write: whether it took place.
    Written(bool),
    /// The session that was created or renewed.
    Session(Arc<SessionRow>),
    /// The id of the prepared query that was written.
    PreparedQuery(PreparedQueryId),
    /// A transaction's results, or its errors.
    Txn(TxnOutcome),
}

/// Why the store refuses a command as a whole. The texts are the wire layer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An acquire or release without a session.
    MissingSession,
    /// No session has this id.
    InvalidSession(String),
    /// The id is not a UUID, where ids are UUIDs.
    MalformedSessionId(IdError),
    /// A renew of a session that does not exist.
    SessionNotFound(String),
    /// The node of a new session is not in the catalog.
    MissingNode,
    /// A check that a new session names is not in the catalog.
    MissingCheck(String),
    /// A check that a new session names is critical.
    CriticalCheck(String),
    /// A call about a prepared query.
    PreparedQuery(PreparedQueryRefusal),
    /// A check names a service that its node does not have.
    MissingService {
        /// The node as registered.
        node: String,
        /// The service id that the check names.
        service: String,
        /// The id of the check.
        check: String,
    },
    /// A node wants the name of another one that is alive.
    NodeNameTaken {
        /// Who wants it.
        by: Box<NewNode>,
        /// Whether that node is there under another name.
        renamed: bool,
        /// Who has it.
        holder: Arc<NodeRow>,
    },
    /// The agent has no service of this id.
    AgentServiceUnknown(String),
    /// The agent has no check of this id.
    AgentCheckUnknown(String),
    /// A report of a check of this id, which takes none.
    AgentCheckNotTtl(String),
    /// A check names this service, which the agent does not have.
    AgentCheckServiceUnknown(String),
    /// No port of these is left for a sidecar.
    AgentNoSidecarPort(std::ops::RangeInclusive<i64>),
}

impl fmt::Display for Refusal {
    /// For those who call the store without the wire; clients of HTTP see Consul's texts.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "refused: {self:?}")
    }
}

impl std::error::Error for Refusal {}

/// Who holds a key back, when an acquire is refused without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcquireRefused {
    /// Another session, or another spelling of this one, holds the key.
    HeldBy(Box<str>),
    /// The lock-delay after an invalidation still runs for this long.
    LockDelay(Duration),
}
