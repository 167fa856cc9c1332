//! The refusals of the agent, with their exact texts (session.md 4.4, 1.22.md B4.4).

use http::StatusCode;

use crate::definition::DefinitionError;
use crate::go::quote::Quoted;
use crate::http::failure::quoted;
use crate::store::Refusal;
use crate::version::{Behaviour, Version};

/// Why the agent does not do what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentFailure {
    /// A service or check is defined in a way that is none.
    Definition(DefinitionError),
    /// A check or service is not there, or does not take what it is told.
    Refused(Refusal),
    /// A path that names no check.
    CheckIdMissing,
    /// A path that names no service.
    ServiceIdMissing,
    /// An update to a status that there is none of.
    UpdateStatus(String),
    /// Maintenance, and neither on nor off.
    EnableMissing,
    /// Maintenance, and something else than on or off.
    EnableInvalid(String),
    /// Maintenance of a service that is not there.
    MaintenanceUnknown(String),
    /// A read of a service that is not there.
    ServiceNotFound(String),
    /// A health check of a service that the path does not name: by `serviceID` or `service Name`.
    HealthUnnamed(&'static str),
    /// The members of a segment of the WAN, which has none.
    SegmentOfWan,
    /// The members of one segment: segments are Consul Enterprise's.
    NoSegments,
    /// A member that there is none of is to leave.
    NoSuchMember(String),
    /// The configuration cannot be read again: Consul's sentence.
    Reload(String),
    /// A cluster that cannot be joined; with the words of the network.
    Join(String),
    /// Tokens, without ACLs.
    AclDisabled,
    /// Metrics for Prometheus, which nobody keeps.
    NoPrometheus,
}

