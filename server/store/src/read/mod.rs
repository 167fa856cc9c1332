//! The trait of reads, their answers, and what these depend on. Each part of the store defines its own reads.

pub mod watch;

use std::fmt;

use crate::Index;
use crate::Store;
use crate::acl::{AclId, AclKind};
use crate::kv::key::Key;
use crate::session::id::SessionId;

/// A read of the store.
pub trait Read {
    /// The rows found.
    type Rows;
    /// The refusal; [`Infallible`](std::convert::Infallible) for reads that cannot be refused.
    type Refused;

    /// Whether the read looks at few rows, whatever the size of the store. Then it is cheaper under the lock
    /// than on a snapshot.
    const IS_SMALL: bool = false;

    /// Returns how many rows the read goes through at most, unless it is small. It finds that out without going through them.
    fn rows(&self, store: &Store) -> usize {
        store.rows_beside_keys()
    }

    /// Returns what is read, for lists of waiters and the history.
    fn subject(&self) -> Subject;

    /// Answers the read. It takes no time as an argument: answers depend only on the commands applied.
    ///
    /// # Errors
    /// The read is refused.
    fn look(&self, store: &Store) -> Result<Answer<Self::Rows>, Self::Refused>;
}

/// The outcome of a read.
pub type ReadResult<R> = Result<Answer<<R as Read>::Rows>, <R as Read>::Refused>;

/// What is read, for people. `Display` prints it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A single key.
    Key(Key),
    /// All keys with this prefix.
    Prefix(Key),
    /// A session by its id, as the client spelled it.
    Session(String),
    /// The instances or the checks of a service.
    Service {
        /// The part of the service, in words.
        part: &'static str,
        /// Its name.
        name: String,
    },
    /// Anything else, in words.
    Other(String),
}

impl Subject {
    /// Returns the key or prefix of the read.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Key(key) | Self::Prefix(key) => Some(key),
            Self::Session(_) | Self::Service { .. } | Self::Other(_) => None,
        }
    }

    pub(crate) fn other(words: impl Into<String>) -> Self {
        Self::Other(words.into())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(formatter, "key {key:?}"),
            Self::Prefix(prefix) => write!(formatter, "keys under {prefix:?}"),
            Self::Session(id) => write!(formatter, "session {id}"),
            Self::Service { part, name } => write!(formatter, "{part} {name:?}"),
            Self::Other(words) => formatter.write_str(words),
        }
    }
}

/// The answer to a read.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The index of what was read, at least 1: `X-Consul-Index`.
    pub index: Index,
    /// The rows.
    pub rows: T,
    /// What the answer depends on. Unless one of these changes, the read keeps its answer; a change is only a
    /// hint.
    pub reads: ReadSet,
    /// Which later answer ends a wait.
    pub news: News,
}

impl<T> Answer<T> {
    /// An answer whose wait ends with a higher index.
    pub(crate) fn new(index: Index, rows: T, reads: ReadSet) -> Self {
        Self {
            index: index.reported(),
            rows,
            reads,
            news: News::Higher,
        }
    }
}

/// Which later answer ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// An answer with a higher index.
    Higher,
    /// The same, unless the key, the session or a streamed service was missing before and still is: such a wait
    /// goes on through unrelated writes ([`crate::VersionRules::missing_keeps_blocking`]).
    Existence,
    /// An answer with another index: indexes of events have no order (session.md 4.6).
    Other,
}

/// A radix tree of the catalog, or of the configuration entries. In each, an entry starts with what reads search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tree {
    /// Nodes, by name.
    Nodes,
    /// Nodes, by the bytes of their ids.
    NodeIds,
    /// Nodes, by label and value of their meta data.
    NodeMeta,
    /// Service instances, by node.
    Services,
    /// Service instances, by name.
    ServiceNames,
    /// Proxies and Connect-native instances, by the service that they stand for.
    Destinations,
    /// Checks, by node.
    Checks,
    /// Checks, by node and whether they are of a service.
    CheckKinds,
    /// Checks of services, by node and instance.
    CheckInstances,
    /// Checks of services, by the name of the service.
    CheckServices,
    /// Checks, by status.
    CheckStatuses,
    /// Network coordinates, by node.
    Coordinates,
    /// The services behind gateways, by gateway.
    GatewayServices,
    /// Configuration entries, by kind and name.
    ConfigEntries,
}

impl Tree {
    /// The number of trees.
    pub(crate) const COUNT: usize = Self::ConfigEntries as usize + 1;
}

/// All dependencies of an answer.
pub type ReadSet = Vec<Watch>;

/// A dependency of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watch {
    /// The row of this key.
    Key(Key),
    /// The rows of all keys with this prefix; the empty prefix is every key.
    KeyPrefix(Key),
    /// The row of this session.
    Session(SessionId),
    /// The sessions of this node (lower case).
    NodeSessions(String),
    /// Every session.
    AnySession,
    /// The row of every node.
    Nodes,
    /// The row of this node (lower case).
    Node(String),
    /// The rows of the nodes with instances of this service.
    NodesOfService(String),
    /// The index of this service, which moves with its instances, their nodes and their checks.
    ServiceIndex(String),
    /// The entries of the catalog whose keys in this tree start so; with an empty prefix every entry.
    Branch(Tree, Key),
    /// This service of the agent.
    AgentService(String),
    /// Every prepared query.
    PreparedQueries,
    /// The row of this prepared query, whose id has the form of a session id.
    PreparedQuery(SessionId),
    /// Every configuration entry.
    Config,
    /// Every configuration entry of this kind.
    ConfigKind(String),
    /// This configuration entry, its name in lower case.
    ConfigEntry {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
    },
    /// Every event.
    Events,
    /// Every object of a kind of ACLs.
    Acl(AclKind),
    /// This object of a kind of ACLs.
    AclObject(AclKind, AclId),
}
