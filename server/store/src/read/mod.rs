//! Reads: what all of them have, what is answered, and what the answer depends on. Each part of the store has its own.

pub mod watch;

use std::fmt;

use crate::Index;
use crate::Store;
use crate::kv::key::Key;
use crate::session::id::SessionId;

/// One read.
pub trait Read {
    /// What it finds.
    type Rows;
    /// Why it is refused; [`Infallible`](std::convert::Infallible) where it cannot be.
    type Refused;

    /// Whether it looks at a few rows only, however much the store holds. Then it is cheaper under a lock than on a
    /// snapshot.
    const IS_SMALL: bool = false;

    /// Returns what is read, for those who observe who waits for what.
    fn subject(&self) -> Subject;

    /// Answers the read. It changes nothing, and takes no time as an argument: nothing that can be read over
    /// the wire depends on the moment, only on what has been applied.
    ///
    /// # Errors
    /// The read is refused.
    fn look(&self, store: &Store) -> Result<Answer<Self::Rows>, Self::Refused>;
}

/// What a read comes to.
pub type ReadResult<R> = Result<Answer<<R as Read>::Rows>, <R as Read>::Refused>;

/// What is read, as far as observers tell reads apart. Its `Display` form is the read in words.
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
        /// What of the service is read, in words.
        part: &'static str,
        /// Its name.
        name: String,
    },
    /// Anything else, in words.
    Other(String),
}

impl Subject {
    /// Returns the key or prefix that the read names.
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

/// What a read found.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The index of what was read, at least 1: `X-Consul-Index`.
    pub index: Index,
    /// The rows.
    pub rows: T,
    /// What has to change before the same read can answer differently. A change of it is a hint, no more.
    pub reads: ReadSet,
    /// Which later answer ends a wait for news.
    pub news: News,
}

impl<T> Answer<T> {
    /// An answer to which one with a higher index is news.
    pub(crate) fn new(index: Index, rows: T, reads: ReadSet) -> Self {
        Self {
            index: index.reported(),
            rows,
            reads,
            news: News::Higher,
        }
    }
}

/// Which later answer ends a wait for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// One with a higher index.
    Higher,
    /// The same, but the read names one thing, which does not exist, and the wait for it is to go on through unrelated
    /// writes ([`crate::Rules::missing_keeps_blocking`]).
    Existence,
    /// One with another index: these indexes are in no order (session.md 4.6).
    Other,
}

/// Everything that an answer depends on.
pub type ReadSet = Vec<Watch>;

/// One thing that an answer depends on.
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
    /// Every node, or every node and service where those move the same index.
    Nodes,
    /// This node and its services (lower case).
    Node(String),
    /// Every service.
    Services,
    /// All that a read of this service shows.
    Service(String),
    /// Every check.
    Checks,
    /// This service of the agent's own.
    AgentService(String),
    /// Every prepared query.
    PreparedQueries,
    /// Every event.
    Events,
}
