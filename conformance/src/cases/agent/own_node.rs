//! What a fresh agent has in the catalog (session.md 4.1, 4.5): its node, the service `consul`, the check `serfHealth`.

use serde_json::Value;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

/// The agent's node as the catalog prints it, from the values that `agent/self` and the answer itself have.
#[track_caller]
fn node_text(t: &Trial, node: &Value) -> String {
    let config = t.api_get("/v1/agent/self").json()["Config"].clone();
    // Addresses and metadata are ordered by name, here and there.
    format!(
        r#"{{"ID":{},"Node":{},"Address":{},"Datacenter":{},"TaggedAddresses":{},"Meta":{},"CreateIndex":{},"ModifyIndex":{}}}"#,
        config["NodeID"],
        config["NodeName"],
        node["Address"],
        config["Datacenter"],
        node["TaggedAddresses"],
        node["Meta"],
        node["CreateIndex"],
        node["ModifyIndex"],
    )
}

/// The node's entry among those that `catalog/nodes` lists.
#[track_caller]
fn listed_node(t: &Trial) -> Value {
    let nodes = t.api_get("/v1/catalog/nodes").list();
    let own = |node: &&Value| node["Node"] == t.facts().node.as_str();
    nodes.iter().find(own).cloned().unwrap_or_default()
}

fn of_catalog(node: &str) -> String {
    format!("/v1/catalog/node/{node}")
}

fn of_health(node: &str) -> String {
    format!("/v1/health/node/{node}")
}

/// The node and its service `consul` as `catalog/node` prints them; between metadata and indexes a version's own fields.
#[track_caller]
fn service_is_printed(t: &Trial, kept_fields: &str) {
    let answer = t.api_get(&of_catalog(&t.facts().node)).status_is(200);
    let json = answer.json();
    let service = &json["Services"]["consul"];
    let expected = format!(
        r#"{{"Node":{},"Services":{{"consul":{{"ID":"consul","Service":"consul","Tags":[],"Address":"","Meta":{},"Port":{},"Weights":{{"Passing":1,"Warning":1}},"EnableTagOverride":false,{kept_fields},"CreateIndex":{},"ModifyIndex":{}}}}}}}"#,
        node_text(t, &json["Node"]),
        service["Meta"],
        service["Port"],
        service["CreateIndex"],
        service["ModifyIndex"],
    );
    // Services that others have registered with the agent may stand beside it.
    let others = json["Services"]
        .as_object()
        .is_some_and(|services| services.len() > 1);
    if !others {
        answer.is(200, &expected);
        return;
    }
    t.same("Service", service["Service"].as_str(), Some("consul"));
    t.same("Tags", service["Tags"].to_string(), "[]".to_owned());
}

/// `serfHealth` as health reads print it; after its type a version's own fields.
#[track_caller]
fn check_is_printed(t: &Trial, version_fields: &str) {
    let node = &t.facts().node;
    let answer = t.api_get(&of_health(node)).status_is(200);
    let json = answer.json();
    let expected = format!(
        r#"[{{"Node":"{node}","CheckID":"serfHealth","Name":"Serf Health Status","Status":"passing","Notes":"","Output":"Agent alive and reachable","ServiceID":"","ServiceName":"","ServiceTags":[],"Type":"",{version_fields}"Definition":{{}},"CreateIndex":{},"ModifyIndex":{}}}]"#,
        json[0]["CreateIndex"], json[0]["ModifyIndex"],
    );
    answer.is(200, &expected);
}

