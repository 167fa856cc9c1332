//! What transactions ask for (acl.md 6.7).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::acl::{ROOT, SETTINGS, with};
use crate::cases::support::rights::{UNKNOWN, allowed, get_key, put, ready, register, txn};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/txn/each-refused-operation",
        claim: "A transaction lists every operation that is refused or has no key, runs nothing, and reports no other failure",
        source: "acl.md 6.7.r2, 6.7.r3, 2.11.r8",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(
                t,
                r#"key_prefix "open/" { policy = "write" } key_prefix "read/" { policy = "read" }"#,
            );
            let operations = json!([
                {"KV": {"Verb": "set", "Key": "open/k"}},
                {"KV": {"Verb": "check-index", "Key": "shut", "Index": 1}},
                {"KV": {"Verb": "set", "Key": ""}},
                {"KV": {"Verb": "get", "Key": "missing"}},
                {"KV": {"Verb": "check-session", "Key": "read/k"}},
                {"KV": {"Verb": "check-not-exists", "Key": "read/k"}},
                {"KV": {"Verb": "delete-cas", "Key": "read/k"}},
            ]);
            let answer = txn(t, &token, &operations.to_string())
                .status_is(409)
                .field_is("/Results", json!(null));
            let errors = answer.json()["Errors"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let places: Vec<_> = errors
                .iter()
                .map(|error| error["OpIndex"].as_u64())
                .collect();
            t.same("the operations", places, [1, 2, 5, 6].map(Some).to_vec());
            t.same(
                "the text",
                errors[1]["What"].as_str(),
                Some("Must provide key"),
            );
            let what = errors[0]["What"].as_str().unwrap_or_default().to_owned();
            t.check(what.starts_with("Permission denied"), what);
            with(t, ROOT, &get_key("open/k")).is(404, "");
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/txn/unknown-verbs-ask-for-write",
        claim: "An unknown verb is refused without the right to write its key, and told to who has it",
        source: "acl.md 6.7",
        until: Some(Version::V1_12),
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"key_prefix "open/" { policy = "write" }"#);
            let run = |key: &str| {
                txn(
                    t,
                    &token,
                    &json!([{"KV": {"Verb": "nope", "Key": key}}]).to_string(),
                )
            };
            run("open/k").says(409, "unknown KV verb");
            run("shut").field_is("/Errors/0/What", "Permission denied");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/txn/order-of-checks",
        claim: "Bodies and parameters of a transaction are checked before its token, verbs and an empty list after it",
        source: "acl.md 2.9, 2.10, 6.7",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            ready(t);
            txn(t, UNKNOWN, "{").status_is(400);
            let parameters = Request::put("/v1/txn?stale&consistent", "[]");
            with(t, UNKNOWN, &parameters).status_is(400);
            for body in [
                "[]",
                r#"[{"KV": {"Verb": "nope", "Key": "k"}}]"#,
                r#"[{"KV": {"Verb": "set", "Key": ""}}]"#,
                r#"[{"Node": {"Verb": "set", "Node": {}}}]"#,
            ] {
                let answer = txn(t, UNKNOWN, body).says(403, "ACL not found");
                answer.has_no_header("X-Consul-Knownleader");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/txn/nodes-services-and-checks",
        claim: "Operations on the catalog ask for write on the node, or on the service name sent; flaws of node and service come before",
        source: "acl.md 6.7.r5, 6.7.r6, 6.7.r7",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(
                t,
                r#"node "own" { policy = "write" } service "web" { policy = "write" }"#,
            );
            register(t, "own");
            let run = |operation: &str| txn(t, &token, &format!("[{operation}]"));
            for operation in [
                r#"{"Node": {"Verb": "set", "Node": {"Node": "own", "Address": "127.0.0.2"}}}"#,
                r#"{"Service": {"Verb": "set", "Node": "own", "Service": {"ID": "w1", "Service": "web"}}}"#,
                r#"{"Check": {"Verb": "set", "Check": {"Node": "own", "CheckID": "n"}}}"#,
                r#"{"Check": {"Verb": "set", "Check": {"Node": "own", "CheckID": "s", "ServiceID": "w1", "ServiceName": "web"}}}"#,
            ] {
                run(operation).status_is(200);
            }
            // Whether the id names a service that the token may write, which counts since 2.0. It is gone then.
            for (operation, names_own) in [
                (
                    r#"{"Node": {"Verb": "set", "Node": {"Node": "other", "Address": "127.0.0.2"}}}"#,
                    false,
                ),
                (
                    r#"{"Service": {"Verb": "set", "Node": "own", "Service": {"Service": "db"}}}"#,
                    false,
                ),
                (
                    r#"{"Service": {"Verb": "delete", "Node": "own", "Service": {"ID": "w1", "Service": "db"}}}"#,
                    true,
                ),
                (
                    r#"{"Check": {"Verb": "set", "Check": {"Node": "other", "CheckID": "n"}}}"#,
                    false,
                ),
                (
                    r#"{"Check": {"Verb": "delete", "Check": {"Node": "own", "CheckID": "s", "ServiceID": "w1"}}}"#,
                    false,
                ),
            ] {
                match names_own && t.since(Version::V2) {
                    true => run(operation).status_is(200),
                    false => run(operation).says(409, "Permission denied"),
                };
            }
            run(r#"{"Node": {"Verb": "set", "Node": {}}}"#).says(409, "Must provide node");
            run(r#"{"Service": {"Verb": "set", "Node": "own", "Service": {"ID": "x"}}}"#)
                .says(409, "Must provide service name");
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/txn/catalog-results-are-filtered",
        claim: "Results about nodes, services and checks are left out, those of writes too; a check that names a service goes by it",
        source: "acl.md 6.7.r5, 6.7.r6, 6.7.r7",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            register(t, "own");
            let node = allowed(t, r#"node "own" { policy = "write" }"#);
            let service = allowed(t, r#"service "web" { policy = "write" }"#);
            let named = r#"[{"Check": {"Verb": "set", "Check": {"Node": "own", "CheckID": "c", "ServiceName": "web"}}}]"#;
            txn(t, &node, named)
                .status_is(200)
                .field_is("/Results", json!([]));
            txn(t, &service, named).says(409, "Permission denied");
            txn(t, ROOT, r#"[{"Service": {"Verb": "set", "Node": "own", "Service": {"ID": "w1", "Service": "web"}}}]"#)
                .status_is(200);
            let read = r#"[{"Node": {"Verb": "get", "Node": {"Node": "own"}}},
                {"Service": {"Verb": "get", "Node": "own", "Service": {"ID": "w1"}}},
                {"Check": {"Verb": "get", "Check": {"Node": "own", "CheckID": "c"}}}]"#;
            txn(t, &node, read)
                .status_is(200)
                .field_is("/Results/0/Node/Node", "own")
                .field_is("/Results/1", json!(null));
            txn(t, &service, read)
                .status_is(200)
                .field_is("/Results/0/Service/ID", "w1")
                .field_is("/Results/1/Check/CheckID", "c")
                .field_is("/Results/2", json!(null));
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/txn/filtered-is-said-since-1-11",
        claim: "A read-only transaction says in its body that results were left out",
        source: "acl.md 2.12",
        since: Version::V1_11,
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"key "a" { policy = "read" }"#);
            put(t, "a", "v");
            put(t, "b", "v");
            let read = |token: &str, key: &str, filtered: bool| {
                txn(
                    t,
                    token,
                    &json!([{"KV": {"Verb": "get", "Key": key}}]).to_string(),
                )
                .status_is(200)
                .field_is("/ResultsFilteredByACLs", filtered);
            };
            read(&token, "a", false);
            read(&token, "b", true);
            read("", "b", false);
        },
        ..Case::REAL
    },
];
