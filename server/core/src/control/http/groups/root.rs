//! The description of the control plane itself.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::control::Controls;
use crate::control::http::call::{Nothing, PlainText, Refused, Written, calls};
use crate::control::http::describe;

calls! {
    /// This list, as text.
    GET "/" overview;
    /// The OpenAPI description of these calls, as JSON.
    GET "/openapi.json" openapi;
    /// What this server is, and the seed with which it can be started again.
    GET "/server" server;
}

/// An OpenAPI document.
#[derive(JsonSchema, Serialize)]
struct OpenApi {
    /// The version of OpenAPI.
    openapi: String,
    /// What is described.
    info: Value,
    /// The calls, by path and method.
    paths: Map<String, Value>,
}

async fn overview(_: Controls, _: Nothing) -> Result<PlainText, Refused> {
    Ok(PlainText(describe::list()))
}

async fn openapi(_: Controls, _: Nothing) -> Result<Written<OpenApi>, Refused> {
    Ok(Written::new(describe::openapi().to_owned()))
}

/// What a server is.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct About {
    /// The version of proconsul.
    proconsul: String,
    /// The emulated release of Consul.
    version: String,
    /// The seed from which session ids, the node's id and jitter are drawn; `--seed` and `POST /servers` take it.
    seed: u64,
    /// The name of the agent's node.
    node: String,
    /// The name of the datacenter.
    datacenter: String,
    /// The wall clock at the start of the server's clock, in milliseconds since the Unix epoch: with the time of a record
    /// it is the wall clock of that record.
    epoch_ms: u64,
}

async fn server(control: Controls, _: Nothing) -> Result<About, Refused> {
    let epoch = control.engine.clock().unix_nanos_of_epoch() / 1_000_000;
    Ok(About {
        epoch_ms: u64::try_from(epoch).unwrap_or(0),
        proconsul: env!("CARGO_PKG_VERSION").to_owned(),
        seed: control.seed,
        version: control.version.to_string(),
        node: control.node_name,
        datacenter: control.datacenter,
    })
}
