//! The body of a prepared query, and what of it is checked before raft (session.md 5).

use crate::go::duration::{self, DurationQuotes};
use crate::go::json::decode::object;
use crate::go::json::kinds::{Any, Int};
use crate::http::api::query::failure;
use crate::http::body::check::CheckId;
use crate::http::failure::Failure;
use crate::store::{Labels, NewPreparedQuery, ServiceSearch, Template};
use crate::version::Behaviour;

/// The most pairs of meta data.
const META_PAIRS: usize = 64;
/// The longest key of meta data, in bytes.
const META_KEY: usize = 128;
/// The longest value of meta data, in bytes.
const META_VALUE: usize = 512;

/// A prepared query as it is sent.
#[derive(Default)]
pub(crate) struct Body {
    id: String,
    query: NewPreparedQuery,
}

impl Body {
    /// Whether the client wants to choose the id.
    pub(crate) fn has_id(&self) -> bool {
        !self.id.is_empty()
    }
}

object! {
    /// A prepared query.
    pub(crate) QueryFields as "structs.PreparedQuery" for body: Body {
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

object! {
    TemplateFields as "structs.QueryTemplateOptions" for template: Template {
        "Type": String => template.kind,
        "Regexp": String => template.regexp,
        "RemoveEmptyTags": bool => template.remove_empty_tags,
    }
}

object! {
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

object! {
    FailoverFields as "structs.QueryDatacenterOptions" for search: ServiceSearch {
        "NearestN": Int => search.failover_nearest,
        "Datacenters": Option<Vec<String>> => search.failover_datacenters,
        "Targets" since Behaviour::JsonQueryPeer: Any,
    }
}

object! {
    DnsFields as "structs.QueryDNSOptions" for ttl: String {
        "TTL": String => *ttl,
    }
}

/// The query of a body, checked in Consul's order.
pub(crate) fn checked(body: Body, quotes: DurationQuotes) -> Result<NewPreparedQuery, Failure> {
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
    if let Some(meta) = &query.service.node_meta {
        check_node_meta(meta)?;
    }
    check_dns_ttl(&query.dns_ttl, quotes)
}

fn check_node_meta(meta: &Labels) -> Result<(), Failure> {
    if meta.len() > META_PAIRS {
        return Err(failure::too_much_meta());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    for (key, value) in meta {
        let problem = if key.is_empty() {
            "Key cannot be blank"
        } else if !key.bytes().all(allowed) {
            "Key contains invalid characters"
        } else if key.len() > META_KEY {
            "Key is too long (limit: 128 characters)"
        } else if value.len() > META_VALUE {
            "Value is too long (limit: 512 characters)"
        } else {
            continue;
        };
        return Err(failure::invalid_meta(key, value, problem));
    }
    Ok(())
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
