//! The body of a prepared query, and its checks before raft (session.md 5).

use crate::api::query::failure;
use crate::body::check::CheckId;
use crate::failure::Failure;
use proconsul_gocompat::duration::{self, DurationQuotes};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Any, Int};
use proconsul_store::{Labels, NewPreparedQuery, Template, meta};
use proconsul_version::{Behaviour, Version};

/// The body of a prepared query.
#[derive(Default)]
pub(crate) struct QueryBody {
    id: String,
    query: NewPreparedQuery,
    /// The targets of a failover, which are not kept: there is nowhere to fail over to.
    targets: Vec<Any>,
    /// The sameness group that is searched, which is refused.
    sameness_group: String,
}

impl QueryBody {
    /// Whether the client has chosen an id.
    pub(crate) fn has_id(&self) -> bool {
        !self.id.is_empty()
    }

    /// Returns the query before it is checked.
    pub(crate) fn query(&self) -> &NewPreparedQuery {
        &self.query
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
        "Service": SearchFields => *body,
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
    SearchFields as "structs.ServiceQuery" for body: QueryBody {
        "Service": String => body.query.service.service,
        "Failover": FailoverFields => *body,
        "OnlyPassing": bool => body.query.service.only_passing,
        "IgnoreCheckIDs": Option<Vec<CheckId>> => body.query.service.ignore_check_ids,
        "Near": String => body.query.service.near,
        "Tags": Option<Vec<String>> => body.query.service.tags,
        "NodeMeta": Option<Labels> => body.query.service.node_meta,
        "ServiceMeta": Option<Labels> => body.query.service.service_meta,
        "Connect": bool => body.query.service.connect,
        "Peer" since Behaviour::JsonQueryPeer: Any,
        "SamenessGroup" since Behaviour::JsonQuerySamenessGroup: String => body.sameness_group,
    }
}

go_struct! {
    FailoverFields as "structs.QueryDatacenterOptions" for body: QueryBody {
        "NearestN": Int => body.query.service.failover_nearest,
        "Datacenters": Option<Vec<String>> => body.query.service.failover_datacenters,
        "Targets" since Behaviour::JsonQueryPeer: Vec<Any> => body.targets,
    }
}

go_struct! {
    DnsFields as "structs.QueryDNSOptions" for ttl: String {
        "TTL": String => *ttl,
    }
}

/// Returns the query of a body, checked in Consul's order.
pub(crate) fn checked(body: QueryBody, version: Version) -> Result<NewPreparedQuery, Failure> {
    check(&body, version)?;
    Ok(body.query)
}

fn check(body: &QueryBody, version: Version) -> Result<(), Failure> {
    let query = &body.query;
    if !query.template.is_some() && query.session.is_empty() && query.name.is_empty() {
        return Err(failure::unbound());
    }
    let search = &query.service;
    if search.service.is_empty() {
        return Err(failure::missing_service());
    }
    if search.failover_nearest < 0 {
        return Err(failure::negative_nearest(search.failover_nearest));
    }
    if !body.sameness_group.is_empty() {
        return Err(failure::sameness_group());
    }
    let others = search.failover_nearest > 0
        || search
            .failover_datacenters
            .iter()
            .any(|names| !names.is_empty());
    if others && !body.targets.is_empty() && version.has(Behaviour::QueryTargetsAlone) {
        return Err(failure::targets_not_alone());
    }
    let meta = query.service.node_meta.as_ref();
    if let Some(flaw) = meta.and_then(meta::flaw_of_wanted) {
        return Err(failure::invalid_meta(&flaw));
    }
    check_dns_ttl(&query.dns_ttl, version.go().duration_quotes)
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
