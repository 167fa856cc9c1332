//! Prints entries: their fields in Consul's order, those without a value as each field has it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::field::{Field, Shape};
use super::{find, kinds};
use proconsul_gocompat::duration;
use proconsul_gocompat::json::encode::{self, Json};
use proconsul_store::{ConfigEntry, ConfigRow, ConfigValue, Index};
use proconsul_version::{Behaviour, Version};

/// A stored entry as clients see it.
pub struct ShownEntry<'a> {
    /// The stored entry.
    pub row: &'a ConfigRow,
    /// The release whose form it has.
    pub version: Version,
}

/// A value of an entry.
struct Shown<'a> {
    value: Option<&'a ConfigValue>,
    shape: Shape,
    form: Form,
}

/// How values are printed.
#[derive(Clone, Copy)]
struct Form {
    version: Version,
    /// Whether no field without a value is printed.
    is_terse: bool,
}

impl Form {
    /// Returns the form of answers.
    fn of(version: Version) -> Self {
        Self {
            version,
            is_terse: false,
        }
    }
}

/// A part of an entry, as other pages show it.
pub struct ShownPart {
    value: Option<ConfigValue>,
    shape: Shape,
    version: Version,
}

impl ShownPart {
    /// Shows a route of a router.
    pub fn route(route: ConfigValue, version: Version) -> Self {
        Self::of(Some(route), kinds::ROUTE, version)
    }

    /// Shows a part of a splitter.
    pub fn split(split: ConfigValue, version: Version) -> Self {
        Self::of(Some(split), kinds::SPLIT, version)
    }

    /// Shows how a resolver chooses one of the instances.
    pub fn balancer(balancer: ConfigValue, version: Version) -> Self {
        Self::of(Some(balancer), kinds::BALANCER, version)
    }

    /// Shows a subset of a resolver.
    pub fn subset(subset: Option<ConfigValue>, version: Version) -> Self {
        Self::of(subset, kinds::SUBSET, version)
    }

    /// Shows an intention.
    pub fn intention(intention: ConfigValue, version: Version) -> Self {
        Self::of(Some(intention), super::intention::fields(version), version)
    }

    fn of(value: Option<ConfigValue>, fields: &'static [Field], version: Version) -> Self {
        Self {
            value,
            shape: Shape::Struct(fields),
            version,
        }
    }
}

impl Serialize for ShownPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = Shown {
            value: self.value.as_ref(),
            shape: self.shape,
            form: Form::of(self.version),
        };
        shown.serialize(serializer)
    }
}

/// Returns a weight that is stored in hundredths.
#[expect(clippy::cast_precision_loss, reason = "weights are small")]
pub fn weight(hundredths: i64) -> f64 {
    hundredths as f64 / 100.0
}

impl Serialize for ShownEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (entry, version) = (&self.row.entry, self.version);
        let form = Form::of(version);
        let (body, fields) = (whole(entry), fields(entry, version));
        let mut object = serializer.serialize_map(None)?;
        let behind = fields.iter().position(|field| field.name == "Hash");
        let (before, behind) = fields.split_at(behind.unwrap_or(fields.len()));
        put(&mut object, before, Some(&body), form)?;
        if version.has(Behaviour::ConfigLate) {
            let whole = Shown {
                value: Some(&body),
                shape: Shape::Struct(fields),
                form,
            };
            object.serialize_entry("Hash", &fingerprint(&encode::to_text(&whole)))?;
        }
        let Index(created) = self.row.create_index;
        let Index(modified) = self.row.modify_index;
        object.serialize_entry("CreateIndex", &created)?;
        object.serialize_entry("ModifyIndex", &modified)?;
        put(&mut object, behind, Some(&body), form)?;
        object.end()
    }
}

/// Returns an entry with its kind and name.
pub(super) fn whole(entry: &ConfigEntry) -> ConfigValue {
    let mut whole = entry.body.clone();
    whole.set("Kind", ConfigValue::Text(entry.kind.clone()));
    whole.set("Name", ConfigValue::Text(entry.name.clone()));
    whole
}

fn fields(entry: &ConfigEntry, version: Version) -> &'static [Field] {
    find(&entry.kind, version).map_or(&[][..], |kind| kind.fields)
}

/// Returns the JSON of an entry with the fields that have a value.
pub(super) fn sent(entry: &ConfigEntry, version: Version) -> String {
    let (body, fields) = (whole(entry), fields(entry, version));
    encode::to_text(&Shown {
        value: Some(&body),
        shape: Shape::Struct(fields),
        form: Form {
            version,
            is_terse: true,
        },
    })
}

/// Returns the FNV-1a hash of a text. Consul's are others, and no client reads them.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn put<M: SerializeMap>(
    object: &mut M,
    fields: &'static [Field],
    members: Option<&ConfigValue>,
    form: Form,
) -> Result<(), M::Error> {
    for field in fields.iter().filter(|field| field.is_known(form.version)) {
        let value = members.and_then(|members| members.get(field.name));
        let is_empty = match (value, field.shape) {
            (None, _) => true,
            (Some(ConfigValue::List(list)), _) => list.is_empty(),
            (Some(ConfigValue::Members(members)), Shape::Map(_)) => members.is_empty(),
            (Some(_), Shape::Ignored) => true,
            (Some(_), _) => false,
        };
        if !is_empty || (!form.is_terse && field.shows_empty(form.version)) {
            let shown = Shown {
                value,
                shape: field.shape,
                form,
            };
            object.serialize_entry(field.name, &shown)?;
        }
    }
    Ok(())
}

impl Shown<'_> {
    fn part<'a>(&self, value: &'a ConfigValue, shape: &Shape) -> Shown<'a> {
        Shown {
            value: Some(value),
            shape: *shape,
            form: self.form,
        }
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = match self.value {
            Some(ConfigValue::Number(number)) => *number,
            _ => 0,
        };
        match (self.shape, self.value) {
            (Shape::Text, Some(ConfigValue::Text(text))) => serializer.serialize_str(text),
            (Shape::Text, _) => serializer.serialize_str(""),
            (Shape::Flag, value) => {
                serializer.serialize_bool(matches!(value, Some(ConfigValue::Flag(true))))
            }
            (Shape::Int | Shape::Uint | Shape::Nanos, _) => serializer.serialize_i64(number),
            (Shape::Time, _) => serializer.serialize_str(&duration::format(number)),
            (Shape::Weight, _) => serializer.serialize_f64(weight(number)),
            (Shape::Any | Shape::Kept, Some(ConfigValue::Text(json))) if !json.is_empty() => {
                Json(json).serialize(serializer)
            }
            (Shape::List(shape), Some(ConfigValue::List(list))) => {
                serializer.collect_seq(list.iter().map(|value| self.part(value, shape)))
            }
            (Shape::Map(shape), Some(ConfigValue::Members(members))) => {
                let members = members.iter();
                serializer.collect_map(members.map(|(name, value)| (name, self.part(value, shape))))
            }
            (Shape::Struct(fields), value) | (Shape::Pointer(fields), value @ Some(_)) => {
                let mut object = serializer.serialize_map(None)?;
                put(&mut object, fields, value, self.form)?;
                object.end()
            }
            (
                Shape::Any
                | Shape::Kept
                | Shape::List(_)
                | Shape::Map(_)
                | Shape::Pointer(_)
                | Shape::Ignored,
                _,
            ) => serializer.serialize_unit(),
        }
    }
}