impl AgentFailure {
    /// The status of the answer.
    pub(crate) fn status(&self, version: Version) -> StatusCode {
        match self {
            AgentFailure::Definition(DefinitionError::Scripts)
            | AgentFailure::CheckIdMissing
            | AgentFailure::ServiceIdMissing
            | AgentFailure::NoSuchMember(_)
            | AgentFailure::NoSegments
            | AgentFailure::Reload(_)
            | AgentFailure::Join(_) => StatusCode::INTERNAL_SERVER_ERROR,
            // Until the errors of handlers were reworked this was not known as one of the client's.
            AgentFailure::Definition(DefinitionError::Sidecar(_))
                if !version.has(Behaviour::HttpNamespaceErrorUnprefixed) =>
            {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            AgentFailure::Definition(_)
            | AgentFailure::UpdateStatus(_)
            | AgentFailure::EnableMissing
            | AgentFailure::SegmentOfWan
            | AgentFailure::EnableInvalid(_) => StatusCode::BAD_REQUEST,
            AgentFailure::Refused(refusal) => refusal_status(refusal, version),
            AgentFailure::MaintenanceUnknown(_) | AgentFailure::ServiceNotFound(_) => {
                StatusCode::NOT_FOUND
            }
            // Until the errors of handlers were reworked this one was not known as one of the client's.
            AgentFailure::HealthUnnamed(_)
                if version.has(Behaviour::HttpNamespaceErrorUnprefixed) =>
            {
                StatusCode::BAD_REQUEST
            }
            AgentFailure::HealthUnnamed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            AgentFailure::AclDisabled => StatusCode::UNAUTHORIZED,
            AgentFailure::NoPrometheus => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// The text of the answer.
    pub(crate) fn text(&self, version: Version) -> String {
        match self {
            AgentFailure::Definition(error) => error.text(version),
            AgentFailure::Refused(refusal) => refusal_text(refusal, version),
            AgentFailure::CheckIdMissing => "CheckID missing".into(),
            AgentFailure::ServiceIdMissing => "ServiceID missing".into(),
            AgentFailure::UpdateStatus(status) => format!("Invalid check status: '{status}'"),
            AgentFailure::EnableMissing => "Missing value for enable".into(),
            AgentFailure::EnableInvalid(value) => {
                format!(
                    "Invalid value for enable: {}",
                    quoted(value.as_bytes(), version)
                )
            }
            AgentFailure::MaintenanceUnknown(id)
                if version.has(Behaviour::AgentUnknownServiceText) =>
            {
                unknown_service_text(id)
            }
            AgentFailure::MaintenanceUnknown(id) => {
                format!(
                    "No service registered with ID {}",
                    quoted(id.as_bytes(), version)
                )
            }
            AgentFailure::ServiceNotFound(id) => format!("unknown service ID: {id}"),
            AgentFailure::HealthUnnamed(what)
                if version.has(Behaviour::HttpNamespaceErrorUnprefixed) =>
            {
                format!("Missing {what}")
            }
            AgentFailure::HealthUnnamed(what) => format!("Bad request: Missing {what}"),
            AgentFailure::SegmentOfWan => "Cannot provide a segment with wan=true".into(),
            AgentFailure::NoSegments => {
                "Network segments are not supported in this version of Consul".into()
            }
            AgentFailure::NoSuchMember(name) => {
                format!("agent: No node found with name '{name}'")
            }
            AgentFailure::Reload(text) => text.clone(),
            AgentFailure::Join(words) => format!("1 error occurred:\n\t* {words}\n\n"),
            AgentFailure::AclDisabled => "ACL support disabled".into(),
            AgentFailure::NoPrometheus => {
                "Prometheus is not enabled since its retention time is not positive".into()
            }
        }
    }
}

fn refusal_status(refusal: &Refusal, version: Version) -> StatusCode {
    let not_found = match refusal {
        Refusal::AgentServiceUnknown(_) => true,
        Refusal::AgentCheckUnknown(_) => version.has(Behaviour::AgentUnknownCheck404),
        Refusal::AgentCheckServiceUnknown(_) => version.has(Behaviour::AgentCheckUnknownService404),
        Refusal::AgentNoSidecarPort(_) if version.has(Behaviour::HttpNamespaceErrorUnprefixed) => {
            return StatusCode::BAD_REQUEST;
        }
        _ => false,
    };
    if not_found {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    }
}

/// The text of a refusal of the store to change the agent's state.
pub(crate) fn refusal_text(refusal: &Refusal, version: Version) -> String {
    let quoted = |text: &String| quoted(text.as_bytes(), version).to_string();
    match refusal {
        Refusal::AgentServiceUnknown(id) if version.has(Behaviour::AgentUnknownServiceText) => {
            unknown_service_text(id)
        }
        Refusal::AgentServiceUnknown(id) => format!("Unknown service {{{} {{}}}}", quoted(id)),
        Refusal::AgentCheckUnknown(id) if version.has(Behaviour::AgentUnknownCheckText) => format!(
            "Unknown check ID {}. Ensure that the check ID is passed, not the check name.",
            quoted(id)
        ),
        Refusal::AgentCheckUnknown(id) if version.has(Behaviour::AgentUnknownCheck500) => {
            format!("Unknown check {}", quoted(id))
        }
        Refusal::AgentCheckUnknown(id) | Refusal::AgentCheckNotTtl(id) => {
            format!("CheckID {} does not have associated TTL", quoted(id))
        }
        Refusal::AgentCheckServiceUnknown(id) => format!("ServiceID {} does not exist", quoted(id)),
        Refusal::AgentNoSidecarPort(ports) => {
            let prefix = if version.has(Behaviour::HttpNamespaceErrorUnprefixed) {
                ""
            } else {
                "Bad request: "
            };
            format!(
                "{prefix}Invalid SidecarService: no port provided for sidecar_service and none left in the configured range [{}, {}]",
                ports.start(),
                ports.end()
            )
        }
        other => crate::http::failure::refusal_text(other),
    }
}

fn unknown_service_text(id: &str) -> String {
    format!(
        "Unknown service ID {}. Ensure that the service ID is passed, not the service name.",
        Quoted(id.as_bytes())
    )
}
