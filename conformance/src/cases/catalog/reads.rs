//! What reads of the catalog and of health are narrowed and ordered by, and the reads of what nobody has
//! (session.md 4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register, service_check};

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "session.md 4.5";

/// A service that no other case has, with an instance on two nodes of which the first has meta data; gives both
/// names.
fn two_nodes(t: &Trial) -> (String, String) {
    let service = t.node("service");
    let (first, second) = (t.node("a"), t.node("b"));
    let instance = |id: &str, tags: Value| json!({"ID": id, "Service": service, "Tags": tags});
    let fields = json!({
        "NodeMeta": {"env": "prod", "rack": "1"},
        "Service": instance("one", json!(["v1", "Prod"])),
        "Check": {"CheckID": "one", "Name": "one", "Status": "passing", "ServiceID": "one"},
    });
    register(t, &first, &fields);
    let fields = json!({
        "Service": instance("two", json!(["v1"])),
        "Check": {"CheckID": "two", "Name": "two", "Status": "warning", "ServiceID": "two"},
    });
    register(t, &second, &fields);
    (service, first)
}

/// How many rows come at a path.
#[track_caller]
fn count(t: &Trial, path: &str) -> usize {
    t.api_get(path).list().len()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/service/no-meta-data",
        claim: "catalog/service shows {} for the meta data of a service that has none, where the other reads show null",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, _) = two_nodes(t);
            t.api_get(&format!("/v1/catalog/service/{service}"))
                .field_is("/0/ServiceMeta", json!({}));
            t.api_get(&format!("/v1/health/service/{service}"))
                .field_is("/0/Service/Meta", Value::Null);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-meta/narrows",
        claim: "node-meta= leaves nodes that have that meta data, given more than once all of it",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (service, first) = two_nodes(t);
            for path in [
                format!("/v1/catalog/service/{service}"),
                format!("/v1/health/service/{service}"),
                format!("/v1/health/checks/{service}"),
            ] {
                for (query, expected) in [
                    ("", 2),
                    ("node-meta=env:prod", 1),
                    ("node-meta=env:prod&node-meta=rack:1", 1),
                    ("node-meta=env:prod&node-meta=rack:2", 0),
                    ("node-meta=env:test", 0),
                    ("node-meta=env", 0),
                    ("node-meta=none:", 0),
                ] {
                    t.same(query, count(t, &format!("{path}?{query}")), expected);
                }
            }
            let nodes = t
                .api_get("/v1/catalog/nodes?node-meta=rack:1&node-meta=env:prod")
                .list();
            let found = nodes.iter().any(|node| node["Node"] == first.as_str());
            t.check(found, "the node with the meta data is listed");
            let listed = |query: &str| {
                let services = t.api_get(&format!("/v1/catalog/services?{query}")).json();
                let tags = services.get(&service).and_then(Value::as_array);
                // Tags of several instances come in no order.
                tags.map(Vec::len)
            };
            t.same("services", listed("node-meta=rack:1"), Some(2));
            t.same("no services", listed("node-meta=rack:2"), None);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/node-meta/last-of-a-name",
        claim: "Of two node-meta= with the same name the last counts",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, _) = two_nodes(t);
            let path = format!("/v1/catalog/service/{service}");
            let last_fits = format!("{path}?node-meta=rack:9&node-meta=rack:1");
            t.same("the last fits", count(t, &last_fits), 1);
            let first_fits = format!("{path}?node-meta=rack:1&node-meta=rack:9");
            t.same("the first fits", count(t, &first_fits), 0);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-meta/ignored-of-one-node",
        claim: "Reads of one node do not look at node-meta=",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (_, first) = two_nodes(t);
            let path = format!("/v1/health/node/{first}?node-meta=env:test");
            t.same("the checks", count(t, &path), 1);
            t.api_get(&format!("/v1/catalog/node/{first}?node-meta=env:test"))
                .field_is("/Node/Node", first.as_str());
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-meta/indexes",
        claim: "With node-meta= the services have the nodes' index, too, and the checks of a service have the service's",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            t.not_compared("tags come in an order of chance");
            let (service, first) = two_nodes(t);
            let empty = t.node("empty");
            t.register(&json!({"Node": empty, "Address": "127.0.0.1"}));
            let index = |path: &str| t.api_get(path).index();
            let nodes = index("/v1/catalog/nodes");
            t.same(
                "services",
                index("/v1/catalog/services?node-meta=env:prod"),
                nodes,
            );
            let checks = format!("/v1/health/checks/{service}?node-meta=env:prod");
            let of_service = index(&format!("/v1/health/service/{service}"));
            t.same("checks of a service", index(&checks), of_service);
            check(t, &first, "of-the-node", "passing");
            let of_service = index(&format!("/v1/health/service/{service}"));
            t.same("checks of the node", index(&checks), of_service);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/tag/repeated",
        claim: "tag= leaves instances with that tag in any case, given more than once all of them",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (service, _) = two_nodes(t);
            for path in ["/v1/catalog/service", "/v1/health/service"] {
                for (query, expected) in [
                    ("tag=v1", 2),
                    ("tag=V1", 2),
                    ("tag=prod", 1),
                    ("tag=v1&tag=PROD", 1),
                    ("tag=v1&tag=none", 0),
                    ("tag=v", 0),
                ] {
                    t.same(
                        query,
                        count(t, &format!("{path}/{service}?{query}")),
                        expected,
                    );
                }
            }
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/tag/empty",
        claim: "An empty tag= is a tag that no instance has",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, _) = two_nodes(t);
            for path in ["/v1/catalog/service", "/v1/health/service"] {
                t.same("tag=", count(t, &format!("{path}/{service}?tag=")), 0);
                t.same(
                    "tag=&tag=v1",
                    count(t, &format!("{path}/{service}?tag=&tag=v1")),
                    0,
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/near/unknown-places",
        claim: "near= a node whose place in the network nobody knows changes nothing",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, first) = two_nodes(t);
            for path in [
                "/v1/catalog/service",
                "/v1/health/service",
                "/v1/health/checks",
            ] {
                let path = format!("{path}/{service}");
                let plain = t.api_get(&path).list();
                for near in ["nobody", &first, ""] {
                    let near = t.api_get(&format!("{path}?near={near}")).list();
                    t.same("the rows", near, plain.clone());
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "health/service/passing-with-checks-of-the-node",
        claim: "passing leaves instances whose checks all pass, those of the node included",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let service = t.node("service");
            service_check(t, &node, &service, "of-the-service", "passing");
            let passing = format!("/v1/health/service/{service}?passing");
            t.same("all pass", count(t, &passing), 1);
            check(t, &node, "of-the-node", "warning");
            t.same("the node warns", count(t, &passing), 0);
            t.same(
                "all",
                count(t, &format!("/v1/health/service/{service}?passing=0")),
                1,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/node-services/list",
        claim: "catalog/node-services shows a node and the list of its services, and null for both of a node that is not there",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, first) = two_nodes(t);
            t.api_get(&format!(
                "/v1/catalog/node-services/{}",
                first.to_uppercase()
            ))
            .field_is("/Node/Node", first.as_str())
            .field_is("/Services/0/ID", "one")
            .field_is("/Services/0/Service", service.as_str())
            .has_header("X-Consul-Index");
            t.api_get("/v1/catalog/node-services/nobody")
                .is(200, r#"{"Node":null,"Services":null}"#);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/nobody",
        claim: "A service without proxies has none in catalog/connect and health/connect",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (service, _) = two_nodes(t);
            for path in ["/v1/catalog/connect", "/v1/health/connect"] {
                t.api_get(&format!("{path}/{service}")).is(200, "[]");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/connect/indexes",
        claim: "Without proxies the index is the service's, until some service has lost its last instance: then it is the index of that",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let (service, first) = two_nodes(t);
            let index = |path: &str| t.api_get(&format!("{path}/{service}")).index();
            let both = || (index("/v1/catalog/connect"), index("/v1/health/connect"));
            let of_service = index("/v1/health/service");
            t.same("at first", both(), (of_service, of_service));
            service_check(t, &first, "gone", "of-gone", "passing");
            deregister(t, &first, &json!({"ServiceID": "gone"}));
            let extinct = index("/v1/catalog/connect");
            t.check(
                extinct > of_service,
                "the end of another service moves the index",
            );
            register(
                t,
                &first,
                &json!({"Service": {"ID": "one", "Service": service, "Port": 1}}),
            );
            t.check(
                index("/v1/health/service") > extinct,
                "the service has changed",
            );
            t.same("at last", both(), (extinct, extinct));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/index-of-proxies-alone",
        claim: "The index of a service that has proxies and no instance is that of all services and nodes, also when some service has lost its last instance",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let (proxy, service) = (t.node("proxy"), t.node("service"));
            let index = |path: &str| t.api_get(path).index();
            let connect = format!("/v1/catalog/connect/{service}");
            service_check(t, &node, "gone", "of-gone", "passing");
            deregister(t, &node, &json!({"ServiceID": "gone"}));
            register(
                t,
                &node,
                &json!({"Service": {"Service": proxy, "Kind": "connect-proxy", "Port": 9,
                    "Proxy": {"DestinationServiceName": service}}}),
            );
            t.same("proxy", index(&connect), index("/v1/catalog/services"));
            let other = t.register_node("other");
            t.same("node", index(&connect), index("/v1/catalog/nodes"));
            check(t, &other, "check", "passing");
            t.same("check", index(&connect), index("/v1/catalog/nodes"));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/services/index-of-a-nodes-check",
        claim: "A check of a node that is deregistered moves the index of the services, and of the node; one that is written does not",
        source: "session.md 4.5",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let index = |path: &str| t.api_get(path).index();
            let services = index("/v1/catalog/services");
            check(t, &node, "check", "passing");
            t.same("written", index("/v1/catalog/services"), services);
            deregister(t, &node, &json!({"CheckID": "check"}));
            let checks = index("/v1/health/state/any");
            t.same("deregistered", index("/v1/catalog/services"), checks);
            t.same(
                "the node",
                index(&format!("/v1/catalog/node/{node}")),
                checks,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "health/service/index-of-nobody",
        claim: "While no service has lost its last instance, a service without instances has the index of nodes and services, in health that of checks, too",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let (_, first) = two_nodes(t);
            let newest = json!({"CheckID": "newest", "Name": "newest", "Status": "passing"});
            let fields = json!({"SkipNodeUpdate": true, "Check": newest});
            register(t, &first, &fields);
            let index = |path: &str| t.api_get(path).index();
            let of_services = index("/v1/catalog/services").max(index("/v1/catalog/nodes"));
            let of_checks = index("/v1/health/state/any");
            t.check(of_checks > of_services, "the checks are the newest");
            t.same("catalog", index("/v1/catalog/service/nobody"), of_services);
            t.same("health", index("/v1/health/service/nobody"), of_checks);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/gateways/none",
        claim: "A gateway that is not there has null services, and a service no ingress gateways, at index 1",
        source: "session.md 4.5",
        until: Some(Version::V1_22),
        run: |t| {
            t.api_get("/v1/catalog/gateway-services/nobody")
                .is(200, "null")
                .header_is("X-Consul-Index", "1");
            t.api_get("/v1/health/ingress/nobody")
                .is(200, "[]")
                .header_is("X-Consul-Index", "1");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/errors/missing-names",
        claim: "The reads of one thing without its name are 400",
        source: "session.md 4.5",
        run: |t| {
            for (path, what) in [
                ("/v1/catalog/node-services/", "node name"),
                ("/v1/catalog/connect/", "service name"),
                ("/v1/catalog/gateway-services/", "gateway name"),
                ("/v1/health/connect/", "service name"),
                ("/v1/health/ingress/", "service name"),
            ] {
                t.api_get(path).says(400, &format!("Missing {what}"));
            }
            t.api_get("/v1/health/connect/nobody?passing=maybe")
                .says(400, "Invalid value for ?passing");
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/node/as-spelled",
        claim: "A service and a check show the name of their node as their own registration spells it, and move when that changes",
        source: "session.md 4.2.r19b",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let (upper, service) = (node.to_uppercase(), t.node("service"));
            let parts = json!({
                "SkipNodeUpdate": true,
                "Service": {"Service": service},
                "Check": {"CheckID": "c", "Name": "c", "Status": "passing"},
            });
            let shown = || {
                let rows = [
                    format!("/v1/catalog/service/{service}"),
                    format!("/v1/health/node/{node}"),
                ];
                rows.map(|path| t.api_get(&path).list()[0].clone())
            };
            register(t, &node, &parts);
            let first = shown();
            register(t, &upper, &parts);
            let second = shown();
            for (first, second) in first.iter().zip(&second) {
                t.same("the first name", &first["Node"], &json!(node));
                t.same("the second name", &second["Node"], &json!(upper));
                let index = |row: &Value| row["ModifyIndex"].as_u64();
                t.grew("the index", index(first), index(second));
            }
            let read = t.api_get(&format!("/v1/catalog/node/{upper}"));
            read.field_is("/Node/Node", node.as_str());
            let set = json!([
                {"Service": {"Verb": "set", "Node": node, "Service": {"ID": service, "Service": service}}},
                {"Check": {"Verb": "set", "Check": {"Node": node, "CheckID": "c", "Name": "c", "Status": "passing"}}},
            ]);
            let done = t.api_put("/v1/txn", set.to_string()).status_is(200).json();
            t.same(
                "the result",
                &done["Results"][1]["Check"]["Node"],
                &json!(node),
            );
            for row in shown() {
                t.same("the last name", &row["Node"], &json!(node));
            }
        },
        ..Case::REAL
    },
];
