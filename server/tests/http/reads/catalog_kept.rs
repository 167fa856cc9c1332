//! What the catalog keeps of a registration as it was given, and what it mends (all seen on 1.8.7).

use serde_json::{Value, json};

use crate::support::Consul;

fn run(consul: &Consul, operation: &Value) -> Value {
    let answer = consul.put("/v1/txn", json!([operation]).to_string());
    assert_eq!(answer.code(), 200, "{operation}: {}", answer.text());
    answer.json()["Results"][0].clone()
}

/// Registers node `n` with more than its name and address.
fn register(consul: &Consul, more: &Value) {
    let mut body = json!({"Node": "n", "Address": "1.2.3.4", "SkipNodeUpdate": true});
    let members = body.as_object_mut().expect("it is an object");
    members.extend(more.as_object().expect("it is an object").clone());
    consul
        .put("/v1/catalog/register", body.to_string())
        .is(200, "true");
}

/// Tags as they were given: as a transaction shows them, as all other reads do, and whether the row is another one than
/// before.
#[test]
fn no_tags_and_an_empty_list_are_two_things() {
    for consul in Consul::both() {
        let mut before = Value::Null;
        for (given, in_txn, is_new) in [
            (Value::Null, Value::Null, true),
            (json!([]), json!([]), true),
            (json!([]), json!([]), false),
            (Value::Null, Value::Null, true),
            (json!(["a"]), json!(["a"]), true),
            (Value::Null, Value::Null, true),
        ] {
            register(
                &consul,
                &json!({"Service": {"Service": "s", "Tags": given}}),
            );
            let get = json!({"Service": {"Verb": "get", "Node": "n", "Service": {"ID": "s"}}});
            let found = run(&consul, &get)["Service"].clone();
            assert_eq!(found["Tags"], in_txn);
            assert_eq!(found["ModifyIndex"] != before, is_new, "{given}");
            before = found["ModifyIndex"].clone();
            let shown = if given.is_null() { json!([]) } else { given };
            let service = consul.get("/v1/catalog/service/s").json();
            assert_eq!(service[0]["ServiceTags"], shown);
            let node = consul.get("/v1/catalog/node/n").json();
            assert_eq!(node["Services"]["s"]["Tags"], shown);
        }
        let set = json!({"Service": {"Verb": "set", "Node": "n", "Service": {"Service": "t", "Tags": []}}});
        assert_eq!(run(&consul, &set)["Service"]["Tags"], json!([]));
    }
}

#[test]
fn a_check_has_the_tags_of_its_service_as_given() {
    for consul in Consul::both() {
        for tags in [Value::Null, json!([]), json!(["a"])] {
            let service = json!({"Service": "s", "Tags": tags});
            let check = json!({"Name": "c", "ServiceID": "s", "ServiceTags": ["ignored"]});
            register(&consul, &json!({"Service": service, "Check": check}));
            let get = json!({"Check": {"Verb": "get", "Check": {"Node": "n", "CheckID": "c"}}});
            assert_eq!(run(&consul, &get)["Check"]["ServiceTags"], tags);
            let shown = consul.get("/v1/health/node/n").json()[0]["ServiceTags"].clone();
            assert_eq!(shown, if tags.is_null() { json!([]) } else { tags });
        }
    }
}

/// A check of the node keeps the service that it names, which need not exist.
#[test]
fn a_check_of_the_node_keeps_the_service_it_names() {
    for consul in Consul::both() {
        for tags in [json!(["z"]), json!([]), Value::Null] {
            let check = json!({"Node": "n", "Name": "c", "ServiceName": "zz", "ServiceTags": tags});
            register(&consul, &json!({"Check": check}));
            let shown = if tags.is_null() {
                json!([])
            } else {
                tags.clone()
            };
            for path in ["/v1/health/node/n", "/v1/health/checks/zz"] {
                let found = consul.get(path).json()[0].clone();
                assert_eq!(found["ServiceID"], "");
                assert_eq!(found["ServiceName"], "zz");
                assert_eq!(found["ServiceTags"], shown);
            }
            let set = run(&consul, &json!({"Check": {"Verb": "set", "Check": check}}));
            assert_eq!(set["Check"]["ServiceName"], "zz");
            assert_eq!(set["Check"]["ServiceTags"], tags);
        }
        // It stays a check of the node: it counts for all services there.
        register(&consul, &json!({"Service": {"Service": "web"}}));
        let found = consul.get("/v1/health/service/web").json()[0].clone();
        assert_eq!(found["Checks"][0]["Name"], "c");
        let before = consul.get("/v1/health/service/web").index();
        let check = json!({"Name": "c", "ServiceName": "zz", "Status": "passing"});
        register(&consul, &json!({"Check": check}));
        assert!(consul.get("/v1/health/service/web").index() > before);
    }
}

