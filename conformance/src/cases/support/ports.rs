//! What the cases about named ports of a service share.

use serde_json::{Value, json};

use crate::case::trial::Trial;
use crate::cases::support::catalog::registration;

/// The ports of a service: a default one, which older clients see as `Port`, and a second.
pub(in crate::cases) fn two_ports() -> Value {
    json!([{"Name": "http", "Port": 80, "Default": true}, {"Name": "admin", "Port": 81}])
}

/// The same as every read shows them.
pub(in crate::cases) fn two_ports_shown() -> Value {
    json!([
        {"Name": "http", "Port": 80, "Default": true},
        {"Name": "admin", "Port": 81, "Default": false},
    ])
}

/// What is wrong with several ports: the fields of a service, and the words.
pub(in crate::cases) fn flaws() -> Vec<(Value, &'static str)> {
    let port = |name: &str, port: i64, default: bool| json!({"Name": name, "Port": port, "Default": default});
    let ports = |ports: Vec<Value>| json!({"Ports": ports});
    let default = "Only one port can be marked as default";
    vec![
        (
            json!({"Port": 1, "Ports": [port("a", 1, true)]}),
            "Cannot set both Port and Ports",
        ),
        (
            ports(vec![port("a", 1, false)]),
            "One of the Ports must be marked as Default",
        ),
        (ports(vec![port("a", 1, true), port("b", 2, true)]), default),
        (
            ports(vec![port("a", 1, true), port("a", 2, false)]),
            "Ports.Name \"a\" has to be unique",
        ),
        (ports(vec![port("", 1, true)]), "Ports.Name cannot be empty"),
        (
            ports(vec![port("a", 0, true)]),
            "Ports.Port must be greater than zero",
        ),
    ]
}

/// Several problems in one text.
pub(in crate::cases) fn problems(problems: &[&str]) -> String {
    let head = match problems.len() {
        1 => "1 error occurred:".to_owned(),
        count => format!("{count} errors occurred:"),
    };
    let lines = problems.iter().map(|line| format!("\n\t* {line}"));
    format!("{head}{}\n\n", lines.collect::<String>())
}

/// Registers a node with these further fields, which is refused.
#[track_caller]
pub(in crate::cases) fn refused(t: &Trial, node: &str, fields: &Value, words: &[&str]) {
    let body = registration(node, fields).to_string();
    t.api_put("/v1/catalog/register", body)
        .is(500, &problems(words));
}
