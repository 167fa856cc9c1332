//! What is refused before and while the catalog is written or read: tenancy, datacenters, addresses, and what cannot be looked up
//! (session.md 0, 4.2; kv.md 7.5).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register};
use crate::cases::support::session::lives;
use crate::cases::support::txn_catalog::{check_op, fails, id_of_node, node_op, service_op, shown};
use crate::wire::Request;

const NEEDS: &[Feature] = &[Feature::Registration];
const WRITES: [&str; 2] = ["/v1/catalog/register", "/v1/catalog/deregister"];

/// Each write of the catalog with this parameter and this header is 400 with these texts, though its body is none.
#[track_caller]
fn tenancy_is_refused(t: &Trial, parameter: &str, header: &str, feature: &str) {
    let tail = format!(" - {feature} are a Consul Enterprise feature");
    for target in WRITES {
        t.api_put(&format!("{target}?{parameter}=x"), "{bad").says(
            400,
            &format!("Invalid query parameter: \"{parameter}\"{tail}"),
        );
        t.send(&Request::put(target, "{bad").header(header, "x"))
            .says(400, &format!("Invalid header: \"{header}\"{tail}"));
        t.api_put(&format!("{target}?{parameter}="), "{bad")
            .says(400, "Request decode failed: ");
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/tenancy/namespace",
        claim: "Writes of the catalog with a namespace, as a parameter or a header, are 400 before their body is read",
        source: "session.md 0.8, 4.2",
        run: |t| tenancy_is_refused(t, "ns", "X-Consul-Namespace", "Namespaces"),
        ..Case::MUST
    },
    Case {
        id: "catalog/tenancy/partition-since-1-11",
        claim: "Writes of the catalog with a partition, as a parameter or a header, are 400 before their body is read",
        source: "session.md 4.2, 1.22.md B0, 0.8b",
        since: Version::V1_11,
        run: |t| tenancy_is_refused(t, "partition", "X-Consul-Partition", "Partitions"),
        ..Case::REAL
    },
    Case {
        id: "catalog/tenancy/datacenter-of-the-query",
        claim: "Writes of the catalog take the datacenter from their body alone: that of the query says nothing",
        source: "session.md 0.8, 4.2",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let [registers, deregisters] = WRITES.map(|target| format!("{target}?dc=nope"));
            let body = json!({"Node": node, "Address": "127.0.0.1"}).to_string();
            t.api_put(&registers, body).is(200, "true");
            t.api_get(&format!("/v1/catalog/node/{node}"))
                .field_is("/Node/Node", json!(node));
            let elsewhere = json!({"Node": node, "Datacenter": "nope"}).to_string();
            let own = format!("{}?dc={}", WRITES[1], t.facts().datacenter);
            t.api_put(&own, elsewhere).is(500, "No path to datacenter");
            t.api_put(&deregisters, json!({"Node": node}).to_string())
                .is(200, "true");
            t.api_get(&format!("/v1/catalog/node/{node}"))
                .is(200, "null");
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/consistency/leader-and-stale",
        claim: "Of leader and stale the answer names stale, of leader and consistent it names consistent",
        source: "kv.md 6.1 (seen on 1.8.7 and late 2025)",
        run: |t| {
            t.not_compared("the indexes are those of the rows of others");
            for (query, name) in [
                ("leader&stale", "stale"),
                ("leader&max_stale=1s", "stale"),
                ("leader&consistent", "consistent"),
                ("leader", "leader"),
            ] {
                for path in ["/v1/catalog/nodes", "/v1/health/state/any"] {
                    t.api_get(&format!("{path}?{query}"))
                        .header_is("X-Consul-Effective-Consistency", name);
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/service-address",
        claim: "The address of all interfaces, in three spellings, is refused for a service, by the catalog, transactions and the agent",
        source: "session.md 4.2, kv.md 7.5",
        needs: &[Feature::Registration, Feature::AgentRegistration],
        run: |t| {
            let (node, text) = (t.register_node("n"), "Invalid service address");
            let agent = "/v1/agent/service/register";
            for address in ["0.0.0.0", "::", "[::]"] {
                let service = json!({"Service": "s", "Address": address});
                let body = json!({"Node": node, "Address": address, "Service": service});
                t.api_put(WRITES[0], body.to_string()).is(500, text);
                for verb in ["set", "cas", "delete"] {
                    fails(t, &service_op(verb, &node, &service), text);
                }
                let body = json!({"Name": t.node("s"), "Address": address});
                t.api_put(agent, body.to_string()).says(400, text);
            }
            for address in ["::0", "0:0:0:0:0:0:0:0", "000.0.0.0", " 0.0.0.0"] {
                register(
                    t,
                    &node,
                    &json!({"Service": {"Service": "s", "Address": address}}),
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/refused-in-order-before-1-11",
        claim: "What is wrong with a service or a check is told in the order in which they are written: the node first, Check after Checks",
        source: "session.md 4.2",
        until: Some(Version::V1_11),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let upper = node.to_uppercase();
            let refused = |fields: serde_json::Value, text: &str| {
                let mut body = json!({"Node": upper, "SkipNodeUpdate": true});
                if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
                    body.extend(fields.clone());
                }
                t.api_put(WRITES[0], body.to_string()).is(500, text);
            };
            let other = json!({"Node": "other", "CheckID": "c"});
            let missing =
                format!("failed inserting check: Missing service registration on node \"{upper}\"");
            let nameless = format!(
                "failed inserting check: failed inserting check: object missing primary index on node \"{upper}\""
            );
            refused(
                json!({"Service": {"Port": 1}, "Check": other}),
                "failed inserting service: failed inserting service: object missing primary index",
            );
            refused(
                json!({"Checks": [{"CheckID": "c", "ServiceID": "none"}, other]}),
                &missing,
            );
            refused(json!({"Checks": [{"Status": "passing"}, other]}), &nameless);
            refused(json!({"Check": {"ServiceID": "none"}}), &missing);
            refused(
                json!({"Check": {"ServiceID": "none"}, "Checks": [{}]}),
                &nameless,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/service-metadata",
        claim: "Metadata of a service has short keys of letters, digits, - and _, and few pairs, in transactions too; that of a node is anything",
        source: "session.md 4.2.r8b",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let many: serde_json::Map<_, _> = (0..65)
                .map(|number| (format!("k{number}"), json!("x")))
                .collect();
            let pair = "Couldn't load metadata pair";
            for (meta, why) in [
                (
                    json!({"": "x"}),
                    format!("{pair} ('', 'x'): Key cannot be blank"),
                ),
                (
                    json!({"a.b": "x"}),
                    format!("{pair} ('a.b', 'x'): Key contains invalid characters"),
                ),
                (
                    json!({"consul-a": "x"}),
                    format!(
                        "{pair} ('consul-a', 'x'): Key prefix 'consul-' is reserved for internal use"
                    ),
                ),
                (
                    many.into(),
                    "Node metadata cannot contain more than 64 key/value pairs".to_owned(),
                ),
            ] {
                let text = format!("Invalid Service Meta for node {node} and serviceID s: {why}");
                let service = json!({"Service": "s", "ID": "s", "Meta": meta});
                let body = json!({"Node": node, "SkipNodeUpdate": true, "Service": service});
                let text_of_registration = format!("failed inserting service: {text}");
                t.api_put(WRITES[0], body.to_string())
                    .is(500, &text_of_registration);
                let step = json!({"Verb": "set", "Node": node, "Service": service});
                t.txn(&json!([{ "Service": step }]))
                    .status_is(409)
                    .field_is("/Errors/0/What", text);
                let body = json!({"Node": node, "Address": "10.0.0.1", "NodeMeta": meta});
                t.api_put(WRITES[0], body.to_string()).is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/order-of-what-is-wrong",
        claim: "An id of the node is looked at before its address, and a proxy before a missing name",
        source: "session.md 4.2.r2, 4.2.r8",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let refused = |fields: serde_json::Value, text: &str| {
                let mut body = json!({ "Node": node });
                if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
                    body.extend(fields.clone());
                }
                t.api_put(WRITES[0], body.to_string()).says(500, text);
            };
            refused(
                json!({"ID": "x"}),
                "Bad node ID: uuid string is wrong length",
            );
            refused(
                json!({"Address": "a", "Service": {"ID": "web", "Kind": "connect-proxy"}}),
                "Proxy.DestinationServiceName must be non-empty",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-without-id-since-1-22",
        claim: "A check with neither id nor name cannot be looked up; an unknown service is noticed before",
        source: "session.md 4.2, 1.22.md B4.2",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let refused = |check: serde_json::Value, text: &str| {
                let body = json!({"Node": node, "SkipNodeUpdate": true, "Check": check});
                t.api_put(WRITES[0], body.to_string()).is(500, text);
            };
            refused(
                json!({"Status": "passing"}),
                &format!(
                    "failed inserting check on node \"{node}\": failed health check lookup: index error: object is missing a value for this index"
                ),
            );
            refused(
                json!({"ServiceID": "db"}),
                "Unknown service ID 'db' for check ID ''",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/without-id-since-1-22",
        claim: "A check with neither id nor name cannot be looked up, whatever the verb",
        source: "kv.md 7.5, 1.22.md F",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let nameless = json!({"Node": t.register_node("n")});
            let why = "index error: object is missing a value for this index";
            for (verb, step) in [
                ("set", "failed health check lookup"),
                ("cas", "failed check lookup"),
                ("get", "failed check lookup"),
                ("delete", "check lookup failed"),
            ] {
                fails(t, &check_op(verb, &nameless), &format!("{step}: {why}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/node/malformed-id-since-1-22",
        claim: "A get of a node by an id that is not hexadecimal is an error of the index, with or without a name",
        source: "kv.md 7.5, 1.22.md F",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let id = id_of_node(&node);
            t.register(&json!({"Node": node, "Address": "127.0.0.1", "ID": id}));
            let found = shown(
                t,
                &node_op("get", &json!({"ID": id.to_uppercase()})),
                "Node",
            );
            t.same("Node", found["Node"].clone(), json!(node));
            for fields in [json!({"ID": "nope", "Node": node}), json!({"ID": "nope"})] {
                fails(
                    t,
                    &node_op("get", &fields),
                    "node lookup by ID failed: index error: invalid UUID: encoding/hex: invalid byte: U+006E 'n'",
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/spelling-is-no-name-since-1-22",
        claim: "A node with an id that comes under another spelling of its name is left as it is, with its sessions",
        source: "session.md 3.1, 1.22.md F",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let id = id_of_node(&node);
            let written = |name: &str| {
                t.register(&json!({"Node": name, "Address": "127.0.0.1", "ID": id}));
                let shown = t.api_get(&format!("/v1/catalog/node/{node}")).json()["Node"].clone();
                t.same("Node", shown["Node"].clone(), json!(node));
                shown["ModifyIndex"].clone()
            };
            let before = written(&node);
            let session = t.session(&json!({"Node": node, "NodeChecks": []}).to_string());
            t.same("ModifyIndex", written(&node.to_uppercase()), before);
            lives(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/checks/must-exist-by-name",
        claim: "A check that the node does not have is 500 with its id in quotes, in each of the three lists",
        source: "session.md 1.4, 7.1, trap 5",
        run: |t| {
            for body in [
                r#"{"NodeChecks":["nope"]}"#,
                r#"{"NodeChecks":["serfHealth","nope"]}"#,
                r#"{"Checks":["nope"]}"#,
                r#"{"ServiceChecks":[{"ID":"nope"}]}"#,
            ] {
                t.create_session(body)
                    .says(500, "Missing check 'nope' registration");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/checks/empty-id-since-1-22",
        claim: "A check with an empty id cannot be looked up for a new session",
        source: "1.22.md B1",
        since: Version::V1_22,
        run: |t| {
            t.create_session(r#"{"NodeChecks":[""]}"#).is(
                500,
                "apply failed: failed check lookup: index error: object is missing a value for this index",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/gateways/none-since-1-22",
        claim: "A gateway that is not there has an empty list of services, at index 1",
        source: "1.22.md B4.5",
        since: Version::V1_22,
        run: |t| {
            t.api_get("/v1/catalog/gateway-services/nobody")
                .is(200, "[]")
                .header_is("X-Consul-Index", "1");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node/unknown-of-one-letter-since-1-13",
        claim: "The index of an unknown node is that of the last deletion of a node, but 1 for a name of one letter",
        source: "session.md 4.5, 1.22.md B4.5",
        since: Version::V1_13,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            deregister(t, &node, &json!({}));
            let unknown = t.api_get(&format!("/v1/catalog/node/{node}"));
            t.check(unknown.index() > 1, "the index of the last deletion is 1");
            t.api_get("/v1/catalog/node/z")
                .is(200, "null")
                .header_is("X-Consul-Index", "1");
        },
        ..Case::REAL
    },
    Case {
        id: "health/service/passing-order",
        claim: "The last instances take the places of those that passing leaves out",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let service = t.node("s");
            let nodes: Vec<String> = (1..=5)
                .map(|number| t.node(&format!("n{number}")))
                .collect();
            for (node, status) in nodes
                .iter()
                .zip(["critical", "passing", "critical", "passing", "passing"])
            {
                register(
                    t,
                    node,
                    &json!({"Service": {"ID": "s", "Service": service}}),
                );
                check(t, node, "c", status);
            }
            let shown = t
                .api_get(&format!("/v1/health/service/{service}?passing"))
                .list();
            let shown: Vec<_> = shown
                .iter()
                .map(|entry| entry["Node"]["Node"].clone())
                .collect();
            let expected = [4, 1, 3].map(|place: usize| json!(nodes[place]));
            t.same("the nodes", shown, expected.to_vec());
        },
        ..Case::REAL
    },
    Case {
        id: "health/service/unknown-datacenter-before-1-10",
        claim: "The health of a service in a datacenter that does not exist is 500 with the headers of a read",
        source: "session.md 0.9",
        until: Some(Version::V1_10),
        run: |t| {
            for path in ["/v1/health/service/s", "/v1/health/connect/s"] {
                for index in ["", "&index=5&wait=1s"] {
                    t.api_get(&format!("{path}?dc=nope{index}"))
                        .is(500, "No path to datacenter")
                        .header_is("X-Consul-Index", "1")
                        .header_is("X-Consul-Knownleader", "false");
                }
            }
        },
        ..Case::REAL
    },
];