/// The node's `serfHealth` among all its checks.
#[track_caller]
fn own_check(t: &Trial) -> Value {
    let checks = t.api_get(&of_health(&t.facts().node)).list();
    let serf = |check: &&Value| check["CheckID"] == "serfHealth";
    checks.iter().find(serf).cloned().unwrap_or_default()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/nodes/own",
        claim: "catalog/nodes lists the agent's node with its id, address, datacenter, addresses, metadata and indexes, field by field in this order",
        source: "session.md 4.1, 4.5",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let answer = t.api_get("/v1/catalog/nodes").status_is(200);
            let node = listed_node(t);
            t.check(node["Address"].is_string(), "the node is not listed");
            let expected = node_text(t, &node);
            let body = crate::wire::json::squeezed(answer.body());
            t.check(
                String::from_utf8_lossy(&body).contains(&expected),
                format!("catalog/nodes lacks {expected}"),
            );
            let index = answer.index();
            let modified = node["ModifyIndex"].as_u64().unwrap_or(u64::MAX);
            t.check(
                index >= modified,
                format!("the index {index} is older than the node"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/nodes/own-addresses",
        claim: "The agent's node has tagged addresses lan and wan, once more with _ipv4, and the metadata of its network segment",
        source: "session.md 4.1; 1.22.md B4.1",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let node = listed_node(t);
            for tag in ["lan", "wan", "lan_ipv4", "wan_ipv4"] {
                t.check(
                    node["TaggedAddresses"][tag].is_string(),
                    format!("{tag} is missing"),
                );
            }
            t.same(
                "lan",
                node["TaggedAddresses"]["lan"].clone(),
                node["Address"].clone(),
            );
            let segment = node["Meta"]["consul-network-segment"].as_str();
            t.same("consul-network-segment", segment, Some(""));
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/nodes/version-in-metadata",
        claim: "The agent's node has its version in its metadata",
        source: "1.22.md B4.1 (since 1.16.1 [D])",
        since: Version::new(1, 16, 1),
        run: |t| {
            let version = listed_node(t)["Meta"]["consul-version"].clone();
            let own = t.api_get("/v1/agent/self").json()["Config"]["Version"].clone();
            t.same("consul-version", version, own);
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/nodes/no-version-in-metadata",
        claim: "The agent's node has nothing but its network segment in its metadata",
        source: "session.md 4.1; 1.22.md B4.1 (until 1.16.1 [D])",
        until: Some(Version::new(1, 16, 1)),
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let meta = listed_node(t)["Meta"].clone();
            t.same(
                "Meta",
                meta,
                serde_json::json!({"consul-network-segment": ""}),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/nodes/sorted-by-name",
        claim: "catalog/nodes is in the order of names",
        source: "session.md 4.5",
        needs: &[Feature::Registration],
        run: |t| {
            let own = ["c", "a", "b"].map(|name| t.register_node(name));
            let nodes = t.api_get("/v1/catalog/nodes").list();
            let names: Vec<&str> = nodes
                .iter()
                .filter_map(|node| node["Node"].as_str())
                .collect();
            t.check(names.is_sorted(), format!("not in order: {names:?}"));
            t.check(
                own.iter().all(|node| names.contains(&node.as_str())),
                "a node is missing",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/nodes/bare-node",
        claim: "A node that only the catalog knows has an empty ID and null for addresses and metadata",
        source: "session.md 4.5",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let answer = t.api_get(&of_catalog(&node)).status_is(200);
            let json = answer.json();
            let datacenter = &t.facts().datacenter;
            let expected = format!(
                r#"{{"Node":{{"ID":"","Node":"{node}","Address":"127.0.0.1","Datacenter":"{datacenter}","TaggedAddresses":null,"Meta":null,"CreateIndex":{},"ModifyIndex":{}}},"Services":{{}}}}"#,
                json["Node"]["CreateIndex"], json["Node"]["ModifyIndex"],
            );
            answer.is(200, &expected);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/nodes/filters",
        claim: "?node-meta= and ?filter= leave out what does not match, and a filter that cannot be parsed is 500",
        source: "session.md 4.5",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let name = &t.facts().node;
            t.api_get("/v1/catalog/nodes?node-meta=nobody:has-this")
                .is(200, "[]");
            t.api_get("/v1/catalog/nodes?filter=Node==nobody")
                .is(200, "[]");
            let found = t
                .api_get(&format!("/v1/catalog/nodes?filter=Node==%22{name}%22"))
                .list();
            t.same("the number of nodes found", found.len(), 1);
            t.api_get("/v1/catalog/nodes?filter=Node==")
                .says(500, "Failed to create boolean expression evaluator");
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/node/own",
        claim: "catalog/node shows the agent's node and, by id, its service consul, field by field in this order",
        source: "session.md 4.1, 4.5; 1.22.md B4.5 (until 1.10.0 [H])",
        until: Some(Version::V1_10),
        run: |t| service_is_printed(t, r#""Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{}"#),
        ..Case::REAL
    },
    Case {
        id: "catalog/node/own-since-1-13",
        claim: "catalog/node shows a service also with the mode of its proxy and the name of its peer",
        source: "1.22.md B4.5 (Mode 1.10.0, PeerName 1.13.0 [H])",
        since: Version::V1_13,
        run: |t| {
            service_is_printed(
                t,
                r#""Proxy":{"Mode":"","MeshGateway":{},"Expose":{}},"Connect":{},"PeerName":"""#,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node/consul-service",
        claim: "The service consul of a server has the port that status/leader shows, and the server's version in its metadata",
        source: "session.md 4.1",
        needs: &[Feature::SingleServer],
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let json = t.api_get(&of_catalog(&t.facts().node)).json();
            let service = &json["Services"]["consul"];
            let leader = t.api_get("/v1/status/leader").json();
            let port = leader.as_str().and_then(|leader| leader.rsplit_once(':'));
            t.same(
                "Port",
                Some(service["Port"].to_string()),
                port.map(|(_, port)| port.to_owned()),
            );
            let version = service["Meta"]["version"].as_str().unwrap_or_default();
            t.same("version", version.parse(), Ok(t.facts().version));
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/node/unknown",
        claim: "catalog/node of a node that does not exist is 200 with null and the read headers",
        source: "session.md 4.5",
        run: |t| {
            t.api_get(&of_catalog(&t.node("unknown")))
                .is(200, "null")
                .has_header("X-Consul-Index")
                .header_is("X-Consul-Knownleader", "true");
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/node/unknown-shows-index-1",
        claim: "catalog/node of a node that does not exist shows an index of 1",
        source: "session.md 4.5; 1.22.md B4.5 (until 1.13.0 [D])",
        until: Some(Version::V1_13),
        run: |t| {
            t.api_get(&of_catalog(&t.node("unknown")))
                .header_is("X-Consul-Index", "1");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node/in-any-case",
        claim: "catalog/node finds the node by its name in any case, and shows its own spelling",
        source: "session.md 4.5, trap 14",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let name = t.facts().node.as_str();
            t.api_get(&of_catalog(&name.to_uppercase()))
                .field_is("/Node/Node", name);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node/needs-a-name",
        claim: "catalog/node/ and health/node/ without a name are 400, and so is health/state/ without a state",
        source: "session.md 4.5",
        run: |t| {
            t.api_get("/v1/catalog/node/").is(400, "Missing node name");
            t.api_get("/v1/health/node/").is(400, "Missing node name");
            t.api_get("/v1/health/state/")
                .is(400, "Missing check state");
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/services/consul",
        claim: "catalog/services lists the service consul, which has no tags",
        source: "session.md 4.1, 4.5",
        run: |t| {
            let answer = t.api_get("/v1/catalog/services").status_is(200);
            t.same(
                "consul",
                answer.json()["consul"].to_string(),
                "[]".to_owned(),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/services/index-of-services",
        claim: "catalog/services shows an index no older than the service consul",
        source: "session.md 4.5",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let json = t.api_get(&of_catalog(&t.facts().node)).json();
            let created = json["Services"]["consul"]["ModifyIndex"]
                .as_u64()
                .unwrap_or(u64::MAX);
            let index = t.api_get("/v1/catalog/services").index();
            t.check(index >= created, format!("{index} is older than {created}"));
        },
        ..Case::MUST
    },
    Case {
        id: "health/node/serf-health",
        claim: "health/node of the agent's node shows its serfHealth passing, field by field in this order",
        source: "session.md 4.1, 4.5; 1.22.md B4.5 (until 1.10.0 [D])",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| check_is_printed(t, ""),
        ..Case::REAL
    },
    Case {
        id: "health/node/serf-health-since-1-10-2",
        claim: "health/node shows a check also with its interval, its timeout and the port it is exposed on",
        source: "1.22.md B4.5 (ExposedPort 1.10.0, Interval and Timeout 1.10.2 [D])",
        since: Version::new(1, 10, 2),
        needs: &[Feature::OwnServer],
        run: |t| check_is_printed(t, r#""Interval":"","Timeout":"","ExposedPort":0,"#),
        ..Case::REAL
    },
    Case {
        id: "health/node/serf-health-passes",
        claim: "The serfHealth of an agent that runs is passing and belongs to no service",
        source: "session.md 4.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            let check = own_check(t);
            t.same("Status", check["Status"].as_str(), Some("passing"));
            t.same("Name", check["Name"].as_str(), Some("Serf Health Status"));
            t.same("ServiceID", check["ServiceID"].as_str(), Some(""));
            t.same(
                "ServiceTags",
                check["ServiceTags"].to_string(),
                "[]".to_owned(),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "health/node/unknown",
        claim: "health/node of a node that does not exist is 200 with an empty list, and with the index of all checks",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer],
        run: |t| {
            let created = own_check(t)["ModifyIndex"].as_u64().unwrap_or(u64::MAX);
            let index = t
                .api_get(&of_health(&t.node("unknown")))
                .is(200, "[]")
                .index();
            t.check(
                index >= created,
                format!("{index} is older than serfHealth, {created}"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "health/node/in-any-case",
        claim: "health/node finds the node by its name in any case",
        source: "session.md 4.5, trap 14",
        needs: &[Feature::OwnServer],
        run: |t| {
            let checks = t.api_get(&of_health(&t.facts().node.to_uppercase())).list();
            t.check(
                checks.contains(&own_check(t)),
                "serfHealth is not among the checks",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "health/state/passing-and-any",
        claim: "health/state shows serfHealth among the passing checks and among any, and not among those in another state",
        source: "session.md 4.5",
        needs: &[Feature::OwnServer],
        run: |t| {
            let check = own_check(t);
            for (state, shown) in [
                ("passing", true),
                ("any", true),
                ("warning", false),
                ("critical", false),
            ] {
                let checks = t.api_get(&format!("/v1/health/state/{state}")).list();
                t.check(
                    checks.contains(&check) == shown,
                    format!(
                        "serfHealth is {} {state}",
                        if shown { "not" } else { "among those in" }
                    ),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "health/state/unknown",
        claim: "health/state of a state that does not exist is 200 with an empty list",
        source: "session.md 4.5",
        run: |t| {
            t.api_get("/v1/health/state/bogus").is(200, "[]");
        },
        ..Case::REAL
    },
    Case {
        id: "health/state/filters",
        claim: "?filter= and ?node-meta= leave out what does not match",
        source: "session.md 4.5",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            t.api_get("/v1/health/state/any?node-meta=nobody:has-this")
                .is(200, "[]");
            t.api_get("/v1/health/state/any?filter=CheckID==nobody")
                .is(200, "[]");
            let node = of_health(&t.facts().node);
            let checks = t
                .api_get(&format!("{node}?filter=CheckID==serfHealth"))
                .list();
            t.same("the checks", checks, vec![own_check(t)]);
        },
        ..Case::SHOULD
    },
];
