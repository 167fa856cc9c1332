//! What a command did, for those who wait and those who keep the history. The store notifies nobody itself.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::Index;
use crate::command::{AcquireRefused, Refusal};
use crate::kv::key::Key;
use crate::read::Watch;
use crate::session::id::SessionId;

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
    /// What happened without a change of a row.
    pub notes: Vec<Note>,
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

/// Something that happened without a change of a row, for the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A session acquired a key that it holds already.
    AcquiredAgain {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
    },
    /// An acquire was refused, alone or in a transaction.
    AcquireRefused {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
        /// Why.
        why: AcquireRefused,
    },
    /// A release was refused.
    ReleaseRefused {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
    },
    /// A write or delete of this key depended on an index that the key does not have.
    WriteRefused(Key),
    /// A session was renewed, by its id as the client spelled it.
    SessionRenewed(String),
    /// A session was not created, renewed or destroyed.
    SessionRefused {
        /// Its id as the client spelled it; empty for a new one.
        session: String,
        /// Why.
        why: Refusal,
    },
    /// The lock-delay of this key is over.
    LockDelayEnded(Key),
    /// The tombstones up to this index were forgotten.
    TombstonesReaped(Index),
    /// Somebody changed the catalog, or the agent's own part of it, in words.
    CatalogChanged(String),
}

/// What is asked by a check that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Who is asked.
    pub target: ProbeTarget,
    /// How long a run may take.
    pub timeout: Duration,
    /// The longest output in bytes that is kept.
    pub output_limit: usize,
}

/// Who is asked by a check that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// An HTTP server: its status decides.
    Http {
        /// The URL, as given.
        url: String,
        /// The method; empty for `GET`.
        method: String,
        /// Headers beside Consul's own.
        header: BTreeMap<String, Vec<String>>,
        /// The body.
        body: String,
        /// Whether a server of HTTPS may show any certificate.
        tls_skip_verify: bool,
        /// What its certificate must be for; empty for the host of the URL.
        tls_server_name: String,
    },
    /// A TCP server at `host:port`: that it accepts a connection is enough.
    Tcp(String),
    /// A program with its arguments: how it ends decides.
    Script(Vec<String>),
}

/// A run that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeRun {
    /// The check.
    pub check_id: String,
    /// Which registration of it.
    pub registration: u64,
    /// What is asked.
    pub probe: Probe,
}
