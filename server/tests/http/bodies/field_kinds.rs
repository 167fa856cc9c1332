//! Every field of every body with a value of every kind that it does not take, and the sentence of 1.8.7 about it (each seen
//! there).

use crate::support::Consul;

/// One field in a line: what it takes, the body, the way to the field, its name in the sentence, and its Go type.
const FIELDS: &str = include_str!("field_kinds.txt");

/// Where a body goes, and what is said before the sentence.
fn endpoint(body: &str) -> (&'static str, &'static str, &'static str) {
    let decode = "Request decode failed: ";
    match body {
        "session" => ("PUT", "/v1/session/create", decode),
        "register" => ("PUT", "/v1/catalog/register", decode),
        "deregister" => ("PUT", "/v1/catalog/deregister", decode),
        "query" => ("POST", "/v1/query", decode),
        "txn" => ("PUT", "/v1/txn", "Failed to parse body: "),
        "service" => ("PUT", "/v1/agent/service/register", decode),
        "check" => ("PUT", "/v1/agent/check/register", decode),
        "update" => ("PUT", "/v1/agent/check/update/c", decode),
        other => panic!("no body is called {other}"),
    }
}

/// The values that a field does not take, each with what Go calls it.
fn wrong_values(takes: &str) -> Vec<(&'static str, &'static str)> {
    let all = [
        ("true", "bool", "flag"),
        ("7", "number", "number"),
        ("\"x\"", "string", "text"),
        ("[]", "array", "list"),
        ("{}", "object", "object"),
    ];
    let number = matches!(takes, "whole" | "count");
    let kind = if number { "number" } else { takes };
    let others = all.into_iter().filter(|(_, _, taken)| *taken != kind);
    let mut wrong: Vec<_> = others.map(|(value, found, _)| (value, found)).collect();
    assert_eq!(wrong.len(), 4, "{takes} is a kind");
    if number {
        wrong.extend([("1.5", "number 1.5"), ("1e20", "number 1e20")]);
    }
    if takes == "count" {
        wrong.push(("-1", "number -1"));
    }
    wrong
}

/// A body with this value at the end of the way, where numbers stand for lists.
fn body(way: &str, value: &str) -> String {
    way.rsplit('.').fold(value.to_owned(), |inner, name| {
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("[{inner}]")
        } else {
            format!("{{\"{name}\":{inner}}}")
        }
    })
}

#[test]
fn every_field_minds_the_kinds_of_its_values() {
    let consul = Consul::v1_8();
    for line in FIELDS.lines() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let &[takes, kind_of_body, way, name, go_type] = words.as_slice() else {
            panic!("a line has five words: {line}");
        };
        let (method, target, before) = endpoint(kind_of_body);
        for (value, found) in wrong_values(takes) {
            let body = body(way, value);
            let text = format!(
                "{before}json: cannot unmarshal {found} into Go struct field {name} of type {go_type}"
            );
            let answer = consul.ask_with(method, target, &[], body.as_bytes());
            assert_eq!((answer.code(), answer.text()), (400, &*text), "{body}");
        }
    }
}

/// The places of durations, with `*` for the value.
const DURATIONS: &[(&str, &str)] = &[
    ("session", r#"{"LockDelay":*}"#),
    ("check", r#"{"Name":"a","TTL":*}"#),
    (
        "check",
        r#"{"Name":"a","deregister_critical_service_after":*}"#,
    ),
    ("service", r#"{"Name":"a","Check":{"Interval":*}}"#),
    (
        "register",
        r#"{"Node":"n","Address":"a","Check":{"Name":"c","Definition":{"Interval":*}}}"#,
    ),
    (
        "register",
        r#"{"Node":"n","Address":"a","Check":{"Name":"c","Definition":{"TTL":*}}}"#,
    ),
    (
        "txn",
        r#"[{"Check":{"Check":{"Definition":{"TimeoutDuration":*}}}}]"#,
    ),
    (
        "txn",
        r#"[{"Check":{"Check":{"Definition":{"Timeout":*}}}}]"#,
    ),
];

#[test]
fn texts_that_are_no_durations_are_quoted_as_the_release_does() {
    let rows = [
        ("\"\"", "invalid duration \"\"", "invalid duration \"\""),
        (
            "\"1é\"",
            "unknown unit \"é\" in duration \"1é\"",
            r#"unknown unit "\xc3\xa9" in duration "1\xc3\xa9""#,
        ),
    ];
    let (old, new) = (Consul::v1_8(), Consul::v1_22());
    for (place, template) in DURATIONS {
        let (method, target, before) = endpoint(place);
        for (value, bare, escaped) in rows {
            let body = template.replace('*', value);
            for (consul, words) in [(&old, bare), (&new, escaped)] {
                let answer = consul.ask_with(method, target, &[], body.as_bytes());
                answer.is(400, &format!("{before}time: {words}"));
            }
        }
    }
}

#[test]
fn what_the_clients_type_takes_for_a_number_is_written_as_it_stands() {
    let consul = Consul::v1_8();
    for (value, text) in [
        (
            "true",
            r#"strconv.ParseFloat: parsing "true": invalid syntax"#,
        ),
        (
            "null",
            r#"strconv.ParseFloat: parsing "null": invalid syntax"#,
        ),
        (
            r#"{"a": 1}"#,
            r#"strconv.ParseFloat: parsing "{\"a\": 1}": invalid syntax"#,
        ),
        (
            "1e999",
            r#"strconv.ParseFloat: parsing "1e999": value out of range"#,
        ),
        (r#""\u0031s""#, r#"time: invalid duration "\u0031s""#),
    ] {
        let body = format!(r#"[{{"Check":{{"Check":{{"Definition":{{"Interval":{value}}}}}}}}}]"#);
        let text = format!("Failed to parse body: {text}");
        consul.put("/v1/txn", body).is(400, &text);
    }
}

#[test]
fn a_number_that_no_duration_can_hold_is_the_least_of_all() {
    let consul = Consul::v1_8();
    for number in ["1e20", "-1e20", "9223372036854775808"] {
        let body = format!(r#"{{"Name":"a","TTL":{number}}}"#);
        let text = "Invalid check: TTL must be > 0 for TTL checks";
        consul.put("/v1/agent/check/register", body).is(400, text);
    }
}
