//! `/v1/catalog/`: nodes and services (session.md 4.5).

pub(crate) mod bodies;
pub(crate) mod failure;
pub(crate) mod page;
pub(crate) mod register;
mod rights;
mod summary;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::api::catalog::wire::{CatalogService, NodeServiceList, NodeWithServices};
use crate::auth::rights::Rights;
use crate::auth::state::Caller;
use crate::body::wire::{Node, NodeService};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::table::{Look, Surface};
use crate::request::cached::Cached;
use crate::request::selection::{filter, node_meta, sort_nearest};
use crate::request::{ReadOptions, Request};
use crate::route::routes;
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking::{self, WaitState};
use proconsul_filter::{Fields, Filter};
use proconsul_gocompat::json::maps;
use proconsul_store::{
    Answer, ConnectInstances, Elsewhere, Index, Instance, NewService, NodeByNameOrId, NodeList,
    NodeRow, Read, ServiceInstances, ServiceList, ServiceView, TaggedInstances,
};
use proconsul_version::Behaviour;

routes! {
    "/v1/catalog/register" [PUT] => waits(register::register);
    "/v1/catalog/deregister" [PUT] => waits(register::deregister);
    "/v1/catalog/datacenters" [GET] => at_once(|request| Ok(datacenters(request)));
    "/v1/catalog/nodes" [GET] => waits(&nodes);
    "/v1/catalog/services" [GET] => waits(&services);
    "/v1/catalog/service/" [GET] => waits(&service);
    "/v1/catalog/node/" [GET] => waits(&node);
    "/v1/catalog/node-services/" [GET] => waits(&node_services);
    "/v1/catalog/connect/" [GET] asks service on path => waits(&connect);
}

/// Lists the datacenters, the server's own first. The answer has no index. Consul's handler goes on after an error about the
/// parameters, so the list follows the error's text.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let reply = Reply::json(request, &request.context.datacenters());
    let checked = request.consistency().map(|_| ());
    match checked.and_then(|()| request.check_cache_control()) {
        Ok(()) if request.wants_cache() => {
            let key = request.route.to_owned();
            let kept = request.kept::<()>(&key).map(|(_, cached)| cached);
            let cached = kept.unwrap_or_else(|| Cached::missed(key, Arc::new(())));
            cached.told_in(request, reply)
        }
        Ok(()) => reply,
        Err(failure) => reply.behind(&failure, request.context.config.version),
    }
}

/// Lists all nodes by name.
pub(crate) async fn nodes(request: &Request) -> Result<Reply, Failure> {
    // Nodes do not belong to namespaces.
    request.check_partition()?;
    let options = request.read_options()?;
    let nodes = NodeList(node_meta(request));
    let (answer, filter, mut rights) = read(request, &nodes, options, Node::FILTER).await?;
    let mut rows: Vec<&Arc<NodeRow>> = answer.rows.iter().collect();
    rights.retain(&mut rows, |caller, row| sees_node(caller, &row.node.node));
    rows.retain(|row| filter.keeps(row));
    sort_nearest(request, &mut rows, |row| &row.node.node);
    let version = request.version();
    let nodes: Vec<Node<'_>> = rows.iter().map(|row| Node::new(row, version)).collect();
    Ok(rights.told_in(reply(request, &nodes, answer.index, options)))
}

/// Lists the names of all services with their tags.
pub(crate) async fn services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let services = ServiceList(node_meta(request));
    request.check_datacenter_of_read()?;
    let filter = if request.has(Behaviour::CatalogServicesFilter) {
        Some(filter_of_read(request, CatalogService::FILTER)?)
    } else {
        None
    };
    let (options, cached) = request.cached(&services, options);
    // The rights at the start, unlike those of the other reads (acl.md 10.4).
    let mut rights = request.rights_of_read()?;
    let Ok(mut answer) = blocking::answer(&request.context.engine, &services, options.wait).await;
    let of_nodes = request.has(Behaviour::AclServicesOfNodes);
    rights.retain(&mut answer.rows, |caller, row| {
        sees_service(caller, &row.service.service.name)
            && (!of_nodes || sees_node(caller, &row.node.node.node))
    });
    let kept = |row: &&Instance| filter.as_ref().is_none_or(|filter| filter.keeps(row));
    let tags = service_tags(answer.rows.iter().filter(kept));
    let reply = rights.told_in(reply(request, &tags, answer.index, options));
    Ok(cached.told_in(request, reply))
}

