//! JSON bodies: as endpoints want them, with some of it changed, very deep, very long, and broken.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::texts::{
    anything, depth, duration, filter, name, number, one_of, pattern, session, template,
};

/// A body for a path of Consul's API.
pub(crate) fn body(rng: &mut Rng, path: &str) -> Vec<u8> {
    let sound = |rng: &mut Rng| sound(rng, path).to_string().into_bytes();
    match rng.u8(..40) {
        0 => Vec::new(),
        1 => anything(rng, 200).into_bytes(),
        2..5 => deep(rng).into_bytes(),
        5 => vec![rng.u8(..); rng.usize(..700_000)],
        6 => {
            let mut body = sound(rng);
            body.truncate(rng.usize(..=body.len()));
            body
        }
        7 => {
            let body = sound(rng);
            broken(rng, body)
        }
        8..16 => {
            let mut value = self::sound(rng, path);
            change(rng, &mut value);
            value.to_string().into_bytes()
        }
        _ => sound(rng),
    }
}

/// Changes a few bytes. Not where hosts stand: nobody else is to be asked for anything.
pub(crate) fn broken(rng: &mut Rng, mut body: Vec<u8>) -> Vec<u8> {
    if body.is_empty() || body.windows(4).any(|part| part == b"127.") {
        return body;
    }
    for _ in 0..rng.usize(1..4) {
        let place = rng.usize(..body.len());
        body[place] = rng.u8(..);
    }
    body
}

/// Nested JSON, some of it of the kind that a type expects of its own.
pub(crate) fn deep(rng: &mut Rng) -> String {
    const SHAPES: &[(&str, &str, &str, &str)] = &[
        ("", "[", "]", ""),
        ("", "{\"a\":", "}", ""),
        ("[", "{\"KV\":", "}", "]"),
        (
            "{\"Name\":\"a\",\"Port\":1,\"Connect\":",
            "{\"SidecarService\":{\"Connect\":",
            "}}",
            "}",
        ),
        (
            "{\"Name\":\"a\",\"Proxy\":{\"Config\":",
            "{\"a\":",
            "}",
            "}}",
        ),
        (
            "{\"Name\":\"a\",\"Proxy\":{\"Upstreams\":[",
            "{\"Config\":",
            "}",
            "]}}",
        ),
        (
            "{\"Node\":\"n1\",\"Address\":\"127.0.0.1\",\"Service\":{\"Service\":\"a\",\"Connect\":",
            "{\"SidecarService\":{\"Connect\":",
            "}}",
            "}}",
        ),
        (
            "[{\"Service\":{\"Verb\":\"set\",\"Node\":\"n1\",\"Service\":{\"Service\":\"a\",\"Connect\":",
            "{\"SidecarService\":{\"Connect\":",
            "}}",
            "}}}]",
        ),
        (
            "{\"Name\":\"a\",\"TTL\":\"10s\",\"Header\":",
            "{\"a\":[",
            "]}",
            "}",
        ),
    ];
    let (before, open, close, behind) = SHAPES[rng.usize(..SHAPES.len())];
    let mut depth = depth(rng);
    // What is taken is shown again, indented: as many bytes as the square of its depth.
    if open == "{\"a\":" || open.contains("Config") {
        depth = depth.min(300);
    }
    let inner = one_of(rng, &["{}", "null", "1", "[]", "\"a\"", "{"]);
    format!(
        "{before}{}{inner}{}{behind}",
        open.repeat(depth),
        close.repeat(depth)
    )
}

/// Puts something else into a place of a value.
pub(crate) fn change(rng: &mut Rng, value: &mut Value) {
    let is_here = rng.u8(..4) == 0;
    match value {
        Value::Array(items) if !items.is_empty() && !is_here => {
            let place = rng.usize(..items.len());
            change(rng, &mut items[place]);
        }
        Value::Object(members) if !members.is_empty() && !is_here => {
            let place = rng.usize(..members.len());
            let name = members.keys().nth(place).cloned().unwrap_or_default();
            match rng.u8(..6) {
                0 => {
                    members.remove(&name);
                }
                1 => {
                    members.insert(anything(rng, 8), any(rng, 3));
                }
                _ => change(rng, &mut members[&name]),
            }
        }
        place => *place = any(rng, 3),
    }
}

/// A value of any kind.
pub(crate) fn any(rng: &mut Rng, levels: usize) -> Value {
    match rng.u8(..10) {
        0 => Value::Null,
        1 => rng.bool().into(),
        2 => rng.i64(..).into(),
        3 => (rng.f64() * 1e30).into(),
        4 => duration(rng).into(),
        5 => anything(rng, 12).into(),
        6 if levels > 0 => (0..rng.usize(..4)).map(|_| any(rng, levels - 1)).collect(),
        7 if levels > 0 => {
            let members = (0..rng.usize(..4)).map(|_| (anything(rng, 4), any(rng, levels - 1)));
            Value::Object(members.collect())
        }
        8 => "x".repeat(rng.usize(..2_000)).into(),
        _ => name(rng).into(),
    }
}

