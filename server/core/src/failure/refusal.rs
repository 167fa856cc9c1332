//! The status and exact text of each refusal of the store (kv.md 2.5, session.md 4.4).

use super::{Failure, quoted};
use proconsul_config::definition::node_id::invalid_hex_byte;
use proconsul_gocompat::quote::Quoted;
use proconsul_store::{IdError, NewNode, NodeRow, Refusal, RegistrationFlaw};
use proconsul_version::{Behaviour, Version};

/// What the index of checks says of an empty id (`cat.empty_ids`).
pub(crate) const EMPTY_ID: &str = "index error: object is missing a value for this index";

impl Failure {
    /// Returns the error for a refusal of the store.
    pub(crate) fn refused(refusal: &Refusal, version: Version) -> Self {
        let has = |behaviour| version.has(behaviour);
        let (status, text) = match refusal {
            Refusal::MissingSession => (500, "missing session".into()),
            Refusal::InvalidSession(id) => (500, invalid_session(id)),
            Refusal::MalformedSessionId(error) => (
                500,
                format!("failed session lookup: {}", index_error(*error)),
            ),
            Refusal::SessionNotFound(id) => (404, format!("Session id '{id}' not found")),
            Refusal::MissingNode => (500, "Missing node registration".into()),
            Refusal::MissingCheck(check) => (500, format!("Missing check '{check}' registration")),
            Refusal::CriticalCheck(check) => (500, format!("Check '{check}' is in critical state")),
            Refusal::EmptyCheckId => (500, format!("failed check lookup: {EMPTY_ID}")),
            Refusal::Registration(flaw) => (500, flaw_text(flaw, version)),
            Refusal::MissingService { service, check, .. }
                if has(Behaviour::CatalogRegisterTexts) =>
            {
                (
                    500,
                    format!("Unknown service ID '{service}' for check ID '{check}'"),
                )
            }
            Refusal::MissingService { node, .. } => (
                500,
                format!("failed inserting check: Missing service registration on node \"{node}\""),
            ),
            Refusal::NodeNameTaken {
                by,
                renamed,
                holder,
            } => {
                let why = node_name_text(by, *renamed, holder);
                (500, format!("failed inserting node: {why}"))
            }
            Refusal::AgentServiceUnknown(id) => (404, unknown_service_text(id, version)),
            Refusal::AgentCheckUnknown(id) if has(Behaviour::AgentUnknownCheck404) => {
                (404, unknown_check_text(id, version))
            }
            Refusal::AgentCheckUnknown(id) => (500, unknown_check_text(id, version)),
            Refusal::AgentCheckNotTtl(id) => (500, not_ttl_text(id, version)),
            Refusal::AgentCheckServiceUnknown(id) => {
                let status = if has(Behaviour::AgentCheckUnknownService404) {
                    404
                } else {
                    500
                };
                (
                    status,
                    format!("ServiceID {} does not exist", quoted(id, version)),
                )
            }
            Refusal::AgentNoSidecarPort(ports) => {
                let (first, last) = (ports.start(), ports.end());
                let text = format!(
                    "Invalid SidecarService: no port provided for sidecar_service and none left in the configured range [{first}, {last}]"
                );
                return Self::late_bad_request(&text, version);
            }
        };
        Self::new(status, text)
    }
}

/// Returns why a check without an id cannot be written.
pub(crate) fn check_without_id_text(version: Version) -> String {
    if version.has(Behaviour::CatalogIndexErrors) {
        format!("failed health check lookup: {EMPTY_ID}")
    } else {
        "failed inserting check: object missing primary index".into()
    }
}

/// Returns why the metadata of a service cannot be written, without the prefix of registrations.
pub(crate) fn service_meta_text(node: &str, service: &str, why: &str) -> String {
    format!("Invalid Service Meta for node {node} and serviceID {service}: {why}")
}

/// Returns why a part of a registration cannot be written.
fn flaw_text(flaw: &RegistrationFlaw, version: Version) -> String {
    let has = |behaviour| version.has(behaviour);
    match flaw {
        RegistrationFlaw::ServiceWithoutId => {
            "failed inserting service: failed inserting service: object missing primary index"
                .into()
        }
        RegistrationFlaw::ServiceMeta { node, service, why } => {
            let text = service_meta_text(node, service, why);
            format!("failed inserting service: {text}")
        }
        RegistrationFlaw::CheckWithoutId { node } => {
            let why = check_without_id_text(version);
            if has(Behaviour::CatalogIndexErrors) {
                format!("failed inserting check on node \"{node}\": {why}")
            } else {
                format!("failed inserting check: {why} on node \"{node}\"")
            }
        }
        RegistrationFlaw::CheckOfOtherNode { named, check, node } => {
            if has(Behaviour::CatalogRegisterTexts) {
                format!(
                    "Node '{named}' for check '{check}' doesn't match register request node '{node}'"
                )
            } else {
                let (named, node) = (quoted(named, version), quoted(node, version));
                format!("check node {named} does not match node {node}")
            }
        }
    }
}

pub(crate) fn invalid_session(id: &str) -> String {
    format!("invalid session {}", Quoted(id.as_bytes()))
}

fn unknown_service_text(id: &str, version: Version) -> String {
    if version.has(Behaviour::AgentUnknownServiceText) {
        let id = Quoted(id.as_bytes());
        return format!(
            "Unknown service ID {id}. Ensure that the service ID is passed, not the service name."
        );
    }
    let id = quoted(id, version);
    format!("Unknown service {{{id} {{}}}}")
}

fn unknown_check_text(id: &str, version: Version) -> String {
    let quoted = quoted(id, version);
    if version.has(Behaviour::AgentUnknownCheckText) {
        format!(
            "Unknown check ID {quoted}. Ensure that the check ID is passed, not the check name."
        )
    } else if version.has(Behaviour::AgentUnknownCheck500) {
        format!("Unknown check {quoted}")
    } else {
        not_ttl_text(id, version)
    }
}

fn not_ttl_text(id: &str, version: Version) -> String {
    let id = quoted(id, version);
    format!("CheckID {id} does not have associated TTL")
}

/// Describes an id that is not a UUID, in the words of Consul's index.
pub(crate) fn index_error(error: IdError) -> String {
    let why = match error {
        IdError::Length => "UUID must be 36 characters".into(),
        IdError::Hyphens(count) => {
            format!("UUID should have maximum of 4 \"-\"; got {count}")
        }
        IdError::OddLength => "Input (without hyphens) must be even length".into(),
        IdError::InvalidByte(byte) => format!("Invalid UUID: {}", invalid_hex_byte(byte)),
    };
    format!("index error: {why}")
}

/// Explains why a node cannot take the name of another node. The text has the node's address if the node is being
/// renamed.
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
