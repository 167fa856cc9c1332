//! The schemas of what calls take and give, as the description shows them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// The schemas of the description. Types of answers are components under their names; types of input are inlined,
/// and have titles where helpers in other languages give them names.
pub(in crate::control::http) struct Schemas {
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
    pub(in crate::control::http) fn taken<T: JsonSchema>(&mut self) -> Value {
        let mut schema = self.taken.subschema_for::<T>().to_value();
        complete(&mut schema);
        schema
    }

    /// Returns the schema of an answer.
    pub(in crate::control::http) fn given<T: JsonSchema>(&mut self) -> Value {
        self.given.subschema_for::<T>().to_value()
    }

    pub(in crate::control::http) fn components(&mut self) -> Value {
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
