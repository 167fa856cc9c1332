//! How policies, tokens, roles, auth methods and binding rules are printed: as text for people, and as JSON in the
//! order of Consul's client. Contract: acl.md 12.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::Absent::{As, Given, InList, Never, Omit};
use self::When::{Always, Filled, Listed, Meta};
use crate::commands::support::shown::{indented, joined, list};
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::encode::reprint::compact;
use proconsul_gocompat::json::value::{Value, ValueKind};

/// The form of one kind of object.
pub(super) struct Shape {
    /// The field above an entry of a list, under which the others are indented; empty if an entry is printed like an
    /// object alone.
    pub(super) heading: &'static str,
    /// The width of the labels of an object alone.
    width: usize,
    lines: &'static [(When, &'static str, &'static str)],
    /// The label and the field behind all lines of an object alone; empty if it has no such line.
    tail: &'static str,
    json: &'static [(&'static str, Absent)],
}

/// When a line is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// If the field has a value.
    Filled,
    /// With `-meta`.
    Meta,
    /// In lists.
    Listed,
}

/// What JSON shows for a field that the answer lacks.
#[derive(Clone, Copy)]
enum Absent {
    /// Nothing; nor for an empty one.
    Omit,
    /// Nothing; an empty one is shown.
    Given,
    /// This.
    As(&'static str),
    /// This, in lists.
    InList(&'static str),
    /// The field is not shown, even if the answer has it.
    Never,
}

const ZERO_TIME: &str = r#""0001-01-01T00:00:00Z""#;

/// The width of the labels in entries below a heading.
const LISTED_WIDTH: usize = 14;

pub(super) const POLICY: Shape = Shape {
    heading: "Name",
    width: 14,
    lines: &[
        (Always, "ID", "ID"),
        (Always, "Name", "Name"),
        (Always, "Description", "Description"),
        (Always, "Datacenters", "Datacenters"),
        (Meta, "Hash", "Hash"),
        (Meta, "Create Index", "CreateIndex"),
        (Meta, "Modify Index", "ModifyIndex"),
    ],
    tail: "Rules",
    json: &[
        ("ID", As("\"\"")),
        ("Name", As("\"\"")),
        ("Description", As("\"\"")),
        ("Rules", Given),
        ("Datacenters", As("null")),
        ("Hash", As("null")),
        ("CreateIndex", As("0")),
        ("ModifyIndex", As("0")),
    ],
};

pub(super) const TOKEN: Shape = Shape {
    heading: "",
    width: 18,
    lines: &[
        (Always, "AccessorID", "AccessorID"),
        (Filled, "SecretID", "SecretID"),
        (Always, "Description", "Description"),
        (Always, "Local", "Local"),
        (Filled, "Auth Method", "AuthMethod"),
        (Always, "Create Time", "CreateTime"),
        (Filled, "Expiration Time", "ExpirationTime"),
        (Listed, "Legacy", "Legacy"),
        (Meta, "Hash", "Hash"),
        (Meta, "Create Index", "CreateIndex"),
        (Meta, "Modify Index", "ModifyIndex"),
    ],
    tail: "",
    json: &[
        ("CreateIndex", As("0")),
        ("ModifyIndex", As("0")),
        ("AccessorID", As("\"\"")),
        ("SecretID", Given),
        ("Description", As("\"\"")),
        ("Policies", Omit),
        ("Roles", Omit),
        ("ServiceIdentities", Omit),
        ("NodeIdentities", Omit),
        ("Local", As("false")),
        ("AuthMethod", Omit),
        ("ExpirationTime", Omit),
        ("CreateTime", As(ZERO_TIME)),
        ("Hash", Omit),
        ("Legacy", InList("false")),
        // The answer of the bootstrap has the SecretID here too.
        ("ID", Never),
    ],
};

pub(super) const ROLE: Shape = Shape {
    heading: "Name",
    width: 14,
    lines: &[
        (Always, "ID", "ID"),
        (Always, "Name", "Name"),
        (Always, "Description", "Description"),
        (Meta, "Hash", "Hash"),
        (Meta, "Create Index", "CreateIndex"),
        (Meta, "Modify Index", "ModifyIndex"),
    ],
    tail: "",
    json: &[
        ("ID", As("\"\"")),
        ("Name", As("\"\"")),
        ("Description", As("\"\"")),
        ("Policies", Omit),
        ("ServiceIdentities", Omit),
        ("NodeIdentities", Omit),
        ("Hash", As("null")),
        ("CreateIndex", As("0")),
        ("ModifyIndex", As("0")),
    ],
};

pub(super) const AUTH_METHOD: Shape = Shape {
    heading: "Name",
    width: 15,
    lines: &[
        (Always, "Name", "Name"),
        (Always, "Type", "Type"),
        (Filled, "DisplayName", "DisplayName"),
        (Always, "Description", "Description"),
        (Filled, "MaxTokenTTL", "MaxTokenTTL"),
        (Filled, "TokenLocality", "TokenLocality"),
        (Meta, "Create Index", "CreateIndex"),
        (Meta, "Modify Index", "ModifyIndex"),
    ],
    tail: "Config",
    json: &[
        ("MaxTokenTTL", Omit),
        ("Name", As("\"\"")),
        ("Type", As("\"\"")),
        ("DisplayName", Omit),
        ("Description", Omit),
        ("TokenLocality", Omit),
        ("Config", Given),
        ("CreateIndex", As("0")),
        ("ModifyIndex", As("0")),
    ],
};

pub(super) const BINDING_RULE: Shape = Shape {
    heading: "ID",
    width: 14,
    lines: &[
        (Always, "ID", "ID"),
        (Always, "AuthMethod", "AuthMethod"),
        (Always, "Description", "Description"),
        (Always, "BindType", "BindType"),
        (Always, "BindName", "BindName"),
        (Always, "Selector", "Selector"),
        (Meta, "Create Index", "CreateIndex"),
        (Meta, "Modify Index", "ModifyIndex"),
    ],
    tail: "",
    json: &[
        ("ID", As("\"\"")),
        ("Description", As("\"\"")),
        ("AuthMethod", As("\"\"")),
        ("Selector", As("\"\"")),
        ("BindType", As("\"\"")),
        ("BindName", As("\"\"")),
        ("CreateIndex", As("0")),
        ("ModifyIndex", As("0")),
    ],
};

const SERVICES: (&str, &str) = ("Service Identities", "ServiceIdentities");

/// The lists of links and identities, in the order in which they are printed.
const LINKS: &[(&str, &str)] = &[
    ("Policies", "Policies"),
    ("Roles", "Roles"),
    SERVICES,
    ("Node Identities", "NodeIdentities"),
];

/// Prints an answer, an object or a list of them, in a `-format` and with or without `-meta`.
///
/// # Errors
/// The format is unknown, or the answer is no JSON.
pub(super) fn print(
    shape: &Shape,
    answer: &str,
    format: &str,
    with_meta: bool,
) -> Result<String, String> {
    let document = document(answer.as_bytes())?;
    let value = document.value();
    let is_list = matches!(value.kind(), ValueKind::Array);
    match format {
        "pretty" if is_list => Ok(entries(shape, value, with_meta)),
        "pretty" => Ok(alone(shape, value, with_meta) + "\n"),
        "json" if is_list => {
            let entries = value.elements().map(|entry| json(shape, entry, true));
            Ok(indented(&list(entries)) + "\n")
        }
        "json" => Ok(indented(&json(shape, value, false)) + "\n"),
        other => Err(format!("Unknown format: {other}")),
    }
}

/// Returns a member of an object.
fn member<'v>(object: Value<'v>, name: &str) -> Option<Value<'v>> {
    let mut members = object.members();
    members
        .find(|(found, _)| found == name)
        .map(|(_, value)| value)
}

