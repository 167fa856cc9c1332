//! `/v1/catalog/`: the nodes and services that there are (session.md 4.5).

pub(crate) mod bodies;
pub(crate) mod failure;
pub(crate) mod register;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::blocking;
use crate::filter::{Field, Filter};
use crate::http::api::catalog::wire::{CatalogService, NodeServiceList, NodeWithServices};
use crate::http::body::wire::{Node, NodeService};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::selection::{filter, node_meta, sort_nearest};
use crate::http::request::{ReadOptions, Request};
use crate::http::route::{GET, Handler::AtOnce, PUT, Route, route, waits};
use crate::store::{Answer, Index, Instance, NodeRow, Query, Rows, ServiceRow};
use crate::version::Behaviour;

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/catalog/register", PUT, waits!(register::register)),
    route("/v1/catalog/deregister", PUT, waits!(register::deregister)),
    route(
        "/v1/catalog/datacenters",
        GET,
        AtOnce(|request| Ok(datacenters(request))),
    ),
    route("/v1/catalog/nodes", GET, waits!(&nodes)),
    route("/v1/catalog/services", GET, waits!(&services)),
    route("/v1/catalog/service/", GET, waits!(&service)),
    route("/v1/catalog/node/", GET, waits!(&node)),
    route("/v1/catalog/node-services/", GET, waits!(&node_services)),
    route("/v1/catalog/connect/", GET, waits!(&connect)),
    route(
        "/v1/catalog/gateway-services/",
        GET,
        AtOnce(gateway_services),
    ),
];

/// The names of all datacenters: the one there is. Not a read that has an index. What is wrong with the parameters
/// is said, and the answer follows all the same, as Consul's handler goes on.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let reply = Reply::json(request, &[request.context.config.datacenter.as_str()]);
    let checked = request.consistency().map(|_| ());
    match checked.and_then(|()| request.check_cache_control()) {
        Ok(()) => reply,
        Err(failure) => reply.behind(&failure, request.context.config.version),
    }
}

/// All nodes, in the order of their names.
pub(crate) async fn nodes(request: &Request) -> Result<Reply, Failure> {
    // Nodes belong to no namespace.
    request.check_partition()?;
    let options = request.read_options()?;
    let (answer, filter) = match read(request, Query::Nodes, options, Node::FILTER).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Nodes(rows) = &answer.rows else {
        unreachable!("the nodes are answered with nodes");
    };
    let meta = node_meta(request);
    let rows = rows
        .iter()
        .filter(|row| row.has_meta(&meta) && filter.keeps(row));
    let mut rows: Vec<&Arc<NodeRow>> = rows.collect();
    sort_nearest(request, &mut rows, |row| &row.node.node);
    let version = request.version();
    let nodes: Vec<Node<'_>> = rows.iter().map(|row| Node::new(row, version)).collect();
    Ok(reply(request, &nodes, &answer, options))
}

/// The names of all services, with their tags.
pub(crate) async fn services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let query = Query::Services(node_meta(request));
    let read = if request.has(Behaviour::CatalogServicesFilter) {
        let read = read(request, query, options, CatalogService::FILTER).await;
        read.map(|(answer, filter)| (answer, Some(filter)))
    } else {
        let read = read_unfiltered(request, query, options).await;
        read.map(|answer| (answer, None))
    };
    let (answer, filter) = match read {
        Ok(read) => read,
        Err(failed) => return Ok(failed),
    };
    let Rows::Instances(rows) = &answer.rows else {
        unreachable!("the services are answered with their instances");
    };
    let kept = |row: &&Instance| filter.as_ref().is_none_or(|filter| filter.keeps(row));
    let tags = service_tags(rows.iter().filter(kept));
    Ok(reply(request, &tags, &answer, options))
}

/// Each tag once, whichever instances have it.
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

/// A node with its services by their ids; `null` for one that does not exist.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    let (answer, filter, options) = match read_node(request).await? {
        Ok(read) => read,
        Err(failed) => return Ok(failed),
    };
    let version = request.context.config.version;
    let node = node_and_services(&answer, &filter).map(|(node, services)| NodeWithServices {
        node: Node::new(node, version),
        services: services
            .into_iter()
            .map(|row| (row.service.id.as_str(), NodeService::new(row, version)))
            .collect(),
    });
    Ok(reply(request, &node, &answer, options))
}

/// A node with the list of its services; both are `null` for one that does not exist, and the list where it is empty.
pub(crate) async fn node_services(request: &Request) -> Result<Reply, Failure> {
    let (answer, filter, options) = match read_node(request).await? {
        Ok(read) => read,
        Err(failed) => return Ok(failed),
    };
    let version = request.context.config.version;
    let (node, services) = node_and_services(&answer, &filter).unzip();
    let service = |row| NodeService::new(row, version);
    // Go's list of nothing is `null` until a filter makes another one (seen on 1.8.7).
    let services =
        services.filter(|rows| !rows.is_empty() || !request.query.get("filter").is_empty());
    let list = NodeServiceList {
        node: node.map(|row| Node::new(row, version)),
        services: services.map(|rows| rows.into_iter().map(service).collect()),
    };
    Ok(reply(request, &list, &answer, options))
}

