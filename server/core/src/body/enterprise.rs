//! Errors about a field that only Consul Enterprise has.

/// Go's error about the field that only Consul Enterprise knows.
const NAMESPACE_UNKNOWN: &str = "json: unknown field \"Namespace\"";

/// Returns an error of the decoder, with the edition that has the unknown field.
pub(crate) fn with_edition(error: String) -> String {
    if error == NAMESPACE_UNKNOWN {
        return format!("{error} - Namespaces are a Consul Enterprise feature");
    }
    error
}
