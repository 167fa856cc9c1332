//! The effects of a command, for waiters and the history. The store itself notifies nobody.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::Index;
use crate::acl::{AclId, AclKind};
use crate::command::{AcquireRefused, Refusal};
use crate::kv::deleted::DeletedKeys;
use crate::kv::key::Key;
use crate::read::Tree;
use crate::session::id::SessionId;

/// The effects of one command.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The raft index of the command; `None` for commands outside of raft.
    pub index: Option<Index>,
    /// The changed rows, in order.
    pub touched: Vec<Touched>,
    /// The changes of key holders, in order.
    pub holders: Vec<HolderChange>,
    /// The sessions that ended.
    pub ended: Vec<SessionEnd>,
    /// Events that changed no row.
    pub notes: Vec<Note>,
    /// The checks to run now. The store cannot run them.
    pub runs: Vec<ProbeRun>,
    /// The check registrations whose runs can be abandoned.
    pub runs_unwanted: Vec<u64>,
}

impl Effects {
    /// Returns how many rows are freed with them.
    #[must_use]
    pub fn rows(&self) -> usize {
        let trees = self.touched.iter().filter_map(|touched| match touched {
            Touched::Keys(keys) => Some(keys.len()),
            _ => None,
        });
        trees.sum()
    }
}

/// A changed row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// A key was written or deleted.
    Key(Key),
    /// A tree of keys was deleted.
    Keys(DeletedKeys),
    /// The deletion of a key changed the node at the end of this path.
    MergedKeys(Key),
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
    /// The row of a node with an instance of this service was written.
    NodeOfService(String),
    /// The index of this service moved, or ended with its last instance.
    ServiceIndex(String),
    /// The entry with this key in a tree of the catalog was written or deleted.
    Entry(Tree, Key),
    /// The deletion of an entry changed the tree's node at the end of this path.
    Merged(Tree, Key),
    /// The prepared query with this id was written or deleted. Its id has the form of a session id.
    PreparedQuery(SessionId),
    /// A configuration entry was written or deleted; its name in lower case.
    ConfigEntry {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
    },
    /// An event was fired and kept.
    Event,
    /// An object of a kind of ACLs was written or deleted.
    AclObject(AclKind, AclId),
    /// A row without an id was written or deleted in this table of ACLs.
    AclTable(AclKind),
    /// A check was written or deleted.
    Check {
        /// The node, in lower case.
        node: String,
        /// The name of the check's service; empty for a check of the node.
        service_name: String,
    },
    /// A service was registered with or deregistered from the agent.
    AgentService(String),
}

/// A change of a key's holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderChange {
    /// The key.
    pub key: Key,
    /// The holder before, spelled as in the acquire; `None` for a free key.
    pub before: Option<Box<str>>,
    /// The holder now; `None` for a free key.
    pub after: Option<Box<str>>,
}

/// The end of a session, with its consequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The session.
    pub session: SessionId,
    /// The cause.
    pub cause: Cause,
    /// The keys released, in key order.
    pub released: Vec<Key>,
    /// The keys deleted, in key order.
    pub deleted: Vec<Key>,
}

/// Why a session ended (session.md 3.1).
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

/// An event that changed no row, for the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A session acquired a key that it already held.
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
    /// A check-and-set or check-and-delete of this key failed on its index.
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
    /// The lock-delay of this key ended.
    LockDelayEnded(Key),
    /// The tombstones up to this index were forgotten.
    TombstonesReaped(Index),
    /// A change of the catalog or of the agent's services and checks, in words.
    CatalogChanged(String),
}

/// How a check is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The target.
    pub target: ProbeTarget,
    /// The timeout of a run.
    pub timeout: Duration,
    /// The longest output kept, in bytes.
    pub output_limit: usize,
}

/// The target of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// An HTTP server, judged by its status.
    Http {
        /// The URL, as given.
        url: String,
        /// The method; empty for `GET`.
        method: String,
        /// Headers beside Consul's own.
        header: BTreeMap<String, Vec<String>>,
        /// The body.
        body: String,
        /// Whether to skip the verification of TLS certificates.
        tls_skip_verify: bool,
        /// The TLS server name; empty for the host of the URL.
        tls_server_name: String,
    },
    /// A TCP server at `host:port`, which has to accept a connection.
    Tcp {
        /// The address.
        address: String,
        /// How it speaks TLS, if it does.
        tls: Option<ProbeTls>,
    },
    /// A UDP server at `host:port`, which has to answer.
    Udp(String),
    /// An HTTP/2 server at `host:port`, which has to answer a ping.
    H2Ping {
        /// The address.
        address: String,
        /// How it speaks TLS, if it does.
        tls: Option<ProbeTls>,
    },
    /// A gRPC server at `host:port` or `host:port/service`, asked for its health.
    Grpc {
        /// The address with the service.
        target: String,
        /// How it speaks TLS, if it does.
        tls: Option<ProbeTls>,
    },
    /// A program with its arguments, judged by its exit status.
    Script(Vec<String>),
}

/// How a check speaks TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeTls {
    /// Whether to skip the verification of certificates.
    pub skip_verify: bool,
    /// The server name; empty for the host of the address.
    pub server_name: String,
}

/// A run that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeRun {
    /// The check.
    pub check_id: String,
    /// The registration of the check.
    pub registration: u64,
    /// How to run it.
    pub probe: Probe,
}
