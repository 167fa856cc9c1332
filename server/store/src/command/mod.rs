//! Commands: what all of them have, and why they are refused. Each part of the store has its own.

pub(crate) mod effects;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::Change;
use crate::catalog::registration::{NewNode, NodeRow};
use crate::session::id::IdError;

/// One change, complete: what it means does not depend on anything but the store and the time passed in.
pub trait Command: Sized {
    /// What it answers.
    type Reply;
    /// Why it is refused as a whole; [`Infallible`](std::convert::Infallible) where it cannot be.
    type Refused;

    /// Returns whether the store has named it as due; see [`crate::Store::due`].
    fn is_due(&self) -> bool {
        false
    }

    /// Returns whether it is the agent that changes something.
    fn is_of_agent(&self) -> bool {
        false
    }

    /// Carries it out; see [`crate::Store::apply`].
    ///
    /// # Errors
    /// The command is refused as a whole.
    fn run(self, change: &mut Change<'_>) -> Result<Self::Reply, Self::Refused>;
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

impl From<std::convert::Infallible> for Refusal {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// Why a write of a key did not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvRefused {
    /// A `cas` with another index.
    StaleSet,
    /// A `delete-cas` with another index.
    StaleDelete,
    /// A release by a session that does not hold the key.
    NotHolder,
    /// An acquire.
    Acquire(AcquireRefused),
    /// The session of a release is missing.
    Release(Refusal),
}

impl KvRefused {
    /// Returns what is wrong with the session that the write names. It is an error to clients; every other reason is
    /// answered with `false`.
    #[must_use]
    pub fn error(&self) -> Option<&Refusal> {
        match self {
            Self::Acquire(AcquireRefused::Session(refusal)) | Self::Release(refusal) => {
                Some(refusal)
            }
            Self::StaleSet | Self::StaleDelete | Self::NotHolder | Self::Acquire(_) => None,
        }
    }
}

/// Why an acquire did not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcquireRefused {
    /// Another session, or another spelling of this one, holds the key.
    HeldBy(Box<str>),
    /// The lock-delay after an invalidation still runs for this long.
    LockDelay(Duration),
    /// The session is missing, unknown or malformed.
    Session(Refusal),
}
