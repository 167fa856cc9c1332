//! What the catalog and transactions keep of a check's definition, and the type that follows from it (session.md 4.2, kv.md 7.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::txn_catalog::{check_op, shown};

const NEEDS: &[Feature] = &[Feature::Registration];

/// The fields of a definition that every version keeps, in the catalog's order.
fn definition() -> Value {
    json!({
        "Interval": "10s", "Timeout": "1s", "DeregisterCriticalServiceAfter": "1m0s",
        "HTTP": "http://localhost/", "TLSSkipVerify": true, "Header": {"A": ["b"]}, "Method": "PUT", "Body": "b",
        "TCP": "localhost:1", "ScriptArgs": ["true"], "DockerContainerID": "d", "Shell": "sh", "GRPC": "localhost:2",
        "GRPCUseTLS": true, "AliasNode": "an", "AliasService": "as", "TTL": 7_000_000_000_u64,
    })
}

/// The fields that later versions have beside them.
fn later_fields() -> Value {
    json!({
        "TLSServerName": "name", "DisableRedirects": true, "TCPUseTLS": true, "UDP": "localhost:3",
        "H2PING": "localhost:4", "OSService": "service", "H2PingUseTLS": true, "SessionName": "session",
    })
}

/// The named fields of an object.
fn only(object: &Value, names: &[&str]) -> Value {
    let fields = names
        .iter()
        .map(|name| ((*name).to_owned(), object[name].clone()));
    Value::Object(fields.collect())
}

/// Both objects in one.
fn with(mut object: Value, others: &Value) -> Value {
    if let (Some(object), Some(others)) = (object.as_object_mut(), others.as_object()) {
        object.extend(others.clone());
    }
    object
}

/// Registers a check with this definition and returns it as `health/node` shows it.
#[track_caller]
fn kept(t: &Trial, definition: &Value) -> Value {
    let node = t.node("n");
    let check = json!({"CheckID": "c", "Name": "c", "Definition": definition});
    register(t, &node, &json!({"Check": check}));
    t.api_get(&format!("/v1/health/node/{node}")).json()[0].clone()
}

/// The type of a check with this definition.
#[track_caller]
fn has_type(t: &Trial, definition: &Value, kind: &str) {
    let shown = kept(t, definition)["Type"].clone();
    t.same(&format!("the type of {definition}"), shown, json!(kind));
}

/// What a transaction keeps of this definition.
#[track_caller]
fn kept_by_a_transaction(t: &Trial, definition: &Value) -> Value {
    let node = t.register_node("n");
    let check = json!({"Node": node, "CheckID": "c", "Name": "c", "Definition": definition});
    shown(t, &check_op("set", &check), "Check")["Definition"].clone()
}

const KEPT_BY_TRANSACTIONS: &[&str] = &[
    "Interval",
    "Timeout",
    "DeregisterCriticalServiceAfter",
    "HTTP",
    "TLSSkipVerify",
    "Header",
    "Method",
    "Body",
    "TCP",
];

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/definition/fields",
        claim: "The catalog keeps every field of a definition: of HTTP, TCP, script, docker, gRPC, alias and TTL checks",
        source: "session.md 4.2",
        needs: NEEDS,
        run: |t| {
            let shown = kept(t, &definition())["Definition"].clone();
            t.same("the definition", shown, definition());
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/definition/output-size",
        claim: "The catalog keeps the limit of a check's output, too",
        source: "session.md 4.2",
        until: Some(Version::V1_9),
        needs: NEEDS,
        run: |t| {
            let given = json!({"Interval": "1s", "OutputMaxSize": 5, "Timeout": "1s"});
            let shown = kept(t, &given)["Definition"].clone();
            t.same("the definition", shown, given);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/definition/later-fields-since-1-22",
        claim: "The catalog keeps the fields of later kinds of checks: UDP, HTTP/2 pings, services of the system, sessions",
        source: "session.md 4.2, 1.22.md F",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let given = with(definition(), &later_fields());
            let shown = kept(t, &given)["Definition"].clone();
            t.same("the definition", shown, given);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/definition/types",
        claim: "The type of a check follows from its definition, for checks that are run only if it has an interval",
        source: "session.md 4.2",
        needs: NEEDS,
        run: |t| {
            for (kind, fields) in [
                ("http", json!({"HTTP": "http://localhost/"})),
                ("tcp", json!({"TCP": "localhost:1"})),
                ("grpc", json!({"GRPC": "localhost:1"})),
            ] {
                has_type(t, &fields, "");
                has_type(t, &with(json!({"Interval": "1s"}), &fields), kind);
            }
            has_type(t, &json!({"TTL": "5s"}), "ttl");
            has_type(t, &json!({"ScriptArgs": ["true"]}), "script");
            has_type(t, &json!({"AliasNode": "n"}), "alias");
            has_type(t, &json!({"AliasService": "s"}), "alias");
            has_type(t, &definition(), "grpc");
            has_type(t, &with(definition(), &json!({"Interval": "0s"})), "ttl");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/definition/types-in-order",
        claim: "Of several types that a definition describes the first counts of grpc, http, ttl, tcp, alias, docker and script",
        source: "session.md 4.2",
        until: Some(Version::V1_9),
        needs: NEEDS,
        run: |t| {
            let types = [
                ("grpc", json!({"GRPC": "localhost:1"})),
                ("http", json!({"HTTP": "http://localhost/"})),
                ("ttl", json!({"TTL": "5s"})),
                ("tcp", json!({"TCP": "localhost:1"})),
                ("alias", json!({"AliasNode": "n"})),
                (
                    "docker",
                    json!({"DockerContainerID": "d", "ScriptArgs": ["true"]}),
                ),
                ("script", json!({"ScriptArgs": ["true"]})),
            ];
            for pair in types.windows(2) {
                let [(first, fields), (_, others)] = pair else {
                    continue;
                };
                let both = with(with(json!({"Interval": "1s"}), others), fields);
                has_type(t, &both, first);
            }
            let container = json!({"Interval": "1s", "DockerContainerID": "d"});
            has_type(t, &container, "");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/definition",
        claim: "A transaction keeps the durations, HTTP and TCP fields of a definition, and drops scripts, containers, aliases and TTL",
        source: "kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let dropped = [
                "ScriptArgs",
                "DockerContainerID",
                "Shell",
                "AliasNode",
                "AliasService",
                "TTL",
            ];
            let given = with(
                only(&definition(), KEPT_BY_TRANSACTIONS),
                &only(&definition(), &dropped),
            );
            let expected = only(&definition(), KEPT_BY_TRANSACTIONS);
            t.same("the definition", kept_by_a_transaction(t, &given), expected);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/definition-before-1-22",
        claim: "A transaction drops the fields of gRPC checks",
        source: "kv.md 7.5",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let given = json!({"Interval": "1s", "GRPC": "localhost:1", "GRPCUseTLS": true});
            let expected = json!({"Interval": "1s"});
            t.same("the definition", kept_by_a_transaction(t, &given), expected);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/definition-since-1-22",
        claim: "A transaction keeps the fields of gRPC, TLS and services of the system, and drops those of other later kinds",
        source: "kv.md 7.5, 1.22.md F",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let given = with(definition(), &later_fields());
            let later = [
                "TLSServerName",
                "TCPUseTLS",
                "OSService",
                "GRPC",
                "GRPCUseTLS",
            ];
            let expected = with(only(&given, KEPT_BY_TRANSACTIONS), &only(&given, &later));
            t.same("the definition", kept_by_a_transaction(t, &given), expected);
        },
        ..Case::REAL
    },
];
