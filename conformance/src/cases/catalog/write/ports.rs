//! Services with several ports, and where nodes and services are (1.22.md B4.2, B4.2p).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::ports::{flaws, refused, two_ports, two_ports_shown};

const NEEDS: &[Feature] = &[Feature::Registration];

#[track_caller]
fn shown(t: &Trial, what: &str, row: &Value, port: &Value, ports: &Value) {
    let [name, names] = match row.get("ServiceID") {
        Some(_) => ["ServicePort", "ServicePorts"],
        None => ["Port", "Ports"],
    };
    t.same(what, row.get(name).unwrap_or(&Value::Null), port);
    t.same(what, row.get(names).unwrap_or(&json!("none")), ports);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/ports/unknown-before-1-22",
        claim: "Services have one port: the catalog and the agent know no Ports",
        source: "1.22.md B4.2p",
        until: Some(Version::V1_22),
        needs: &[Feature::Registration, Feature::AgentRegistration],
        run: |t| {
            let unknown = "Request decode failed: json: unknown field \"Ports\"";
            let service = json!({"Service": "s", "Ports": two_ports()});
            let body = json!({"Node": t.node("n"), "Address": "127.0.0.1", "Service": service});
            t.api_put("/v1/catalog/register", body.to_string())
                .says(400, unknown);
            let body = json!({"Name": t.agent_service("s"), "Ports": two_ports()});
            t.api_put("/v1/agent/service/register", body.to_string())
                .says(400, unknown);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/ports/shown-since-1-22",
        claim: "A service with several ports shows them all, and the default one as its port but in the list of a node",
        source: "1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let service = json!({"ID": "s", "Service": node, "Ports": two_ports()});
            register(t, &node, &json!({"Service": service}));
            let read = |path: &str| t.api_get(&format!("{path}/{node}")).json();
            let [default, both] = [json!(80), two_ports_shown()];
            shown(
                t,
                "catalog",
                &read("/v1/catalog/service")[0],
                &default,
                &both,
            );
            let health = read("/v1/health/service")[0]["Service"].clone();
            shown(t, "health", &health, &default, &both);
            let of_node = read("/v1/catalog/node")["Services"]["s"].clone();
            shown(t, "node", &of_node, &Value::Null, &both);
            let one = json!({"ID": "s", "Service": node, "Port": 7});
            register(t, &node, &json!({"Service": one}));
            let row = read("/v1/catalog/service")[0].clone();
            shown(t, "one port", &row, &json!(7), &Value::Null);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/ports/refusals-since-1-22",
        claim: "Several ports have different names, numbers and one default, and are not beside a port of no name",
        source: "1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for (mut service, words) in flaws() {
                service["Service"] = json!("s");
                refused(t, &node, &json!({"Service": service}), &[words]);
            }
            let proxy = json!({"Service": "s", "Kind": "connect-proxy", "Ports": two_ports(),
                "Proxy": {"DestinationServiceName": "d"}});
            let words = [
                "Ports cannot be set for a connect-proxy",
                "Port or SocketPath must be set for a connect-proxy",
            ];
            refused(t, &node, &json!({"Service": proxy}), &words);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/ports/accepted-since-1-22",
        claim: "Two ports may have one number, numbers may be too great, names may be anything, and none are none",
        source: "1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let long = "a b/é".repeat(100);
            for ports in [
                json!([{"Name": "a", "Port": 80, "Default": true}, {"Name": "b", "Port": 80}]),
                json!([{"Name": "a", "Port": 70000, "Default": true}]),
                json!([{"Name": long, "Port": 80, "Default": true}]),
                json!([]),
            ] {
                let service = json!({"ID": "s", "Service": node, "Ports": ports});
                register(t, &node, &json!({"Service": service}));
                let row = t.api_get(&format!("/v1/catalog/service/{node}")).json();
                let port = ports[0].get("Port").cloned().unwrap_or(json!(0));
                t.same("port", row[0]["ServicePort"].clone(), port);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/ports/identical-since-1-22",
        claim: "The same ports again are no change, and others are",
        source: "1.22.md B4.2p; session.md 4.5",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let index = |ports: Value| {
                let service = json!({"ID": "s", "Service": node, "Ports": ports});
                register(t, &node, &json!({"Service": service}));
                let row = t.api_get(&format!("/v1/catalog/service/{node}")).json();
                row[0]["ModifyIndex"].as_u64()
            };
            let first = index(two_ports());
            t.same("the same", index(two_ports()), first);
            let other = json!([{"Name": "http", "Port": 80, "Default": true}]);
            t.grew("other ports", first, index(other));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/service/ports-are-dropped-since-1-22",
        claim: "A transaction takes several ports and writes none",
        source: "kv.md 7.5; 1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let service = json!({"ID": "s", "Service": node, "Ports": two_ports()});
            let set = json!({"Service": {"Verb": "set", "Node": node, "Service": service}});
            let answer = t.txn(&json!([set])).status_is(200).json();
            let written = answer["Results"][0]["Service"].clone();
            shown(t, "result", &written, &Value::Null, &json!("none"));
            let row = t.api_get(&format!("/v1/catalog/service/{node}")).json();
            shown(t, "row", &row[0], &json!(0), &Value::Null);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/locality/shown-since-1-17",
        claim: "A node and a service have a place, and a node that is otherwise the same does not get another one",
        source: "1.22.md B4.2; 1.22.md B4.5 [N]",
        since: Version::V1_17,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let place = json!({"Region": "r", "Zone": "z"});
            let service = json!({"ID": "s", "Service": node, "Locality": place});
            let fields = json!({"Locality": place, "Service": service});
            register(t, &node, &fields);
            let read = |path: &str| t.api_get(&format!("{path}/{node}")).json();
            let of_node = read("/v1/catalog/node");
            t.same("node", of_node["Node"]["Locality"].clone(), place.clone());
            let of_service = of_node["Services"]["s"]["Locality"].clone();
            t.same("its service", of_service, place.clone());
            let row = read("/v1/catalog/service")[0]["ServiceLocality"].clone();
            t.same("service", row, place);
            register(t, &node, &json!({"Locality": {"Region": "other"}}));
            let again = read("/v1/catalog/node");
            t.same("again", again["Node"].clone(), of_node["Node"].clone());
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/locality/zone-needs-a-region-since-1-17",
        claim: "A zone without a region is refused of a service, not of a node, and both fields are shown",
        source: "1.22.md B4.2 (1.17 [H])",
        since: Version::V1_17,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let zone = json!({"Zone": "z"});
            let words = ["zone cannot be set without region"];
            register(t, &node, &json!({"Locality": zone}));
            let shown = t.api_get(&format!("/v1/catalog/node/{node}")).json();
            t.same(
                "place",
                &shown["Node"]["Locality"],
                &json!({"Region": "", "Zone": "z"}),
            );
            let service = json!({"Service": "s", "Locality": zone});
            refused(t, &node, &json!({"Service": service}), &words);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/socket/shown-since-1-10",
        claim: "A service may have the path of a socket",
        source: "1.22.md B4.5 (1.10.0 [H])",
        since: Version::V1_10,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let service = json!({"ID": "s", "Service": node, "SocketPath": "/run/s"});
            register(t, &node, &json!({"Service": service}));
            let read = |path: &str| t.api_get(&format!("{path}/{node}")).json();
            let path = json!("/run/s");
            let row = read("/v1/catalog/service")[0].clone();
            t.same("service", row["ServiceSocketPath"].clone(), path.clone());
            let of_node = read("/v1/catalog/node")["Services"]["s"].clone();
            t.same("node", of_node["SocketPath"].clone(), path);
        },
        ..Case::REAL
    },
];
