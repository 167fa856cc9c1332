//! Configuration entries as users define them: their kinds, how they are read, checked and shown (operator.md 4).
//!
//! A kind is a row of `kinds`, and its fields are a table. One decoder, by the rules of Go's `mapstructure`, and one
//! printer serve all of them.

mod check;
mod decode;
mod field;
mod filter;
pub mod intention;
mod kinds;
mod show;

use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_store::{ConfigEntry, ConfigValue};
use proconsul_version::Version;

pub use check::intentions::check_sources;
pub use check::{EntryFlaw, check};
pub use filter::{of_entries as filter_of_entries, of_intentions as filter_of_intentions};
pub use show::{ShownEntry, ShownPart, weight};

use kinds::{KINDS, Kind, Unchecked};

/// Whether the release has a kind of this name.
pub fn is_known(kind: &str, version: Version) -> bool {
    find(kind, version).is_some()
}

fn find(kind: &str, version: Version) -> Option<&'static Kind> {
    let mut kinds = KINDS.iter();
    kinds.find(|known| known.name == kind && known.is_known(version))
}

/// Whether a Consul of the release may refuse an entry that is taken here, for reasons that nobody has seen.
pub fn is_unchecked(entry: &ConfigEntry, version: Version) -> bool {
    match find(&entry.kind, version).map(|kind| kind.is_unchecked_in(version)) {
        None | Some(Unchecked::Nothing) => false,
        Some(Unchecked::Fields(names)) => has_any(&entry.body, names),
        Some(Unchecked::Some | Unchecked::All) => true,
    }
}

/// Whether a value, or one within it, has a member with one of these names.
fn has_any(value: &ConfigValue, names: &[&str]) -> bool {
    match value {
        ConfigValue::Members(members) => members
            .iter()
            .any(|(name, value)| names.contains(&name.as_str()) || has_any(value, names)),
        ConfigValue::List(list) => list.iter().any(|value| has_any(value, names)),
        ConfigValue::Flag(_) | ConfigValue::Number(_) | ConfigValue::Text(_) => false,
    }
}

/// Returns the entry of a JSON text, as a configuration file has it.
///
/// # Errors
/// Consul's text about the flaw.
pub fn of_text(text: &str, version: Version) -> Result<ConfigEntry, String> {
    let document = document(text.as_bytes())?;
    let mut entry = decode(document.value(), version)?;
    check(&mut entry, version)?;
    Ok(entry)
}

/// Returns the entry that a JSON value describes. It is not checked yet.
///
/// # Errors
/// Consul's text about what cannot be read.
pub fn decode(value: Value<'_>, version: Version) -> Result<ConfigEntry, String> {
    let read = read(value, version)?;
    decode::check_known(&read.unknown)?;
    Ok(read.entry)
}

/// An entry as a client sends it.
pub struct SentEntry {
    /// The kind.
    pub kind: String,
    /// The name that was given.
    pub name: String,
    /// JSON with Consul's names of the fields, and nothing that was not given: an earlier server may not know it.
    pub body: String,
}

/// Reads an entry as a client does that sends it to a server (operator.md 4.6).
///
/// # Errors
/// Consul's text about what cannot be read, or is unknown.
pub fn to_send(given: &str, version: Version) -> Result<SentEntry, String> {
    let document = document(given.as_bytes())?;
    let Read {
        entry,
        name,
        unknown,
    } = read(document.value(), version)?;
    // Clients know namespaces also where their server refuses them.
    let (namespaces, unknown): (Vec<_>, Vec<_>) = unknown
        .into_iter()
        .partition(|path| decode::is_namespace(path));
    decode::check_known(&unknown)?;
    let body = if namespaces.is_empty() {
        show::sent(&entry, version)
    } else {
        given.to_owned()
    };
    let kind = entry.kind;
    Ok(SentEntry { kind, name, body })
}

/// An entry as it was read.
struct Read {
    entry: ConfigEntry,
    /// The name in the body.
    name: String,
    /// The paths of unknown names.
    unknown: Vec<String>,
}

fn read(value: Value<'_>, version: Version) -> Result<Read, String> {
    decode::check_is_object(value, version)?;
    let member = |name: &str| {
        let members = value.members().filter(|(member, _)| member == name);
        members.last().map(|(_, value)| value.kind())
    };
    let kind = match member("Kind").or_else(|| member("kind")) {
        Some(ValueKind::String(kind)) => kind,
        Some(_) => return Err("Kind value in payload is not a string".to_owned()),
        None => {
            return Err("Payload does not contain a kind/Kind key at the top level".to_owned());
        }
    };
    let known = find(&kind, version).ok_or_else(|| unknown_kind(&kind))?;
    let (mut body, unknown) = decode::decode_known(value, known.fields, version)?;
    let only = known.only_name.unwrap_or_default();
    let name = match body.remove("Name") {
        Some(ConfigValue::Text(name)) => name,
        _ if known.shows_name() => String::new(),
        _ => only.to_owned(),
    };
    let is_only = known.only_name.is_some();
    let stored = match &name[..] {
        _ if is_only && !known.checks_name(version) => only,
        "" if is_only && !known.needs_its_name() => only,
        name => name,
    };
    body.remove("Kind");
    let entry = ConfigEntry {
        kind: kind.into_owned(),
        name: stored.to_owned(),
        body: ConfigValue::Members(body),
    };
    Ok(Read {
        entry,
        name,
        unknown,
    })
}

/// Returns the settings that a JSON object sets in place of entries. Unknown names are ignored.
///
/// # Errors
/// Consul's text about values of wrong types.
pub fn decode_overrides(value: Value<'_>, version: Version) -> Result<ConfigValue, String> {
    let (members, _) = decode::decode_known(value, kinds::OVERRIDES, version)?;
    Ok(ConfigValue::Members(members))
}

/// Returns Consul's text about an unknown kind.
pub fn unknown_kind(kind: &str) -> String {
    format!("invalid config entry kind: {kind}")
}
