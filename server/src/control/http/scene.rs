//! What else happens to a server: restarts, refused connections, lower indexes, and what fails in its catalog.

use axum::Json;
use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::aside;
use super::call::{Body, Call, Nothing, Refused, call};
use super::records::{AtIndex, Done};
use crate::control::{Control, Restart};

type Answer<T> = Result<Json<T>, Refused>;

const BEHIND_ITS_OWN_DOOR: &str =
    "The control plane has no port of its own, and would cut itself off.";

pub(super) fn calls() -> Vec<Call> {
    let mut calls = door_calls();
    calls.extend(catalog_calls());
    calls
}

fn door_calls() -> Vec<Call> {
    vec![
        call(
            Method::POST,
            "/connections/refuse",
            "refuseConnections",
            "Closes all connections and refuses new ones; the port stays the server's. Needs a control port.",
            refuse_connections,
        )
        .refuses(409, BEHIND_ITS_OWN_DOOR),
        call(
            Method::POST,
            "/connections/accept",
            "acceptConnections",
            "Takes connections again, on the same port.",
            accept_connections,
        ),
        call(
            Method::POST,
            "/restart",
            "restart",
            "Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.",
            restart,
        )
        .example(json!({ "state": "keep" }))
        .refuses(409, BEHIND_ITS_OWN_DOOR),
        call(
            Method::POST,
            "/indexes/lower",
            "lowerIndexes",
            "Lowers every index, but to 1 at the least, as after a restore; blocked requests are answered.",
            lower_indexes,
        )
        .example(json!({ "by": 1 })),
    ]
}

fn catalog_calls() -> Vec<Call> {
    vec![
        call(
            Method::POST,
            "/sessions/expire",
            "expireSession",
            "Lets a session lapse now.",
            expire_session,
        )
        .example(json!({ "session": "SESSION" }))
        .refuses(404, "There is no such session."),
        call(
            Method::POST,
            "/checks/fail",
            "failCheck",
            "Makes a check critical, which ends the sessions that are bound to it.",
            fail_check,
        )
        .example(json!({ "node": "proconsul", "check": "serfHealth" }))
        .refuses(404, "There is no such check."),
        call(
            Method::POST,
            "/checks/pass",
            "passCheck",
            "Makes a check passing.",
            pass_check,
        )
        .example(json!({ "check": "serfHealth" }))
        .refuses(404, "There is no such check."),
        call(
            Method::POST,
            "/nodes/delete",
            "deleteNode",
            "Deletes a node with its services, checks and sessions.",
            delete_node,
        )
        .example(json!({ "node": "proconsul" }))
        .refuses(404, "There is no such node."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RestartWith {
    /// What the restart leaves of the state.
    state: Left,
}

/// What a restart leaves.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Left {
    /// What Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are forgotten.
    Keep,
    /// Nothing, as of `consul agent -dev`.
    Wipe,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByIndexes {
    /// By how much the indexes are lowered.
    by: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneSession {
    /// The id of the session.
    session: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneCheck {
    /// The name of the check's node; the agent's own node when it is left out.
    node: Option<String>,
    /// The id of the check, such as `serfHealth`.
    check: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneNode {
    /// The name of the node.
    node: String,
}

/// Refuses calls that would close the connection on which they came.
fn has_own_port(control: &Control) -> Result<(), Refused> {
    if control.has_own_port() {
        return Ok(());
    }
    Err(Refused::unmet(
        "this would close the control plane's own connection; start the server with a control port",
    ))
}

async fn refuse_connections(control: Control, _: Nothing) -> Answer<Done> {
    has_own_port(&control)?;
    let refused = control.refuse_connections_async().await;
    refused.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Json(Done {}))
}

async fn accept_connections(control: Control, _: Nothing) -> Answer<Done> {
    let accepted = control.accept_connections_async().await;
    accepted.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Json(Done {}))
}

async fn restart(control: Control, Body(with): Body<RestartWith>) -> Answer<AtIndex> {
    has_own_port(&control)?;
    let restart = match with.state {
        Left::Keep => Restart::KeepState,
        Left::Wipe => Restart::WipeState,
    };
    let restarted = control.restart_async(restart).await;
    restarted.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Json(AtIndex::of(&control)))
}

async fn lower_indexes(
    control: Control,
    Body(ByIndexes { by }): Body<ByIndexes>,
) -> Answer<AtIndex> {
    let lowered = control.clone();
    aside(move || lowered.lower_indexes(by)).await?;
    Ok(Json(AtIndex::of(&control)))
}

async fn expire_session(
    control: Control,
    Body(OneSession { session }): Body<OneSession>,
) -> Answer<Done> {
    let expired = control.sessions().expire(&session);
    expired.map_err(|_| Refused::missing(format!("there is no session {session:?}")))?;
    Ok(Json(Done {}))
}

async fn fail_check(
    control: Control,
    Body(OneCheck { node, check }): Body<OneCheck>,
) -> Answer<Done> {
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let failed = control.catalog().fail_check(&node, &check);
    failed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Json(Done {}))
}

async fn pass_check(
    control: Control,
    Body(OneCheck { node, check }): Body<OneCheck>,
) -> Answer<Done> {
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let passed = control.catalog().pass_check(&node, &check);
    passed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Json(Done {}))
}

async fn delete_node(control: Control, Body(OneNode { node }): Body<OneNode>) -> Answer<Done> {
    let nodes = control.catalog().nodes();
    if !nodes
        .iter()
        .any(|row| row.node.node.eq_ignore_ascii_case(&node))
    {
        return Err(Refused::missing(format!("there is no node {node:?}")));
    }
    control.catalog().delete_node(&node);
    Ok(Json(Done {}))
}
