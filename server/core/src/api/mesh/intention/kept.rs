//! Where intentions are kept: as rows with ids, in later releases as sources of entries.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::failure::{Failure, failures, quoted};
use crate::request::Request;
use proconsul_config::entry;
use proconsul_config::entry::intention;
use proconsul_store::{
    ConfigDelete, ConfigEntry, ConfigGet, ConfigList, ConfigMembers, ConfigRow, ConfigValue,
    ConfigWrite, INTENTION, IntentionWrite,
};
use proconsul_version::{Behaviour, Version};

failures! {
    /// The fields contradict each other or Consul.
    flawed(words: &str) => 500, words;
    /// There is an intention between the same services.
    duplicate(other: &ConfigValue) => 500,
        format!("duplicate intention found: {}", intention::describe(other));
    /// The entry of the destination has sources without ids.
    edited_as_entry(destination: &str, version: Version) => 500, format!(
        "cannot use legacy intention API to edit intentions with a destination of {} after editing them via a service-intentions config entry",
        quoted(destination, version)
    );
}

/// How a change names an intention of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By its id, which all sources of the entry have.
    ById,
    /// By its services. The entry's sources lose their ids.
    ByNames,
}

/// Returns the read of all intentions of a release.
pub(super) fn table(request: &Request) -> ConfigList {
    let is_entry = request.has(Behaviour::IntentionEntries);
    let kind = if is_entry {
        intention::ENTRIES
    } else {
        INTENTION
    };
    ConfigList(kind.to_owned())
}

/// Returns the intentions in rows.
pub(super) fn in_rows(rows: &[Arc<ConfigRow>]) -> Vec<ConfigValue> {
    let rows = rows.iter().map(|row| &**row);
    intention::all(rows, |hash| BASE64_STANDARD.encode(hash))
}

/// Returns all intentions, as they are now.
pub(super) fn present(request: &Request) -> Vec<ConfigValue> {
    let Ok(answer) = request.context.engine.read(&table(request));
    in_rows(&answer.rows)
}

/// Writes an intention under its id.
pub(super) fn write(request: &Request, id: &str, mut body: ConfigValue) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionEntries) {
        body.set("ID", ConfigValue::Text(id.to_owned()));
        return put(request, &body, Way::ById, |source| {
            source.text("LegacyID") == id
        });
    }
    let id = id.to_owned();
    let written = request.context.engine.apply(IntentionWrite { id, body });
    written.map_err(|other| duplicate(&in_rows(&[other])[0]))
}

/// Puts an intention into the entry of its destination, in place of the source that `is_own` finds.
pub(super) fn put(
    request: &Request,
    body: &ConfigValue,
    way: Way,
    is_own: impl Fn(&ConfigValue) -> bool,
) -> Result<(), Failure> {
    let source = intention::source_of(body);
    let destination = body.text("DestinationName");
    change(request, destination, way, |row| {
        let mut sources = sources_of(row);
        let has_id = |source: &ConfigValue| !source.text("LegacyID").is_empty();
        if way == Way::ById && !sources.iter().all(has_id) {
            return Err(edited_as_entry(destination, request.version()));
        }
        sources.retain(|present| !is_own(present));
        sources.push(source.clone());
        Ok(sources)
    })
}

fn sources_of(row: Option<&Arc<ConfigRow>>) -> Vec<ConfigValue> {
    row.map_or_else(Vec::new, |row| row.entry.body.list("Sources").to_vec())
}

/// Changes the sources of an entry; one without any is deleted.
fn change(
    request: &Request,
    destination: &str,
    way: Way,
    sources: impl Fn(Option<&Arc<ConfigRow>>) -> Result<Vec<ConfigValue>, Failure>,
) -> Result<(), Failure> {
    let engine = &request.context.engine;
    let read = ConfigGet {
        kind: intention::ENTRIES.to_owned(),
        name: destination.to_owned(),
    };
    // Until nobody else has changed the entry in between.
    loop {
        let Ok(answer) = engine.read(&read);
        let row = answer.rows.as_ref();
        let cas = Some(row.map_or_else(Default::default, |row| row.modify_index));
        let sources = sources(row)?;
        let done = if sources.is_empty() {
            engine.apply(ConfigDelete {
                kind: read.kind.clone(),
                name: read.name.clone(),
                cas,
                skips_missing: true,
            })
        } else {
            let mut body = row.map_or_else(
                || ConfigValue::Members(ConfigMembers::new()),
                |row| row.entry.body.clone(),
            );
            body.set("Sources", ConfigValue::List(sources));
            let mut entry = ConfigEntry {
                kind: read.kind.clone(),
                name: row.map_or(destination, |row| &row.entry.name).to_owned(),
                body,
            };
            let checked = match way {
                Way::ById => entry::check_sources(&entry.name, &mut entry.body),
                Way::ByNames => entry::check(&mut entry, request.version()).map_err(String::from),
            };
            checked.map_err(|flaw| flawed(&flaw))?;
            engine.apply(ConfigWrite {
                entry,
                cas,
                skips_identical: true,
            })
        };
        if done.map_err(|flaw| flawed(&flaw.to_string()))? {
            return Ok(());
        }
    }
}

/// Deletes an intention.
pub(super) fn remove(request: &Request, present: &ConfigValue) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionEntries) {
        return change(request, present.text("DestinationName"), Way::ById, |row| {
            let mut sources = sources_of(row);
            sources.retain(|source| source.text("Name") != present.text("SourceName"));
            Ok(sources)
        });
    }
    let deleted = request.context.engine.apply(ConfigDelete {
        kind: INTENTION.to_owned(),
        name: present.text("ID").to_owned(),
        cas: None,
        skips_missing: false,
    });
    deleted.map_err(|flaw| flawed(&flaw.to_string()))?;
    Ok(())
}
