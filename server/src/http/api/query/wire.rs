//! The JSON of prepared queries and events (session.md 4.6, 5; 1.22.md B5).

use serde::Serialize;

use crate::go::json::encode::{Base64, Text};
use crate::http::api::catalog::wire::HealthEntry;
use crate::store::{EventRow, Labels, PreparedQueryRow, ServiceSearch};
use crate::version::{Behaviour, Version};

/// The answer of a new query.
#[derive(Serialize)]
pub(crate) struct PreparedQueryCreated {
    /// Its id.
    #[serde(rename = "ID")]
    pub(crate) id: String,
}

/// A prepared query.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct PreparedQuery<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
    session: &'a str,
    token: &'a str,
    template: QueryTemplate<'a>,
    service: ServiceQuery<'a>,
    #[serde(rename = "DNS")]
    dns: Dns<'a>,
    create_index: u64,
    modify_index: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct QueryTemplate<'a> {
    r#type: &'a str,
    regexp: &'a str,
    remove_empty_tags: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ServiceQuery<'a> {
    service: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sameness_group: Option<&'static str>,
    failover: Failover<'a>,
    only_passing: bool,
    #[serde(rename = "IgnoreCheckIDs")]
    ignore_check_ids: Option<&'a [String]>,
    near: &'a str,
    tags: Option<&'a [String]>,
    node_meta: Option<&'a Labels>,
    service_meta: Option<&'a Labels>,
    connect: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Failover<'a> {
    nearest_n: i64,
    datacenters: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<()>,
}

#[derive(Serialize)]
struct Dns<'a> {
    #[serde(rename = "TTL")]
    ttl: &'a str,
}

impl<'a> PreparedQuery<'a> {
    /// The query with what it searches, which a template renders.
    pub(crate) fn new(
        row: &'a PreparedQueryRow,
        search: &'a ServiceSearch,
        version: Version,
    ) -> Self {
        let query = &row.query;
        let has_peer = version.has(Behaviour::JsonQueryPeer);
        Self {
            id: row.id.to_string(),
            name: &query.name,
            session: &query.session,
            token: &query.token,
            template: QueryTemplate {
                r#type: &query.template.kind,
                regexp: &query.template.regexp,
                remove_empty_tags: query.template.remove_empty_tags,
            },
            service: ServiceQuery {
                service: &search.service,
                sameness_group: version.has(Behaviour::JsonQuerySamenessGroup).then_some(""),
                failover: Failover {
                    nearest_n: search.failover_nearest,
                    datacenters: search.failover_datacenters.as_deref(),
                    targets: has_peer.then_some(()),
                },
                only_passing: search.only_passing,
                ignore_check_ids: search.ignore_check_ids.as_deref(),
                near: &search.near,
                tags: search.tags.as_deref(),
                node_meta: search.node_meta.as_ref(),
                service_meta: search.service_meta.as_ref(),
                connect: search.connect,
                peer: has_peer.then_some(""),
            },
            dns: Dns {
                ttl: &query.dns_ttl,
            },
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}

/// What a query found.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Executed<'a> {
    service: &'a str,
    nodes: Vec<HealthEntry<'a>>,
    #[serde(rename = "DNS")]
    dns: Dns<'a>,
    datacenter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_name: Option<&'static str>,
    failovers: u64,
    #[serde(flatten)]
    meta: QueryMeta,
}

impl<'a> Executed<'a> {
    /// The instances that were found by a search.
    pub(crate) fn new(
        (row, search): (&'a PreparedQueryRow, &'a ServiceSearch),
        nodes: Vec<HealthEntry<'a>>,
        datacenter: &'a str,
        version: Version,
        meta: QueryMeta,
    ) -> Self {
        Self {
            service: &search.service,
            nodes,
            dns: Dns {
                ttl: &row.query.dns_ttl,
            },
            datacenter,
            peer_name: version.has(Behaviour::JsonQueryPeer).then_some(""),
            failovers: 0,
            meta,
        }
    }
}

/// A query as it would be run.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Explained<'a> {
    pub(crate) query: PreparedQuery<'a>,
    #[serde(flatten)]
    pub(crate) meta: QueryMeta,
}

/// What Consul's servers say of an answer, which here is part of it. Its fields came with the versions.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct QueryMeta {
    index: u64,
    last_contact: u64,
    known_leader: bool,
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

/// An event.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Event<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: Text<'a>,
    payload: Base64<'a>,
    node_filter: &'a str,
    service_filter: &'a str,
    tag_filter: &'a str,
    version: u64,
    #[serde(rename = "LTime")]
    logical_time: u64,
}

impl<'a> Event<'a> {
    /// An event that was kept, or that was fired and has no place yet.
    pub(crate) fn new(row: &'a EventRow) -> Self {
        let event = &row.event;
        Self {
            id: uuid::Uuid::from_bytes(event.id).hyphenated().to_string(),
            name: Text(&event.name),
            payload: Base64(&event.payload),
            node_filter: &event.node_filter,
            service_filter: &event.service_filter,
            tag_filter: &event.tag_filter,
            version: 1,
            logical_time: row.logical_time,
        }
    }
}
