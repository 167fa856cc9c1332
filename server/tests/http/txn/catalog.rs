//! Nodes, services and checks in a transaction (kv.md 7.5; 1.22.md A7).

use proconsul::Version;

use crate::support::{Consul, create_session};

/// Runs operations that succeed, and gives the results.
fn run(consul: &Consul, operations: &str) -> String {
    let answer = consul.put("/v1/txn", format!("[{operations}]"));
    assert_eq!(answer.code(), 200, "{operations}: {}", answer.text());
    let text = answer.text();
    let start = text
        .strip_prefix(r#"{"Results":["#)
        .expect("there are results");
    let end = start
        .find(r#"],"Errors":null"#)
        .expect("there are no errors");
    start[..end].to_owned()
}

/// The `What` of the only failed operation.
fn what(consul: &Consul, operation: &str) -> String {
    let answer = consul.put("/v1/txn", format!("[{operation}]"));
    assert_eq!(answer.code(), 409, "{operation}: {}", answer.text());
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    answer["Errors"][0]["What"]
        .as_str()
        .expect("a text")
        .to_owned()
}

const NODE: &str = r#"{"Node":{"Verb":"set","Node":{"Node":"e1","Address":"1.2.3.4"}}}"#;
const SERVICE: &str =
    r#"{"Service":{"Verb":"set","Node":"e1","Service":{"ID":"web1","Service":"web","Port":80}}}"#;
const CHECK: &str = r#"{"Check":{"Verb":"set","Check":{"Node":"e1","CheckID":"c1","Name":"n"}}}"#;

#[test]
fn what_the_writes_show() {
    let consul = Consul::v1_8();
    let node = r#"{"Node":{"ID":"","Node":"e1","Address":"1.2.3.4","Datacenter":"dc1","TaggedAddresses":null,"Meta":null,"CreateIndex":8,"ModifyIndex":8}}"#;
    assert_eq!(run(&consul, NODE), node);
    let service = r#"{"Service":{"ID":"web1","Service":"web","Tags":null,"Address":"","Meta":null,"Port":80,"Weights":{"Passing":1,"Warning":1},"EnableTagOverride":false,"Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{},"CreateIndex":9,"ModifyIndex":9}}"#;
    assert_eq!(run(&consul, SERVICE), service);
    let check = r#"{"Check":{"Node":"e1","CheckID":"c1","Name":"n","Status":"critical","Notes":"","Output":"","ServiceID":"","ServiceName":"","ServiceTags":null,"Type":"","Definition":{},"CreateIndex":10,"ModifyIndex":10}}"#;
    assert_eq!(run(&consul, CHECK), check);
    let reads = r#"{"Node":{"Verb":"get","Node":{"Node":"E1"}}},
        {"Check":{"Verb":"get","Check":{"Node":"e1","CheckID":"c1"}}}"#;
    assert_eq!(run(&consul, reads), format!("{node},{check}"));
    let deletes = r#"{"Check":{"Verb":"delete","Check":{"Node":"e1","CheckID":"c1"}}},
        {"Check":{"Verb":"delete","Check":{"Node":"e1","CheckID":"none"}}},
        {"Node":{"Verb":"delete","Node":{"Node":"e1"}}},
        {"Node":{"Verb":"delete","Node":{"Node":"none"}}}"#;
    assert_eq!(run(&consul, deletes), "");
}

/// Operations that fail in all versions alike, and what they say.
const FAILING: [(&str, &str); 11] = [
    (
        r#"{"Node":{"Verb":"get","Node":{"Node":"nope"}}}"#,
        "node \"nope\" doesn't exist",
    ),
    (
        r#"{"Service":{"Verb":"get","Node":"e1","Service":{"ID":"zz","Service":"zz"}}}"#,
        "service \"zz\" on node \"e1\" doesn't exist",
    ),
    (
        r#"{"Check":{"Verb":"get","Check":{"Node":"e1","CheckID":"zz"}}}"#,
        "check \"zz\" on node \"e1\" doesn't exist",
    ),
    (
        r#"{"Node":{"Verb":"cas","Node":{"Node":"e1","ModifyIndex":1}}}"#,
        "failed to set node \"e1\", index is stale",
    ),
    (
        r#"{"Service":{"Verb":"cas","Node":"e1","Service":{"ID":"web1","Service":"web","ModifyIndex":1}}}"#,
        "failed to set service \"web1\" on node \"e1\", index is stale",
    ),
    (
        r#"{"Check":{"Verb":"cas","Check":{"Node":"e1","CheckID":"c1","ModifyIndex":1}}}"#,
        "failed to set check \"c1\" on node \"e1\", index is stale",
    ),
    (
        r#"{"Node":{"Verb":"delete-cas","Node":{"Node":"e1","ModifyIndex":1}}}"#,
        "failed to delete node \"e1\", index is stale",
    ),
    (
        r#"{"Service":{"Verb":"set","Node":"nope","Service":{"ID":"x","Service":"x"}}}"#,
        "Missing node registration",
    ),
    (
        r#"{"Check":{"Verb":"set","Check":{"Node":"e1","CheckID":"c3","ServiceID":"nope"}}}"#,
        "Missing service registration",
    ),
    (
        r#"{"Node":{"Verb":"set","Node":{"Address":"1.2.3.4"}}}"#,
        "Must provide node",
    ),
    (
        r#"{"Node":{"Verb":"set","Node":{"Node":"e3","ID":"zz"}}}"#,
        "Bad node ID: uuid string is wrong length",
    ),
];

#[test]
fn what_failures_say() {
    for (consul, unknown) in [
        (
            Consul::v1_8(),
            [
                r#"unknown Node verb "bogus""#,
                r#"unknown Service verb """#,
                r#"unknown Check verb """#,
            ],
        ),
        (
            Consul::v1_22(),
            [
                "unknown node operation: bogus",
                "unknown service operation: ",
                "unknown check operation: ",
            ],
        ),
    ] {
        run(&consul, &[NODE, SERVICE, CHECK].join(","));
        for (operation, text) in FAILING {
            assert_eq!(what(&consul, operation), text, "{operation}");
        }
        for (operation, text) in [
            (
                r#"{"Node":{"Verb":"bogus","Node":{"Node":"e1"}}}"#,
                unknown[0],
            ),
            (
                r#"{"Service":{"Verb":"","Node":"e1","Service":{"ID":"web1","Service":"web"}}}"#,
                unknown[1],
            ),
            (
                r#"{"Check":{"Verb":"","Check":{"Node":"e1","CheckID":"c1"}}}"#,
                unknown[2],
            ),
        ] {
            assert_eq!(what(&consul, operation), text, "{operation}");
        }
    }
}

#[test]
fn a_service_has_a_name_also_where_it_is_deleted() {
    for verb in ["set", "delete"] {
        let operation =
            format!(r#"{{"Service":{{"Verb":"{verb}","Node":"e1","Service":{{"ID":"x"}}}}}}"#);
        let text = |consul: Consul| {
            run(&consul, NODE);
            what(&consul, &operation)
        };
        assert_eq!(text(Consul::v1_8()), "Must provide service name with ID");
        assert_eq!(
            text(Consul::of(Version::V1_22_0)),
            "Must provide service name (Service.Service) when service ID is provided"
        );
    }
}

#[test]
fn the_first_kind_of_an_operation_counts() {
    for consul in Consul::both() {
        run(&consul, NODE);
        let both = r#"{"KV":{"Verb":"set","Key":"k"},"Node":{"Verb":"bogus"}}"#;
        assert!(run(&consul, both).starts_with(r#"{"KV":"#));
        let both = r#"{"Node":{"Verb":"get","Node":{"Node":"e1"}},"Check":{"Verb":"bogus"}}"#;
        assert!(run(&consul, both).starts_with(r#"{"Node":"#));
    }
}

#[test]
fn reading_nodes_is_reading_and_all_else_is_writing() {
    for consul in Consul::both() {
        run(&consul, NODE);
        let get = r#"[{"Node":{"Verb":"get","Node":{"Node":"e1"}}}]"#;
        let answer = consul.put("/v1/txn", get);
        assert_eq!(answer.header("X-Consul-Knownleader"), Some("true"));
        let answer = consul.put("/v1/txn", format!("[{NODE}]"));
        assert_eq!(answer.header("X-Consul-Knownleader"), None);
    }
}

#[test]
fn a_node_that_is_deleted_takes_its_sessions_along() {
    for consul in Consul::both() {
        run(&consul, NODE);
        let body = r#"{"Node":"e1","NodeChecks":[],"LockDelay":"0s"}"#;
        let session = create_session(&consul, body);
        consul
            .put(&format!("/v1/kv/k?acquire={session}"), "x")
            .is(200, "true");
        run(
            &consul,
            r#"{"Node":{"Verb":"delete","Node":{"Node":"e1"}}}"#,
        );
        let key = consul.get("/v1/kv/k");
        assert!(!key.text().contains("Session"), "{}", key.text());
        let list = consul.get("/v1/session/list");
        list.is(200, "[]");
        assert_eq!(list.index(), key.index());
    }
}

// trap: session 26
#[test]
fn a_check_without_a_status_is_critical() {
    for consul in Consul::both() {
        let body = r#"{"Node":"e1","Address":"1.2.3.4","Check":{"CheckID":"c"}}"#;
        consul.put("/v1/catalog/register", body).is(200, "true");
        let checks = consul.get("/v1/health/node/e1");
        assert!(
            checks.text().contains(r#""Status":"critical""#),
            "{}",
            checks.text()
        );
        let bound = r#"{"Node":"e1","NodeChecks":["c"]}"#;
        let answer = consul.put("/v1/session/create", bound);
        assert!(answer.text().ends_with("Check 'c' is in critical state"));
    }
}
