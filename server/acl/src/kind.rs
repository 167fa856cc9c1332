//! What rules can be about, under the names of the language and of Consul's errors.

use proconsul_version::{Behaviour, Version};

/// What a rule about a name is about. A rule about services is also about the intentions that lead to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Agent,
    Key,
    Node,
    Service,
    Session,
    Event,
    Query,
}

/// All kinds, in the order in which Consul reads and checks them (acl.md 9.errors).
pub(super) const KINDS: [Kind; 7] = [
    Kind::Agent,
    Kind::Key,
    Kind::Node,
    Kind::Service,
    Kind::Session,
    Kind::Event,
    Kind::Query,
];

impl Kind {
    /// Returns the name of a rule in the language.
    pub(super) fn rule(self, is_prefix: bool) -> &'static str {
        match (self, is_prefix) {
            (Kind::Agent, false) => "agent",
            (Kind::Agent, true) => "agent_prefix",
            (Kind::Key, false) => "key",
            (Kind::Key, true) => "key_prefix",
            (Kind::Node, false) => "node",
            (Kind::Node, true) => "node_prefix",
            (Kind::Service, false) => "service",
            (Kind::Service, true) => "service_prefix",
            (Kind::Session, false) => "session",
            (Kind::Session, true) => "session_prefix",
            (Kind::Event, false) => "event",
            (Kind::Event, true) => "event_prefix",
            (Kind::Query, false) => "query",
            (Kind::Query, true) => "query_prefix",
        }
    }

    /// Returns the type of such a rule in Consul, which errors name, and its field for the name.
    pub(super) fn go_names(self) -> (&'static str, &'static str) {
        match self {
            Kind::Agent => ("AgentRule", "Node"),
            Kind::Key => ("KeyRule", "Prefix"),
            Kind::Node => ("NodeRule", "Name"),
            Kind::Service => ("ServiceRule", "Name"),
            Kind::Session => ("SessionRule", "Node"),
            Kind::Event => ("EventRule", "Event"),
            Kind::Query => ("PreparedQueryRule", "Prefix"),
        }
    }

    /// Whether errors show the field that Consul's commercial edition fills.
    pub(super) fn shows_enterprise(self) -> bool {
        matches!(self, Kind::Key | Kind::Node | Kind::Service)
    }
}

/// What a rule without a name is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Acl,
    Keyring,
    Operator,
    Mesh,
    Peering,
}

/// All of them, in the order in which Consul reads and checks them. The first comes before the rules about names.
pub(super) const SCALARS: [Scalar; 5] = [
    Scalar::Acl,
    Scalar::Keyring,
    Scalar::Operator,
    Scalar::Mesh,
    Scalar::Peering,
];

impl Scalar {
    pub(super) fn rule(self) -> &'static str {
        match self {
            Scalar::Acl => "acl",
            Scalar::Keyring => "keyring",
            Scalar::Operator => "operator",
            Scalar::Mesh => "mesh",
            Scalar::Peering => "peering",
        }
    }

    pub(super) fn exists_in(self, version: Version) -> bool {
        match self {
            Scalar::Acl | Scalar::Keyring | Scalar::Operator => true,
            Scalar::Mesh => version.has(Behaviour::AclMeshRules),
            Scalar::Peering => version.has(Behaviour::AclPeeringRules),
        }
    }
}

/// A rule about a name as its text gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenRule {
    pub(super) kind: Kind,
    pub(super) is_prefix: bool,
    pub(super) name: String,
    pub(super) policy: String,
    pub(super) intentions: String,
}
