//! What a command did, for those who wait and those who keep the history. The store notifies nobody itself.

use std::fmt;

use super::agent::ProbeRun;
use super::command::AcquireRefused;
use super::index::Index;
use super::key::Key;
use super::query::Watch;
use super::session_id::SessionId;

/// What one command changed.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The raft index that the command took; none for commands that never reach raft.
    pub index: Option<Index>,
    /// Every row that changed, in the order in which it changed.
    pub touched: Vec<Touched>,
    /// Every change of who holds a key, in the order in which it happened.
    pub holders: Vec<HolderChange>,
    /// The sessions that fell, and why.
    pub ended: Vec<SessionEnd>,
    /// Why an acquire was refused without an error.
    pub acquire_refused: Option<AcquireRefused>,
    /// The checks that are to be run now, by whoever can.
    pub runs: Vec<ProbeRun>,
    /// Registrations of checks whose runs nobody wants any more.
    pub runs_unwanted: Vec<u64>,
}

/// A row that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// A key was written or deleted.
    Key(Key),
    /// A session was created or ended.
    Session {
        /// The session.
        id: SessionId,
        /// Its node, in lower case.
        node: String,
    },
    /// A node's row was written or deleted.
    Node(String),
    /// A service instance was written or deleted.
    Service {
        /// The node, in lower case.
        node: String,
        /// The name of the service, as written.
        name: String,
    },
    /// What a read of this service shows has changed, without a row of the service itself: a check of the node,
    /// the node, or the loss of an instance.
    ServiceHealth(String),
    /// The index of this table has moved, though nothing in it was written or deleted.
    TableIndex(Watch),
    /// A prepared query was written or deleted.
    PreparedQuery,
    /// An event was fired, and kept.
    Event,
    /// A check was written or deleted.
    Check {
        /// The node, in lower case.
        node: String,
        /// The name of the check's service; empty for a check of the node.
        service_name: String,
    },
    /// A service of the agent's own was registered or deregistered.
    AgentService(String),
}

/// A key that has another holder than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderChange {
    /// The key.
    pub key: Key,
    /// Who held it, spelled as in the acquire; none when nobody did.
    pub before: Option<Box<str>>,
    /// Who holds it now; none when nobody does.
    pub after: Option<Box<str>>,
}

/// A session that fell, with all that fell with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The session.
    pub session: SessionId,
    /// Why it fell.
    pub cause: Cause,
    /// The keys that it held and that were released, in key order.
    pub released: Vec<Key>,
    /// The keys that it held and that were deleted, in key order.
    pub deleted: Vec<Key>,
}

/// Why a session fell (session.md 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A client destroyed it.
    Destroyed,
    /// Its TTL ran out.
    Lapsed,
    /// This check became critical.
    CheckCritical(String),
    /// This check was deleted, by itself or with its service.
    CheckDeleted(String),
    /// Its node was deleted.
    NodeDeleted,
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Destroyed => formatter.write_str("a client destroyed it"),
            Self::Lapsed => formatter.write_str("its TTL ran out"),
            Self::CheckCritical(check) => write!(formatter, "the check {check:?} is critical"),
            Self::CheckDeleted(check) => write!(formatter, "the check {check:?} was deleted"),
            Self::NodeDeleted => formatter.write_str("its node was deleted"),
        }
    }
}
