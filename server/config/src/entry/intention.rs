//! Intentions, one by one: which services may call which (operator.md 4.5). They have the fields of this table, whether
//! they are rows of earlier releases or sources of `service-intentions` entries.

use std::cmp::Reverse;

use super::check::together;
use super::decode::decode_known;
use super::field::Shape::{self, Int, List, Struct, Text};
use super::field::{Field, LABELS, always, set};
use super::kinds::PERMISSION;
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::maps;
use proconsul_gocompat::json::value::Value;
use proconsul_gocompat::quote::Quoted;
use proconsul_store::{ConfigEntry, ConfigRow, ConfigValue, Index, intention_hash};
use proconsul_version::Behaviour::IntentionEntries;
use proconsul_version::Version;

/// The kind of the entries that hold intentions.
pub const ENTRIES: &str = "service-intentions";

/// The fields of earlier releases, which show all of them.
const OF_ROWS: &[Field] = &[
    always("ID", Text),
    always("Description", Text),
    always("SourceNS", Text),
    always("SourceName", Text),
    always("DestinationNS", Text),
    always("DestinationName", Text),
    always("SourceType", Text),
    always("Action", Text),
    always("DefaultAddr", Text),
    always("DefaultPort", Int),
    always("Meta", LABELS),
    always("Precedence", Int),
    always("CreatedAt", Text),
    always("UpdatedAt", Text),
    set("Hash", Text),
    always("CreateIndex", Int),
    always("ModifyIndex", Int),
];

/// The fields of later releases, which show those that a source has. One without an id has neither times nor a hash.
const OF_SOURCES: &[Field] = &[
    set("CreatedAt", Text),
    set("UpdatedAt", Text),
    set("ID", Text),
    set("Description", Text),
    always("SourceNS", Text),
    always("SourceName", Text),
    always("DestinationNS", Text),
    always("DestinationName", Text),
    always("SourceType", Text),
    set("Action", Text),
    set("Permissions", PERMISSIONS),
    set("Meta", LABELS),
    always("Precedence", Int),
    set("Hash", Text),
    always("CreateIndex", Int),
    always("ModifyIndex", Int),
];

const PERMISSIONS: Shape = List(&Struct(PERMISSION));

/// Returns the fields that a release shows.
pub(super) fn fields(version: Version) -> &'static [Field] {
    if version.has(IntentionEntries) {
        OF_SOURCES
    } else {
        OF_ROWS
    }
}

/// The fields of an intention that a source of an entry has under the same or another name.
const OF_SOURCE: [(&str, &str); 10] = [
    ("ID", "LegacyID"),
    ("Description", "Description"),
    ("SourceName", "Name"),
    ("SourceType", "Type"),
    ("Action", "Action"),
    ("Permissions", "Permissions"),
    ("Meta", "LegacyMeta"),
    ("Precedence", "Precedence"),
    ("CreatedAt", "LegacyCreateTime"),
    ("UpdatedAt", "LegacyUpdateTime"),
];

/// The namespace of those that name none.
pub const NAMESPACE: &str = "default";
const WILDCARD: &str = "*";
/// The longest description, and the longest value of metadata, in bytes.
const LONGEST: usize = 512;
/// The longest name of metadata, in bytes.
const LONGEST_NAME: usize = 128;
/// The most metadata.
const MOST_META: usize = 64;

/// Returns the intentions of rows or of entries, the most exact ones first.
pub fn all<'a>(
    rows: impl Iterator<Item = &'a ConfigRow>,
    hash: impl Fn([u8; 32]) -> String,
) -> Vec<ConfigValue> {
    let mut all: Vec<_> = rows
        .flat_map(|row| match row.entry.kind.as_str() {
            ENTRIES => of_entry(row, &hash),
            _ => vec![of_row(row, &hash)],
        })
        .collect();
    let order = |intention: &ConfigValue| {
        let names = ["SourceNS", "SourceName", "DestinationNS", "DestinationName"];
        let names = names.map(|name| intention.text(name).to_owned());
        (Reverse(intention.number("Precedence")), names)
    };
    all.sort_by_cached_key(order);
    all
}

