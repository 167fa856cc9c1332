//! The state: going back to what was, and taking it elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::records::{AtIndex, Done};
use crate::control::Controls;
use crate::control::http::aside;
use crate::control::http::call::{JsonBody, Nothing, Parameters, RawJson, Refused, Written, calls};
use crate::control::state::dump::StateDump;
use crate::control::state::export::Exported;

const UNKNOWN: &str = "There is no such checkpoint.";

calls! {
    /// Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered.
    POST "/state/reset" reset;
    /// The names of the checkpoints.
    GET "/state/checkpoints" checkpoints;
    /// Keeps the state under a name, in place of what was kept under it before.
    POST "/state/checkpoint" checkpoint, example { "name": "before" };
    /// Deletes a checkpoint, and frees what only it still holds.
    DELETE "/state/checkpoint" delete_checkpoint, refuses 404 UNKNOWN;
    /// Goes back to a checkpoint; blocked requests are answered.
    POST "/state/rollback" rollback, example { "name": "before" }, refuses 404 UNKNOWN;
    /// The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the same
    /// bytes.
    GET "/state" dump;
    /// Goes over to a state that GET gave, of this server or of another with the same version, node and datacenter;
    /// blocked requests are answered. All times in it are durations from the moment of the dump.
    PUT "/state" load, example (state_example());
    /// Keys in the format of `consul kv export`.
    GET "/state/kv" export_kv;
    /// Writes the keys of an export.
    PUT "/state/kv" import_kv, example [{ "key": "job", "flags": 0, "value": "eA==" }];
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Name {
    /// The name of the checkpoint. Any text is one.
    name: String,
}

/// The checkpoints of a server.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Checkpoints {
    /// Their names, in byte order.
    checkpoints: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Under {
    /// Only keys that begin with this.
    #[serde(default)]
    prefix: String,
}

/// Keys were imported.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Imported {
    /// How many keys.
    keys: usize,
}

async fn reset(control: Controls, _: Nothing) -> Result<AtIndex, Refused> {
    aside(&control, move |control| control.reset()).await?;
    Ok(AtIndex::of(&control))
}

async fn checkpoints(control: Controls, _: Nothing) -> Result<Checkpoints, Refused> {
    let checkpoints = control.checkpoints();
    Ok(Checkpoints { checkpoints })
}

async fn checkpoint(
    control: Controls,
    JsonBody(Name { name }): JsonBody<Name>,
) -> Result<AtIndex, Refused> {
    control.checkpoint(&name);
    Ok(AtIndex::of(&control))
}

async fn delete_checkpoint(
    control: Controls,
    Parameters(Name { name }): Parameters<Name>,
) -> Result<Done, Refused> {
    let deleted = aside(&control, move |control| control.delete_checkpoint(&name)).await?;
    deleted.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Done {})
}

async fn rollback(
    control: Controls,
    JsonBody(Name { name }): JsonBody<Name>,
) -> Result<AtIndex, Refused> {
    let back = aside(&control, move |control| control.rollback(&name)).await?;
    back.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(AtIndex::of(&control))
}

async fn dump(control: Controls, _: Nothing) -> Result<Written<StateDump>, Refused> {
    aside(&control, move |control| Written::new(control.dump())).await
}

async fn load(control: Controls, state: RawJson<StateDump>) -> Result<AtIndex, Refused> {
    let loaded = aside(&control, move |control| control.load(&state.0)).await?;
    loaded.map_err(|error| Refused::input(error.to_string()))?;
    Ok(AtIndex::of(&control))
}

async fn export_kv(
    control: Controls,
    Parameters(Under { prefix }): Parameters<Under>,
) -> Result<Written<Vec<Exported>>, Refused> {
    aside(&control, move |control| {
        Written::new(control.kv().export(prefix))
    })
    .await
}

async fn import_kv(control: Controls, export: RawJson<Vec<Exported>>) -> Result<Imported, Refused> {
    let imported = aside(&control, move |control| control.kv().import(&export.0)).await?;
    let keys = imported.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Imported { keys })
}

/// A state, for the description.
fn state_example() -> Value {
    serde_json::from_str(include_str!("example.json")).expect("the example is JSON")
}
