//! Surfaces, and how they show rows.

use proconsul_version::{Behaviour, Version};

/// A set of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On(u16);

impl On {
    /// Bodies of the agent.
    pub const AGENT_BODY: Self = Self(1);
    /// Bodies of the catalog.
    pub const CATALOG_BODY: Self = Self(1 << 1);
    /// Bodies of transactions.
    pub const TXN_BODY: Self = Self(1 << 2);
    /// The sidecar of a service in a body of a transaction.
    pub const TXN_SIDECAR: Self = Self(1 << 3);
    /// Configuration files.
    pub const FILES: Self = Self(1 << 4);
    /// Answers with services as parts of their nodes.
    pub const NODES: Self = Self(1 << 5);
    /// Answers of the agent.
    pub const AGENT: Self = Self(1 << 6);
    /// Answers with services and their nodes in one object, where names of fields of the service begin so.
    pub const INSTANCES: Self = Self(1 << 7);

    /// All bodies.
    pub const BODIES: Self = Self(0b1111);
    /// Bodies with the types of Consul's client.
    pub const CLIENT: Self = Self(0b1100);
    /// All answers.
    pub const ANSWERS: Self = Self(0b1110_0000);
    /// All surfaces.
    pub const ALL: Self = Self(0b1111_1111);

    /// Returns the surfaces in either set.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the surfaces that are not in the other set.
    pub const fn but(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets have a surface in common.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// How rows are shown.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The release.
    pub version: Version,
    /// The part of the API.
    pub surface: Surface,
    /// Whether a service of a node with several ports shows the default one as its port, too (1.22.md B4.2p).
    pub shows_default_port: bool,
    /// The agent that shows its services.
    pub agent: AgentFacts<'a>,
}

/// What an agent shows of itself in its services.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentFacts<'a> {
    /// The datacenter.
    pub datacenter: &'a str,
    /// The name of the node.
    pub node: &'a str,
    /// The hash of the content of a service, if it is shown.
    pub content_hash: Option<&'a str>,
}

/// The part of the API that shows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The catalog and health: a missing list is shown as an empty one.
    Catalog,
    /// Services with their nodes in one object.
    Instances,
    /// Transactions and prepared queries: a missing list is `null` (kv.md 7.5; seen on 1.8.7).
    Txn,
    /// The agent: empty settings of proxies are left out.
    Agent,
    /// Streamed reads of health: as the catalog, but an empty map is `null`.
    Stream,
}

impl Surface {
    pub(super) fn on(self) -> On {
        match self {
            Self::Catalog | Self::Txn | Self::Stream => On::NODES,
            Self::Agent => On::AGENT,
            Self::Instances => On::INSTANCES,
        }
    }
}

impl From<Version> for Look<'_> {
    fn from(version: Version) -> Self {
        Self {
            version,
            surface: Surface::Catalog,
            shows_default_port: false,
            agent: AgentFacts::default(),
        }
    }
}

impl Look<'_> {
    /// Returns the look of a part of the API.
    pub fn of(surface: Surface, version: Version) -> Self {
        Self {
            surface,
            ..Self::from(version)
        }
    }

    /// Returns the look of transactions and prepared queries.
    pub fn of_txn(version: Version) -> Self {
        Self::of(Surface::Txn, version)
    }

    /// Returns the same look with the default port of services that have several.
    pub fn with_default_port(self) -> Self {
        Self {
            shows_default_port: true,
            ..self
        }
    }

    /// Whether the release has a behaviour.
    pub fn has(&self, behaviour: Behaviour) -> bool {
        self.version.has(behaviour)
    }

    /// Whether the agent shows the row.
    pub fn is_agent(&self) -> bool {
        self.surface == Surface::Agent
    }

    /// Whether a list of tags that were not registered is `[]`, not `null`. A list that was registered empty stays an empty
    /// list (seen on 1.8.7).
    pub fn fills_tags(&self) -> bool {
        self.surface != Surface::Txn
    }
}
