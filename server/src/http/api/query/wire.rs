//! The JSON of prepared queries (session.md 5; 1.22.md B5).

use serde::Serialize;

use crate::http::body::query_meta::QueryMeta;
use crate::http::body::wire::HealthEntry;
use crate::http::reply::table::{Look, table};
use crate::store::{PreparedQueryRow, ServiceSearch, Template};
use crate::version::{Behaviour, Version};

/// The answer of a new query.
#[derive(Serialize)]
pub(crate) struct PreparedQueryCreated {
    /// Its id.
    #[serde(rename = "ID")]
    pub(crate) id: String,
}

/// What a query searches, which a template renders, and how it is shown.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'a> {
    pub(crate) search: &'a ServiceSearch,
    pub(crate) version: Version,
}

impl From<Searched<'_>> for Look {
    fn from(searched: Searched<'_>) -> Self {
        searched.version.into()
    }
}

table! {
    /// A prepared query.
    pub(crate) PreparedQuery of row: PreparedQueryRow, searched: Searched<'a> {
        "ID" => json(row.id.to_string()),
        "Name" => json(row.query.name),
        "Session" => json(row.query.session),
        "Token" => json(row.query.token),
        "Template" => within(QueryTemplate, row.query.template),
        "Service" => json(ServiceQuery::new(searched.search, searched)),
        "DNS" => within(Dns, row.query.dns_ttl),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    QueryTemplate of template: Template {
        "Type" => json(template.kind),
        "Regexp" => json(template.regexp),
        "RemoveEmptyTags" => json(template.remove_empty_tags),
    }
}

table! {
    ServiceQuery of search: ServiceSearch, look: Look {
        "Service" => json(search.service),
        "SamenessGroup" if look.has(Behaviour::JsonQuerySamenessGroup) => json(""),
        "Failover" => within(Failover, *search),
        "OnlyPassing" => json(search.only_passing),
        "IgnoreCheckIDs" => json(search.ignore_check_ids),
        "Near" => json(search.near),
        "Tags" => json(search.tags),
        "NodeMeta" => json(search.node_meta),
        "ServiceMeta" => json(search.service_meta),
        "Connect" => json(search.connect),
        "Peer" if look.has(Behaviour::JsonQueryPeer) => json(""),
    }
}

table! {
    Failover of search: ServiceSearch, look: Look {
        "NearestN" => json(search.failover_nearest),
        "Datacenters" => json(search.failover_datacenters),
        "Targets" if look.has(Behaviour::JsonQueryPeer) => json(()),
    }
}

table! {
    Dns of ttl: String {
        "TTL" => json(*ttl),
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
            dns: Dns::new(&row.query.dns_ttl, version),
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
