//! The JSON of prepared queries (session.md 5; 1.22.md B5).

use crate::auth::rights::Rights;
use crate::reply::table::{Look, table};
use proconsul_acl::{Question, Resource};
use proconsul_store::{PreparedQueryRow, ServiceSearch, Template};
use proconsul_version::{Behaviour, Version};

/// How a prepared query is shown: with the search that its template renders, and the fields of a release.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'a> {
    search: &'a ServiceSearch,
    /// Whether the caller may see the token that a query has.
    shows_token: bool,
    version: Version,
}

impl<'a> Searched<'a> {
    pub(crate) fn new(search: &'a ServiceSearch, rights: &Rights, version: Version) -> Self {
        Self {
            search,
            shows_token: rights.may(Question::write(Resource::Acl, "")),
            version,
        }
    }

    /// Returns the token as it is shown (acl.md 7.r32).
    fn token(self, token: &'a str) -> &'a str {
        if token.is_empty() || self.shows_token {
            token
        } else {
            "<hidden>"
        }
    }
}

impl<'a> From<Searched<'a>> for Look<'a> {
    fn from(searched: Searched<'a>) -> Self {
        searched.version.into()
    }
}

table! {
    /// A prepared query.
    pub(crate) PreparedQuery of row: PreparedQueryRow, searched: Searched<'a> {
        "ID" => json(row.id.to_string()),
        "Name" => json(row.query.name),
        "Session" => json(row.query.session),
        "Token" => json(searched.token(&row.query.token)),
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
    ServiceQuery of search: ServiceSearch, look: Look<'a> {
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
    Failover of search: ServiceSearch, look: Look<'a> {
        "NearestN" => json(search.failover_nearest),
        "Datacenters" => json(search.failover_datacenters),
        "Targets" if look.has(Behaviour::JsonQueryPeer) => json(()),
    }
}

table! {
    pub(crate) Dns of ttl: String {
        "TTL" => json(*ttl),
    }
}
