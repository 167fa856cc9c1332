//! The refusals of catalog registrations, with their exact texts (session.md 4.2, 1.22.md B4.2).

use crate::go::quote::Quoted;
use crate::http::failure::quoted;
use crate::store::{CatalogSubject, NewNode, NodeIdFlaw, NodeRow, Refusal};
use crate::version::{Behaviour, Version};

/// Why a registration is refused before it reaches the store. All are answered with 500.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RegisterFailure {
    /// No name of a node.
    Node,
    /// No address, although the node's row is to be written.
    Address,
    /// The node's id is none.
    NodeId(NodeIdFlaw),
    /// A name of a peer, which only Consul itself may give.
    PeerName,
    /// A service with an id and no name.
    ServiceName,
    /// A service with neither, since 1.21.2.
    ServiceEmpty,
    /// A service with neither, before.
    ServiceKey,
    /// A check of another node.
    CheckNode {
        /// The node that the check names.
        named: String,
        /// The id of the check.
        check: String,
        /// The node that is registered.
        node: String,
    },
    /// A check with neither id nor name; on this node.
    CheckKey(String),
    /// A proxy or gateway without what it needs, or with what it must not have; in Consul's words.
    Proxy(String),
}

impl RegisterFailure {
    /// The text of the answer.
    pub(crate) fn text(&self, version: Version) -> String {
        match self {
            RegisterFailure::Node => "Must provide node".into(),
            RegisterFailure::Address => "Must provide address if SkipNodeUpdate is not set".into(),
            RegisterFailure::NodeId(flaw) => format!("Bad node ID: {}", node_id_text(*flaw)),
            RegisterFailure::PeerName => "cannot register requests with PeerName in them".into(),
            RegisterFailure::ServiceName if version.has(Behaviour::CatalogServiceNameText) => {
                "Must provide service name (Service.Service) when service ID is provided".into()
            }
            RegisterFailure::ServiceName => "Must provide service name with ID".into(),
            RegisterFailure::ServiceEmpty => "service name (Service.Service) is required; \
                both Service ID (Service.ID) and Service Name cannot be empty"
                .into(),
            RegisterFailure::ServiceKey => {
                "failed inserting service: failed inserting service: object missing primary index"
                    .into()
            }
            RegisterFailure::CheckNode { named, check, node }
                if version.has(Behaviour::CatalogRegisterTexts) =>
            {
                format!(
                    "Node '{named}' for check '{check}' doesn't match register request node '{node}'"
                )
            }
            RegisterFailure::CheckNode { named, node, .. } => {
                format!("check node \"{named}\" does not match node \"{node}\"")
            }
            RegisterFailure::Proxy(text) => text.clone(),
            RegisterFailure::CheckKey(node) => format!(
                "failed inserting check: failed inserting check: object missing primary index on node \"{node}\""
            ),
        }
    }
}

/// The text of a refusal of the store to change the catalog.
pub(crate) fn catalog_refusal_text(refusal: &Refusal, version: Version) -> String {
    match refusal {
        Refusal::MissingService { service, check, .. }
            if version.has(Behaviour::CatalogRegisterTexts) =>
        {
            format!("Unknown service ID '{service}' for check ID '{check}'")
        }
        other => crate::http::failure::refusal_text(other),
    }
}

/// What a transaction says of a refusal of the store: without what a registration says before it.
pub(crate) fn txn_refusal_text(refusal: &Refusal) -> String {
    match refusal {
        Refusal::MissingService { .. } => "Missing service registration".into(),
        Refusal::NodeNameTaken {
            by,
            renamed,
            holder,
        } => node_name_text(by, *renamed, holder),
        other => crate::http::failure::refusal_text(other),
    }
}

/// What is wrong with a node id, in the words of the library that reads it.
pub(crate) fn node_id_text(flaw: NodeIdFlaw) -> String {
    match flaw {
        NodeIdFlaw::Length => "uuid string is wrong length".into(),
        NodeIdFlaw::Format => "uuid is improperly formatted".into(),
        NodeIdFlaw::InvalidByte(byte) => format!(
            "encoding/hex: invalid byte: U+{byte:04X} '{}'",
            char::from(byte)
        ),
    }
}

/// What a read in a transaction says of a node id that is none.
pub(crate) fn node_lookup_text(id: &str, flaw: NodeIdFlaw) -> String {
    let flaw = node_id_text(flaw);
    format!("node lookup by ID failed, wrong UUID: {flaw} for '{id}'")
}

/// Why a node cannot have the name of another. The address stands there for one that had another name before.
pub(crate) fn node_name_text(by: &NewNode, renamed: bool, holder: &NodeRow) -> String {
    let address = renamed.then(|| format!(" ({})", by.address));
    let holder = &holder.node;
    format!(
        "Error while renaming Node ID: {}{}: Node name {} is reserved by node {} with name {} ({})",
        Quoted(by.id.as_bytes()),
        address.unwrap_or_default(),
        by.node,
        holder.id,
        holder.node,
        holder.address
    )
}

/// The text for a verb that is unknown for nodes, services or checks (kv.md 7.5, 1.22.md A7).
pub(crate) fn unknown_verb_text(kind: &str, verb: &str, version: Version) -> String {
    if version.has(Behaviour::TxnUnknownVerbEarly) {
        return format!("unknown {kind} operation: {verb}");
    }
    let (first, rest) = kind.split_at(1);
    format!(
        "unknown {}{rest} verb {}",
        first.to_uppercase(),
        quoted(verb.as_bytes(), version)
    )
}

/// How a transaction names what an operation is about.
pub(crate) fn subject_text(subject: &CatalogSubject, version: Version) -> String {
    let quoted = |text: &str| quoted(text.as_bytes(), version).to_string();
    match subject {
        CatalogSubject::Node(node) => format!("node {}", quoted(&node.node)),
        CatalogSubject::Service { node, service } => {
            format!("service {} on node {}", quoted(&service.id), quoted(node))
        }
        CatalogSubject::Check { node, check } => {
            format!("check {} on node {}", quoted(&check.check_id), quoted(node))
        }
    }
}
