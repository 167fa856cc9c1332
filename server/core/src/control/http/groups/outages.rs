//! What else happens to a server: restarts, refused connections, lower indexes, and what fails in its catalog.

use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{AtIndex, Done};
use crate::control::http::aside;
use crate::control::http::call::{JsonBody, Nothing, Refused, calls};
use crate::control::{Controls, Restart};

const BEHIND_ITS_OWN_DOOR: &str =
    "The control plane has no port of its own, and would cut itself off.";

calls! {
    /// Closes all connections and refuses new ones; the port stays the server's. Needs a control port.
    POST "/connections/refuse" refuse_connections, refuses 409 BEHIND_ITS_OWN_DOOR;
    /// Takes connections again, on the same port.
    POST "/connections/accept" accept_connections;
    /// Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.
    POST "/restart" restart, example { "state": "keep" }, refuses 409 BEHIND_ITS_OWN_DOOR;
    /// Lowers every index, but to 1 at the least, as of a Consul that was built anew with the same data; blocked requests are answered.
    POST "/indexes/lower" lower_indexes, example { "by": 1 };
    /// Expires a session now.
    POST "/sessions/expire" expire_session, example { "session": "SESSION" }, refuses 404 "There is no such session.";
    /// Makes a check critical, which ends the sessions that are bound to it.
    POST "/checks/fail" fail_check, example { "node": "proconsul", "check": "serfHealth" }, refuses 404 "There is no such check.";
    /// Makes a check passing.
    POST "/checks/pass" pass_check, example { "check": "serfHealth" }, refuses 404 "There is no such check.";
    /// Deletes a node with its services, checks and sessions.
    POST "/nodes/delete" delete_node, example { "node": "proconsul" }, refuses 404 "There is no such node.";
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
#[schemars(title = "RestartState")]
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

/// Refuses calls that would close their own connection.
fn has_own_port(control: &Controls) -> Result<(), Refused> {
    if control.all_addresses().control.is_some() {
        return Ok(());
    }
    Err(Refused::unmet(
        "this would close the control plane's own connection; start the server with a control port",
    ))
}

async fn refuse_connections(control: Controls, _: Nothing) -> Result<Done, Refused> {
    has_own_port(&control)?;
    let refused = control.refuse_connections_async().await;
    refused.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Done {})
}

async fn accept_connections(control: Controls, _: Nothing) -> Result<Done, Refused> {
    let accepted = control.accept_connections_async().await;
    accepted.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Done {})
}

async fn restart(
    control: Controls,
    JsonBody(with): JsonBody<RestartWith>,
) -> Result<AtIndex, Refused> {
    has_own_port(&control)?;
    let restart = match with.state {
        Left::Keep => Restart::KeepState,
        Left::Wipe => Restart::WipeState,
    };
    let restarted = control.restart_async(restart).await;
    restarted.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(AtIndex::of(&control))
}

async fn lower_indexes(
    control: Controls,
    JsonBody(ByIndexes { by }): JsonBody<ByIndexes>,
) -> Result<AtIndex, Refused> {
    aside(&control, move |control| control.lower_indexes(by)).await?;
    Ok(AtIndex::of(&control))
}

async fn expire_session(
    control: Controls,
    JsonBody(OneSession { session }): JsonBody<OneSession>,
) -> Result<Done, Refused> {
    let expired = control.sessions().expire(&session);
    expired.map_err(|_| Refused::missing(format!("there is no session {session:?}")))?;
    Ok(Done {})
}

async fn fail_check(
    control: Controls,
    JsonBody(OneCheck { node, check }): JsonBody<OneCheck>,
) -> Result<Done, Refused> {
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let failed = control.catalog().fail_check(&node, &check);
    failed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Done {})
}

async fn pass_check(
    control: Controls,
    JsonBody(OneCheck { node, check }): JsonBody<OneCheck>,
) -> Result<Done, Refused> {
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let passed = control.catalog().pass_check(&node, &check);
    passed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Done {})
}

async fn delete_node(
    control: Controls,
    JsonBody(OneNode { node }): JsonBody<OneNode>,
) -> Result<Done, Refused> {
    let nodes = control.catalog().nodes();
    if !nodes
        .iter()
        .any(|row| row.node.node.eq_ignore_ascii_case(&node))
    {
        return Err(Refused::missing(format!("there is no node {node:?}")));
    }
    control.catalog().delete_node(&node);
    Ok(Done {})
}
