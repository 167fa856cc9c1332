//! `/v1/internal/ui/`: the catalog as Consul's own page reads it (operator.md 3.r12, 3.r13, 3.r15 to 3.r18).

use http::StatusCode;

use super::summary::Summaries;
use super::{read, sees_node, sees_service};
use crate::auth::rights::Rights;
use crate::body::wire::{Check, HealthEntry, NodeService};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::table::{Look, table};
use crate::request::{ReadOptions, Request};
use crate::route::routes;
use proconsul_acl::caller::Caller;
use proconsul_engine::blocking;
use proconsul_store::{
    AllInstances, GatewayInstances, Instance, WholeNode, WholeNodeNamed, WholeNodes,
};

routes! {
    "/v1/internal/ui/services" [GET] => waits(&services);
    "/v1/internal/ui/nodes" [GET] => waits(&nodes);
    "/v1/internal/ui/node/" [GET] => waits(&node);
    "/v1/internal/ui/gateway-services-nodes/" [GET] asks service on path => waits(&behind_gateway);
}

table! {
    /// A node with what is on it.
    NodeOfPage of row: WholeNode {
        "ID" => text(row.node.node.id),
        "Node" => text(row.node.node.node),
        "Address" => text(row.node.node.address),
        "TaggedAddresses" => labels(row.node.node.tagged_addresses),
        "Meta" => labels(row.node.node.meta),
        "Services" => each(NodeService, row.services.iter().map(|row| &**row)),
        "Checks" => each(Check, row.checks.iter().map(|row| &**row)),
    }
}

/// Lists the services by name, each with the sum of its instances.
async fn services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    check_token(request)?;
    let fields = HealthEntry::FILTER;
    let (answer, filter, mut rights) = read(request, &AllInstances, options, fields).await?;
    let mut rows: Vec<&Instance> = answer.rows.iter().collect();
    rights.retain(&mut rows, |caller, row| sees_instance(caller, row));
    rows.retain(|row| filter.keeps(row));
    let mut services = Summaries::default();
    rows.into_iter().for_each(|row| services.count(row));
    let reply = Reply::json(request, &services.listed(request));
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}

/// Reads how a read of the page waits, before its namespace is looked at, which those of the catalog look at first.
fn read_options(request: &Request) -> Result<ReadOptions, Failure> {
    let options = request.read_options()?;
    request.check_tenancy()?;
    Ok(options)
}

/// Checks the datacenter and the token of a read that finds out about both before it looks at its filter.
fn check_token(request: &Request) -> Result<(), Failure> {
    request.check_datacenter_of_read()?;
    request.rights_of_read().map(|_| ())
}

fn sees_instance(caller: &Caller, row: &Instance) -> bool {
    sees_node(caller, &row.node.node.node) && sees_service(caller, &row.service.service.name)
}

/// Lists the nodes by name, each with its services and checks.
async fn nodes(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    check_token(request)?;
    let fields = NodeOfPage::FILTER;
    let (mut answer, filter, mut rights) = read(request, &WholeNodes, options, fields).await?;
    keep_seen(&mut answer.rows, &mut rights);
    let rows = answer.rows.iter().filter(|row| filter.keeps(row));
    let shown: Vec<_> = rows.map(|row| shown(request, row)).collect();
    let reply = Reply::json(request, &shown);
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}

/// Shows a node as transactions do: with `null` for tags that were not registered.
fn shown<'a>(request: &Request, row: &'a WholeNode) -> NodeOfPage<'a> {
    NodeOfPage::new(row, Look::of_txn(request.version()))
}

/// Removes the nodes that the caller does not see, and what it does not see of the others.
fn keep_seen(rows: &mut Vec<WholeNode>, rights: &mut Rights) {
    rights.retain(rows, |caller, row| sees_node(caller, &row.node.node.node));
    for row in rows {
        rights.retain(&mut row.services, |caller, row| {
            sees_service(caller, &row.service.name)
        });
        rights.retain(&mut row.checks, |caller, row| {
            row.service_name.is_empty() || sees_service(caller, &row.service_name)
        });
    }
}

/// Shows a node with its services and checks; 404 without a text or an index for a missing one.
async fn node(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let node = WholeNodeNamed(request.named("node name")?);
    check_token(request)?;
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer(engine, &node, options.wait).await;
    let mut rights = request.rights_of_read()?;
    let mut rows: Vec<WholeNode> = answer.rows.into_iter().collect();
    keep_seen(&mut rows, &mut rights);
    let Some(row) = rows.first() else {
        // Who may not see the node is not told that there is one.
        rights.note_removal();
        return Ok(Reply::empty(StatusCode::NOT_FOUND));
    };
    let reply = Reply::json(request, &shown(request, row)).with_index(request, answer.index);
    Ok(rights.told_in(reply))
}

/// Lists the services behind a gateway by name, each with the sum of its instances.
async fn behind_gateway(request: &Request) -> Result<Reply, Failure> {
    let options = super::read_options(request)?;
    let gateway = GatewayInstances(request.named("gateway name")?);
    request.check_datacenter_of_read()?;
    request.authorize_read()?;
    let engine = &request.context.engine;
    let Ok(mut answer) = blocking::answer(engine, &gateway, options.wait).await;
    let mut rights = request.rights_of_read()?;
    rights.retain(&mut answer.rows, |caller, (behind, _)| {
        sees_service(caller, &behind.service)
    });
    let mut services = Summaries::default();
    for (behind, instances) in &mut answer.rows {
        rights.retain(instances, sees_instance);
        services.reach(behind, &request.context.config.datacenter);
        instances.iter().for_each(|row| services.count(row));
    }
    let reply = Reply::json(request, &services.shown(request));
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}
