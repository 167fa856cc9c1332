//! Transactions: what may stand in the body, and what is refused before anything runs.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::txn::{op, refused, result, results, txn};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/parse/nothing-to-do",
        claim: "A transaction without operations, or with empty ones, is 200 with no results and no errors",
        source: "kv.md 7.1",
        run: |t| {
            for body in ["[]", "null", "[{}]", r#"[{"KV":null}]"#] {
                let answer = t.api_put("/v1/txn", body);
                t.same(body, results(answer.clone()).len(), 0);
                t.same(body, answer.json()["Results"].clone(), json!([]));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/parse/reads-one-json-value",
        claim: "What follows the list of operations is not read",
        source: "kv.md 7.1, trap 29",
        run: |t| {
            t.api_put("/v1/txn", "[] trailing garbage").status_is(200);
            let key = t.key("k");
            let body = format!(r#"[{{"KV":{{"Verb":"set","Key":"{key}","Value":"dg=="}}}}]]}}"#);
            t.api_put("/v1/txn", body).status_is(200);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/empty-body",
        claim: "A transaction without a body is 400",
        source: "kv.md 7.1",
        run: |t| {
            cannot_parse(t, "", "EOF");
            let answer = t.send(&Request::new("PUT", "/v1/txn"));
            is_bad_request(t, answer, "Failed to parse body: EOF");
        },
        ..Case::SHOULD
    },
    Case {
        id: "txn/parse/cut-off-body",
        claim: "A body that ends within the list is 400",
        source: "kv.md 7.1",
        run: |t| {
            cannot_parse(t, "[", "unexpected EOF");
            cannot_parse(t, r#"[{"KV":{"Verb":"get","#, "unexpected EOF");
        },
        ..Case::SHOULD
    },
    Case {
        id: "txn/parse/must-be-a-list",
        claim: "A body that is JSON but no list is 400",
        source: "kv.md 7.1",
        run: |t| {
            for (body, kind) in [("{}", "object"), ("5", "number"), ("\"a\"", "string")] {
                let text =
                    format!("json: cannot unmarshal {kind} into Go value of type api.TxnOps");
                cannot_parse(t, body, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "txn/parse/unknown-fields",
        claim: "A field that no operation has is 400 and named in the text, on every level",
        source: "kv.md 7.1, trap 29; session.md trap 9",
        run: |t| {
            cannot_parse(t, r#"[{"Bogus":1}]"#, r#"json: unknown field "Bogus""#);
            let key = t.key("k");
            let body = json!([{"KV": {"Verb": "set", "Key": key, "Bogus": 1}}]);
            cannot_parse(t, &body.to_string(), r#"json: unknown field "Bogus""#);
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/parse/unknown-fields-of-the-catalog",
        claim: "A field that no node, service or check has is 400 and named in the text",
        source: "kv.md 7.1, trap 29",
        needs: &[Feature::Registration],
        run: |t| {
            let text = r#"json: unknown field "Bogus""#;
            cannot_parse(t, r#"[{"Node":{"Verb":"get","Node":{"Bogus":1}}}]"#, text);
            cannot_parse(
                t,
                r#"[{"Service":{"Verb":"get","Service":{"Bogus":1}}}]"#,
                text,
            );
            cannot_parse(t, r#"[{"Check":{"Verb":"get","Check":{"Bogus":1}}}]"#, text);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/no-session-operation",
        claim: "There are no operations on sessions or intentions: their names are unknown fields",
        source: "kv.md 7.1, trap 29",
        run: |t| {
            cannot_parse(t, r#"[{"Session":{}}]"#, r#"json: unknown field "Session""#);
            cannot_parse(
                t,
                r#"[{"Intention":{}}]"#,
                r#"json: unknown field "Intention""#,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/bad-base64",
        claim: "A Value that is not padded base64 is 400",
        source: "kv.md 7.1",
        run: |t| {
            for value in ["!", "YQ", "YQ=", "a b"] {
                let body = json!([{"KV": {"Verb": "set", "Key": t.key("k"), "Value": value}}]);
                let answer = t.txn(&body).says(400, "Failed to parse body: ");
                answer.says(400, "illegal base64 data at input byte ");
            }
            t.get(&t.key("k"), "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/parse/bad-base64-text",
        claim: "The text about a Value that is not base64 speaks of its first byte",
        source: "kv.md 7.1",
        run: |t| {
            for value in ["!", "YQ"] {
                let body = json!([{"KV": {"Verb": "set", "Key": t.key("k"), "Value": value}}]);
                cannot_parse(t, &body.to_string(), "illegal base64 data at input byte 0");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/wrong-types",
        claim: "A Value that is no text and Flags that are no unsigned number are 400, in Go's words",
        source: "kv.md 7.1",
        run: |t| {
            let with = |field: &str, value: Value| {
                let mut body = json!([{"KV": {"Verb": "set", "Key": t.key("k")}}]);
                body[0]["KV"][field] = value;
                body.to_string()
            };
            let about = |what: &str, field: &str, kind: &str| {
                format!(
                    "json: cannot unmarshal {what} into Go struct field KVTxnOp.KV.{field} of type {kind}"
                )
            };
            cannot_parse(
                t,
                &with("Value", json!(5)),
                &about("number", "Value", "[]uint8"),
            );
            cannot_parse(
                t,
                &with("Flags", json!(-1)),
                &about("number -1", "Flags", "uint64"),
            );
            cannot_parse(
                t,
                &with("Flags", json!("1")),
                &about("string", "Flags", "uint64"),
            );
            t.get(&t.key("k"), "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/a-null-operation-drops-the-connection",
        claim: "A list with null in it is answered by closing the connection",
        source: "kv.md 6.4, 7.1",
        run: |t| {
            t.api_put("/v1/txn", "[null]").is_closed();
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/names-in-any-case",
        claim: "The names of fields may be written in any case",
        source: "kv.md 7.1, trap 29",
        run: |t| {
            let key = t.key("k");
            let body = json!([{"kv": {"verb": "set", "KEY": key, "vALUE": "dg=="}}]);
            t.txn(&body).status_is(200);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/kv-counts-before-other-kinds",
        claim: "In an operation of several kinds KV runs, and the others are ignored",
        source: "kv.md 7.1",
        run: |t| {
            let key = t.key("k");
            let both = json!([{
                "Check": {"Verb": "bogus", "Check": {"CheckID": "c"}},
                "Service": {"Verb": "bogus", "Service": {"Service": "s"}},
                "Node": {"Verb": "bogus", "Node": {"Node": t.node("n")}},
                "KV": {"Verb": "set", "Key": key, "Value": "dg=="},
            }]);
            result(t.txn(&both)).is_as_created();
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/the-first-kind-counts",
        claim: "In an operation of several kinds but KV the first of Node, Service and Check runs, and the others are ignored",
        source: "kv.md 7.1",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            let node_op = json!({"Verb": "get", "Node": {"Node": node}});
            let service_op =
                json!({"Verb": "get", "Node": node, "Service": {"ID": "s", "Service": "s"}});
            let check_op = json!({"Verb": "bogus", "Check": {"Node": node, "CheckID": "c"}});
            let operations = json!([
                {"Check": check_op, "Service": service_op, "Node": node_op},
                {"Check": check_op, "Service": service_op},
            ]);
            let no_node = format!("node \"{node}\" doesn't exist");
            let no_service = format!("service \"s\" on node \"{node}\" doesn't exist");
            refused(t.txn(&operations), &[(0, &no_node), (1, &no_service)]);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/namespaces-are-ignored",
        claim: "A namespace in the query, in a header or in the operation is ignored",
        source: "kv.md 6.2",
        run: |t| {
            let key = t.key("k");
            let body =
                json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg==", "Namespace": "foo"}}]);
            let request = Request::put("/v1/txn?ns=foo", body.to_string());
            t.send(&request.header("X-Consul-Namespace", "foo"))
                .status_is(200);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/no-value-is-null",
        claim: "A set without Value, with an empty one or with null stores an empty value",
        source: "kv.md 1.3, 7.1",
        run: |t| {
            let key = t.key("k");
            let operation = |value: Option<Value>| {
                let mut body = json!([{"KV": {"Verb": "set", "Key": key}}]);
                if let Some(value) = value {
                    body[0]["KV"]["Value"] = value;
                }
                body
            };
            for value in [None, Some(json!("")), Some(Value::Null)] {
                t.put(&key, "", "before").is(200, "true");
                t.txn(&operation(value)).status_is(200);
                t.get(&key, "").entry().value_is_null();
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/parse/values-are-bytes",
        claim: "A Value holds any bytes, and a get gives them back",
        source: "kv.md 7.1",
        run: |t| {
            let key = t.key("k");
            let value = "AAEC/v8=";
            t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": value}}]))
                .status_is(200);
            t.get(&key, "raw").body_is_exactly([0, 1, 2, 254, 255]);
            t.txn(&json!([{"KV": {"Verb": "get", "Key": key}}]))
                .field_is("/Results/0/KV/Value", value);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/parse/keys-are-verbatim",
        claim: "A key is stored as it is written: nothing in it is cleaned, and it shows in lists, reads and deletes",
        source: "kv.md 1.6, trap 24",
        run: |t| {
            for name in ["/lead//x/../y", "./a/.", "nul\u{0}k", "space ", "%2F"] {
                let key = t.key(name);
                t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]))
                    .status_is(200);
                t.same(
                    "keys",
                    t.get(&t.key(""), "keys").strings(),
                    vec![key.clone()],
                );
                t.same("Key", t.get(&t.key(""), "recurse").entry().key, key.clone());
                result(txn(t, [op("get", &key)])).value_is("v");
                txn(t, [op("delete", &key)]).status_is(200);
                t.get(&t.key(""), "keys").is(404, "");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/parse/chunked-body",
        claim: "The body may come in chunks",
        source: "kv.md 7.1",
        run: |t| {
            let key = t.key("k");
            let body = json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]).to_string();
            let (first, second) = body.as_bytes().split_at(body.len() / 2);
            t.send(&Request::new("PUT", "/v1/txn").chunked(&[first, second]))
                .status_is(200);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::MUST
    },
];

/// The body is refused with `Failed to parse body: ` and this text.
#[track_caller]
fn cannot_parse(t: &Trial, body: &str, text: &str) {
    is_bad_request(
        t,
        t.api_put("/v1/txn", body),
        &format!("Failed to parse body: {text}"),
    );
}

/// 400 with this text; 1.12 alone put `Bad request: ` before many such texts (1.22.md A6.2).
#[track_caller]
fn is_bad_request(t: &Trial, answer: Answer, text: &str) {
    if t.since(Version::V1_12) && !t.since(Version::V1_13) {
        answer.says(400, text);
    } else {
        answer.is(400, text);
    }
}
