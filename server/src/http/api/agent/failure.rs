//! The errors of the agent (session.md 4.4, 1.22.md B4.4).

use crate::definition::DefinitionError;
use crate::http::failure::{Failure, failures, quoted};
use crate::version::{Behaviour, Version};

failures! {
    /// The path names no check.
    missing_check_id() => 500, "CheckID missing";
    /// The path names no service.
    missing_service_id() => 500, "ServiceID missing";
    /// An update has an unknown status.
    unknown_status(status: &str) => 400, format!("Invalid check status: '{status}'");
    /// A call of maintenance lacks `?enable`.
    missing_enable() => 400, "Missing value for enable";
    /// `?enable` is not a boolean.
    invalid_enable(value: &str, version: Version) => 400,
        format!("Invalid value for enable: {}", quoted(value, version));
    /// The service of a call of maintenance does not exist (until the versions that refuse it as any unknown service).
    no_service_to_maintain(id: &str, version: Version) => 404,
        format!("No service registered with ID {}", quoted(id, version));
    /// The service of a read does not exist.
    unknown_service(id: &str) => 404, format!("unknown service ID: {id}");
    /// The request asks for a segment of the WAN, which has no segments.
    segment_of_wan() => 400, "Cannot provide a segment with wan=true";
    /// The request asks for a segment, a feature of Consul Enterprise.
    no_segments() => 500, "Network segments are not supported in this version of Consul";
    /// The member that is to leave does not exist.
    unknown_member(name: &str) => 500, format!("agent: No node found with name '{name}'");
    /// The configuration cannot be reloaded; in Consul's words.
    not_reloaded(words: String) => 500, words;
    /// The cluster cannot be joined; in the network's words.
    not_joined(words: &str) => 500, format!("1 error occurred:\n\t* {words}\n\n");
    /// The request asks for metrics in Prometheus' format, which are disabled.
    no_prometheus() => 415, "Prometheus is not enabled since its retention time is not positive";
}

/// The path of a health check does not name a service by `what`, which is `serviceID` or `service Name`.
pub(crate) fn unnamed_service(what: &str, version: Version) -> Failure {
    Failure::late_bad_request(&format!("Missing {what}"), version)
}

/// The service or check definition is invalid.
pub(crate) fn invalid_definition(error: &DefinitionError, version: Version) -> Failure {
    let is_known_as_clients = version.has(Behaviour::HttpNamespaceErrorUnprefixed);
    let status = match error {
        DefinitionError::Scripts => 500,
        // As `Failure::late_bad_request`; the text has the prefix already.
        DefinitionError::Sidecar(_) if !is_known_as_clients => 500,
        _ => 400,
    };
    Failure::new(status, error.text(version))
}
