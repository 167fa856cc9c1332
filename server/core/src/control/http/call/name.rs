//! Values that calls give by name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use proconsul_engine::named::Named;

/// A type whose values calls give by name.
pub(in crate::control::http) trait Nouns {
    /// The noun for a value, in an error.
    const NOUN: &'static str;
    /// The name of the schema in the description.
    const SCHEMA: &'static str;
    /// What the schema describes.
    const DESCRIPTION: &'static str;
}

/// A value that is read and described by its name.
pub(in crate::control::http) struct Name<T>(pub(in crate::control::http) T);

impl<'de, T: Named + Nouns> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = String::deserialize(deserializer)?;
        let found = T::ALL.iter().find(|value| value.name() == wanted);
        found.cloned().map(Self).ok_or_else(|| {
            let names: Vec<_> = T::ALL.iter().map(T::name).collect();
            let (noun, names) = (T::NOUN, names.join(", "));
            D::Error::custom(format!("unknown {noun} {wanted:?}; there are {names}"))
        })
    }
}

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<T: Named + Nouns> JsonSchema for Name<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let constant = |value: &T| json!({ "const": value.name(), "description": value.meaning() });
        let names: Value = T::ALL.iter().map(constant).collect();
        json_schema!({
            "title": T::SCHEMA,
            "type": "string",
            "description": T::DESCRIPTION,
            "oneOf": names,
        })
    }
}
