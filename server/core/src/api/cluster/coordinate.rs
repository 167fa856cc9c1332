//! `/v1/coordinate/`: network coordinates (operator.md 2). The agent's own node has the initial one until an update gives
//! it another.

use std::convert::Infallible;
use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use crate::Context;
use crate::failure::{Failure, FailureKind, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::{ReadOptions, Request};
use crate::route::routes;
use proconsul_acl::{Question, Resource};
use proconsul_config::Config;
use proconsul_engine::blocking;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{
    Answer, Coordinate, CoordinateList, CoordinateRow, CoordinateUpdate, Finite, NodeCoordinates,
    Read,
};
use proconsul_version::Behaviour;

routes! {
    "/v1/coordinate/nodes" [GET] => waits(&nodes);
    "/v1/coordinate/datacenters" [GET] => at_once(|request| Ok(datacenters(request)));
    "/v1/coordinate/node/" [GET] asks node on path => waits(&node);
    "/v1/coordinate/update" [PUT] => waits(update);
}

failures! {
    /// The vector of a coordinate has another length than Consul's.
    incompatible() => 500, "incompatible coordinate";
    /// The body of an update is invalid. Unlike others, this text never has a prefix.
    undecodable(words: &str) => 400, format!("Request decode failed: {words}");
}

type Rows = Vec<Arc<CoordinateRow>>;

/// The length of a vector.
const DIMENSIONS: usize = 8;

go_struct! {
    /// The body of `coordinate/update`.
    struct UpdateBody as "structs.CoordinateUpdateRequest" {
        "Datacenter": String => datacenter,
        "Node": String => node,
        "Segment": String => segment,
        "Partition" since Behaviour::JsonPartition: String,
        "Coord": Option<CoordinateFields> => coordinate,
        "Token": String,
    }
}

go_struct! {
    /// A coordinate.
    struct CoordinateFields as "coordinate.Coordinate" {
        "Vec" is "[]float64": Vec<f64> => vec,
        "Error": f64 => error,
        "Adjustment": f64 => adjustment,
        "Height": f64 => height,
    }
}

/// Returns the coordinate of a node before its first measurement.
fn unmeasured() -> Coordinate {
    Coordinate {
        vec: vec![Finite::default(); DIMENSIONS],
        error: Finite(1.5),
        adjustment: Finite::default(),
        height: Finite(0.000_01),
    }
}

/// Shows the coordinate of a node before its first measurement.
pub(crate) fn unknown() -> impl Serialize {
    shown(&unmeasured())
}

fn shown(coordinate: &Coordinate) -> impl Serialize + use<> {
    let numbers = coordinate.vec.iter().map(|number| number.0);
    object! {
        "Vec" => numbers.collect::<Vec<_>>(),
        "Error" => coordinate.error.0,
        "Adjustment" => coordinate.adjustment.0,
        "Height" => coordinate.height.0,
    }
}

/// Returns the coordinate of an agent's node before any update.
fn unmoved(config: &Config) -> Arc<CoordinateRow> {
    Arc::new(CoordinateRow {
        node: config.node_name.clone(),
        segment: String::new(),
        coordinate: unmeasured(),
    })
}

/// Shows coordinates as those of nodes with their own names, or with the one that a client asked for.
fn entries(rows: &[Arc<CoordinateRow>], name: Option<&str>) -> Vec<impl Serialize + use<>> {
    let entry = |row: &Arc<CoordinateRow>| {
        object! {
            "Node" => name.unwrap_or(&row.node).to_owned(),
            "Segment" => row.segment.clone(),
            "Coord" => shown(&row.coordinate),
        }
    };
    rows.iter().map(entry).collect()
}

/// Reads coordinates, with that of the agent's node if `has_own`, in the segment that the client asks for.
async fn read<R: Read<Rows = Rows, Refused = Infallible>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
    has_own: bool,
) -> Answer<Rows> {
    let engine = &request.context.engine;
    let Ok(mut answer) = blocking::answer(engine, read, options.wait).await;
    let rows = &mut answer.rows;
    let own = unmoved(&request.context.config);
    let is_own = |row: &Arc<CoordinateRow>| row.node.eq_ignore_ascii_case(&own.node);
    if has_own && !rows.iter().any(is_own) {
        let name = own.node.to_lowercase();
        let at = rows.partition_point(|row| row.node.to_lowercase() < name);
        rows.insert(at, own);
    }
    if let Some(segment) = request.query.first("segment") {
        rows.retain(|row| row.segment.as_bytes() == segment);
    }
    answer
}

