//! `/v1/internal/service-virtual-ip`: the addresses of a service of the mesh that an operator gives it (operator.md
//! 3.r14). Nothing here resolves names, so they are not kept.

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::go_struct;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::store::{ConnectInstances, ServiceView};
use crate::version::Behaviour;

routes! {
    "/v1/internal/service-virtual-ip" [PUT] asks mesh:write => waits(assign), since Behaviour::ServiceVirtualIp;
}

go_struct! {
    /// The service of a request. Its addresses are decoded for their errors alone.
    struct AddressesBody as "structs.AssignServiceManualVIPsRequest" {
        "Service": String => service,
        "ManualVIPs": Vec<String>,
    }
}

/// Says whether the service has a virtual address of its own, which a service of the mesh has.
async fn assign(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let sent = request.read_whole().await;
    let mut body = AddressesBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<AddressesBody>(sent, &mut body, rules);
    decoded.map_err(|words| Failure::undecodable(&words))?;
    request.check_datacenter()?;
    request.authorize()?;
    let instances = ConnectInstances(ServiceView::Catalog, body.service);
    let Ok(answer) = request.context.engine.read(&instances);
    let shown = object! {
        "Found" => !answer.rows.is_empty(),
        "UnassignedFrom" => (),
    };
    Ok(Reply::json(&request, &shown))
}
