//! `/v1/internal/service-virtual-ip`: the addresses of a service of the mesh that an operator gives it (operator.md
//! 3.r14). Nothing here resolves names.

use std::net::IpAddr;

use serde::Serialize;

use crate::failure::{Failure, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::VirtualAssign;

failures! {
    /// There are more addresses than a service may have.
    too_many() => 500,
        "cannot associate more than 8 manual virtual IPs with the same service";
    /// An address is none. Consul shows what it could not read.
    no_address() => 500, "\"<nil>\" is not a valid ip address";
}

/// The most addresses that an operator may give a service.
const MOST: usize = 8;

go_struct! {
    /// The service of a request, and its addresses.
    struct AddressesBody as "structs.AssignServiceManualVIPsRequest" {
        "Service": String => service,
        "ManualVIPs": Vec<String> => addresses,
        "Datacenter": String => datacenter,
    }
}

/// Gives the service addresses, if it has one of its own. Says from which services they were taken.
pub(super) async fn assign(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let sent = request.read_whole().await;
    let mut body = AddressesBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<AddressesBody>(sent, &mut body, rules);
    decoded.map_err(|words| Failure::undecodable(&words))?;
    request.check_is_own_datacenter(body.datacenter.as_bytes())?;
    request.authorize()?;
    if body.addresses.len() > MOST {
        return Err(too_many());
    }
    let addresses = body.addresses.iter();
    let addresses: Result<Vec<IpAddr>, _> = addresses.map(|address| address.parse()).collect();
    let taken = request.context.engine.apply(VirtualAssign {
        service: body.service,
        addresses: addresses.map_err(|_| no_address())?,
    });
    let Ok(taken) = taken;
    let shown = object! {
        "Found" => taken.is_some(),
        "UnassignedFrom" => shown(taken.unwrap_or_default()),
    };
    Ok(Reply::json(&request, &shown))
}

/// Shows services without a peer; `None`, which is `null`, without any.
fn shown(services: Vec<String>) -> Option<Vec<impl Serialize>> {
    let shown = |service: String| {
        object! {
            "ServiceName" => object! { "Name" => service, },
            "Peer" => "",
        }
    };
    (!services.is_empty()).then(|| services.into_iter().map(shown).collect())
}