/// Lists the coordinates of all nodes.
async fn nodes(request: &Request) -> Result<Reply, Failure> {
    request.check_partition()?;
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    request.rights_of_read()?;
    let mut answer = read(request, &CoordinateList, options, true).await;
    let mut rights = request.rights_of_read()?;
    rights.retain(&mut answer.rows, |caller, row| {
        caller.may(Question::read(Resource::Node, &row.node))
    });
    let reply = Reply::json(request, &entries(&answer.rows, None));
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}

/// Shows the coordinates of a node; 404 without a text if it has none.
async fn node(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    request.authorize_read()?;
    let name = request.rest_text();
    let is_own = name.eq_ignore_ascii_case(&request.context.config.node_name);
    let coordinates = NodeCoordinates(name);
    let answer = read(request, &coordinates, options, is_own).await;
    request.authorize_read()?;
    if answer.rows.is_empty() {
        return Ok(Reply::empty(StatusCode::NOT_FOUND));
    }
    let entries = entries(&answer.rows, Some(&coordinates.0));
    Ok(Reply::json(request, &entries).with_index(request, answer.index))
}

/// Sets the coordinate of a node.
async fn update(mut request: Request) -> Result<Reply, Failure> {
    let sent = request.read_whole().await;
    let mut body = UpdateBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<UpdateBody>(sent, &mut body, rules);
    let kind = match request.has(Behaviour::CoordinateBodyReturned) {
        true => FailureKind::Returned,
        false => FailureKind::Direct,
    };
    decoded.map_err(|words| undecodable(&words).of_kind(kind))?;
    request.check_datacenter()?;
    if !request.query.has("dc") {
        request.check_is_own_datacenter(body.datacenter.as_bytes())?;
    }
    // Consul's handler panics without a coordinate, which closes the connection.
    let sent = body.coordinate.ok_or_else(Failure::dropped)?;
    if sent.vec.len() != DIMENSIONS {
        return Err(incompatible());
    }
    request
        .rights()?
        .check(Question::write(Resource::Node, &body.node))?;
    let update = CoordinateUpdate(CoordinateRow {
        node: body.node,
        segment: body.segment,
        coordinate: Coordinate {
            vec: sent.vec.into_iter().map(Finite).collect(),
            error: Finite(sent.error),
            adjustment: Finite(sent.adjustment),
            height: Finite(sent.height),
        },
    });
    let Ok(()) = request.context.engine.apply(update);
    Ok(Reply::done(&request))
}

/// Lists the coordinates of the servers of all datacenters.
pub(crate) fn datacenters(request: &Request) -> Reply {
    let of = |context: &Context| {
        let servers = context.servers().map(|(_, config)| unmoved(config));
        let servers: Vec<_> = servers.collect();
        object! {
            "Datacenter" => context.config.datacenter.clone(),
            "AreaID" => "wan",
            "Coordinates" => entries(&servers, None),
        }
    };
    let context = &request.context;
    let names = context.datacenters();
    let others = names.iter().skip(1);
    let others = others.filter_map(|name| context.other_datacenter(name.as_bytes())?.first());
    let others: Vec<_> = others.collect();
    let all = [context].into_iter().chain(&others);
    Reply::json(request, &all.map(|there| of(there)).collect::<Vec<_>>())
}