fn is_empty(value: Value<'_>) -> bool {
    matches!(value.text(), b"null" | b"\"\"" | b"[]")
}

fn json(shape: &Shape, object: Value<'_>, in_list: bool) -> String {
    let shown = shape.json.iter().filter_map(|(name, absent)| {
        let given = member(object, name);
        let text = match (given, absent) {
            (_, Never) => None,
            (Some(value), Omit) => (!is_empty(value)).then(|| compact(value)),
            (Some(value), _) => Some(compact(value)),
            (None, As(text)) => Some((*text).to_owned()),
            (None, InList(text)) if in_list => Some((*text).to_owned()),
            (None, _) => None,
        };
        text.map(|text| ((*name).to_owned(), text))
    });
    // What later releases add comes last.
    let known = |name: &str| shape.json.iter().any(|(known, _)| *known == name);
    let members = object.members();
    let unknown = members.filter(|(name, _)| !known(name));
    let unknown = unknown.map(|(name, value)| (name.into_owned(), compact(value)));
    joined(shown.chain(unknown))
}

fn entries(shape: &Shape, answer: Value<'_>, with_meta: bool) -> String {
    if shape.heading.is_empty() {
        let entry = |entry| lines(shape, entry, with_meta, true) + &links(entry, true) + "\n";
        return answer.elements().map(entry).collect();
    }
    let entry = |entry| {
        let below = lines(shape, entry, with_meta, true) + &links(entry, false);
        let below = below.lines().map(|line| format!("   {line}\n"));
        format!(
            "{}:\n{}",
            text(entry, shape.heading),
            below.collect::<String>()
        )
    };
    let shown: String = answer.elements().map(entry).collect();
    if shown.is_empty() {
        shown
    } else {
        shown + "\n"
    }
}

