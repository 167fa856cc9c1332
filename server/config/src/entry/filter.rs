//! Filters of entries and intentions: which fields of theirs `?filter=` may name.

use super::field::{Field, Shape};
use super::show::whole;
use super::{find, intention};
use proconsul_filter::{Filter, Match, Predicate};
use proconsul_store::{ConfigMembers, ConfigRow, ConfigValue};
use proconsul_version::Version;

/// A structure that was not sent.
static UNSET: ConfigValue = ConfigValue::Members(ConfigMembers::new());
/// What intentions show and filters do not know.
const HIDDEN: [&str; 5] = [
    "CreatedAt",
    "UpdatedAt",
    "Hash",
    "CreateIndex",
    "ModifyIndex",
];

/// Returns the filter of a text for the entries of a kind.
///
/// # Errors
/// Consul's text about the flaw.
pub fn of_entries(text: &[u8], kind: &str, version: Version) -> Result<Filter<ConfigRow>, String> {
    let fields = find(kind, version).map_or(&[][..], |kind| kind.fields);
    Filter::of(text, &|claim| {
        let test = of_fields(claim, &claim.selector, fields, version)?;
        Ok(Box::new(move |row: &ConfigRow| test(&whole(&row.entry))))
    })
}

/// Returns the filter of a text for intentions.
///
/// # Errors
/// Consul's text about the flaw.
pub fn of_intentions(text: &[u8], version: Version) -> Result<Filter<ConfigValue>, String> {
    Filter::of(text, &|claim| {
        of_fields(claim, &claim.selector, intention::fields(version), version)
    })
}

fn of_fields(
    claim: &Match,
    names: &[Vec<u8>],
    fields: &'static [Field],
    version: Version,
) -> Result<Predicate<ConfigValue>, String> {
    let unknown = |names: &[Vec<u8>]| claim.invalid_selector(names);
    let (first, rest) = names.split_first().ok_or_else(|| unknown(names))?;
    let mut known = fields.iter().filter(|field| {
        field.is_known(version)
            && !HIDDEN.contains(&field.name)
            && !matches!(field.shape, Shape::Ignored)
    });
    let field = known.find(|field| field.name.as_bytes() == first);
    let field = field.ok_or_else(|| unknown(names))?;
    let name = field.name;
    match (field.shape, rest) {
        (Shape::Text, []) => {
            let holds = claim.of_text()?;
            Ok(Box::new(move |value| holds(value.text(name))))
        }
        (Shape::Flag, []) => {
            let holds = claim.of_flag()?;
            Ok(Box::new(move |value| holds(value.flag(name))))
        }
        (Shape::Int | Shape::Uint | Shape::Time | Shape::Nanos, []) => {
            let holds = claim.of_number()?;
            Ok(Box::new(move |value| holds(value.number(name))))
        }
        (Shape::List(Shape::Text), []) => {
            let presence = claim.of_presence()?;
            Ok(Box::new(move |value| {
                let has = |wanted: &[u8]| value.texts(name).any(|text| text.as_bytes() == wanted);
                presence.holds(has, || value.list(name).is_empty())
            }))
        }
        (Shape::List(_), []) => {
            let wanted = claim.of_emptiness()?;
            Ok(Box::new(move |value| value.list(name).is_empty() == wanted))
        }
        (Shape::List(Shape::Struct(fields)), rest) => {
            let inner = of_fields(claim, rest, fields, version)?;
            Ok(Box::new(move |value| value.list(name).iter().any(&inner)))
        }
        (Shape::Struct(_) | Shape::Pointer(_), []) => Err(claim.invalid_operator()),
        (Shape::Struct(fields) | Shape::Pointer(fields), rest) => {
            let inner = of_fields(claim, rest, fields, version)?;
            Ok(Box::new(move |value| {
                inner(value.get(name).unwrap_or(&UNSET))
            }))
        }
        (Shape::Map(_), []) => {
            let holds = claim.of_keys()?;
            Ok(Box::new(move |value| holds(labels(value, name))))
        }
        (Shape::Map(Shape::Text), [key]) => {
            let key = String::from_utf8(key.clone()).map_err(|_| unknown(rest))?;
            let inner = claim.of_text()?;
            let absent = claim.holds_of_what_is_absent();
            Ok(Box::new(move |value| {
                let found = labels(value, name).and_then(|labels| labels.get(&key));
                found.map_or(absent, |found| inner(text(found)))
            }))
        }
        _ => Err(unknown(rest)),
    }
}

fn labels<'a>(value: &'a ConfigValue, name: &str) -> Option<&'a ConfigMembers> {
    match value.get(name) {
        Some(ConfigValue::Members(labels)) => Some(labels),
        _ => None,
    }
}

fn text(value: &ConfigValue) -> &str {
    match value {
        ConfigValue::Text(text) => text,
        _ => "",
    }
}
