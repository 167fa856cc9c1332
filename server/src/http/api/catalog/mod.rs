//! `/v1/catalog/`: nodes and services (session.md 4.5).

pub(crate) mod bodies;
pub(crate) mod failure;
pub(crate) mod register;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::blocking;
use crate::filter::{Field, Filter};
use crate::http::api::catalog::wire::{CatalogService, NodeServiceList, NodeWithServices};
use crate::http::body::wire::{Node, NodeService};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::selection::{filter, node_meta, sort_nearest};
use crate::http::request::{ReadOptions, Request};
use crate::http::route::routes;
use crate::store::{
    Answer, ConnectInstances, Elsewhere, Index, Instance, NodeInfo, NodeList, NodeRow, Read,
    ServiceInstances, ServiceList, ServiceRow, ServiceView, TaggedInstances,
};
use crate::version::Behaviour;

routes! {
    "/v1/catalog/register" [PUT] => waits(register::register);
    "/v1/catalog/deregister" [PUT] => waits(register::deregister);
    "/v1/catalog/datacenters" [GET] => at_once(|request| Ok(datacenters(request)));
    "/v1/catalog/nodes" [GET] => waits(&nodes);
    "/v1/catalog/services" [GET] => waits(&services);
    "/v1/catalog/service/" [GET] => waits(&service);
    "/v1/catalog/node/" [GET] => waits(&node);
    "/v1/catalog/node-services/" [GET] => waits(&node_services);
    "/v1/catalog/connect/" [GET] => waits(&connect);
    "/v1/catalog/gateway-services/" [GET] => at_once(gateway_services);
}

/// Lists the datacenters: the server's own. The answer has no index. Consul's handler goes on after an error about the
/// parameters, so the list follows the error's text.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let reply = Reply::json(request, &[request.context.config.datacenter.as_str()]);
    let checked = request.consistency().map(|_| ());
    match checked.and_then(|()| request.check_cache_control()) {
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
    let (answer, filter) = read(request, &nodes, options, Node::FILTER).await?;
    let rows = answer.rows.iter();
    let rows = rows.filter(|row| filter.keeps(row));
    let mut rows: Vec<&Arc<NodeRow>> = rows.collect();
    sort_nearest(request, &mut rows, |row| &row.node.node);
    let version = request.version();
    let nodes: Vec<Node<'_>> = rows.iter().map(|row| Node::new(row, version)).collect();
    Ok(reply(request, &nodes, answer.index, options))
}

/// Lists the names of all services with their tags.
pub(crate) async fn services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let services = ServiceList(node_meta(request));
    let (answer, filter) = if request.has(Behaviour::CatalogServicesFilter) {
        let (answer, filter) = read(request, &services, options, CatalogService::FILTER).await?;
        (answer, Some(filter))
    } else {
        (read_unfiltered(request, &services, options).await?, None)
    };
    let kept = |row: &&Instance| filter.as_ref().is_none_or(|filter| filter.keeps(row));
    let tags = service_tags(answer.rows.iter().filter(kept));
    Ok(reply(request, &tags, answer.index, options))
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
    let (answer, filter, options) = read_node(request).await?;
    let version = request.context.config.version;
    let node = node_and_services(&answer, &filter).map(|(node, services)| NodeWithServices {
        node: Node::new(node, version),
        services: services
            .into_iter()
            .map(|row| (row.service.id.as_str(), NodeService::new(row, version)))
            .collect(),
    });
    Ok(reply(request, &node, answer.index, options))
}

