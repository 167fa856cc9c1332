//! The description as a page of HTML, for people.

use std::fmt::Write;

use serde_json::Value;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>proconsul's control plane</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { border-top: 1px solid #8885; padding-top: 1rem; font-size: 1.1rem; }
code, pre { font: 0.9em ui-monospace, monospace; background: #8882; border-radius: 3px; padding: 0 0.2em; }
pre { padding: 0.6em; overflow-x: auto; max-height: 20rem; }
nav ul { columns: 18rem; list-style: none; padding: 0; }
dl { margin: 0 0 0 1rem; }
dt { margin-top: 0.4rem; }
dd { margin-left: 1.5rem; }
</style>
</head>
<body>
<h1>proconsul's control plane</h1>
";

/// The page that shows a description.
pub(super) fn page(description: &Value) -> String {
    let mut page = Page {
        html: HEAD.to_owned(),
        components: &description["components"]["schemas"],
    };
    page.paragraph(&description["info"]["description"]);
    page.html +=
        "<p>The same for programs: <a href=\"openapi.json\"><code>openapi.json</code></a>.</p>\n";
    let operations = operations(description);
    page.html += "<nav><ul>\n";
    for (method, path, operation) in &operations {
        let id = text(&operation["operationId"]);
        let line = format!("<li><a href=\"#{id}\"><code>{method} {path}</code></a></li>\n");
        page.html += &line;
    }
    page.html += "</ul></nav>\n";
    let base = text(&description["servers"][0]["url"]);
    for (method, path, operation) in &operations {
        page.operation(method, &format!("{base}{path}"), operation);
    }
    page.html += "</body>\n</html>\n";
    page.html
}

/// Returns all operations with method and path, in the order of their paths.
fn operations(description: &Value) -> Vec<(String, &String, &Value)> {
    let mut found = Vec::new();
    for (path, methods) in fields(&description["paths"]) {
        for (method, operation) in fields(methods) {
            found.push((method.to_uppercase(), path, operation));
        }
    }
    found
}

struct Page<'a> {
    html: String,
    components: &'a Value,
}

impl Page<'_> {
    fn operation(&mut self, method: &str, path: &str, operation: &Value) {
        let id = text(&operation["operationId"]);
        self.push(format_args!(
            "<h2 id=\"{id}\"><code>{method} {}</code></h2>\n",
            escaped(path)
        ));
        self.paragraph(&operation["summary"]);
        for parameter in list(&operation["parameters"]) {
            let is_needed = parameter["required"] == true;
            self.html += "<dl>\n";
            self.field(text(&parameter["name"]), &parameter["schema"], is_needed);
            self.push(format_args!(
                "<dd>{}</dd>\n</dl>\n",
                marked(text(&parameter["description"]))
            ));
        }
        let body = &operation["requestBody"]["content"]["application/json"];
        if body.is_object() {
            self.html += "<h3>Body</h3>\n";
            self.schema(&body["schema"]);
            let example = serde_json::to_string_pretty(&body["example"]).unwrap_or_default();
            self.push(format_args!("<pre>{}</pre>\n", escaped(&example)));
        }
        self.html += "<h3>Answers</h3>\n";
        for (status, answer) in fields(&operation["responses"]) {
            let meaning = marked(text(&answer["description"]));
            self.push(format_args!("<p><code>{status}</code> {meaning}</p>\n"));
            for (kind, content) in fields(&answer["content"]) {
                self.push(format_args!("<p><code>{}</code></p>\n", escaped(kind)));
                self.schema(&content["schema"]);
            }
        }
    }

    /// Shows a schema: its fields, its items, or its variants.
    fn schema(&mut self, schema: &Value) {
        let schema = match schema["$ref"]
            .as_str()
            .and_then(|path| path.rsplit('/').next())
        {
            Some(name) => &self.components[name],
            None => schema,
        };
        if !schema["items"].is_null() {
            return self.schema(&schema["items"]);
        }
        for variant in list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"])) {
            self.html += "<dl>\n";
            if let Some(name) = name_of(variant) {
                self.push(format_args!("<dt><code>{}</code></dt>\n", escaped(name)));
            }
            self.push(format_args!(
                "<dd>{}\n",
                marked(text(&variant["description"]))
            ));
            self.schema(variant);
            self.html += "</dd>\n</dl>\n";
        }
        let Some(fields) = schema["properties"].as_object() else {
            return;
        };
        let required = list(&schema["required"]);
        self.html += "<dl>\n";
        for (name, field) in fields.iter().filter(|(_, field)| field["const"].is_null()) {
            let is_needed = required.iter().any(|required| required == name);
            self.field(name, field, is_needed);
            self.push(format_args!(
                "<dd>{}\n",
                marked(text(&field["description"]))
            ));
            // Records and blocked requests are shown once, and only named elsewhere.
            if field["items"]["$ref"].is_null() && field["$ref"].is_null() {
                self.schema(field);
            }
            self.html += "</dd>\n";
        }
        self.html += "</dl>\n";
    }

    fn field(&mut self, name: &str, schema: &Value, is_needed: bool) {
        let kind = match &schema["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
            _ => String::new(),
        };
        let needed = if is_needed { "" } else { ", optional" };
        self.push(format_args!(
            "<dt><code>{}</code> {kind}{needed}</dt>\n",
            escaped(name)
        ));
    }

    fn paragraph(&mut self, words: &Value) {
        self.push(format_args!("<p>{}</p>\n", marked(text(words))));
    }

    fn push(&mut self, html: std::fmt::Arguments<'_>) {
        self.html.write_fmt(html).expect("memory takes every line");
    }
}

/// Returns the constant that identifies a variant.
fn name_of(variant: &Value) -> Option<&str> {
    let tag = &variant["properties"]["kind"]["const"];
    variant["const"].as_str().or(tag.as_str())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escapes a text, and turns pieces between backticks into code.
fn marked(text: &str) -> String {
    let mut html = String::new();
    for (place, piece) in escaped(text).split('`').enumerate() {
        html += &if place % 2 == 1 {
            format!("<code>{piece}</code>")
        } else {
            piece.to_owned()
        };
    }
    html
}
