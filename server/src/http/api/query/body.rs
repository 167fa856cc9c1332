//! The body of a prepared query, and its checks before raft (session.md 5).

use crate::definition::meta;
use crate::go::duration::{self, DurationQuotes};
use crate::go::json::decode::go_struct;
use crate::go::json::kinds::{Any, Int};
use crate::http::api::query::failure;
use crate::http::body::check::CheckId;
use crate::http::failure::Failure;
use crate::store::{Labels, NewPreparedQuery, ServiceSearch, Template};
use crate::version::Behaviour;

/// The body of a prepared query.
#[derive(Default)]
pub(crate) struct QueryBody {
    id: String,
    query: NewPreparedQuery,
}

impl QueryBody {
    /// Whether the client has chosen an id.
    pub(crate) fn has_id(&self) -> bool {
        !self.id.is_empty()
    }
}

go_struct! {
    /// A prepared query.
    pub(crate) QueryFields as "structs.PreparedQuery" for body: QueryBody {
        "ID": String => body.id,
        "Name": String => body.query.name,
        "Session": String => body.query.session,
        "Token": String => body.query.token,
        "Template": TemplateFields => body.query.template,
        "Service": SearchFields => body.query.service,
        "DNS": DnsFields => body.query.dns_ttl,
        "CreateIndex": u64,
        "ModifyIndex": u64,
    }
}

go_struct! {
    TemplateFields as "structs.QueryTemplateOptions" for template: Template {
        "Type": String => template.kind,
        "Regexp": String => template.regexp,
        "RemoveEmptyTags": bool => template.remove_empty_tags,
    }
}

go_struct! {
    SearchFields as "structs.ServiceQuery" for search: ServiceSearch {
        "Service": String => search.service,
        "Failover": FailoverFields => *search,
        "OnlyPassing": bool => search.only_passing,
        "IgnoreCheckIDs": Option<Vec<CheckId>> => search.ignore_check_ids,
        "Near": String => search.near,
        "Tags": Option<Vec<String>> => search.tags,
        "NodeMeta": Option<Labels> => search.node_meta,
        "ServiceMeta": Option<Labels> => search.service_meta,
        "Connect": bool => search.connect,
        "Peer" since Behaviour::JsonQueryPeer: Any,
        "SamenessGroup" since Behaviour::JsonQuerySamenessGroup: Any,
    }
}

go_struct! {
    FailoverFields as "structs.QueryDatacenterOptions" for search: ServiceSearch {
        "NearestN": Int => search.failover_nearest,
        "Datacenters": Option<Vec<String>> => search.failover_datacenters,
        "Targets" since Behaviour::JsonQueryPeer: Any,
    }
}

go_struct! {
    DnsFields as "structs.QueryDNSOptions" for ttl: String {
        "TTL": String => *ttl,
    }
}

/// Returns the query of a body, checked in Consul's order.
pub(crate) fn checked(
    body: QueryBody,
    quotes: DurationQuotes,
) -> Result<NewPreparedQuery, Failure> {
    check(&body.query, quotes)?;
    Ok(body.query)
}

fn check(query: &NewPreparedQuery, quotes: DurationQuotes) -> Result<(), Failure> {
    if !query.template.is_some() && query.session.is_empty() && query.name.is_empty() {
        return Err(failure::unbound());
    }
    if query.service.service.is_empty() {
        return Err(failure::missing_service());
    }
    if query.service.failover_nearest < 0 {
        let nearest = query.service.failover_nearest;
        return Err(failure::negative_nearest(nearest));
    }
    let meta = query.service.node_meta.as_ref();
    if let Some(flaw) = meta.and_then(meta::flaw_of_wanted) {
        return Err(failure::invalid_meta(&flaw));
    }
    check_dns_ttl(&query.dns_ttl, quotes)
}

fn check_dns_ttl(ttl: &str, quotes: DurationQuotes) -> Result<(), Failure> {
    if ttl.is_empty() {
        return Ok(());
    }
    let nanoseconds = duration::parse(ttl)
        .map_err(|error| failure::invalid_dns_ttl(ttl, &error.message(quotes)))?;
    if nanoseconds < 0 {
        return Err(failure::negative_dns_ttl(nanoseconds));
    }
    Ok(())
}
