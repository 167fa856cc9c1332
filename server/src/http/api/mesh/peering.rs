//! `/v1/peering`, `/v1/exported-services`: a cluster without peers, which exports nothing (operator.md 3).

use http::Method;

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::go_struct;
use crate::http::api::catalog::NOTHING;
use crate::http::api::cluster::absent;
use crate::http::api::mesh::config_entry;
use crate::http::failure::{Failure, failures, quoted};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::store::Index;
use crate::version::{Behaviour, Version};

routes! {
    "/v1/peerings" [GET] asks peering => at_once(peerings), since Behaviour::Peering;
    "/v1/peering/token" [POST] asks peering => waits(token), since Behaviour::Peering;
    "/v1/peering/establish" [POST] asks peering => waits(establish), since Behaviour::Peering;
    "/v1/peering/" [GET DELETE] asks peering => at_once(peering), since Behaviour::Peering;
    "/v1/exported-services" [GET] asks mesh => at_once(exported_services), since Behaviour::ExportedServices;
}

failures! {
    /// The path lacks the name of a peering.
    no_name() => 400, "Must specify a name to fetch.";
    /// No peering has this name.
    unknown_peering(name: &str, version: Version) => 404,
        format!("Peering not found for {}", quoted(name, version));
    /// The body lacks the name of the peer.
    no_peer_name(deed: &str) => 400, format!("PeerName is required in the payload when {deed}.");
}

go_struct! {
    /// The part of the bodies of new peerings that is looked at.
    struct PeeringBody as "pbpeering.Request" {
        "PeerName": String => peer_name,
    }
}

/// Lists the peerings: there are none.
fn peerings(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.authorize_read()?;
    Ok(Reply::json(request, &NOTHING).with_index(request, Index(1)))
}

/// Reads or deletes the peering with a name. No peering exists; deleting a missing one succeeds.
fn peering(request: &Request) -> Result<Reply, Failure> {
    let name = request.rest_text();
    if request.method == Method::DELETE {
        request.authorize()?;
        return Ok(Reply::done(request));
    }
    if name.is_empty() {
        return Err(no_name());
    }
    request.authorize()?;
    Err(unknown_peering(&name, request.version()))
}

/// Refuses to make a token for a peer.
async fn token(request: Request) -> Result<Reply, Failure> {
    make(request, "generating a new peering token").await
}

/// Refuses to become the peer of another cluster.
async fn establish(request: Request) -> Result<Reply, Failure> {
    make(request, "establishing a peering").await
}

async fn make(mut request: Request, deed: &str) -> Result<Reply, Failure> {
    let sent = request.read_whole().await;
    let mut body = PeeringBody::default();
    let rules = request.decoding(UnknownFields::Accepted);
    let decoded = request.decode::<PeeringBody>(sent, &mut body, rules);
    decoded.map_err(|words| Failure::undecodable(&words))?;
    if body.peer_name.is_empty() {
        return Err(no_peer_name(deed));
    }
    absent::endpoint(&request)
}

/// Lists the services that are exported to others: there are none.
fn exported_services(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.authorize_read()?;
    Ok(Reply::json(request, &NOTHING).with_index(request, config_entry::index(request)))
}
