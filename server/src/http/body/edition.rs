//! Errors about fields that only Consul Enterprise has.

/// What Go's decoder says about the field of Consul Enterprise.
const NAMESPACE_UNKNOWN: &str = "json: unknown field \"Namespace\"";
/// The same about partitions, of later releases.
const PARTITION_UNKNOWN: &str = "json: unknown field \"Partition\"";

/// Returns an error of the decoder, with the edition that has the unknown field.
pub(crate) fn with_edition(error: String) -> String {
    let feature = match error.as_str() {
        NAMESPACE_UNKNOWN => "Namespaces",
        PARTITION_UNKNOWN => "Partitions",
        _ => return error,
    };
    format!("{error} - {feature} are a Consul Enterprise feature")
}
