//! The body of a prepared query, and what of it is checked before raft (session.md 5).

use crate::go::duration::{self, DurationQuotes};
use crate::go::json::decode::{Field, Object, field};
use crate::go::json::kinds::Any;
use crate::http::api::query::failure;
use crate::http::body::check_ids::CheckId;
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
    name: String,
    session: String,
    token: String,
    template: TemplateBody,
    service: ServiceBody,
    dns: DnsBody,
    /// Taken, and of no account: the indexes of the row in the store.
    indexes: [u64; 2],
}

impl Object for Body {
    const GO_TYPE: &'static str = "structs.PreparedQuery";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [create, modify] = &mut self.indexes;
        vec![
            field("ID", &mut self.id),
            field("Name", &mut self.name),
            field("Session", &mut self.session),
            field("Token", &mut self.token),
            field("Template", &mut self.template),
            field("Service", &mut self.service),
            field("DNS", &mut self.dns),
            field("CreateIndex", create),
            field("ModifyIndex", modify),
        ]
    }
}

impl Body {
    /// Whether the client wants to choose the id.
    pub(crate) fn has_id(&self) -> bool {
        !self.id.is_empty()
    }
}

#[derive(Default)]
struct TemplateBody(Template);

impl Object for TemplateBody {
    const GO_TYPE: &'static str = "structs.QueryTemplateOptions";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let template = &mut self.0;
        vec![
            field("Type", &mut template.kind),
            field("Regexp", &mut template.regexp),
            field("RemoveEmptyTags", &mut template.remove_empty_tags),
        ]
    }
}

#[derive(Default)]
struct ServiceBody {
    search: ServiceSearch,
    ignore_check_ids: Option<Vec<CheckId>>,
    failover: FailoverBody,
    ignored: [Any; 2],
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = "structs.ServiceQuery";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let search = &mut self.search;
        let [peer, group] = &mut self.ignored;
        vec![
            field("Service", &mut search.service),
            field("Failover", &mut self.failover),
            field("OnlyPassing", &mut search.only_passing),
            field("IgnoreCheckIDs", &mut self.ignore_check_ids),
            field("Near", &mut search.near),
            field("Tags", &mut search.tags),
            field("NodeMeta", &mut search.node_meta),
            field("ServiceMeta", &mut search.service_meta),
            field("Connect", &mut search.connect),
            field("Peer", peer).since(Behaviour::JsonQueryPeer),
            field("SamenessGroup", group).since(Behaviour::JsonQuerySamenessGroup),
        ]
    }
}

#[derive(Default)]
struct FailoverBody {
    nearest: i64,
    datacenters: Option<Vec<String>>,
    targets: Any,
}

impl Object for FailoverBody {
    const GO_TYPE: &'static str = "structs.QueryDatacenterOptions";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("NearestN", &mut self.nearest).of_type("int"),
            field("Datacenters", &mut self.datacenters),
            field("Targets", &mut self.targets).since(Behaviour::JsonQueryPeer),
        ]
    }
}

#[derive(Default)]
struct DnsBody {
    ttl: String,
}

impl Object for DnsBody {
    const GO_TYPE: &'static str = "structs.QueryDNSOptions";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![field("TTL", &mut self.ttl)]
    }
}

/// The query of a body, checked in Consul's order.
pub(crate) fn checked(body: Body, quotes: DurationQuotes) -> Result<NewPreparedQuery, Failure> {
    let query = NewPreparedQuery {
        name: body.name,
        session: body.session,
        token: body.token,
        template: body.template.0,
        service: ServiceSearch {
            ignore_check_ids: body
                .service
                .ignore_check_ids
                .map(|ids| ids.into_iter().map(|id| id.0).collect()),
            failover_nearest: body.service.failover.nearest,
            failover_datacenters: body.service.failover.datacenters,
            ..body.service.search
        },
        dns_ttl: body.dns.ttl,
    };
    check(&query, quotes)?;
    Ok(query)
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
