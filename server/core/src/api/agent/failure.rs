//! The errors of the agent (session.md 4.4, 1.22.md B4.4).

use crate::failure::{Failure, failures, quoted};
use proconsul_config::definition::DefinitionError;
use proconsul_version::{Behaviour, Version};

/// Why there are no metrics in Prometheus' format.
pub(crate) const NO_PROMETHEUS: &str =
    "Prometheus is not enabled since its retention time is not positive";

failures! {
    /// The agent has no token of this name.
    unknown_token(name: &str) => 404, format!("Token \"{name}\" is unknown");
    /// The caller may not write this `resource`; early releases name only these rights (acl.md 2.11.r5).
    missing_right(resource: &str, name: &str) => 403,
        format!("Permission denied: Missing {resource}:write on {name}");
    /// The path names no check.
    missing_check_id() => 500, "CheckID missing";
    /// The path names no service.
    missing_service_id() => 500, "ServiceID missing";
    /// An update has an unknown status.
    unknown_status(status: &str) => 400, format!("Invalid check status: '{status}'");
    /// `?enable` is missing.
    missing_enable() => 400, "Missing value for enable";
    /// `?enable` is not a boolean.
    invalid_enable(value: &str, version: Version) => 400,
        format!("Invalid value for enable: {}", quoted(value, version));
    /// The service for maintenance does not exist (before 1.12).
    no_service_to_maintain(id: &str, version: Version) => 404,
        format!("No service registered with ID {}", quoted(id, version));
    /// The check to change does not exist (before 1.11, with ACLs).
    unknown_check(id: &str, version: Version) => 500,
        format!("Unknown check {}", quoted(id, version));
    /// The service to read does not exist.
    unknown_service(id: &str) => 404, format!("unknown service ID: {id}");
    /// The request has both `?segment` and `?wan`.
    segment_of_wan() => 400, "Cannot provide a segment with wan=true";
    /// The request has `?segment`, a feature of Consul Enterprise.
    no_segments() => 500, "Network segments are not supported in this version of Consul";
    /// The member to remove does not exist.
    unknown_member(name: &str) => 500, format!("agent: No node found with name '{name}'");
    /// The configuration cannot be reloaded; `words` is Consul's text.
    not_reloaded(words: String) => 500, words;
    /// The cluster cannot be joined; `words` is the network's error.
    not_joined(words: &str) => 500, format!("1 error occurred:\n\t* {words}\n\n");
    /// The request asks for metrics in Prometheus' format, which are disabled.
    no_prometheus() => 415, NO_PROMETHEUS;
}

/// The path of a health check lacks `what`, which is `serviceID` or `service Name`.
pub(crate) fn unnamed_service(what: &str, version: Version) -> Failure {
    Failure::late_bad_request(&format!("Missing {what}"), version)
}

/// The service or check definition is invalid.
pub(crate) fn invalid_definition(error: &DefinitionError, version: Version) -> Failure {
    let is_known_as_clients = version.has(Behaviour::HttpNamespaceErrorUnprefixed);
    let status = match error {
        DefinitionError::Scripts | DefinitionError::NotImplemented => 500,
        // As `Failure::late_bad_request`; the text has the prefix already.
        DefinitionError::Sidecar(_) if !is_known_as_clients => 500,
        _ => 400,
    };
    let text = error.text(version);
    let text = match error {
        DefinitionError::Service(_) if version.has(Behaviour::CatalogProxyTexts) => {
            format!("Validation failed: {text}")
        }
        _ => text,
    };
    Failure::new(status, text)
}