/// Collects the tags of all instances of each service, without duplicates.
fn service_tags<'a>(rows: impl Iterator<Item = &'a Instance>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let service = &row.service.service;
        let tags = names.entry(&service.name).or_default();
        for tag in service.tags() {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
    }
    names
}

/// Shows a node with its services by id; `null` for a missing node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    // Consul asks for a right on the id, as if it were the name (acl.md 7.r9).
    let seen = read_node(request, false, |service| &service.id).await?;
    let version = request.context.config.version;
    let node = seen.rows.as_ref().map(|(node, services)| NodeWithServices {
        node: Node::new(node, version),
        services: maps::collect(
            services
                .iter()
                .map(|row| (row.service.id.as_str(), NodeService::new(row, version))),
        ),
    });
    Ok(seen.reply(request, &node))
}

/// Shows a node with the list of its services. Both are `null` for a missing node, and an empty list is `null`. Until
/// 1.13 a node that goes while the read is blocked is shown as it was (session.md 4.5b.r28).
pub(crate) async fn node_services(request: &Request) -> Result<Reply, Failure> {
    let may_have_gone = !request.has(Behaviour::CatalogNodeIndex);
    let seen = read_node(request, may_have_gone, |service| &service.name).await?;
    let version = request.context.config.version;
    let (node, services) = seen.rows.as_ref().map(|(node, rows)| (node, rows)).unzip();
    let service = |row| NodeService::new(row, version);
    // Go prints its empty list as `null`, unless a filter or rights have made a new one (seen on 1.8.7).
    let services =
        services.filter(|_| seen.has_services || !request.query.get("filter").is_empty());
    let list = NodeServiceList {
        node: node.map(|row| Node::new(row, version)),
        services: services.map(|rows| rows.iter().map(|row| service(row)).collect()),
    };
    Ok(seen.reply(request, &list))
}

/// What a request sees of the node of its path.
struct SeenNode {
    rows: <NodeByNameOrId as Read>::Rows,
    /// Whether it has services, seen or not.
    has_services: bool,
    index: Index,
    options: ReadOptions,
    rights: Rights,
}

impl SeenNode {
    fn reply(&self, request: &Request, value: &impl serde::Serialize) -> Reply {
        let reply = reply(request, value, self.index, self.options);
        self.rights.told_in(reply)
    }
}

/// Reads the node of the path; with `may_have_gone`, as it was before a wait in which it went. The filter applies to its
/// services, which are seen by who may read what `asked` returns.
async fn read_node(
    request: &Request,
    may_have_gone: bool,
    asked: fn(&NewService) -> &str,
) -> Result<SeenNode, Failure> {
    let options = read_options(request)?;
    let name = request.named("node name")?;
    let node = NodeByNameOrId(name);
    let before = (options.wait.is_some() && may_have_gone)
        .then(|| request.context.engine.read(&node))
        .and_then(|Ok(answer)| answer.rows);
    let (answer, filter, mut rights) = read(request, &node, options, NodeService::FILTER).await?;
    let found = answer.rows.or(before);
    let mut rows =
        found.filter(|(row, _)| rights.sees(Question::read(Resource::Node, &row.node.node)));
    let mut has_services = false;
    if let Some((_, services)) = &mut rows {
        has_services = !services.is_empty();
        rights.retain(services, |caller, row| {
            sees_service(caller, asked(&row.service))
        });
        services.retain(|row| filter.keeps(row));
    }
    Ok(SeenNode {
        rows,
        has_services,
        index: answer.index,
        options,
        rights,
    })
}

/// Lists the instances of a service.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    if names_peer(request) {
        return shown_instances(request, |_| Elsewhere).await;
    }
    let of = |name| ServiceInstances(ServiceView::Catalog, name);
    shown_instances(request, |name| {
        TaggedInstances(of(name), wanted_tags(request))
    })
    .await
}

/// Whether a read is about the services of a peer, which has none here (1.22.md B4.5).
pub(crate) fn names_peer(request: &Request) -> bool {
    !request.query.get("peer").is_empty() && request.has(Behaviour::HttpPeerParameter)
}

/// Lists the proxies of a service, and its instances with native Connect.
pub(crate) async fn connect(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, |name| ConnectInstances(ServiceView::Catalog, name)).await
}

