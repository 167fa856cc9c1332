//! Transactions that only read and transactions that write: two paths with different parameters, headers and bodies.

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::txn::{Op, get, op, results, set, txn};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/read/headers",
        claim: "A transaction that only reads has the headers Knownleader and Lastcontact, and no index",
        source: "kv.md 7.2, trap 28",
        run: |t| {
            let key = t.key("k");
            for verb in [
                "get-tree",
                "check-not-exists",
                "get",
                "check-index",
                "check-session",
            ] {
                is_a_read(t, op(verb, &key));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/read/unknown-verbs-count-as-reads",
        claim: "A transaction of unknown verbs is taken for one that reads",
        source: "kv.md 7.2, trap 28",
        until: Some(Version::new(1, 19, 1)),
        run: |t| is_a_read(t, op("bogus", &t.key("k"))),
        ..Case::REAL
    },
    Case {
        id: "txn/read/body-before-1-9",
        claim: "The answer of a transaction that only reads has four fields of a read besides results and errors, its index 0",
        source: "kv.md 7.2",
        until: Some(Version::V1_9),
        run: |t| {
            let key = t.key("k");
            let tail = r#""Index":0,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":""}"#;
            txn(t, [op("get-tree", &key)])
                .is(200, &format!(r#"{{"Results":[],"Errors":null,{tail}"#));
            let error = format!(r#"{{"OpIndex":0,"What":"key \"{key}\" doesn't exist"}}"#);
            txn(t, [get(&key)]).is(
                409,
                &format!(r#"{{"Results":null,"Errors":[{error}],{tail}"#),
            );
            let error = r#"{"OpIndex":0,"What":"Must provide key"}"#;
            txn(t, [get("")]).is(
                409,
                &format!(r#"{{"Results":null,"Errors":[{error}],{tail}"#),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/read/body-since-1-12",
        claim: "The answer of a transaction that only reads has seven fields of a read besides results and errors, its index 1",
        source: "kv.md 7.2, 1.22.md A7 [S, H: NotModified 1.9.0, Backend 1.10.1 or 1.11.0, ResultsFilteredByACLs 1.11.0, index 1.12.0]",
        since: Version::V1_12,
        run: |t| {
            let key = t.key("k");
            let tail = r#""Index":1,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":"","NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}"#;
            txn(t, [op("get-tree", &key)])
                .is(200, &format!(r#"{{"Results":[],"Errors":null,{tail}"#));
            let error = format!(r#"{{"OpIndex":0,"What":"key \"{key}\" doesn't exist"}}"#);
            txn(t, [get(&key)]).is(
                409,
                &format!(r#"{{"Results":null,"Errors":[{error}],{tail}"#),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/read/pre-check-failure-since-1-12",
        claim: "A transaction that only reads and is refused before it runs says index 0 and no known leader, in body and header",
        source: "kv.md 7.2, 1.22.md A7 [S, H: 1.12.0]",
        since: Version::V1_12,
        run: |t| {
            txn(t, [get("")])
                .status_is(409)
                .field_is("/Index", 0)
                .field_is("/KnownLeader", false)
                .header_is("X-Consul-Knownleader", "false")
                .header_is("X-Consul-Lastcontact", "0");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/read/parameters-are-those-of-a-get",
        claim: "The parameters of a transaction that only reads are checked like those of a GET",
        source: "kv.md 7.2, trap 28",
        run: |t| {
            let wrong = [
                (
                    "stale&consistent",
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                ),
                ("index=abc", "Invalid index"),
                ("wait=10", "Invalid wait time"),
                ("max_stale=abc", "Invalid max_stale value \"abc\""),
            ];
            for (query, text) in wrong {
                reading(t, query).is(400, text);
            }
            let request = Request::put("/v1/txn", tree(t)).header("Cache-Control", "max-age=abc");
            t.send(&request).is(400, "Invalid Cache-Control header.");
            for query in ["stale", "consistent", "max_stale=1s", "wait=1s"] {
                results(reading(t, query));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/read/body-is-checked-before-the-parameters",
        claim: "When body and parameters are both wrong, the answer speaks of the body",
        source: "kv.md 7.2.r2",
        run: |t| {
            t.api_put("/v1/txn?stale&consistent", "[")
                .says(400, "Failed to parse body: unexpected EOF");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/read/does-not-block",
        claim: "A transaction that only reads does not block, whatever index and wait it is given",
        source: "kv.md 7.2",
        run: |t| {
            t.put(&t.key("k"), "", "v").is(200, "true");
            let shown = results(reading(t, &format!("index={}&wait=60s", u64::MAX)));
            t.same("results", shown.len(), 1);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/write/body-and-headers",
        claim: "The answer of a transaction that writes has results and errors and nothing else, and none of the headers of a read",
        source: "kv.md 7.2",
        run: |t| {
            let key = t.key("k");
            let answer = txn(t, [op("delete", &key)]).is(200, r#"{"Results":[],"Errors":null}"#);
            is_a_write(answer.header_is("Content-Type", "application/json"));
            let error = format!(r#"{{"OpIndex":0,"What":"key \"{key}\" doesn't exist"}}"#);
            let answer = txn(t, [get(&key), set(&key, "v")]);
            is_a_write(answer.is(409, &format!(r#"{{"Results":null,"Errors":[{error}]}}"#)));
            let error = r#"{"OpIndex":0,"What":"Must provide key"}"#;
            is_a_write(
                txn(t, [set("", "v")])
                    .is(409, &format!(r#"{{"Results":null,"Errors":[{error}]}}"#)),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/write/every-changing-verb-counts",
        claim: "One operation that may change something makes the transaction one that writes",
        source: "kv.md 7.2",
        run: |t| {
            let key = t.key("k");
            for verb in [
                "set",
                "cas",
                "lock",
                "unlock",
                "delete",
                "delete-cas",
                "delete-tree",
            ] {
                is_a_write(
                    txn(t, [op("get-tree", &key), op(verb, &key).index(u64::MAX)])
                        .status_is_one_of(&[200, 409]),
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/write/catalog-verbs-count-but-get",
        claim: "Every verb on nodes, services and checks makes the transaction one that writes, but get",
        source: "kv.md 7.2",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            for verb in ["delete", "get"] {
                let kinds = [
                    json!([{"Node": {"Verb": verb, "Node": {"Node": node}}}]),
                    json!([{"Service": {"Verb": verb, "Node": node, "Service": {"ID": "s", "Service": "s"}}}]),
                    json!([{"Check": {"Verb": verb, "Check": {"Node": node, "CheckID": "c"}}}]),
                ];
                for operations in kinds {
                    let answer = t.txn(&operations);
                    if verb == "get" {
                        answer.status_is(409).has_header("X-Consul-Knownleader");
                    } else {
                        is_a_write(answer.status_is(200));
                    }
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/write/parameters-are-not-looked-at",
        claim: "A transaction that writes ignores the parameters of a read, however wrong",
        source: "kv.md 7.2",
        run: |t| {
            let key = t.key("k");
            let body = json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]);
            let target = "/v1/txn?stale&consistent&index=abc&wait=abc&max_stale=abc";
            t.api_put(target, body.to_string()).status_is(200);
            t.get(&key, "").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/answer/refusal-is-json-before-1-21-5",
        claim: "A refused transaction is answered as application/json",
        source: "kv.md 7.3",
        until: Some(Version::V1_21_5),
        run: |t| {
            txn(t, [get(&t.key("k"))])
                .status_is(409)
                .header_is("Content-Type", "application/json");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/answer/refusal-is-json-with-charset-since-1-21-5",
        claim: "A refused transaction is answered as application/json with a charset",
        source: "1.22.md A6.7, A7 [S, G: 1.21.5]",
        since: Version::V1_21_5,
        run: |t| {
            let answer = txn(t, [get(&t.key("k"))]).status_is(409);
            answer.header_is("Content-Type", "application/json; charset=utf-8");
        },
        ..Case::REAL
    },
];

/// A transaction that reads everything of the trial's.
fn tree(t: &Trial) -> String {
    json!([{"KV": {"Verb": "get-tree", "Key": t.key("")}}]).to_string()
}

fn reading(t: &Trial, query: &str) -> Answer {
    t.api_put(&format!("/v1/txn?{query}"), tree(t))
}

/// The operation alone is answered with the headers of a read, whether it succeeds or not.
#[track_caller]
fn is_a_read(t: &Trial, operation: Op) {
    txn(t, [operation])
        .status_is_one_of(&[200, 409])
        .header_is("X-Consul-Knownleader", "true")
        .header_is("X-Consul-Lastcontact", "0")
        .has_no_header("X-Consul-Index")
        .has_no_header("X-Consul-Query-Backend");
}

#[track_caller]
fn is_a_write(answer: Answer) {
    // An answer without a status has no headers either.
    drop(answer.json());
    answer
        .has_no_header("X-Consul-Knownleader")
        .has_no_header("X-Consul-Lastcontact")
        .has_no_header("X-Consul-Index");
}
