//! What the control plane answers, held against its own description.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use proconsul::Version;
use proconsul::history::Kind;
use serde_json::{Value, json};

use crate::acl::tokens;
use crate::over_http::face::{call, parsed, prepared};
use crate::support::{Answer, SECOND, ask, background, frozen, get, held, join};

/// What the description is called where its schemas refer to each other.
const FILE: &str = "openapi.json";

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let server = frozen();
    let answer = get(&server, "/proconsul/v1/openapi.json");
    serde_json::from_str(&answer.body).expect("the description is JSON")
});

/// What the answers have to be.
static ANSWERS: LazyLock<Answers> = LazyLock::new(Answers::of_description);

struct Answers {
    schemas: Schemas,
    /// The schema of each method and path, by the type of the answer. A text has none, and may be anything.
    of: BTreeMap<String, BTreeMap<String, Option<SchemaIndex>>>,
}

impl Answers {
    fn of_description() -> Self {
        let mut compiler = Compiler::new();
        let whole = compiler.add_resource(FILE, DESCRIPTION.clone());
        whole.expect("the description is a resource");
        let mut schemas = Schemas::new();
        let mut compile = |pointer: &str, kind: &str, content: &Value| {
            content.get("schema")?;
            let pointer = format!("{pointer}/{}/schema", token(kind));
            let schema = compiler.compile(&pointer, &mut schemas);
            Some(schema.expect("the schema is one"))
        };
        let mut of = BTreeMap::new();
        for (path, methods) in DESCRIPTION["paths"].as_object().expect("it has paths") {
            for (method, operation) in methods.as_object().expect("a path has methods") {
                let path_token = token(path);
                let pointer = format!("{FILE}#/paths/{path_token}/{method}/responses/200/content");
                let contents = operation["responses"]["200"]["content"].as_object();
                let contents = contents.expect("an answer has a type").iter();
                let contents = contents
                    .map(|(kind, content)| (kind.clone(), compile(&pointer, kind, content)));
                of.insert(
                    format!("{} {path}", method.to_uppercase()),
                    contents.collect(),
                );
            }
        }
        Self { schemas, of }
    }

    /// # Panics
    /// The operation has no answer of this type, or another one.
    #[track_caller]
    fn check(&self, operation: &str, kind: &str, value: &Value) {
        let schema = self.of[operation].get(kind);
        let schema = schema.unwrap_or_else(|| panic!("{operation} answers with {kind:?}"));
        if let Some(schema) = *schema
            && let Err(error) = self.schemas.validate(value, schema)
        {
            panic!("{operation}: {error}: {value}");
        }
    }
}

/// A name as a part of a JSON pointer in an address.
fn token(name: &str) -> String {
    let escaped = name.replace('~', "~0").replace('/', "~1");
    escaped.replace('{', "%7B").replace('}', "%7D")
}

/// A path as the description writes it.
fn described(path: &str) -> String {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    for with_id in ["/faults/", "/servers/"] {
        if path.starts_with(with_id) {
            return format!("{with_id}{{id}}");
        }
    }
    path.to_owned()
}

/// Panics unless what was answered is what the description says. Refusals are sentences.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let kind = answer.header("Content-Type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    if answer.status != 200 {
        assert_eq!(kind, "text/plain", "{method} {path}: {}", answer.body);
        return;
    }
    let operation = format!("{method} {}", described(path));
    let body = &answer.body;
    match kind {
        "text/event-stream" => {
            let events = body.lines();
            for event in events.filter_map(|line| line.strip_prefix("data: ")) {
                let event = serde_json::from_str(event).expect("an event is JSON");
                ANSWERS.check(&operation, kind, &event);
            }
        }
        "application/json" => {
            let value = serde_json::from_str(body).expect("it is JSON");
            ANSWERS.check(&operation, kind, &value);
        }
        _ => ANSWERS.check(&operation, kind, &json!(body)),
    }
}

