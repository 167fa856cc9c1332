//! The state: going back to what was, and taking it elsewhere.

use axum::Json;
use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::aside;
use super::call::{Body, Call, Document, Nothing, Parameters, Refused, Written, call};
use super::records::{AtIndex, Done};
use crate::control::Control;
use crate::control::dump::State;
use crate::control::export::Exported;

type Answer<T> = Result<Json<T>, Refused>;

pub(super) fn calls() -> Vec<Call> {
    let mut calls = checkpoint_calls();
    calls.extend(whole_calls());
    calls
}

fn checkpoint_calls() -> Vec<Call> {
    const UNKNOWN: &str = "There is no such checkpoint.";
    vec![
        call(
            Method::POST,
            "/state/reset",
            "reset",
            "Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered.",
            reset,
        ),
        call(
            Method::GET,
            "/state/checkpoints",
            "checkpoints",
            "The names of the checkpoints.",
            checkpoints,
        ),
        call(
            Method::POST,
            "/state/checkpoint",
            "checkpoint",
            "Keeps the state under a name, in place of what was kept under it before.",
            checkpoint,
        )
        .example(json!({ "name": "before" })),
        call(
            Method::DELETE,
            "/state/checkpoint",
            "deleteCheckpoint",
            "Deletes a checkpoint, and frees what only it still holds.",
            delete_checkpoint,
        )
        .refuses(404, UNKNOWN),
        call(
            Method::POST,
            "/state/rollback",
            "rollback",
            "Goes back to a checkpoint; blocked requests are answered.",
            rollback,
        )
        .example(json!({ "name": "before" }))
        .refuses(404, UNKNOWN),
    ]
}

fn whole_calls() -> Vec<Call> {
    vec![
        call(
            Method::GET,
            "/state",
            "dump",
            "The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the \
             same bytes.",
            dump,
        ),
        call(
            Method::PUT,
            "/state",
            "load",
            "Goes over to a state that GET gave, of this server or of another with the same version, node and \
             datacenter; blocked requests are answered. All times in it are durations from the moment of the dump.",
            load,
        )
        .example(example()),
        call(
            Method::GET,
            "/state/kv",
            "exportKv",
            "Keys in the format of `consul kv export`.",
            export_kv,
        ),
        call(
            Method::PUT,
            "/state/kv",
            "importKv",
            "Writes the keys of an export.",
            import_kv,
        )
        .example(json!([{ "key": "job", "flags": 0, "value": "eA==" }])),
    ]
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

async fn reset(control: Control, _: Nothing) -> Answer<AtIndex> {
    let reset = control.clone();
    aside(move || reset.reset()).await?;
    Ok(Json(AtIndex::of(&control)))
}

async fn checkpoints(control: Control, _: Nothing) -> Answer<Checkpoints> {
    let checkpoints = control.checkpoints();
    Ok(Json(Checkpoints { checkpoints }))
}

async fn checkpoint(control: Control, Body(Name { name }): Body<Name>) -> Answer<AtIndex> {
    control.checkpoint(&name);
    Ok(Json(AtIndex::of(&control)))
}

async fn delete_checkpoint(
    control: Control,
    Parameters(Name { name }): Parameters<Name>,
) -> Answer<Done> {
    let deleted = aside(move || control.delete_checkpoint(&name)).await?;
    deleted.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Json(Done {}))
}

async fn rollback(control: Control, Body(Name { name }): Body<Name>) -> Answer<AtIndex> {
    let back = control.clone();
    let back = aside(move || back.rollback(&name)).await?;
    back.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Json(AtIndex::of(&control)))
}

async fn dump(control: Control, _: Nothing) -> Result<Written<State>, Refused> {
    aside(move || Written::new(control.dump())).await
}

async fn load(control: Control, state: Document<State>) -> Answer<AtIndex> {
    let loaded = control.clone();
    let loaded = aside(move || loaded.load(&state.0)).await?;
    loaded.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Json(AtIndex::of(&control)))
}

async fn export_kv(
    control: Control,
    Parameters(Under { prefix }): Parameters<Under>,
) -> Result<Written<Vec<Exported>>, Refused> {
    aside(move || Written::new(control.kv().export(prefix))).await
}

async fn import_kv(control: Control, export: Document<Vec<Exported>>) -> Answer<Imported> {
    let imported = aside(move || control.kv().import(&export.0)).await?;
    let keys = imported.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Json(Imported { keys }))
}

/// A state, for the description.
fn example() -> Value {
    serde_json::from_str(include_str!("state_example.json")).expect("the example is JSON")
}
