//! What Consul's servers say of an answer.

use crate::http::reply::object::{JsonMembers, JsonObject, object};
use crate::version::{Behaviour, Version};

/// What Consul's servers say of an answer, where it is part of it. Its fields came with the versions (1.22.md A7).
pub(crate) fn query_meta(
    index: u64,
    known_leader: bool,
    consistency_level: &'static str,
    version: Version,
) -> JsonObject<impl JsonMembers> {
    object! {
        "Index" => index,
        "LastContact" => 0,
        "KnownLeader" => known_leader,
        "ConsistencyLevel" => consistency_level,
        "NotModified" if version.has(Behaviour::TxnReadNotModified) => false,
        "Backend" if version.has(Behaviour::TxnReadBackend) => 0,
        "ResultsFilteredByACLs" if version.has(Behaviour::TxnReadFiltered) => false,
    }
}