/// Shows a node with the list of its services. Both are `null` for a missing node, and an empty list is `null`. Until
/// 1.13 a node that goes while the read is blocked is shown as it was (session.md 4.5b.r28).
pub(crate) async fn node_services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let before = (options.wait.is_some() && !request.has(Behaviour::CatalogNodeIndex))
        .then(|| request.named("node name"))
        .transpose()?
        .and_then(|name| {
            let Ok(answer) = request.context.engine.read(&NodeInfo(name));
            answer.rows
        });
    let (mut answer, filter, options) = read_node(request).await?;
    answer.rows = answer.rows.or(before);
    let version = request.context.config.version;
    let (node, services) = node_and_services(&answer, &filter).unzip();
    let service = |row| NodeService::new(row, version);
    // Go prints its empty list as `null`, unless a filter has made a new one (seen on 1.8.7).
    let services =
        services.filter(|rows| !rows.is_empty() || !request.query.get("filter").is_empty());
    let list = NodeServiceList {
        node: node.map(|row| Node::new(row, version)),
        services: services.map(|rows| rows.into_iter().map(service).collect()),
    };
    Ok(reply(request, &list, answer.index, options))
}

type NodeAnswer = Answer<<NodeInfo as Read>::Rows>;

/// Reads the node of the path. The filter applies to its services.
async fn read_node(
    request: &Request,
) -> Result<(NodeAnswer, Filter<ServiceRow>, ReadOptions), Failure> {
    let options = read_options(request)?;
    let name = request.named("node name")?;
    let (answer, filter) = read(request, &NodeInfo(name), options, NodeService::FILTER).await?;
    Ok((answer, filter, options))
}

fn node_and_services<'a>(
    answer: &'a NodeAnswer,
    filter: &Filter<ServiceRow>,
) -> Option<(&'a NodeRow, Vec<&'a ServiceRow>)> {
    let (node, services) = answer.rows.as_ref()?;
    let services = services.iter().map(Arc::as_ref);
    Some((node, services.filter(|row| filter.keeps(row)).collect()))
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
    let (answer, filter) = read(request, &instances_of, options, CatalogService::FILTER).await?;
    let version = request.context.config.version;
    let rows = instances(request, &answer.rows, &filter);
    let shown = rows
        .into_iter()
        .map(|row| CatalogService::new(row, version));
    let shown: Vec<_> = shown.collect();
    Ok(reply(request, &shown, answer.index, options))
}

/// Selects and sorts instances by the parameters `tag`, `node-meta`, `filter` and `near`.
pub(crate) fn instances<'a>(
    request: &Request,
    rows: &'a [Instance],
    filter: &Filter<Instance>,
) -> Vec<&'a Instance> {
    let (meta, tags) = (node_meta(request), wanted_tags(request));
    let wanted =
        |row: &&Instance| row.has_tags(&tags) && row.node.has_meta(&meta) && filter.keeps(row);
    let mut rows: Vec<&Instance> = rows.iter().filter(wanted).collect();
    sort_nearest(request, &mut rows, |row| &row.service.node);
    rows
}

/// Lists the services of a gateway. There are no gateways, and Go prints the list that was never made as `null`.
pub(crate) fn gateway_services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    request.named("gateway name")?;
    request.check_datacenter_of_read()?;
    let services = request.has(Behaviour::CatalogGatewayServicesEmpty);
    Ok(reply(
        request,
        &services.then_some(NOTHING),
        Index(1),
        options,
    ))
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

/// Runs a read, whose rows may be filtered by these fields.
pub(crate) async fn read<R: Read<Refused = Infallible>, T: 'static>(
    request: &Request,
    read: &R,
    options: ReadOptions,
    fields: &'static [Field<T>],
) -> Result<(Answer<R::Rows>, Filter<T>), Failure> {
    let filter = request
        .check_datacenter()
        .and_then(|()| filter(request, fields));
    let filter = filter.map_err(|failure| failure.of_read(&request.context))?;
    let Ok(answer) = blocking::answer(&request.context.engine, read, options.wait).await;
    Ok((answer, filter))
}

/// Runs a read without a filter.
async fn read_unfiltered<R: Read<Refused = Infallible>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Result<Answer<R::Rows>, Failure> {
    request.check_datacenter_of_read()?;
    let Ok(answer) = blocking::answer(&request.context.engine, read, options.wait).await;
    Ok(answer)
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
