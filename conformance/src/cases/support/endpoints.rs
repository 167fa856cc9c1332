//! What the cases about endpoints around the KV store share.

/// Endpoints that are written, with a target that each of them answers without changing anything.
pub(in crate::cases) const WRITES: &[&str] = &[
    "/v1/session/create",
    "/v1/session/destroy/deadbeef-0000-4000-8000-0123456789ab",
    "/v1/session/renew/deadbeef-0000-4000-8000-0123456789ab",
];

/// A path with a query.
pub(in crate::cases) fn with(path: &str, query: &str) -> String {
    format!("{path}?{query}")
}
