//! Values that calls give by name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// A type whose values have names.
pub(in crate::control::http) trait Named: Sized + 'static {
    /// The noun for a value, in an error.
    const NOUN: &'static str;
    /// The name of the schema in the description.
    const SCHEMA: &'static str;
    /// What the schema describes.
    const DESCRIPTION: &'static str;

    /// Returns every value, with its name and what it means.
    fn named() -> impl Iterator<Item = (&'static str, &'static str, Self)>;
}

/// A value that is read and described by its name.
pub(in crate::control::http) struct Name<T>(pub(in crate::control::http) T);

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = String::deserialize(deserializer)?;
        let found = T::named().find(|(name, ..)| *name == wanted);
        found.map(|(.., value)| Self(value)).ok_or_else(|| {
            let names: Vec<_> = T::named().map(|(name, ..)| name).collect();
            let (noun, names) = (T::NOUN, names.join(", "));
            D::Error::custom(format!("unknown {noun} {wanted:?}; there are {names}"))
        })
    }
}

impl<T: Named> JsonSchema for Name<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Value = T::named()
            .map(|(name, meaning, _)| json!({ "const": name, "description": meaning }))
            .collect();
        json_schema!({ "type": "string", "description": T::DESCRIPTION, "oneOf": names })
    }
}
