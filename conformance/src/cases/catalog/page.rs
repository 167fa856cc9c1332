//! Reads of Consul's own page: services with their sums, nodes with what is on them (operator.md 3.r12 to 3.r18).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::set;
use crate::wire::Request;
use crate::wire::answer::Answer;

const UI: &str = "/v1/internal/ui";

fn ui(t: &Trial, rest: &str) -> Answer {
    t.api_get(&format!("{UI}/{rest}"))
}

/// Registers a service of a node, with checks in these statuses.
fn service(t: &Trial, node: &str, service: &Value, statuses: &[&str]) {
    let id = service.get("ID").unwrap_or(&service["Service"]).clone();
    let checks = statuses.iter().enumerate().map(|(number, status)| {
        let id = id.as_str().unwrap_or_default();
        json!({"CheckID": format!("{id}-{number}"), "Status": status, "ServiceID": id})
    });
    let checks: Vec<Value> = checks.collect();
    t.register(&json!({"Node": node, "Address": "10.0.0.1", "Service": service, "Checks": checks}));
}

/// Registers a check of a node.
fn node_check(t: &Trial, node: &str, status: &str) {
    t.register(&json!({"Node": node, "Address": "10.0.0.1", "Check": {"CheckID": "alive", "Status": status}}));
}

/// Two nodes with instances of `web`, of a service that starts with a capital, of a proxy and of a gateway.
fn furnish(t: &Trial) {
    let web = |id: &str, tags: Value, source: &str| json!({"ID": id, "Service": "web", "Tags": tags, "Meta": {"external-source": source}});
    service(t, "nb", &web("w1", json!(["b", "a"]), "zed"), &["warning"]);
    service(
        t,
        "na",
        &web("w2", json!(["c", "a"]), "zed"),
        &["passing", "critical"],
    );
    service(t, "na", &web("w3", json!([]), "abc"), &[]);
    service(t, "na", &json!({"Service": "Web"}), &["odd"]);
    for (id, of) in [("p1", "zz"), ("p2", "aa"), ("p3", "zz")] {
        let proxy = json!({"ID": id, "Service": "proxy", "Kind": "connect-proxy", "Port": 1, "Proxy": {"DestinationServiceName": of}});
        service(t, "na", &proxy, &[]);
    }
    service(
        t,
        "nb",
        &json!({"Service": "gate", "Kind": "ingress-gateway"}),
        &[],
    );
    node_check(t, "na", "critical");
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "page/services/sums",
        claim: "ui/services sums up the instances of each service, by name: their nodes, tags, sources and checks, and what a proxy stands for",
        source: "operator.md 3.r12, 3.r15",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            furnish(t);
            let answer = ui(t, "services").has_no_header("X-Consul-Effective-Consistency");
            let mut rows = answer.list();
            rows.retain(|row| row["Name"] != "consul");
            let row = |name: &str, kind: &str, nodes: Value| {
                let count = nodes.as_array().map(Vec::len);
                let mut row = json!({"Name": name, "Tags": null, "Nodes": nodes, "InstanceCount": count, "ChecksPassing": 0, "ChecksWarning": 0, "ChecksCritical": count, "ExternalSources": null, "GatewayConfig": {}});
                if !kind.is_empty() {
                    row["Kind"] = json!(kind);
                }
                row
            };
            let mut gate = row("gate", "ingress-gateway", json!(["nb"]));
            gate["ChecksCritical"] = json!(0);
            let mut proxy = row("proxy", "connect-proxy", json!(["na", "na", "na"]));
            proxy["ProxyFor"] = json!(["zz", "aa"]);
            let mut web = row("web", "", json!(["na", "na", "nb"]));
            web["Tags"] = json!(["a", "b", "c"]);
            web["ExternalSources"] = json!(["zed", "abc"]);
            web["ChecksPassing"] = json!(1);
            web["ChecksWarning"] = json!(1);
            let expected = vec![row("Web", "", json!(["na"])), gate, proxy, web];
            t.same("the services", rows, expected);
        },
        ..Case::REAL
    },
    Case {
        id: "page/services/form",
        claim: "A service of ui/services has its fields in this order; Kind and ProxyFor only where they say something",
        source: "operator.md 3.r12",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            service(t, "n", &json!({"Service": "web"}), &[]);
            let proxy = json!({"Service": "proxy", "Kind": "connect-proxy", "Port": 1, "Proxy": {"DestinationServiceName": "web"}});
            service(t, "n", &proxy, &[]);
            ui(t, "services?filter=Service.Service==web").is(
                200,
                r#"[{"Name":"web","Tags":null,"Nodes":["n"],"InstanceCount":1,"ChecksPassing":0,"ChecksWarning":0,"ChecksCritical":0,"ExternalSources":null,"GatewayConfig":{}}]"#,
            );
            ui(t, "services?filter=Service.Kind!=%22%22").is(
                200,
                r#"[{"Kind":"connect-proxy","Name":"proxy","Tags":null,"Nodes":["n"],"InstanceCount":1,"ProxyFor":["web"],"ChecksPassing":0,"ChecksWarning":0,"ChecksCritical":0,"ExternalSources":null,"GatewayConfig":{}}]"#,
            );
            ui(t, "services?filter=Service.Service==none").is(200, "[]");
        },
        ..Case::REAL
    },
    Case {
        id: "page/services/since-1-22",
        claim: "A service of ui/services has its datacenter, and says whether it is of the mesh",
        source: "operator.md 3.r12",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            service(t, "n", &json!({"Service": "web"}), &["passing"]);
            ui(t, "services?filter=Service.Service==web").is(
                200,
                r#"[{"Name":"web","Datacenter":"dc1","Tags":null,"Nodes":["n"],"ExternalSources":null,"InstanceCount":1,"ChecksPassing":1,"ChecksWarning":0,"ChecksCritical":0,"GatewayConfig":{},"TransparentProxy":false,"ConnectNative":false,"ConnectedWithProxy":false,"ConnectedWithGateway":false}]"#,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "page/services/ways-since-1-22",
        claim: "ui/services says which services have a proxy, and of none that it stands behind a gateway",
        source: "operator.md 3.r15",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            for name in ["web", "db"] {
                service(t, "n", &json!({"Service": name}), &[]);
            }
            let proxy = json!({"Service": "proxy", "Kind": "connect-proxy", "Port": 1, "Proxy": {"DestinationServiceName": "web"}});
            service(t, "n", &proxy, &[]);
            set(
                t,
                &json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "db"}]}),
            );
            let mut rows = ui(t, "services").list();
            rows.retain(|row| row["Name"] != "consul");
            let ways = |row: &Value| {
                json!([
                    row["Name"],
                    row["ConnectedWithProxy"],
                    row["ConnectedWithGateway"]
                ])
            };
            let shown: Vec<Value> = rows.iter().map(ways).collect();
            t.same(
                "the services",
                shown,
                vec![
                    json!(["db", false, false]),
                    json!(["proxy", false, false]),
                    json!(["web", true, false]),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "page/services/kind",
        claim: "The kind of a service is that of its last instance, by node and id",
        source: "operator.md 3.r15",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            let mesh = |id: &str, name: &str| json!({"ID": id, "Service": name, "Kind": "mesh-gateway", "Port": 1});
            let typical = |id: &str, name: &str| json!({"ID": id, "Service": name});
            service(t, "nb", &mesh("m1", "last"), &[]);
            service(t, "na", &typical("m2", "last"), &[]);
            service(t, "nb", &typical("m3", "first"), &[]);
            service(t, "na", &mesh("m4", "first"), &[]);
            ui(t, "services?filter=Service.Service==last").field_is("/0/Kind", "mesh-gateway");
            let first = ui(t, "services?filter=Service.Service==first");
            t.check(first.list()[0].get("Kind").is_none(), "it has a Kind");
        },
        ..Case::REAL
    },
    Case {
        id: "page/nodes/contents",
        claim: "ui/nodes has every node with its services and checks, the tags that were not registered as null",
        source: "operator.md 3.r13",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            service(
                t,
                "nb",
                &json!({"Service": "web", "Port": 80}),
                &["passing"],
            );
            t.register(&json!({"Node": "na", "Address": "10.0.0.2", "NodeMeta": {"a": "b"}}));
            let answer = ui(t, "nodes").has_no_header("X-Consul-Effective-Consistency");
            let rows = answer.list();
            let own: Vec<&Value> = rows
                .iter()
                .filter(|row| row["Node"] == "na" || row["Node"] == "nb")
                .collect();
            t.same("the nodes", own.len(), 2);
            t.same(
                "the first",
                own[0],
                &json!({"ID": "", "Node": "na", "Address": "10.0.0.2", "TaggedAddresses": null, "Meta": {"a": "b"}, "Services": [], "Checks": []}),
            );
            let answer = ui(t, "node/NB");
            t.same("the node alone", &answer.json(), own[1]);
            let shown = answer.json();
            t.same("the tags", &shown["Services"][0]["Tags"], &Value::Null);
            t.same("the tags", &shown["Checks"][0]["ServiceTags"], &Value::Null);
            t.same(
                "the service",
                &shown["Services"][0]["Service"],
                &json!("web"),
            );
            t.same("the check", &shown["Checks"][0]["CheckID"], &json!("web-0"));
        },
        ..Case::REAL
    },
    Case {
        id: "page/node/form",
        claim: "ui/node shows the node without datacenter and indexes, then its services and its checks",
        source: "operator.md 3.r13; operator.md 3.r13b",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            service(
                t,
                "nb",
                &json!({"Service": "web", "Port": 80}),
                &["passing"],
            );
            let answer = ui(t, "node/nb");
            let service = answer.json()["Services"][0]["CreateIndex"].clone();
            let check = answer.json()["Checks"][0]["CreateIndex"].clone();
            answer.is(
                200,
                &format!(
                    r#"{{"ID":"","Node":"nb","Address":"10.0.0.1","TaggedAddresses":null,"Meta":null,"Services":[{{"ID":"web","Service":"web","Tags":null,"Address":"","Meta":null,"Port":80,"Weights":{{"Passing":1,"Warning":1}},"EnableTagOverride":false,"Proxy":{{"MeshGateway":{{}},"Expose":{{}}}},"Connect":{{}},"CreateIndex":{service},"ModifyIndex":{service}}}],"Checks":[{{"Node":"nb","CheckID":"web-0","Name":"","Status":"passing","Notes":"","Output":"","ServiceID":"web","ServiceName":"web","ServiceTags":null,"Type":"","Definition":{{}},"CreateIndex":{check},"ModifyIndex":{check}}}]}}"#
                ),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "page/node/missing",
        claim: "ui/node of a missing node is 404 without a text or an index; without a name it is refused",
        source: "operator.md 3.r13, 3.r16; operator.md 3.r13b",
        run: |t| {
            ui(t, "node/none")
                .is(404, "")
                .has_no_header("X-Consul-Index");
            ui(t, "node/").is(400, "Missing node name");
            ui(t, "node/?dc=nope").is(400, "Missing node name");
            ui(t, "gateway-services-nodes/").is(400, "Missing gateway name");
        },
        ..Case::REAL
    },
    Case {
        id: "page/parameters/read",
        claim: "The page's reads look at dc, index and consistency, and their methods are GET alone",
        source: "operator.md 3.r16",
        until: Some(Version::V1_10),
        run: |t| {
            for path in ["services", "nodes", "node/n", "gateway-services-nodes/x"] {
                ui(t, &format!("{path}?dc=nope"))
                    .is(500, "No path to datacenter")
                    .header_is("X-Consul-Knownleader", "false");
                ui(t, &format!("{path}?index=x")).is(400, "Invalid index");
                ui(t, &format!("{path}?stale&consistent")).is(
                    400,
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                );
                t.api_put(&format!("{UI}/{path}"), "")
                    .is(405, "method PUT not allowed")
                    .header_is("Allow", "OPTIONS,GET");
            }
            for path in ["node/none?cached", "gateway-services-nodes/x?cached"] {
                ui(t, path).has_no_header("X-Cache");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "page/filters/fields",
        claim: "A filter of ui/services names what health/service shows, one of ui/nodes what the node shows; the other two have none",
        source: "operator.md 3.r16",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            furnish(t);
            let names = |path: &str, field: &str| {
                let rows = ui(t, path).list();
                let names = rows.iter().map(|row| row[field].clone());
                names.collect::<Vec<Value>>()
            };
            t.same(
                "the services with a passing check",
                names("services?filter=Checks.Status==warning", "Name"),
                vec![json!("web")],
            );
            t.same(
                "the nodes with a passing check",
                names("nodes?filter=Checks.Status==warning", "Node"),
                vec![json!("nb")],
            );
            t.same(
                "the nodes with a service",
                names("nodes?filter=Services.ID==w3", "Node"),
                vec![json!("na")],
            );
            for (path, words) in [
                (
                    "services?filter=Name==web",
                    "Selector \"Name\" is not valid",
                ),
                (
                    "services?filter=Node==na",
                    "Invalid match operator \"Equal\" for selector \"Node\"",
                ),
                (
                    "nodes?filter=Datacenter==dc1",
                    "Selector \"Datacenter\" is not valid",
                ),
            ] {
                let words = format!("Failed to create boolean expression evaluator: {words}");
                ui(t, path)
                    .is(500, &words)
                    .header_is("X-Consul-Knownleader", "false");
            }
            ui(t, "node/na?filter=zork").status_is(200);
            ui(t, "gateway-services-nodes/x?filter=zork").is(200, "[]");
        },
        ..Case::REAL
    },
    Case {
        id: "page/wakes/all",
        claim: "ui/services and ui/nodes wait for any node, service or check, and for nothing else",
        source: "operator.md 3.r17",
        needs: &[Feature::OwnServer],
        run: |t| {
            service(t, "0a", &json!({"Service": "web"}), &["passing"]);
            for path in ["services", "nodes"] {
                let changes: [&dyn Fn(); 4] = [
                    &|| {
                        t.register(
                            &json!({"Node": "0a", "Address": "10.0.0.1", "NodeMeta": {path: "x"}}),
                        );
                    },
                    &|| {
                        node_check(
                            t,
                            "0a",
                            if path == "nodes" {
                                "warning"
                            } else {
                                "passing"
                            },
                        );
                    },
                    &|| service(t, "0a", &json!({"Service": "web", "Address": path}), &[]),
                    &|| t.register(&json!({"Node": format!("0{path}"), "Address": "10.0.0.1"})),
                ];
                for change in changes {
                    let index = ui(t, path).index();
                    let read = t.start(&Request::get(&format!(
                        "{UI}/{path}?index={index}&wait=60s"
                    )));
                    t.put(&t.key("k"), "", path).is(200, "true");
                    t.still_blocked(&read);
                    change();
                    t.grew("the index", index, read.answer().index());
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "page/wakes/node",
        claim: "ui/node waits for its node and what is on it, though its index is that of the whole catalog; a missing node's wait ends when it comes",
        source: "operator.md 3.r17",
        needs: &[Feature::OwnServer],
        run: |t| {
            for node in ["far", "near", "nearby"] {
                service(t, node, &json!({"Service": "web"}), &["passing"]);
                node_check(t, node, "passing");
            }
            let waiting = |path: &str| {
                let index = ui(t, "services?filter=Service.Service==none").index();
                t.start(&Request::get(&format!(
                    "{UI}/{path}?index={index}&wait=60s"
                )))
            };
            let changes: [&dyn Fn(); 4] = [
                &|| t.register(&json!({"Node": "far", "Address": "10.0.0.9"})),
                &|| node_check(t, "far", "warning"),
                &|| service(t, "far", &json!({"Service": "web", "Port": 9}), &[]),
                &|| {
                    drop(t.api_put(
                        "/v1/catalog/deregister",
                        r#"{"Node":"far","ServiceID":"web"}"#,
                    ));
                },
            ];
            for (number, change) in changes.iter().enumerate() {
                let [other, own] = ["node/near", "node/FAR"].map(waiting);
                change();
                own.answer().field_is("/Node", "far");
                t.still_blocked(&other);
                t.register(&json!({"Node": "near", "Address": format!("10.0.1.{number}")}));
                other.answer().field_is("/Node", "near");
            }
            let missing = waiting("node/zzz");
            t.still_blocked(&missing);
            t.register(&json!({"Node": "zzz", "Address": "10.0.0.9"}));
            missing.answer().field_is("/Node", "zzz");
            let gone = waiting("node/zzz");
            t.api_put("/v1/catalog/deregister", r#"{"Node":"zzz"}"#)
                .is(200, "true");
            gone.answer().is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "page/gateway/services",
        claim: "ui/gateway-services-nodes sums up the services behind a gateway, with where an ingress gateway serves them; a service that is named twice counts twice",
        source: "operator.md 3.r18",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            ui(t, "gateway-services-nodes/i")
                .is(200, "[]")
                .has_no_header("X-Consul-Effective-Consistency");
            furnish(t);
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            let listener = |port: u16, services: Value| json!({"Port": port, "Protocol": "http", "Services": services});
            let named = listener(
                81,
                json!([{"Name": "web", "Hosts": ["a.b", "c.d:1"]}, {"Name": "ghost"}]),
            );
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [listener(80, json!([{"Name": "web"}])), named]}),
            );
            let rows = ui(t, "gateway-services-nodes/I").list();
            let web = rows.iter().find(|row| row["Name"] == "web");
            let web = web.cloned().unwrap_or_default();
            t.same("the instances", &web["InstanceCount"], &json!(6));
            t.same(
                "the nodes",
                &web["Nodes"],
                &json!(["na", "na", "na", "na", "nb", "nb"]),
            );
            t.same(
                "the addresses",
                &web["GatewayConfig"],
                &json!({"Addresses": ["web.ingress.dc1.consul.:80", "a.b:81", "c.d:1:81"]}),
            );
            let ghost = rows.iter().find(|row| row["Name"] == "ghost");
            let ghost = ghost.cloned().unwrap_or_default();
            t.same("the missing service", &ghost, &json!({"Name": "ghost", "Tags": null, "Nodes": null, "InstanceCount": 0, "ChecksPassing": 0, "ChecksWarning": 0, "ChecksCritical": 0, "ExternalSources": null, "GatewayConfig": {"Addresses": ["ghost.ingress.dc1.consul.:81"]}}));
            set(
                t,
                &json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "web"}]}),
            );
            let rows = ui(t, "gateway-services-nodes/t").list();
            let web = rows.iter().find(|row| row["Name"] == "web");
            t.same(
                "the addresses",
                &web.cloned().unwrap_or_default()["GatewayConfig"],
                &json!({}),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "page/gateway/wakes",
        claim: "ui/gateway-services-nodes waits for the gateway and for the services behind it; a missing service is as any",
        source: "operator.md 3.r18",
        needs: &[Feature::OwnServer],
        run: |t| {
            service(t, "na", &json!({"Service": "web"}), &["passing"]);
            service(t, "nb", &json!({"Service": "other"}), &["passing"]);
            let gateway = |service: &str| json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": service}]});
            let waiting = || {
                let index = ui(t, "gateway-services-nodes/t").index();
                t.start(&Request::get(&format!(
                    "{UI}/gateway-services-nodes/t?index={index}&wait=60s"
                )))
            };
            set(t, &gateway("other"));
            let read = waiting();
            set(t, &gateway("web"));
            read.answer().field_is("/0/Name", "web");
            let read = waiting();
            service(
                t,
                "nb",
                &json!({"Service": "other", "Port": 1}),
                &["warning"],
            );
            t.still_blocked(&read);
            service(t, "na", &json!({"Service": "web", "Port": 1}), &["warning"]);
            read.answer().field_is("/0/ChecksWarning", 1);
            set(t, &gateway("ghost"));
            let read = waiting();
            service(t, "nb", &json!({"Service": "other", "Port": 2}), &[]);
            read.answer().field_is("/0/Name", "ghost");
        },
        ..Case::REAL
    },
    Case {
        id: "page/unknown/before-1-9",
        claim: "Other paths below internal/ui are unknown",
        source: "operator.md 3.r19",
        until: Some(Version::V1_9),
        run: |t| {
            for path in [
                "",
                "service-topology/web",
                "gateway-intentions/x",
                "metrics-proxy/",
                "catalog-overview",
                "exported-services",
                "services/",
                "zork",
            ] {
                ui(t, path).is(404, "");
            }
            t.api_get("/v1/internal/").is(404, "");
            t.api_put("/v1/internal/service-virtual-ip", "{}")
                .is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "page/virtual-ip/since-1-22",
        claim: "A service without a virtual address is not found by internal/service-virtual-ip",
        source: "operator.md 3.r14",
        since: Version::V1_22,
        run: |t| {
            t.api_put(
                "/v1/internal/service-virtual-ip",
                r#"{"Service":"none","ManualVIPs":["8.8.8.8"]}"#,
            )
            .is(200, r#"{"Found":false,"UnassignedFrom":null}"#);
        },
        ..Case::REAL
    },
    Case {
        id: "page/virtual-ip/taken-since-1-22",
        claim: "An entry makes a service known to internal/service-virtual-ip, which takes addresses from others and no more than eight",
        source: "operator.md 3.r14",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            for name in ["one", "two"] {
                let entry = json!({"Kind": "service-resolver", "Name": name});
                t.api_put("/v1/config", entry.to_string()).is(200, "true");
            }
            let assign = |query: &str, body: Value| {
                let path = format!("/v1/internal/service-virtual-ip{query}");
                t.api_put(&path, body.to_string())
            };
            let own = |service: &str, addresses: Value| json!({"Service": service, "ManualVIPs": addresses});
            let found = r#"{"Found":true,"UnassignedFrom":null}"#;
            assign("", own("one", json!(["8.8.8.8", "8.8.8.8", "::1"]))).is(200, found);
            assign("?dc=nope", own("one", json!(["8.8.8.8"]))).is(200, found);
            assign("", own("two", json!(["8.8.8.8"]))).is(
                200,
                r#"{"Found":true,"UnassignedFrom":[{"ServiceName":{"Name":"one"},"Peer":""}]}"#,
            );
            assign("", own("two", json!([]))).is(200, found);
            assign("", own("two", json!(["zz"]))).is(500, "\"<nil>\" is not a valid ip address");
            let nine: Vec<_> = (1..=9).map(|last| format!("8.8.8.{last}")).collect();
            assign("", own("two", json!(nine))).is(
                500,
                "cannot associate more than 8 manual virtual IPs with the same service",
            );
            assign("", json!({"Datacenter": "x"})).is(500, "No path to datacenter");
            assign("", json!({})).is(200, r#"{"Found":false,"UnassignedFrom":null}"#);
            t.api_put("/v1/internal/service-virtual-ip", "")
                .is(400, "Request decode failed: EOF");
        },
        ..Case::REAL
    },
];