/// What the endpoint wants.
fn sound(rng: &mut Rng, path: &str) -> Value {
    match path {
        "/v1/txn" => (0..rng.usize(1..5)).map(|_| operation(rng)).collect(),
        path if path.starts_with("/v1/session/") => json!({
            "Name": name(rng), "TTL": duration(rng), "LockDelay": duration(rng),
            "Behavior": one_of(rng, &["release", "delete", ""]),
        }),
        "/v1/catalog/register" => json!({
            "Node": name(rng), "Address": "127.0.0.1", "NodeMeta": {"a": name(rng)},
            "Service": service_of_catalog(rng), "Check": {"CheckID": name(rng), "Name": name(rng), "Status": status(rng)},
            "SkipNodeUpdate": rng.bool(),
        }),
        "/v1/catalog/deregister" => {
            json!({"Node": name(rng), "ServiceID": name(rng), "CheckID": name(rng)})
        }
        "/v1/agent/service/register" => service(rng),
        "/v1/agent/check/register" => check(rng),
        path if path.starts_with("/v1/agent/check/update") => {
            json!({"Status": status(rng), "Output": anything(rng, 100)})
        }
        path if path.starts_with("/v1/query") => query(rng),
        path if path.starts_with("/v1/coordinate") => {
            json!({"Node": name(rng), "Coord": {"Vec": [0.1, number(rng)], "Error": 1.5, "Height": 0.1}})
        }
        path if path.starts_with("/v1/config") => {
            json!({"Kind": "service-defaults", "Name": name(rng), "Protocol": "http"})
        }
        path if path.starts_with("/v1/kv/") => anything(rng, 300).into(),
        _ => any(rng, 4),
    }
}

fn status(rng: &mut Rng) -> &'static str {
    one_of(rng, &["passing", "warning", "critical", "unknown"])
}

fn operation(rng: &mut Rng) -> Value {
    match rng.u8(..6) {
        0 => {
            json!({"Node": {"Verb": verb(rng), "Node": {"Node": name(rng), "Address": "127.0.0.1"}}})
        }
        1 => {
            json!({"Service": {"Verb": verb(rng), "Node": name(rng), "Service": service_of_catalog(rng)}})
        }
        2 => {
            json!({"Check": {"Verb": verb(rng), "Check": {"Node": name(rng), "CheckID": name(rng), "Name": name(rng), "Status": status(rng)}}})
        }
        3 => json!({"Session": {"Verb": "delete", "Session": {"ID": session(rng)}}}),
        _ => json!({"KV": {
            "Verb": one_of(rng, &[
                "set", "cas", "lock", "unlock", "get", "get-tree", "check-index", "check-session", "check-not-exists", "delete",
                "delete-tree", "delete-cas", "get-or-empty", "nope",
            ]),
            "Key": name(rng), "Value": "eA==", "Flags": rng.u8(..), "Index": rng.u8(..), "Session": session(rng),
        }}),
    }
}

fn verb(rng: &mut Rng) -> &'static str {
    one_of(rng, &["set", "get", "cas", "delete", "delete-cas", "nope"])
}

fn service_of_catalog(rng: &mut Rng) -> Value {
    json!({
        "ID": name(rng), "Service": name(rng), "Port": rng.u16(..), "Tags": [name(rng)], "Meta": {"a": name(rng)},
        "Weights": {"Passing": rng.i8(..), "Warning": rng.i8(..)},
        "Proxy": proxy(rng),
        "Kind": one_of(rng, &["", "", "connect-proxy", "mesh-gateway"]),
    })
}

fn proxy(rng: &mut Rng) -> Value {
    json!({
        "DestinationServiceName": name(rng), "Config": {"a": any(rng, 5)},
        "Upstreams": [{"DestinationName": name(rng), "LocalBindPort": rng.u16(..), "Config": {"b": any(rng, 2)}}],
    })
}

fn service(rng: &mut Rng) -> Value {
    let mut service = json!({
        "ID": name(rng), "Name": name(rng), "Port": rng.u16(..), "Tags": [name(rng)], "Meta": {"a": name(rng)},
        "Check": check(rng), "Checks": [check(rng)],
        "TaggedAddresses": {"lan": {"Address": "127.0.0.1", "Port": 1}},
    });
    match rng.u8(..4) {
        0 => service["Connect"] = json!({"SidecarService": {"Proxy": proxy(rng)}}),
        1 => {
            service["Kind"] = "connect-proxy".into();
            service["Proxy"] = proxy(rng);
        }
        _ => {}
    }
    service
}

fn check(rng: &mut Rng) -> Value {
    let mut check = json!({"Name": name(rng), "CheckID": name(rng), "Status": status(rng)});
    match rng.u8(..5) {
        0 => check["HTTP"] = "http://127.0.0.1:1/".into(),
        1 => check["TCP"] = "127.0.0.1:1".into(),
        2 => check["AliasService"] = name(rng).into(),
        _ => {
            check["TTL"] = duration(rng).into();
            return check;
        }
    }
    check["Interval"] = one_of(rng, &["1s", "10s", "1h"]).into();
    check["DeregisterCriticalServiceAfter"] = duration(rng).into();
    check
}

fn query(rng: &mut Rng) -> Value {
    let mut query = json!({
        "Name": name(rng),
        "Service": {"Service": template(rng), "Tags": [template(rng)], "Near": name(rng), "OnlyPassing": rng.bool(), "NodeMeta": {"a": template(rng)}},
        "DNS": {"TTL": duration(rng)},
    });
    if rng.bool() {
        query["Template"] = json!({"Type": "name_prefix_match", "Regexp": pattern(rng), "RemoveEmptyTags": rng.bool()});
    }
    if rng.u8(..4) == 0 {
        query["Service"]["Filter"] = filter(rng).into();
    }
    query
}
