//! `/v1/coordinate/`: where nodes lie in the network: of the agent's own, where it begins; of others nobody knows.

use http::StatusCode;
use serde::Serialize;

use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{GET, Handler::AtOnce, Route, route};
use crate::store::Index;

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/coordinate/nodes", GET, AtOnce(nodes)),
    route(
        "/v1/coordinate/datacenters",
        GET,
        AtOnce(|request| Ok(datacenters(request))),
    ),
    route("/v1/coordinate/node/", GET, AtOnce(node)),
];

/// A node's place.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Place<'a> {
    node: &'a str,
    segment: &'static str,
    coord: Coordinate,
}

/// Where a node lies in the network, as far as anybody has measured.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Coordinate {
    vec: [u8; 8],
    error: f64,
    adjustment: u8,
    height: f64,
}

impl Coordinate {
    /// The place of a node that nobody has measured.
    pub(crate) const UNKNOWN: Self = Self {
        vec: [0; 8],
        error: 1.5,
        adjustment: 0,
        height: 0.000_01,
    };
}

/// A datacenter's servers.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Datacenter<'a> {
    datacenter: &'a str,
    #[serde(rename = "AreaID")]
    area_id: &'static str,
    coordinates: [Place<'a>; 1],
}

fn own(request: &Request) -> Place<'_> {
    Place {
        node: &request.context.config.node_name,
        segment: "",
        coord: Coordinate::UNKNOWN,
    }
}

/// The places of all nodes that have one.
pub(crate) fn nodes(request: &Request) -> Result<Reply, Failure> {
    read(request)?;
    if let Err(failure) = request.check_datacenter() {
        return Ok(Reply::failed_read(&request.context, &failure));
    }
    Ok(Reply::json(request, &[own(request)]).with_index(request, Index(1)))
}

/// The place of a node; 404 without a text for one that has none.
pub(crate) fn node(request: &Request) -> Result<Reply, Failure> {
    if request.rest_text() == request.context.config.node_name {
        return nodes(request);
    }
    read(request)?;
    Ok(Reply::empty(StatusCode::NOT_FOUND))
}

/// The places of the servers of all datacenters.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let datacenter = Datacenter {
        datacenter: &request.context.config.datacenter,
        area_id: "wan",
        coordinates: [own(request)],
    };
    Reply::json(request, &[datacenter])
}

fn read(request: &Request) -> Result<(), Failure> {
    request.read_options().map(|_| ())
}