#[test]
fn what_is_not_described_is_found() {
    let answer = |body: &str| Answer {
        status: 200,
        head: "HTTP/1.1 200 OK\r\nContent-Type: application/json".to_owned(),
        body: body.to_owned(),
    };
    let found = |body: &'static str| {
        std::panic::catch_unwind(|| check("POST", "/state/reset", &answer(body))).is_err()
    };
    assert!(!found(r#"{"index":1}"#));
    for wrong in ["{}", r#"{"index":"1"}"#, r#"{"index":1,"more":2}"#, "[]"] {
        assert!(found(wrong), "{wrong}");
    }
}

/// [`call`] checks each of them.
#[test]
fn every_call_is_answered_as_described() {
    for operation in ANSWERS.of.keys() {
        let (method, path) = operation.split_once(' ').expect("a method and a path");
        let described = &DESCRIPTION["paths"][path][method.to_lowercase()];
        let example = &described["requestBody"]["content"]["application/json"]["example"];
        let (server, mut body) = prepared(example);
        if example.is_null() {
            body.clear();
        }
        let mut path = path.to_owned();
        if path.ends_with("/{id}") {
            let collection = path.trim_end_matches("/{id}");
            let example = &DESCRIPTION["paths"][collection]["post"]["requestBody"];
            let example = example["content"]["application/json"]["example"].to_string();
            let id = parsed(&call(&server, "POST", collection, &example))["id"].to_string();
            path = path.replace("{id}", &id);
        } else if ["/timeline", "/explain"].contains(&&path[..]) {
            path += "?key=job";
        } else if operation == "DELETE /state/checkpoint" {
            path += "?name=before";
        } else if path == "/events" {
            path += "?follow=false&last=10";
        } else if path == "/acl/explain" {
            path += "?token=root&permission=key:read&name=job";
        }
        let answer = call(&server, method, &path, &body);
        assert_eq!(answer.status, 200, "{operation} {body}: {}", answer.body);
    }
}

/// Records of all kinds, and a key that somebody waits for.
#[test]
fn every_kind_of_record_is_described() {
    let server = tokens::started(Version::V1_22_0);
    let token = "/v1/agent/token/default?token=root";
    ask(&server, "PUT", token, r#"{"Token":"root"}"#);
    let create = || {
        let created = ask(&server, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#);
        let created: Value = serde_json::from_str(&created.body).expect("JSON");
        created["ID"].as_str().expect("an id").to_owned()
    };
    let (holder, other) = (create(), create());
    call(
        &server,
        "POST",
        "/faults",
        r#"{"effect":{"kind":"delay-before","by":"1s"},"key_prefix":"held"}"#,
    );
    for (method, target) in [
        ("PUT", "/v1/kv/late".to_owned()),
        ("PUT", "/v1/kv/k?cas=99".to_owned()),
        ("PUT", format!("/v1/kv/job?acquire={holder}")),
        ("PUT", format!("/v1/kv/job?acquire={other}")),
        ("PUT", format!("/v1/kv/job?release={other}")),
        ("PUT", format!("/v1/session/renew/{holder}")),
        ("PUT", "/v1/session/renew/none".to_owned()),
        ("DELETE", "/v1/kv/late".to_owned()),
        ("PUT", "/v1/kv/tree/leaf".to_owned()),
        ("DELETE", "/v1/kv/tree/?recurse".to_owned()),
        ("GET", "/v1/kv/job?token=anonymous".to_owned()),
        ("GET", "/v1/kv/?keys&token=anonymous".to_owned()),
        ("GET", "/v1/kv/job?token=nobody's".to_owned()),
    ] {
        ask(&server, method, &target, "x");
    }
    let slow = held(&server, "GET", "/v1/kv/held");
    let index = server.index();
    let waiting = background(&server, "GET", &format!("/v1/kv/job?index={index}"));
    let wait = r#"{"prefix":"job","count":1,"timeout":"20s"}"#;
    assert_eq!(call(&server, "POST", "/wait/blocked", wait).status, 200);
    let explained = parsed(&call(&server, "GET", "/explain?key=job", ""));
    assert_eq!(explained["waiting"].as_array().map(Vec::len), Some(1));
    call(&server, "GET", "/blocked", "");
    call(&server, "GET", "/explain?key=none", "");
    server.advance(20 * SECOND);
    assert_eq!(
        [waiting, slow].map(|request| join(request).status),
        [200, 404]
    );
    call(&server, "POST", "/clock/jump", r#"{"by":"1h"}"#);
    let belief = r#"{"program":"worker-1","holds":true,"fencing_token":"7"}"#;
    call(&server, "POST", "/beliefs", belief);
    let all = parsed(&call(&server, "GET", "/history", ""));
    let records = all["records"].as_array().expect("a list");
    for kind in Kind::ALL {
        let is_there = |record: &Value| record["kind"] == kind.name();
        assert!(records.iter().any(is_there), "no {}", kind.name());
    }
    assert_eq!(call(&server, "GET", "/history?format=text", "").status, 200);
}

/// Calls `look` with everything in a description that a reader meets by its name: properties, parameters and variants.
fn each_named(value: &Value, path: &str, look: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                each_named(item, &format!("{path}/{place}"), look);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "example") {
                let path = format!("{path}/{name}");
                match (name.as_str(), field) {
                    ("properties", Value::Object(properties)) => {
                        for (property, schema) in properties {
                            look(&format!("{path}/{property}"), schema);
                        }
                    }
                    ("oneOf" | "parameters", Value::Array(items)) => {
                        for (place, item) in items.iter().enumerate() {
                            look(&format!("{path}/{place}"), item);
                        }
                    }
                    _ => {}
                }
                each_named(field, &path, look);
            }
        }
        _ => {}
    }
}

#[test]
fn no_property_parameter_or_variant_lacks_a_description() {
    let mut count = 0;
    let mut lacking = Vec::new();
    each_named(&DESCRIPTION, "", &mut |path, schema| {
        count += 1;
        let description = schema["description"].as_str().unwrap_or_default();
        if !description.ends_with('.') {
            lacking.push(format!("{path}: {description:?}"));
        }
    });
    assert!(count > 200, "they are found: {count}");
    assert!(lacking.is_empty(), "{lacking:#?}");
}

/// The schema of a field of the body of a call.
fn field<'a>(path: &str, name: &str) -> &'a Value {
    let body = &DESCRIPTION["paths"][path]["post"]["requestBody"]["content"]["application/json"];
    &body["schema"]["properties"][name]
}

#[test]
fn every_effect_scenario_and_phase_says_what_happens() {
    let effects = field("/faults", "effect")["oneOf"].as_array();
    let effects = effects.expect("an effect is one of several");
    let kinds: Vec<_> = effects
        .iter()
        .map(|effect| &effect["properties"]["kind"]["const"])
        .collect();
    assert_eq!(kinds.len(), 18, "{kinds:?}");
    let scenarios = named(&field("/leader/lose", "scenario").to_string());
    for name in ["never-elected", "leader-killed", "quorum-lost", "starting"] {
        assert!(scenarios.contains(&name.to_owned()), "{scenarios:?}");
    }
    let phases = named(&field("/leader/lose", "phases").to_string());
    assert_eq!(phases.len(), 6, "{phases:?}");
}

/// The names in a schema that is one of several.
fn named(schema: &str) -> Vec<String> {
    let names = schema.split("\"const\":\"").skip(1);
    names
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_first_page_lists_every_call() {
    let server = frozen();
    let list = get(&server, "/proconsul/v1/");
    for (path, methods) in DESCRIPTION["paths"].as_object().expect("it has paths") {
        for (method, operation) in methods.as_object().expect("a path has methods") {
            let method = method.to_uppercase();
            let call = format!("{:<6} {:<36} ", method, format!("/proconsul/v1{path}"));
            let line = list.body.lines().find(|line| line.starts_with(&call));
            let summary = line.map(|line| line[call.len()..].into());
            assert_eq!(
                summary,
                Some(operation["summary"].clone()),
                "{method} {path}"
            );
        }
    }
    let without_slash = get(&server, "/proconsul/v1");
    assert_eq!(without_slash.status, 308);
    assert_eq!(without_slash.header("Location"), Some("/proconsul/v1/"));
}