async fn shown_instances<R: Read<Rows = Vec<Instance>, Refused = Infallible>>(
    request: &Request,
    of: impl FnOnce(String) -> R,
) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let instances_of = of(request.named("service name")?);
    let (options, cached) = request.cached(&instances_of, options);
    if !has_early_rights(request)? {
        return Ok(cached.told_in(request, unread(request, options)));
    }
    let fields = CatalogService::FILTER;
    let (answer, filter, mut rights) = read(request, &instances_of, options, fields).await?;
    let look = Look::of(Surface::Instances, request.version());
    let rows = instances(request, &answer.rows, &filter, &mut rights);
    let shown = rows.into_iter().map(|row| CatalogService::new(row, look));
    let shown: Vec<_> = shown.collect();
    let reply = rights.told_in(reply(request, &shown, answer.index, options));
    Ok(cached.told_in(request, reply))
}

/// Selects and sorts instances by the parameters `tag`, `node-meta`, `filter` and `near`, and by what the caller sees.
pub(crate) fn instances<'a>(
    request: &Request,
    rows: &'a [Instance],
    filter: &Filter<Instance>,
    rights: &mut Rights,
) -> Vec<&'a Instance> {
    let (meta, tags) = (node_meta(request), wanted_tags(request));
    let wanted = |row: &&Instance| row.has_tags(&tags) && row.node.has_meta(&meta);
    let mut rows: Vec<&Instance> = rows.iter().filter(wanted).collect();
    rights.retain(&mut rows, |caller, row| {
        sees_node(caller, &row.node.node.node) && sees_service(caller, &row.service.service.name)
    });
    rows.retain(|row| filter.keeps(row));
    sort_nearest(request, &mut rows, |row| &row.service.node);
    rows
}

/// An empty list.
pub(crate) const NOTHING: [(); 0] = [];

/// Returns every `tag` of the query.
pub(crate) fn wanted_tags(request: &Request) -> Vec<Vec<u8>> {
    request.query.all("tag").map(<[u8]>::to_vec).collect()
}

/// Returns the options of a read of the catalog or of health.
pub(crate) fn read_options(request: &Request) -> Result<ReadOptions, Failure> {
    request.check_tenancy()?;
    request.read_options()
}

/// Runs a read, whose rows may be filtered by these fields. Returns the rights at the moment of the last look, which an
/// unknown token ends (acl.md 10.5).
pub(crate) async fn read<R: Read<Refused = Infallible>, T: 'static>(
    request: &Request,
    read: &R,
    options: ReadOptions,
    fields: &'static dyn Fields<T>,
) -> Result<(Answer<R::Rows>, Filter<T>, Rights), Failure> {
    request.check_datacenter_of_read()?;
    let filter = filter_of_read(request, fields)?;
    let mut looks = WaitState::new(options.wait.map_or(Index::ZERO, |wait| wait.min_index));
    let mut rights = None;
    let is_over = |answer: &Answer<R::Rows>| {
        let latest = rights.insert(request.rights_of_read());
        latest.is_err() || looks.are_over_with(answer)
    };
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer_when(engine, read, options.wait, is_over).await;
    let rights = rights.unwrap_or_else(|| request.rights_of_read())?;
    Ok((answer, filter, rights))
}

fn filter_of_read<T: 'static>(
    request: &Request,
    fields: &'static dyn Fields<T>,
) -> Result<Filter<T>, Failure> {
    let filter = filter(request, fields);
    filter.map_err(|failure| failure.of_read(&request.context))
}

/// Whether the caller may do what the row of a read of instances asks for. Such a read finds out about its token before
/// it looks at its filter (seen on 1.8.7).
pub(crate) fn has_early_rights(request: &Request) -> Result<bool, Failure> {
    request.check_datacenter_of_read()?;
    let rights = request.rights_of_read()?;
    Ok(request.authorize_with(&rights).is_ok())
}

/// Answers a read that the caller may not do with nothing (acl.md 7.r12).
pub(crate) fn unread(request: &Request, options: ReadOptions) -> Reply {
    let reply = Reply::json(request, &NOTHING).of_no_read(&request.context);
    reply.with_consistency(options.consistency)
}

/// Whether the caller sees a node.
pub(crate) fn sees_node(caller: &Caller, name: &str) -> bool {
    caller.may(Question::read(Resource::Node, name))
}

/// Whether the caller sees a service.
pub(crate) fn sees_service(caller: &Caller, name: &str) -> bool {
    caller.may(Question::read(Resource::Service, name))
}

/// Answers a read with the headers of its index and consistency.
pub(crate) fn reply(
    request: &Request,
    value: &impl serde::Serialize,
    index: Index,
    options: ReadOptions,
) -> Reply {
    Reply::json(request, value)
        .with_index(request, index)
        .with_consistency(options.consistency)
}
