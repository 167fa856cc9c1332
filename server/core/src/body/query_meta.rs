//! The metadata of an answer.

use crate::reply::object::{JsonMembers, JsonObject, object};
use proconsul_version::{Behaviour, Version};

/// Returns the metadata of an answer, for bodies that contain it. Its fields depend on the release (1.22.md A7).
/// `is_filtered` says that rows were removed, as [`Rights`](crate::auth::rights::Rights) knows.
pub(crate) fn query_meta(
    index: u64,
    known_leader: bool,
    consistency_level: &'static str,
    is_filtered: bool,
    version: Version,
) -> JsonObject<impl JsonMembers> {
    object! {
        "Index" => index,
        "LastContact" => 0,
        "KnownLeader" => known_leader,
        "ConsistencyLevel" => consistency_level,
        "NotModified" if version.has(Behaviour::TxnReadNotModified) => false,
        "Backend" if version.has(Behaviour::TxnReadBackend) => 0,
        "ResultsFilteredByACLs" if version.has(Behaviour::TxnReadFiltered) => is_filtered,
    }
}