fn with_indexes(mut intention: ConfigValue, row: &ConfigRow) -> ConfigValue {
    for (name, Index(index)) in [
        ("CreateIndex", row.create_index),
        ("ModifyIndex", row.modify_index),
    ] {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        intention.set(name, ConfigValue::Number(index));
    }
    intention
}

fn of_row(row: &ConfigRow, hash: impl Fn([u8; 32]) -> String) -> ConfigValue {
    let ConfigEntry { name, body, .. } = &row.entry;
    let mut intention = body.clone();
    intention.set("ID", ConfigValue::Text(name.clone()));
    let hash = hash(intention_hash(name, body, None));
    intention.set("Hash", ConfigValue::Text(hash));
    with_indexes(intention, row)
}

fn of_entry(row: &ConfigRow, hash: impl Fn([u8; 32]) -> String) -> Vec<ConfigValue> {
    let ConfigEntry { name, body, .. } = &row.entry;
    let of_source = |source: &ConfigValue| {
        let known = OF_SOURCE.iter().filter_map(|(name, own)| {
            let value = source.get(own)?.clone();
            Some(((*name).to_owned(), value))
        });
        let mut intention = ConfigValue::Members(maps::collect(known));
        for (name, text) in [
            ("SourceNS", NAMESPACE),
            ("DestinationNS", NAMESPACE),
            ("DestinationName", name),
        ] {
            intention.set(name, ConfigValue::Text(text.to_owned()));
        }
        let id = intention.text("ID");
        if !id.is_empty() {
            let precedence = intention.number("Precedence");
            let hash = hash(intention_hash(id, &intention, Some(precedence)));
            intention.set("Hash", ConfigValue::Text(hash));
        }
        with_indexes(intention, row)
    };
    body.list("Sources").iter().map(of_source).collect()
}

/// Returns the source of an entry that says what an intention says.
pub fn source_of(intention: &ConfigValue) -> ConfigValue {
    let known = OF_SOURCE.iter().filter_map(|(name, own)| {
        let value = intention.get(name)?.clone();
        let is_empty = match &value {
            ConfigValue::Text(text) => text.is_empty(),
            ConfigValue::Members(members) => members.is_empty(),
            _ => false,
        };
        (!is_empty).then(|| ((*own).to_owned(), value))
    });
    ConfigValue::Members(maps::collect(known))
}

/// Reads the permissions in the body of an intention: JSON, or an empty text.
///
/// # Errors
/// The text about an unknown name, or about values of wrong types.
pub fn permissions(json: &str, version: Version) -> Result<Option<ConfigValue>, String> {
    const BODY: &[Field] = &[set("Permissions", PERMISSIONS)];
    if json.is_empty() {
        return Ok(None);
    }
    let body = format!("{{\"Permissions\":{json}}}");
    let document = document(body.as_bytes())?;
    let body = document.value();
    if let Some(name) = unknown_name(body, Struct(BODY), version) {
        return Err(format!("json: unknown field {}", Quoted(name.as_bytes())));
    }
    let (mut members, _) = decode_known(body, BODY, version)?;
    Ok(members.remove("Permissions"))
}

/// Returns the first name in a value that Go's JSON decoder finds in no structure: case does not count, and underscores
/// do.
fn unknown_name(value: Value<'_>, shape: Shape, version: Version) -> Option<String> {
    match shape {
        List(element) => {
            let mut elements = value.elements();
            elements.find_map(|element_value| unknown_name(element_value, *element, version))
        }
        Struct(fields) => value.members().find_map(|(name, value)| {
            let mut known = fields.iter().filter(|field| field.is_known(version));
            match known.find(|field| field.name.eq_ignore_ascii_case(&name)) {
                Some(field) => unknown_name(value, field.shape, version),
                None => Some(name.into_owned()),
            }
        }),
        _ => None,
    }
}

/// Fills in defaults.
pub fn complete(intention: &mut ConfigValue) {
    for (name, default) in [
        ("SourceNS", NAMESPACE),
        ("DestinationNS", NAMESPACE),
        ("SourceType", "consul"),
    ] {
        if intention.text(name).is_empty() {
            intention.set(name, ConfigValue::Text(default.to_owned()));
        }
    }
    let rank = |namespace: &str, name: &str| match (intention.text(namespace), intention.text(name))
    {
        (WILDCARD, _) => 0,
        (_, WILDCARD) => 1,
        _ => 2,
    };
    let source = rank("SourceNS", "SourceName");
    let precedence = 3 * rank("DestinationNS", "DestinationName") + source + 1;
    intention.set("Precedence", ConfigValue::Number(precedence));
}

