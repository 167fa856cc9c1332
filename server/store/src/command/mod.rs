//! The trait of commands, and their refusals. Each part of the store defines its own commands.

pub(crate) mod effects;
pub(crate) mod entry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::entry::LogEntry;
use crate::Change;
use crate::catalog::registration::{NewNode, NodeRow, RegistrationFlaw};
use crate::session::id::IdError;

/// A change of the store. Its outcome depends only on the store and the time passed in.
pub trait Command: Sized {
    /// The reply.
    type Reply;
    /// The refusal; [`Infallible`](std::convert::Infallible) for commands that cannot be refused.
    type Refused;

    /// Whether this is a deadline from [`crate::Store::due`].
    fn is_due(&self) -> bool {
        false
    }

    /// Whether the agent itself makes the change.
    fn is_of_agent(&self) -> bool {
        false
    }

    /// Returns the kind of the log entry that this makes, if it has a name.
    fn entry(&self) -> Option<LogEntry> {
        None
    }

    /// Runs the command; see [`crate::Store::apply`].
    ///
    /// # Errors
    /// The command is refused.
    fn run(self, change: &mut Change<'_>) -> Result<Self::Reply, Self::Refused>;
}

/// Why the store refuses a command. The wire layer has the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The session of an acquire or release is missing.
    MissingSession,
    /// No session has this id.
    InvalidSession(String),
    /// The id is not a UUID, and this version requires one.
    MalformedSessionId(IdError),
    /// The session to renew does not exist.
    SessionNotFound(String),
    /// The node of a new session is not in the catalog.
    MissingNode,
    /// A check that a new session names is not in the catalog.
    MissingCheck(String),
    /// A check that a new session names is critical.
    CriticalCheck(String),
    /// The id of a check that a new session names is empty, and this version cannot look it up.
    EmptyCheckId,
    /// A part of a registration cannot be written.
    Registration(RegistrationFlaw),
    /// A check names a service that its node does not have.
    MissingService {
        /// The node as named by the registration.
        node: String,
        /// The service id that the check names.
        service: String,
        /// The id of the check.
        check: String,
    },
    /// The name of a node belongs to another node, which is alive.
    NodeNameTaken {
        /// The node that was to get the name.
        by: Box<NewNode>,
        /// Whether that node exists under another name.
        renamed: bool,
        /// The node that has it.
        holder: Arc<NodeRow>,
    },
    /// The agent has no service of this id.
    AgentServiceUnknown(String),
    /// The agent has no check of this id.
    AgentCheckUnknown(String),
    /// The check of this id is not a TTL check and takes no reports.
    AgentCheckNotTtl(String),
    /// A check names this service, which the agent does not have.
    AgentCheckServiceUnknown(String),
    /// All ports of this range for sidecars are taken.
    AgentNoSidecarPort(std::ops::RangeInclusive<i64>),
}

impl fmt::Display for Refusal {
    /// For direct callers of the store. HTTP clients see Consul's texts.
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

/// Why a write of a key is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvRefused {
    /// The index of a `cas` does not match.
    StaleSet,
    /// The index of a `delete-cas` does not match.
    StaleDelete,
    /// The session of a release does not hold the key.
    NotHolder,
    /// An acquire is refused.
    Acquire(AcquireRefused),
    /// The session of a release is missing.
    Release(Refusal),
}

impl KvRefused {
    /// Returns the refusal that clients see as an error: an unusable session. Every other one is answered with
    /// `false`.
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

/// Why an acquire is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcquireRefused {
    /// Another session holds the key, or the same one in another spelling.
    HeldBy(Box<str>),
    /// The lock-delay of the key has this long to run.
    LockDelay(Duration),
    /// The session is missing, unknown or malformed.
    Session(Refusal),
}
