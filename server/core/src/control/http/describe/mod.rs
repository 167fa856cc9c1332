//! The OpenAPI description of the control plane, generated from the types that its calls take and give.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::call::Schemas;
use super::{PREFIX, calls};

/// The description as JSON. It is the same for every server of a process.
pub(super) fn openapi() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| serde_json::to_string_pretty(&*DESCRIPTION).expect("JSON can be written"));
    &TEXT
}

/// The calls as a list for people, a line each.
pub(super) fn list() -> String {
    let mut list = format!(
        "proconsul's control plane. {PREFIX}openapi.json describes parameters, bodies and responses.\n\n"
    );
    let base = PREFIX.trim_end_matches('/');
    for call in calls() {
        let path = format!("{base}{}", call.path);
        list += &format!(
            "{:<6} {path:<36} {}\n",
            call.method.as_str(),
            call.summary()
        );
    }
    list
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
