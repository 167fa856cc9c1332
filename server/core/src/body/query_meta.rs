//! The metadata of an answer.

use crate::reply::object::{JsonMembers, JsonObject, object};
use crate::request::Request;
use proconsul_version::Behaviour;

/// Returns the metadata of an answer, for bodies that contain it. Its fields depend on the release (1.22.md A7).
/// `is_filtered` says that rows were removed, as [`Rights`](crate::auth::rights::Rights) knows.
pub(crate) fn query_meta(
    request: &Request,
    index: u64,
    known_leader: bool,
    consistency_level: &'static str,
    is_filtered: bool,
) -> JsonObject<impl JsonMembers> {
    let version = request.version();
    let shown = request.context.shown();
    let contact = shown.last_contact.unwrap_or_default();
    object! {
        "Index" => index,
        "LastContact" => u64::try_from(contact.as_nanos()).unwrap_or(u64::MAX),
        "KnownLeader" => known_leader && !shown.leader_unknown,
        "ConsistencyLevel" => consistency_level,
        "NotModified" if version.has(Behaviour::TxnReadNotModified) => false,
        "Backend" if version.has(Behaviour::TxnReadBackend) => 0,
        "ResultsFilteredByACLs" if version.has(Behaviour::TxnReadFiltered) => is_filtered,
    }
}
