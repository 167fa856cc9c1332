//! Operations of transactions on nodes, services and checks (kv.md 7.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, service_check};
use crate::cases::support::session::lives;
use crate::cases::support::txn::refused;
use crate::cases::support::txn_catalog::{
    check_op, id_of_node, node_op, one, service_op, shown, shows_nothing,
};

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "kv.md 7.5";

/// `set`, `get`, `cas`, `delete-cas` and `delete` of one thing: `fields` makes its fields for an address or output and an index.
#[track_caller]
fn all_verbs(t: &Trial, kind: &str, operation: impl Fn(&str, &str, u64) -> Value, changed: &str) {
    let index = |value: &Value| value["ModifyIndex"].as_u64().unwrap_or_default();
    let made = shown(t, &operation("cas", "one", 0), kind);
    t.same(
        "CreateIndex",
        made["CreateIndex"].as_u64(),
        Some(index(&made)),
    );
    t.same(
        "what get shows",
        shown(t, &operation("get", "", 0), kind),
        made.clone(),
    );
    let set = shown(t, &operation("set", "two", 0), kind);
    t.same("what was written", set[changed].clone(), json!("two"));
    t.same("CreateIndex", &set["CreateIndex"], &made["CreateIndex"]);
    t.grew("ModifyIndex", index(&made), index(&set));
    let again = shown(t, &operation("set", "two", 0), kind);
    t.same("what is written as it is", again, set.clone());
    one(t, &operation("cas", "three", index(&made))).status_is(409);
    let cas = shown(t, &operation("cas", "three", index(&set)), kind);
    t.same("what was written", cas[changed].clone(), json!("three"));
    one(t, &operation("delete-cas", "", index(&set))).status_is(409);
    t.same(
        "what is left",
        shown(t, &operation("get", "", 0), kind),
        cas.clone(),
    );
    shows_nothing(t, &operation("delete-cas", "", index(&cas)));
    one(t, &operation("get", "", 0)).status_is(409);
    shown(t, &operation("set", "four", 0), kind);
    shows_nothing(t, &operation("delete", "", 0));
    one(t, &operation("get", "", 0)).status_is(409);
    // What is not there is deleted already.
    shows_nothing(t, &operation("delete", "", 0));
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/node/verbs",
        claim: "A transaction reads, writes and deletes a node, at its index if that is asked for, and shows it",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let operation = |verb: &str, address: &str, index: u64| {
                let fields = json!({"Node": node, "Address": address, "ModifyIndex": index});
                node_op(verb, &fields)
            };
            all_verbs(t, "Node", operation, "Address");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/service/verbs",
        claim: "A transaction reads, writes and deletes a service, at its index if that is asked for, and shows it",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let operation = |verb: &str, address: &str, index: u64| {
                let fields = json!({
                    "ID": "s1", "Service": "s", "Address": address, "ModifyIndex": index,
                });
                service_op(verb, &node, &fields)
            };
            all_verbs(t, "Service", operation, "Address");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/check/verbs",
        claim: "A transaction reads, writes and deletes a check, at its index if that is asked for, and shows it",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let operation = |verb: &str, output: &str, index: u64| {
                let fields = json!({
                    "Node": node, "CheckID": "c", "Name": "c", "Status": "passing", "Output": output, "ModifyIndex": index,
                });
                check_op(verb, &fields)
            };
            all_verbs(t, "Check", operation, "Output");
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/results-before-1-10",
        claim: "The results on nodes, services and checks have these fields in this order",
        source: "kv.md 7.5",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let (node, datacenter) = (t.node("n"), &t.facts().datacenter);
            let answer = t.txn(&json!([
                node_op("set", &json!({"Node": node, "Address": "127.0.0.1", "Meta": {"a": "b"}})),
                service_op("set", &node, &json!({"ID": "s1", "Service": "s", "Tags": ["x"], "Port": 80})),
                check_op("set", &json!({"Node": node, "CheckID": "c", "Name": "n", "Status": "warning", "ServiceID": "s1"})),
            ]));
            let index = answer.json()["Results"][0]["Node"]["ModifyIndex"].clone();
            answer.is(
                200,
                &format!(
                    r#"{{"Results":[{{"Node":{{"ID":"","Node":"{node}","Address":"127.0.0.1","Datacenter":"{datacenter}","TaggedAddresses":null,"Meta":{{"a":"b"}},"CreateIndex":{index},"ModifyIndex":{index}}}}},{{"Service":{{"ID":"s1","Service":"s","Tags":["x"],"Address":"","Meta":null,"Port":80,"Weights":{{"Passing":1,"Warning":1}},"EnableTagOverride":false,"Proxy":{{"MeshGateway":{{}},"Expose":{{}}}},"Connect":{{}},"CreateIndex":{index},"ModifyIndex":{index}}}}},{{"Check":{{"Node":"{node}","CheckID":"c","Name":"n","Status":"warning","Notes":"","Output":"","ServiceID":"s1","ServiceName":"s","ServiceTags":["x"],"Type":"","Definition":{{}},"CreateIndex":{index},"ModifyIndex":{index}}}}}],"Errors":null}}"#
                ),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/catalog/one-index",
        claim: "Keys, nodes, services and checks that a transaction writes have its one index, and later operations see what earlier ones wrote",
        source: "kv.md 7.4, 7.5",
        needs: NEEDS,
        run: |t| {
            let (node, key) = (t.node("n"), t.key("k"));
            let fields = json!({"Node": node, "CheckID": "c", "Name": "c", "ServiceID": "s"});
            let answer = t.txn(&json!([
                {"KV": {"Verb": "set", "Key": key}},
                node_op("set", &json!({"Node": node})),
                service_op("set", &node, &json!({"Service": "s"})),
                check_op("set", &fields),
                check_op("get", &fields),
            ]));
            let results = answer.status_is(200).json()["Results"].clone();
            let index = t.get(&key, "").entry().modify_index;
            let kinds = ["KV", "Node", "Service", "Check", "Check"];
            for (number, kind) in kinds.iter().enumerate() {
                let shown = results[number][kind]["ModifyIndex"].as_u64();
                t.same("ModifyIndex", shown, Some(index));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/all-or-nothing",
        claim: "When an operation fails, nothing that others wrote into the catalog or took out of it is left so, and no session ends",
        source: "kv.md 7.4, 7.5",
        needs: NEEDS,
        run: |t| {
            let (kept, new) = (t.register_node("kept"), t.node("new"));
            check(t, &kept, "ok", "passing");
            let bound = json!({"Node": kept, "NodeChecks": ["ok"]}).to_string();
            let session = t.session(&bound);
            let path = format!("/v1/catalog/node/{kept}");
            let before = t.api_get(&path).json();
            let answer = t.txn(&json!([
                node_op("set", &json!({"Node": new, "Address": "127.0.0.1"})),
                node_op("delete", &json!({"Node": kept})),
                node_op("get", &json!({"Node": kept})),
            ]));
            refused(answer, &[(2, &format!("node \"{kept}\" doesn't exist"))]);
            t.same("the node", t.api_get(&path).json(), before);
            t.api_get(&format!("/v1/catalog/node/{new}"))
                .is(200, "null");
            lives(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/names-in-any-case",
        claim: "Nodes and checks are found by their names in any case, services by the case of their ids",
        source: "kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            service_check(t, &node, "svc", "svcok", "passing");
            let upper = node.to_uppercase();
            let found = shown(t, &node_op("get", &json!({"Node": upper})), "Node");
            t.same("Node", found["Node"].clone(), json!(node));
            let found = shown(
                t,
                &check_op("get", &json!({"Node": upper, "CheckID": "SVCOK"})),
                "Check",
            );
            t.same("CheckID", found["CheckID"].clone(), json!("svcok"));
            let found = shown(
                t,
                &service_op("get", &upper, &json!({"ID": "svc"})),
                "Service",
            );
            t.same("Service", found["Service"].clone(), json!("svc"));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/node/address-may-be-missing",
        claim: "A transaction writes a node without an address, which a registration must have",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let made = shown(t, &node_op("set", &json!({"Node": node})), "Node");
            t.same("Address", made["Address"].clone(), json!(""));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/node/every-field",
        claim: "A transaction writes the id, the datacenter, the tagged addresses and the metadata of a node, shows them, and leaves them so",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let mut fields = json!({
                "Node": node, "ID": id_of_node(&node), "Address": "192.0.2.1", "Datacenter": t.facts().datacenter,
                "TaggedAddresses": {"lan": "192.0.2.1", "wan": "198.51.100.1"}, "Meta": {"rack": "7"},
            });
            let set = shown(t, &node_op("set", &fields), "Node");
            for index in ["CreateIndex", "ModifyIndex"] {
                t.check(set[index].as_u64() > Some(0), format!("no {index}: {set}"));
                fields[index] = set[index].clone();
            }
            t.same("what set shows", &set, &fields);
            let got = shown(t, &node_op("get", &json!({"Node": node})), "Node");
            t.same("what get shows", &got, &fields);
            let stored = t.api_get(&format!("/v1/catalog/node/{node}")).json();
            t.same("what the catalog shows", &stored["Node"], &fields);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/id-is-the-name",
        claim: "A service that is written without an id has its name as its id, and so has a check; a check without status is critical",
        source: "kv.md 7.5, session.md 4.2",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let service = shown(
                t,
                &service_op("set", &node, &json!({"Service": "s"})),
                "Service",
            );
            t.same("ID", service["ID"].clone(), json!("s"));
            let check = shown(
                t,
                &check_op("set", &json!({"Node": node, "Name": "a name"})),
                "Check",
            );
            t.same("CheckID", check["CheckID"].clone(), json!("a name"));
            t.same("Status", check["Status"].clone(), json!("critical"));
        },
        ..Case::REAL
    },
];
