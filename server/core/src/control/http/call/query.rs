//! Query strings as typed values: names are checked against the fields, and a field that is a list may be repeated.
//!
//! `serde_urlencoded`, which axum's own extractor stands on, takes no repeated parameter.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::Refused;
use proconsul_gocompat::url::query::{Query, Semicolons};

/// Reads a query string.
///
/// # Errors
/// A 400 that says which parameter is unknown, missing, repeated or invalid.
pub(super) fn read<T: DeserializeOwned>(raw: &[u8]) -> Result<T, Refused> {
    let query = Query::parse(raw, Semicolons::Refused)
        .map_err(|_| Refused::input("the query string cannot be read"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut parameters: Vec<Parameter> = Vec::new();
    for (name, value) in query.pairs() {
        let (name, value) = (text(name), text(value));
        match parameters.iter_mut().find(|found| found.name == name) {
            Some(found) => found.values.push(value),
            None => parameters.push(Parameter {
                name,
                values: vec![value],
            }),
        }
    }
    T::deserialize(Parameters(parameters))
        .map_err(|InvalidQuery(sentence)| Refused::input(sentence))
}

/// Why a query is invalid, as a sentence.
#[derive(Debug)]
pub(in crate::control::http) struct InvalidQuery(String);

impl fmt::Display for InvalidQuery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for InvalidQuery {}

impl de::Error for InvalidQuery {
    fn custom<T: fmt::Display>(sentence: T) -> Self {
        Self(sentence.to_string())
    }

    fn missing_field(name: &'static str) -> Self {
        Self(format!("expected the parameter {name}"))
    }
}

/// A parameter with all of its values.
struct Parameter {
    name: String,
    values: Vec<String>,
}

struct Parameters(Vec<Parameter>);

impl<'de> Deserializer<'de> for Parameters {
    type Error = InvalidQuery;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidQuery> {
        let pairs = self.0.into_iter();
        visitor.visit_map(MapDeserializer::new(
            pairs.map(|parameter| (parameter.name.clone(), parameter)),
        ))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InvalidQuery> {
        let is_unknown = |parameter: &&Parameter| !fields.contains(&parameter.name.as_str());
        if let Some(Parameter { name, .. }) = self.0.iter().find(is_unknown) {
            let expected = match fields {
                [] => "no parameter".to_owned(),
                fields => fields.join(", "),
            };
            return Err(InvalidQuery(format!(
                "unknown parameter {name:?}, expected {expected}"
            )));
        }
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, InvalidQuery> for Parameter {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Parameter {
    type Error = InvalidQuery;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, InvalidQuery> {
        match self.values.pop() {
            Some(value) if self.values.is_empty() => visitor.visit_string(value),
            _ => Err(InvalidQuery(format!(
                "the parameter {} is given more than once",
                self.name
            ))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidQuery> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidQuery> {
        visitor.visit_seq(SeqDeserializer::new(self.values.into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}
