//! `/v1/peering`, `/v1/exported-services`: a cluster without peers (operator.md 3).

use std::collections::{BTreeMap, BTreeSet};

use http::Method;

use crate::api::catalog::NOTHING;
use crate::api::cluster::not_emulated;
use crate::failure::{Failure, failures, quoted};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::{ReadOptions, Request};
use proconsul_engine::blocking;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{ConfigGet, Index, Instance, Labels, ServiceList, Unchanging};
use proconsul_version::Version;

failures! {
    /// The path lacks the name of a peering.
    no_name() => 400, "Must specify a name to fetch.";
    /// No peering has this name.
    unknown_peering(name: &str, version: Version) => 404,
        format!("Peering not found for {}", quoted(name, version));
    /// The body of a new peering is not the expected JSON; `words` is Go's text.
    undecodable(words: &str) => 400, format!("Body decoding failed: {words}");
    /// The body lacks the name of the peer.
    no_peer_name(deed: &str) => 400, format!("PeerName is required in the payload when {deed}.");
}

go_struct! {
    /// The part of the bodies of new peerings that is looked at.
    struct PeeringBody as "pbpeering.Request" {
        "PeerName": String => peer_name,
    }
}

/// Lists the peerings, or the services that peers export to this cluster (2.1.md 6.r1): there are none.
pub(super) async fn peerings(request: &Request) -> Result<Reply, Failure> {
    request.check_partition()?;
    let options = request.read_options()?;
    request.authorize_read()?;
    let index = wait_for_peers(request, options).await;
    Ok(Reply::json(request, &NOTHING).with_index(request, index))
}

/// Reads or deletes the peering with a name. No peering exists; deleting a missing one succeeds.
pub(super) async fn peering(request: &Request) -> Result<Reply, Failure> {
    request.check_partition()?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(no_name());
    }
    if request.method == Method::DELETE {
        request.authorize()?;
        return Ok(Reply::done(request));
    }
    let options = request.read_options()?;
    request.authorize()?;
    wait_for_peers(request, options).await;
    Err(unknown_peering(&name, request.version()))
}

/// Waits as long as a read of the peers does, to which nothing ever happens, and returns its index.
async fn wait_for_peers(request: &Request, options: ReadOptions) -> Index {
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer(engine, &Unchanging(Index(1)), options.wait).await;
    answer.index
}

/// Refuses to make a token for a peer.
pub(super) async fn token(request: Request) -> Result<Reply, Failure> {
    make(request, "generating a new peering token").await
}

/// Refuses to become the peer of another cluster.
pub(super) async fn establish(request: Request) -> Result<Reply, Failure> {
    make(request, "establishing a peering").await
}

async fn make(mut request: Request, deed: &str) -> Result<Reply, Failure> {
    let sent = request.read_whole().await;
    let mut body = PeeringBody::default();
    let rules = request.decoding(UnknownFields::Accepted);
    let decoded = request.decode::<PeeringBody>(sent, &mut body, rules);
    decoded.map_err(|words| undecodable(&words))?;
    if body.peer_name.is_empty() {
        return Err(no_peer_name(deed));
    }
    not_emulated::endpoint(&request)
}

/// Lists the services that the entry of their kind exports, by name, each with the peers that may use it. A wildcard
/// stands for the services of the catalog that it does not name.
pub(super) async fn exported_services(request: &Request) -> Result<Reply, Failure> {
    request.check_partition()?;
    let options = request.read_options()?;
    request.authorize_read()?;
    let engine = &request.context.engine;
    let read = ConfigGet {
        kind: "exported-services".to_owned(),
        name: "default".to_owned(),
    };
    let Ok(answer) = blocking::answer(engine, &read, options.wait).await;
    let Ok(all) = engine.read(&ServiceList(Labels::new()));
    let entry = answer.rows.as_ref().map(|row| &row.entry.body);
    let named = entry.map_or(&[][..], |body| body.list("Services"));
    let mut exported: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for service in named {
        let peers = service.list("Consumers").iter();
        let peers = peers.map(|consumer| consumer.text("Peer"));
        let peers: Vec<&str> = peers.filter(|peer| !peer.is_empty()).collect();
        let names: Vec<&str> = match service.text("Name") {
            "*" => all.rows.iter().filter_map(typical).collect(),
            name => vec![name],
        };
        for name in names {
            exported.entry(name).or_default().extend(&peers);
        }
    }
    exported.retain(|_, peers| !peers.is_empty());
    let shown = exported.into_iter().map(|(service, peers)| {
        object! {
            "Service" => service,
            "Consumers" => object! { "Peers" => peers, },
        }
    });
    let reply = Reply::json(request, &shown.collect::<Vec<_>>());
    Ok(reply.with_index(request, answer.index))
}

/// Returns the name of the service of an instance that is neither a proxy nor Consul's own.
fn typical(instance: &Instance) -> Option<&str> {
    let service = &instance.service.service;
    (service.kind.is_empty() && service.name != "consul").then_some(&*service.name)
}