/// Prints an object that is not in a list.
fn alone(shape: &Shape, object: Value<'_>, with_meta: bool) -> String {
    let tail = match shape.tail {
        "" => String::new(),
        "Config" => {
            let config = member(object, "Config").map_or_else(|| "null".to_owned(), compact);
            // Consul prints this one with half of the usual indentation.
            let config = indented(&config);
            let halved = config.lines().map(|line| {
                let text = line.trim_start();
                format!("{:width$}{text}", "", width = (line.len() - text.len()) / 2)
            });
            format!("Config:\n{}", halved.collect::<Vec<_>>().join("\n"))
        }
        tail => format!("{tail}:\n{}", text(object, tail)),
    };
    lines(shape, object, with_meta, false) + &links(object, false) + &tail
}

fn lines(shape: &Shape, object: Value<'_>, with_meta: bool, in_list: bool) -> String {
    let below_heading = in_list && !shape.heading.is_empty();
    let width = if below_heading {
        LISTED_WIDTH
    } else {
        shape.width
    };
    let shown = shape.lines.iter().filter(|(when, _, field)| match when {
        _ if below_heading && *field == shape.heading => false,
        Always => true,
        Filled => member(object, field).is_some_and(|value| !is_empty(value)),
        Meta => with_meta,
        Listed => in_list,
    });
    let line = |(_, label, field): &(When, &str, &str)| {
        format!("{:width$}{}\n", format!("{label}:"), text(object, field))
    };
    shown.map(line).collect()
}

/// Prints links and identities. In lists of tokens, the command of 1.8.7 repeats the service identities in place of the
/// node identities (acl.md 12).
fn links(object: Value<'_>, in_token_list: bool) -> String {
    let mut shown = String::new();
    for (label, field) in LINKS {
        let present = member(object, field).filter(|links| !is_empty(*links));
        let Some(links) = present else {
            continue;
        };
        let (label, field, links) = match *field {
            "NodeIdentities" if in_token_list => {
                let (label, field) = SERVICES;
                (label, field, member(object, field).unwrap_or(links))
            }
            field => (*label, field, links),
        };
        shown += &format!("{label}:\n");
        for link in links.elements() {
            shown += &match field {
                "ServiceIdentities" if member(link, "ServiceName").is_none() => String::new(),
                "ServiceIdentities" => {
                    let datacenters = member(link, "Datacenters").filter(|dcs| !is_empty(*dcs));
                    let datacenters =
                        datacenters.map_or("all".to_owned(), |_| text(link, "Datacenters"));
                    format!(
                        "   {} (Datacenters: {datacenters})\n",
                        text(link, "ServiceName")
                    )
                }
                "NodeIdentities" => format!(
                    "   {} (Datacenter: {})\n",
                    text(link, "NodeName"),
                    text(link, "Datacenter")
                ),
                _ => format!("   {} - {}\n", text(link, "ID"), text(link, "Name")),
            };
        }
    }
    shown
}

/// Returns a field for people.
fn text(object: Value<'_>, field: &str) -> String {
    let Some(value) = member(object, field) else {
        return if field == "Legacy" { "false" } else { "" }.to_owned();
    };
    match value.kind() {
        ValueKind::String(text) if field == "Hash" => hexadecimal(&text),
        ValueKind::String(text) if field.ends_with("Time") => time(&text),
        ValueKind::String(text) => text.into_owned(),
        ValueKind::Null => String::new(),
        ValueKind::Array => {
            let items = value.elements().map(|item| match item.kind() {
                ValueKind::String(text) => text,
                _ => Cow::default(),
            });
            items.collect::<Vec<_>>().join(", ")
        }
        _ => compact(value),
    }
}

fn hexadecimal(base64: &str) -> String {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a time in the form of Go's `String`. Consul's servers give the times of tokens in UTC.
fn time(rfc3339: &str) -> String {
    match rfc3339
        .strip_suffix('Z')
        .and_then(|time| time.split_once('T'))
    {
        Some((date, time)) => format!("{date} {time} +0000 UTC"),
        None => rfc3339.to_owned(),
    }
}
