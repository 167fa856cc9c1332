//! `/v1/coordinate/`: network coordinates. The agent's own node has the initial one, other nodes have none.

use http::StatusCode;
use serde::Serialize;

use crate::acl::{Question, Resource};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::store::Index;

routes! {
    "/v1/coordinate/nodes" [GET] => at_once(nodes);
    "/v1/coordinate/datacenters" [GET] => at_once(|request| Ok(datacenters(request)));
    "/v1/coordinate/node/" [GET] asks node on path => at_once(node);
}

/// Returns the coordinate of a node before its first measurement.
pub(crate) fn unknown() -> impl Serialize {
    object! {
        "Vec" => [0; 8],
        "Error" => 1.5,
        "Adjustment" => 0,
        "Height" => 0.000_01,
    }
}

/// Returns the coordinate of the agent's node.
fn own(request: &Request) -> impl Serialize {
    object! {
        "Node" => &request.context.config.node_name,
        "Segment" => "",
        "Coord" => unknown(),
    }
}

/// Lists the coordinates of all nodes.
pub(crate) fn nodes(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_datacenter_of_read()?;
    let mut rights = request.rights_of_read()?;
    let own_node = Question::read(Resource::Node, &request.context.config.node_name);
    let shown = rights.sees(own_node).then(|| own(request));
    let nodes: Vec<_> = shown.into_iter().collect();
    Ok(rights.told_in(Reply::json(request, &nodes).with_index(request, Index(1))))
}

/// Shows the coordinate of a node; 404 without a text if it has none.
pub(crate) fn node(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_datacenter_of_read()?;
    request.authorize_read()?;
    if request.rest_text() == request.context.config.node_name {
        return nodes(request);
    }
    Ok(Reply::empty(StatusCode::NOT_FOUND))
}

/// Lists the coordinates of the servers of all datacenters.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let datacenter = object! {
        "Datacenter" => &request.context.config.datacenter,
        "AreaID" => "wan",
        "Coordinates" => [own(request)],
    };
    Reply::json(request, &[datacenter])
}