/// Returns Consul's text about what is wrong with an intention that has an id; `None` for nothing.
pub fn flaw(intention: &ConfigValue) -> Option<String> {
    let mut flaws = Vec::new();
    for name in ["SourceName", "DestinationName"] {
        if intention.text(name).is_empty() {
            flaws.push(format!("{name} must be set"));
        }
    }
    for [namespace, name] in [
        ["SourceNS", "SourceName"],
        ["DestinationNS", "DestinationName"],
    ] {
        let is_partly_wild = |name: &str| {
            let text = intention.text(name);
            text.contains(WILDCARD) && text != WILDCARD
        };
        let partly = "wildcard character '*' cannot be used with partial values";
        if is_partly_wild(namespace) {
            flaws.push(format!("{namespace}: {partly}"));
        }
        if is_partly_wild(name) {
            flaws.push(format!("{name}: {partly}"));
        } else if intention.text(namespace) == WILDCARD && intention.text(name) != WILDCARD {
            flaws.push(format!(
                "{name}: exact value cannot follow wildcard namespace"
            ));
        }
    }
    if intention.text("Description").len() > LONGEST {
        flaws.push(format!("Description exceeds maximum length {LONGEST}"));
    }
    flaws.extend(flaws_of_meta(intention));
    if !matches!(intention.text("Action"), "allow" | "deny") {
        flaws.push("Action must be set to 'allow' or 'deny'".to_owned());
    }
    if !intention.list("Permissions").is_empty() {
        flaws.push("Permissions must not be set when using the legacy APIs".to_owned());
    }
    if intention.text("SourceType") != "consul" {
        flaws.push("SourceType must be set to 'consul'".to_owned());
    }
    (!flaws.is_empty()).then(|| together(&flaws))
}

fn flaws_of_meta(intention: &ConfigValue) -> Vec<String> {
    let count = intention.members("Meta").count();
    let mut flaws = Vec::new();
    if count > MOST_META {
        flaws.push(format!("Meta exceeds maximum element count {MOST_META}"));
    }
    for (name, value) in intention.members("Meta") {
        if name.len() > LONGEST_NAME {
            flaws.push(format!(
                "Meta key {} exceeds maximum length {LONGEST_NAME}",
                Quoted(name.as_bytes())
            ));
        }
        if matches!(value, ConfigValue::Text(value) if value.len() > LONGEST) {
            flaws.push(format!(
                "Meta value for key {} exceeds maximum length {LONGEST}",
                Quoted(name.as_bytes())
            ));
        }
    }
    flaws
}

/// An end of intentions: `Source` or `Destination`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The service that calls.
    Source,
    /// The service that is called.
    Destination,
}

/// The namespace and name of a service, as a request spells them.
#[derive(Clone, Debug)]
pub struct ServiceOf<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl End {
    /// Whether an intention is about a service at this end. In entries the name of a source is told by its case, too; that
    /// of the entry never is.
    pub fn is_about(
        self,
        intention: &ConfigValue,
        service: &ServiceOf<'_>,
        version: Version,
    ) -> bool {
        let [namespace, name] = match self {
            Self::Source => ["SourceNS", "SourceName"],
            Self::Destination => ["DestinationNS", "DestinationName"],
        };
        let is_exact = self == Self::Source && version.has(IntentionEntries);
        let covers = |name: &str, wanted: &str| {
            let text = intention.text(name);
            text == WILDCARD
                || text == wanted
                || !is_exact && text.to_lowercase() == wanted.to_lowercase()
        };
        covers(namespace, service.namespace) && covers(name, service.name)
    }
}

/// Describes an intention in a refusal.
pub fn describe(intention: &ConfigValue) -> String {
    let text = |name: &str| intention.text(name);
    format!(
        "{} {}/{} => {}/{} (ID: {}, Precedence: {})",
        text("Action").to_uppercase(),
        text("SourceNS"),
        text("SourceName"),
        text("DestinationNS"),
        text("DestinationName"),
        text("ID"),
        intention.number("Precedence")
    )
}
