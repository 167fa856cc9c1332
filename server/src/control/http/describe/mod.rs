//! The OpenAPI description of the control plane, generated from the types that its calls take and give.

mod reference;

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{PREFIX, calls};

/// The description as JSON. It is the same for every server of a process.
pub(super) fn openapi() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| serde_json::to_string_pretty(&*DESCRIPTION).expect("JSON can be written"));
    &TEXT
}

/// The description as a page for people.
pub(super) fn html() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| reference::page(&DESCRIPTION));
    &TEXT
}

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let mut schemas = Schemas::default();
    let mut paths = Map::new();
    for call in calls() {
        let methods = paths.entry(call.path).or_insert_with(|| json!({}));
        let method = call.method.as_str().to_lowercase();
        methods[method] = call.describe(&mut schemas);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "proconsul's control plane",
            "version": "1",
            "description": "What a test can do to a server, and learn about it. Every call checks all of its input \
                before it does anything. What is refused is answered with a sentence, as text. Times in milliseconds \
                are counted on the server's clock from its start.",
        },
        "servers": [{ "url": PREFIX.trim_end_matches('/') }],
        "paths": paths,
        "components": { "schemas": schemas.components() },
    })
});

/// The schemas of the description. Types of answers are components under their names; types of input are inlined.
pub(super) struct Schemas {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let taken = settings
            .clone()
            .with(|settings| settings.inline_subschemas = true);
        Self {
            taken: taken.for_deserialize().into_generator(),
            given: settings.for_serialize().into_generator(),
        }
    }
}

impl Schemas {
    /// Returns the schema of an input.
    pub(super) fn taken<T: JsonSchema>(&mut self) -> Value {
        let mut schema = self.taken.subschema_for::<T>().to_value();
        complete(&mut schema);
        schema
    }

    /// Returns the schema of an answer.
    pub(super) fn given<T: JsonSchema>(&mut self) -> Value {
        self.given.subschema_for::<T>().to_value()
    }

    fn components(&mut self) -> Value {
        let mut components = Value::Object(self.given.take_definitions(true));
        complete(&mut components);
        components
    }
}

/// Adds what the generator leaves out: an empty list of required fields, and a description of the tag of an enum.
fn complete(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(complete),
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("required") {
                fields.insert("required".into(), json!([]));
            }
            if let Some(tag) = fields.get("const").and_then(Value::as_str)
                && !fields.contains_key("description")
            {
                let description = format!("Always `{tag}`.");
                fields.insert("description".into(), description.into());
            }
            fields.values_mut().for_each(complete);
        }
        _ => {}
    }
}