#[test]
fn tags_of_the_agents_services_reach_the_catalog_as_given() {
    let consul = Consul::v1_8();
    for (given, sidecar, in_catalog, of_sidecar) in [
        (Value::Null, Value::Null, Value::Null, Value::Null),
        (json!([]), Value::Null, json!([]), Value::Null),
        (Value::Null, json!([]), Value::Null, json!([])),
        (json!(["a"]), json!([]), json!(["a"]), json!(["a"])),
        (json!(["a"]), json!(["b"]), json!(["a"]), json!(["b"])),
    ] {
        let body = json!({"Name": "s", "Port": 1, "Tags": given, "Check": {"TTL": "1h"},
            "Connect": {"SidecarService": {"Tags": sidecar}}});
        consul
            .put("/v1/agent/service/register", body.to_string())
            .is(200, "");
        let node = consul.get("/v1/agent/self").json()["Config"]["NodeName"].clone();
        let tags = |id: &str| {
            let get = json!({"Service": {"Verb": "get", "Node": node, "Service": {"ID": id}}});
            run(&consul, &get)["Service"]["Tags"].clone()
        };
        assert_eq!(tags("s"), in_catalog);
        assert_eq!(tags("s-sidecar-proxy"), of_sidecar);
        let health = consul.get("/v1/agent/health/service/id/s").json();
        assert_eq!(health["Checks"][0]["ServiceTags"], in_catalog);
    }
}

#[test]
fn weights_that_cannot_be_are_those_of_a_service_without() {
    for consul in Consul::both() {
        for (passing, warning, kept) in [(-1, 1, false), (1, 65_536, false), (65_535, 65_535, true)]
        {
            let given = json!({"Passing": passing, "Warning": warning});
            let shown = if kept {
                given.clone()
            } else {
                json!({"Passing": 1, "Warning": 1})
            };
            let service = json!({"Service": "s", "Weights": given});
            register(&consul, &json!({"Service": service}));
            let found = consul.get("/v1/catalog/service/s").json();
            assert_eq!(found[0]["ServiceWeights"], shown, "{given}");
            let set = json!({"Service": {"Verb": "set", "Node": "n", "Service": service}});
            assert_eq!(run(&consul, &set)["Service"]["Weights"], shown, "{given}");
        }
    }
}

#[test]
fn no_tagged_addresses_are_not_shown_and_are_another_row() {
    for consul in Consul::both() {
        let mut indexes = Vec::new();
        for given in [Value::Null, json!({})] {
            let service = json!({"Service": "s", "TaggedAddresses": given});
            register(&consul, &json!({"Service": service}));
            let found = consul.get("/v1/catalog/service/s").json()[0].clone();
            assert_eq!(found.get("ServiceTaggedAddresses"), None);
            let node = consul.get("/v1/catalog/node/n").json();
            assert_eq!(node["Services"]["s"].get("TaggedAddresses"), None);
            indexes.push(found["ModifyIndex"].clone());
        }
        assert_ne!(indexes[0], indexes[1]);
    }
}

/// The definition of a check as reads show it, after it was registered, and after a transaction has set it.
fn definitions(consul: &Consul, definition: &Value) -> [Value; 2] {
    let shown = || consul.get("/v1/health/node/n").json()[0]["Definition"].clone();
    register(
        consul,
        &json!({"Check": {"Name": "c", "Definition": definition}}),
    );
    let registered = shown();
    let check = json!({"Node": "n", "Name": "c", "Definition": definition});
    let set = run(consul, &json!({"Check": {"Verb": "set", "Check": check}}));
    assert_eq!(set["Check"]["Definition"], shown());
    [registered, shown()]
}

#[test]
fn negative_durations_of_a_definition_are_kept() {
    for consul in Consul::both() {
        for name in ["Interval", "Timeout", "DeregisterCriticalServiceAfter"] {
            for (given, shown) in [
                (json!("-5s"), json!({name: "-5s"})),
                (json!(-5), json!({name: "-5ns"})),
                (json!(-1.5), json!({name: "-1ns"})),
                (json!("-90m"), json!({name: "-1h30m0s"})),
                (json!(1e20), json!({name: "-2562047h47m16.854775808s"})),
                (json!("-0s"), json!({})),
                (json!(0), json!({})),
            ] {
                let found = definitions(&consul, &json!({name: given}));
                assert_eq!(found, [shown.clone(), shown], "{name}: {given}");
            }
        }
        // A transaction's definitions have no time to live.
        let found = definitions(&consul, &json!({"TTL": "-5s"}));
        assert_eq!(found, [json!({"TTL": -5_000_000_000_i64}), json!({})]);
    }
}

#[test]
fn a_definition_with_a_negative_interval_makes_no_kind_of_check() {
    let consul = Consul::v1_8();
    for (definition, kind) in [
        (json!({"HTTP": "http://x", "Interval": "5s"}), "http"),
        (json!({"HTTP": "http://x", "Interval": "-5s"}), ""),
        (json!({"TCP": "x:1", "Interval": -5}), ""),
        (json!({"TTL": "5s"}), "ttl"),
        (json!({"TTL": "-5s"}), ""),
    ] {
        let check = json!({"Name": "c", "Definition": definition});
        register(&consul, &json!({"Check": check}));
        let found = consul.get("/v1/health/node/n").json();
        assert_eq!(found[0]["Type"], kind, "{definition}");
    }
}

#[test]
fn headers_without_a_list_are_null() {
    for consul in Consul::both() {
        for header in [
            json!({"a": null}),
            json!({"a": []}),
            json!({"a": ["x"], "b": null}),
            json!({"": null}),
            json!({"a": [""]}),
        ] {
            let given = json!({"HTTP": "http://x", "Header": header});
            assert_eq!(definitions(&consul, &given), [given.clone(), given]);
        }
        let given = json!({"HTTP": "http://x", "Header": {}});
        let shown = json!({"HTTP": "http://x"});
        assert_eq!(definitions(&consul, &given), [shown.clone(), shown]);
    }
}
