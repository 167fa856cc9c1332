//! Calls of the control plane, drawn from its own description: whatever calls there are, they are made.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::bodies::{any, broken, change};
use crate::requests::{Request, finish};
use crate::texts::{anything, duration, name, one_of, session, travel};

/// The calls that a server describes.
pub(crate) struct Calls {
    description: Value,
    calls: Vec<Call>,
    names: Vec<String>,
}

struct Call {
    method: String,
    path: String,
    queries: Vec<String>,
    body: Option<Value>,
}

/// What goes before the paths of a description that does not say it.
const PREFIX: &str = "/proconsul/v1";

impl Calls {
    pub(crate) fn of(description: &[u8]) -> Self {
        let description: Value = serde_json::from_slice(description).expect("it is JSON");
        let paths = description["paths"].as_object().expect("it has paths");
        let mut calls = Vec::new();
        for (path, operations) in paths {
            let operations = operations.as_object().expect("a path has operations");
            for (method, operation) in operations {
                if !matches!(method.as_str(), "get" | "put" | "post" | "delete") {
                    continue;
                }
                let parameters = operation["parameters"].as_array();
                let in_query = parameters.into_iter().flatten();
                let in_query = in_query.filter(|parameter| parameter["in"] == "query");
                let content = &operation["requestBody"]["content"];
                let schema = content
                    .as_object()
                    .and_then(|content| content.values().next());
                calls.push(Call {
                    method: method.to_uppercase(),
                    path: match path.strip_prefix(PREFIX) {
                        Some(rest) => rest.to_owned(),
                        None => path.clone(),
                    },
                    queries: in_query
                        .filter_map(|parameter| parameter["name"].as_str().map(str::to_owned))
                        .collect(),
                    body: schema.map(|content| content["schema"].clone()),
                });
            }
        }
        assert!(calls.len() > 30, "the calls are found");
        let names: Vec<_> = calls
            .iter()
            .map(|call| format!("{} {}", call.method, call.path))
            .collect();
        Self {
            description,
            names,
            calls,
        }
    }

    /// The calls by their methods and paths.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Draws one of the calls.
    pub(crate) fn request(&self, rng: &mut Rng, host: &str, place: usize) -> Request {
        let call = &self.calls[place];
        let mut method = call.method.as_str();
        if rng.u8(..30) == 0 {
            method = one_of(
                rng,
                &["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"],
            );
        }
        let mut target = PREFIX.to_owned();
        for segment in call.path.split('/').skip(1) {
            target.push('/');
            target += &match segment.starts_with('{') {
                true => one_of(
                    rng,
                    &[
                        "1",
                        "2",
                        "3",
                        "0",
                        "-1",
                        "a",
                        "x%20y",
                        "99999999999999999999",
                    ],
                )
                .to_owned(),
                false => segment.to_owned(),
            };
        }
        for (place, parameter) in call.queries.iter().enumerate() {
            if rng.bool() {
                let value = name(rng)
                    .replace(['%', '&', '#', ' '], "")
                    .escape_default()
                    .to_string();
                let sign = if place == 0 { '?' } else { '&' };
                target += &format!("{sign}{parameter}={value}");
            }
        }
        let body = match &call.body {
            None if rng.u8(..20) > 0 => Vec::new(),
            None => any(rng, 3).to_string().into_bytes(),
            Some(schema) => self.body(rng, schema),
        };
        let may_wait = call.path.contains("wait") || call.path.contains("clock");
        Request {
            is_endless: method == "GET" && call.path.ends_with("/events"),
            ..finish(rng, host, method, &target, &body, may_wait)
        }
    }

    fn body(&self, rng: &mut Rng, schema: &Value) -> Vec<u8> {
        let mut value = self.value(rng, schema, 6);
        // No other field that is called so is a duration by which time passes.
        if value["by"].is_string() {
            value["by"] = travel(rng).into();
        }
        match rng.u8(..20) {
            0 => return Vec::new(),
            1 => return anything(rng, 60).into_bytes(),
            2 => return broken(rng, value.to_string().into_bytes()),
            3 => {
                let depth = crate::texts::depth(rng);
                let open = one_of(rng, &["[", "{\"effect\":", "{\"phases\":[", "{\"a\":"]);
                return open.repeat(depth).into_bytes();
            }
            4..7 => change(rng, &mut value),
            _ => {}
        }
        value.to_string().into_bytes()
    }

    /// A value that a schema allows.
    fn value(&self, rng: &mut Rng, schema: &Value, levels: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.description.pointer(reference.trim_start_matches('#'));
            return target.map_or(Value::Null, |schema| self.value(rng, schema, levels));
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        for several in ["enum", "oneOf", "anyOf", "allOf"] {
            if let Some(choices) = schema[several]
                .as_array()
                .filter(|choices| !choices.is_empty())
            {
                let choice = &choices[rng.usize(..choices.len())];
                return match several {
                    "enum" => choice.clone(),
                    _ => self.value(rng, choice, levels),
                };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind {
            Some("string") => text(rng, schema).into(),
            Some("integer") => match rng.u8(..8) {
                0 => rng.u64(..).into(),
                1 => json!(-1),
                _ => rng.u8(..20).into(),
            },
            Some("number") => json!([0.0, 1.0, 2.5, 1000.0, 1e300, -1.0][rng.usize(..6)]),
            Some("boolean") => rng.bool().into(),
            Some("array") if levels > 0 => {
                let count = rng.usize(..4);
                (0..count)
                    .map(|_| self.value(rng, &schema["items"], levels - 1))
                    .collect()
            }
            Some("object") if levels > 0 => self.object(rng, schema, levels),
            _ => any(rng, 2),
        }
    }

    fn object(&self, rng: &mut Rng, schema: &Value, levels: usize) -> Value {
        let mut object = Map::new();
        let required = schema["required"].as_array();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let is_required =
                required.is_some_and(|names| names.contains(&Value::from(name.as_str())));
            if is_required || rng.bool() {
                object.insert(name.clone(), self.value(rng, schema, levels - 1));
            }
        }
        object.into()
    }
}

/// A text of the kind that a schema speaks of.
fn text(rng: &mut Rng, schema: &Value) -> String {
    let about = schema["description"].as_str().unwrap_or_default();
    match rng.u8(..12) {
        0 => anything(rng, 20),
        1 => session(rng),
        2 => duration(rng),
        _ if about.contains("duration") => duration(rng),
        _ => name(rng),
    }
}
