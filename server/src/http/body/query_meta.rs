//! What Consul's servers say of an answer.

use serde::Serialize;

use crate::version::{Behaviour, Version};

/// What Consul's servers say of an answer, which here is part of it. Its fields came with the versions.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct QueryMeta {
    pub(crate) index: u64,
    last_contact: u64,
    pub(crate) known_leader: bool,
    consistency_level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_modified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<u64>,
    #[serde(
        rename = "ResultsFilteredByACLs",
        skip_serializing_if = "Option::is_none"
    )]
    results_filtered_by_acls: Option<bool>,
}

impl QueryMeta {
    /// That of a read with this consistency.
    pub(crate) fn new(consistency_level: &'static str, version: Version) -> Self {
        Self {
            index: u64::from(version.has(Behaviour::JsonQueryIndexOne)),
            last_contact: 0,
            known_leader: true,
            consistency_level,
            not_modified: version.has(Behaviour::TxnReadNotModified).then_some(false),
            backend: version.has(Behaviour::TxnReadBackend).then_some(0),
            results_filtered_by_acls: version.has(Behaviour::TxnReadFiltered).then_some(false),
        }
    }
}
