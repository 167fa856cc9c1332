//! `/v1/catalog/`: the nodes and services that there are (session.md 4.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::errors::Failure;
use super::reply::Reply;
use super::request::{ReadOptions, Request};
use super::wire_catalog::{CatalogService, Node, NodeService, NodeWithServices, ServiceTags};
use crate::blocking;
use crate::store::{Answer, Instance, Query, Rows, ServiceRow};

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
    let answer = match read(request, Query::Nodes, options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Nodes(rows) = &answer.rows else {
        unreachable!("the nodes are answered with nodes");
    };
    let nodes: Vec<Node<'_>> = rows.iter().map(|row| Node::new(row)).collect();
    Ok(reply(request, &nodes, &answer, options))
}

/// The names of all services, with their tags.
pub(crate) async fn services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let answer = match read(request, Query::Services, options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Services(rows) = &answer.rows else {
        unreachable!("the services are answered with services");
    };
    Ok(reply(request, &service_tags(rows), &answer, options))
}

/// Each tag once, whichever instances have it.
fn service_tags(rows: &[Arc<ServiceRow>]) -> ServiceTags<'_> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let tags = names.entry(&row.service.name).or_default();
        for tag in &row.service.tags {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
    }
    ServiceTags(names)
}

/// A node with its services; `null` for one that does not exist.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::Missing("node name"));
    }
    let answer = match read(request, Query::Node(name), options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Node(row) = &answer.rows else {
        unreachable!("a node is answered with a node");
    };
    let version = request.context.config.version;
    let node = row.as_ref().map(|(node, services)| NodeWithServices {
        node: Node::new(node),
        services: services
            .iter()
            .map(|row| (row.service.id.as_str(), NodeService::new(row, version)))
            .collect(),
    });
    Ok(reply(request, &node, &answer, options))
}

/// The instances of a service; those with all the tags that are asked for.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = service_name(request)?;
    let answer = match read(request, Query::Service(name), options).await {
        Ok(answer) => answer,
        Err(failed) => return Ok(failed),
    };
    let Rows::Instances(rows) = &answer.rows else {
        unreachable!("a service is answered with its instances");
    };
    let version = request.context.config.version;
    let rows = rows.iter().filter(|row| has_tags(request, row));
    let instances: Vec<_> = rows.map(|row| CatalogService::new(row, version)).collect();
    Ok(reply(request, &instances, &answer, options))
}

/// The service that the path names.
pub(super) fn service_name(request: &Request) -> Result<String, Failure> {
    let name = request.rest_text();
    if name.is_empty() {
        return Err(Failure::Missing("service name"));
    }
    Ok(name)
}

/// Whether an instance has every `tag` of the query, whatever the case.
pub(super) fn has_tags(request: &Request, instance: &Instance) -> bool {
    let tags = &instance.service.service.tags;
    let mut wanted = request.query.all("tag");
    wanted.all(|wanted| {
        wanted.is_empty()
            || tags
                .iter()
                .any(|tag| tag.as_bytes().eq_ignore_ascii_case(wanted))
    })
}

/// The parameters of a read of the catalog or of health.
pub(super) fn read_options(request: &Request) -> Result<ReadOptions, Failure> {
    request.check_tenancy()?;
    request.read_options()
}

/// Runs a read, which only another datacenter can make fail; or gives the answer to that.
pub(super) async fn read(
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
pub(super) fn reply(
    request: &Request,
    value: &impl serde::Serialize,
    answer: &Answer,
    options: ReadOptions,
) -> Reply {
    Reply::json(request, value)
        .with_index(request, answer.index)
        .with_consistency(options.consistency)
}