/// Reads the node that the path names; the filter is for its services.
async fn read_node(
    request: &Request,
) -> Result<Result<(Answer, Filter<ServiceRow>, ReadOptions), Reply>, Failure> {
    let options = read_options(request)?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::missing("node name"));
    }
    let read = read(request, Query::Node(name), options, NodeService::FILTER).await;
    Ok(read.map(|(answer, filter)| (answer, filter, options)))
}

fn node_and_services<'a>(
    answer: &'a Answer,
    filter: &Filter<ServiceRow>,
) -> Option<(&'a NodeRow, Vec<&'a ServiceRow>)> {
    let Rows::Node(row) = &answer.rows else {
        unreachable!("a node is answered with a node");
    };
    let (node, services) = row.as_ref()?;
    let services = services.iter().map(Arc::as_ref);
    Some((node, services.filter(|row| filter.keeps(row)).collect()))
}

/// The instances of a service; those with all the tags that are asked for.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, Query::Service).await
}

/// The proxies of a service, and its instances that need none.
pub(crate) async fn connect(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, Query::Connect).await
}

async fn shown_instances(request: &Request, query: fn(String) -> Query) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let query = query(service_name(request)?);
    let (answer, filter) = match read(request, query, options, CatalogService::FILTER).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let version = request.context.config.version;
    let rows = instances(request, &answer, &filter);
    let shown = rows
        .into_iter()
        .map(|row| CatalogService::new(row, version));
    Ok(reply(request, &shown.collect::<Vec<_>>(), &answer, options))
}

/// The instances of an answer that the parameters of the request ask for, in the order that they ask for.
pub(crate) fn instances<'a>(
    request: &Request,
    answer: &'a Answer,
    filter: &Filter<Instance>,
) -> Vec<&'a Instance> {
    let Rows::Instances(rows) = &answer.rows else {
        unreachable!("a service is answered with its instances");
    };
    let meta = node_meta(request);
    let wanted =
        |row: &&Instance| has_tags(request, row) && row.node.has_meta(&meta) && filter.keeps(row);
    let mut rows: Vec<&Instance> = rows.iter().filter(wanted).collect();
    sort_nearest(request, &mut rows, |row| &row.service.node);
    rows
}

/// The services behind a gateway: there are no gateways, and never were.
pub(crate) fn gateway_services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    if request.rest.is_empty() {
        return Err(Failure::missing("gateway name"));
    }
    if let Err(failure) = request.check_datacenter() {
        return Ok(Reply::failed_read(&request.context, &failure));
    }
    Ok(Reply::json(request, &())
        .with_index(request, Index(1))
        .with_consistency(options.consistency))
}

/// An empty list.
pub(crate) const NOTHING: [(); 0] = [];

/// The service that the path names.
pub(crate) fn service_name(request: &Request) -> Result<String, Failure> {
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::missing("service name"));
    }
    Ok(name)
}

/// Whether an instance has every `tag` of the query, whatever the case.
fn has_tags(request: &Request, instance: &Instance) -> bool {
    let tags = instance.service.service.tags();
    let mut wanted = request.query.all("tag");
    wanted.all(|wanted| {
        tags.iter()
            .any(|tag| tag.as_bytes().eq_ignore_ascii_case(wanted))
    })
}

/// The parameters of a read of the catalog or of health.
pub(crate) fn read_options(request: &Request) -> Result<ReadOptions, Failure> {
    request.check_tenancy()?;
    request.read_options()
}

/// Runs a read whose rows may be filtered by these fields; or gives the answer to what is wrong with the request.
pub(crate) async fn read<T: 'static>(
    request: &Request,
    query: Query,
    options: ReadOptions,
    fields: &'static [Field<T>],
) -> Result<(Answer, Filter<T>), Reply> {
    let checked = request.check_datacenter();
    let filter = checked.and_then(|()| filter(request, fields));
    let filter = filter.map_err(|failure| Reply::failed_read(&request.context, &failure))?;
    let answer = read_unfiltered(request, query, options).await?;
    Ok((answer, filter))
}

/// Runs a read, which only another datacenter can make fail; or gives the answer to that.
async fn read_unfiltered(
    request: &Request,
    query: Query,
    options: ReadOptions,
) -> Result<Answer, Reply> {
    if let Err(failure) = request.check_datacenter() {
        return Err(Reply::failed_read(&request.context, &failure));
    }
    let answer = blocking::answer(&request.context.engine, &query, options.wait).await;
    Ok(answer.expect("only reads of sessions are refused"))
}

/// The answer of a read that reports its consistency.
pub(crate) fn reply(
    request: &Request,
    value: &impl serde::Serialize,
    answer: &Answer,
    options: ReadOptions,
) -> Reply {
    Reply::json(request, value)
        .with_index(request, answer.index)
        .with_consistency(options.consistency)
}
