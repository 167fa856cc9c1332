//! What the catalog keeps of proxies and of services that support Connect natively (session.md 4.2, 1.22.md B4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::ports::refused;
use crate::wire::Request;

const NEEDS: &[Feature] = &[Feature::Registration];
const OWN: &[Feature] = &[
    Feature::OwnServer,
    Feature::Registration,
    Feature::AgentRegistration,
];

/// A proxy of a service.
fn proxy(id: &str, of: &str, port: u16) -> Value {
    json!({"ID": id, "Service": id, "Kind": "connect-proxy", "Port": port,
        "Proxy": {"DestinationServiceName": of}})
}

/// A proxy with an upstream and a path that say no more than they must.
fn with_unset(of: &str) -> Value {
    let mut service = proxy("px", of, 9);
    service["Proxy"]["Upstreams"] = json!([{"DestinationName": "db", "LocalBindPort": 9191}]);
    let path = json!({"Path": "/4", "ListenerPort": 4, "LocalPathPort": 5});
    service["Proxy"]["Expose"] = json!({"Paths": [path]});
    service
}

/// A service that needs no proxy.
fn native(name: &str, port: u16) -> Value {
    json!({"ID": name, "Service": name, "Port": port, "Connect": {"Native": true}})
}

#[track_caller]
fn address_is(t: &Trial, addresses: &Value, address: &str, port: u16) {
    let expected = json!({"consul-virtual": {"Address": address, "Port": port}});
    t.same("addresses", addresses, &expected);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/proxy/reads-back-as-given",
        claim: "The catalog keeps a proxy as it is given: an upstream without a type has none",
        source: "session.md 4.2; session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let mut service = proxy("px", &node, 9);
            let upstream = json!({"DestinationName": "db", "LocalBindPort": 9191});
            service["Proxy"]["Upstreams"] = json!([upstream]);
            service["Proxy"]["LocalServicePort"] = json!(5);
            service["Proxy"]["LocalServiceAddress"] = json!("127.0.0.2");
            service["Proxy"]["Config"] = json!({"a": 1});
            register(t, &node, &json!({"Service": service}));
            let read = |target: &str| t.api_get(&format!("{target}/{node}")).json();
            let [in_health, in_node] = [read("/v1/health/connect"), read("/v1/catalog/node")];
            for kept in [
                &read("/v1/catalog/connect")[0]["ServiceProxy"],
                &in_health[0]["Service"]["Proxy"],
                &in_node["Services"]["px"]["Proxy"],
            ] {
                let upstream = &kept["Upstreams"][0];
                t.same("type", &upstream["DestinationType"], &json!(""));
                t.same("datacenter", &upstream["Datacenter"], &json!(""));
                t.same("address", &kept["LocalServiceAddress"], &json!("127.0.0.2"));
                t.same("config", &kept["Config"], &json!({"a": 1}));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/proxy/unset-is-shown-before-1-22",
        claim: "The catalog shows null for an upstream without settings, and which paths were made of checks",
        source: "session.md 4.2; session.md 4.4",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let mut service = with_unset(&node);
            let path = |port: u16, made: bool| {
                let path = format!("/{port}");
                json!({"Path": path, "ListenerPort": port, "LocalPathPort": 5, "ParsedFromCheck": made})
            };
            if let Some(paths) = service["Proxy"]["Expose"]["Paths"].as_array_mut() {
                paths.push(path(6, true));
            }
            register(t, &node, &json!({"Service": service}));
            let rows = t.api_get(&format!("/v1/catalog/connect/{node}")).json();
            let kept = &rows[0]["ServiceProxy"];
            let upstream = json!({"DestinationType": "", "DestinationName": "db", "Datacenter": "",
                "LocalBindPort": 9191, "Config": null, "MeshGateway": {}});
            t.same("upstream", &kept["Upstreams"][0], &upstream);
            let paths = json!([path(4, false), path(6, true)]);
            t.same("paths", &kept["Expose"]["Paths"], &paths);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/proxy/unset-is-hidden-since-1-22",
        claim: "The catalog leaves out the settings that an upstream lacks and that a path was not made of a check; the mode of a proxy is kept",
        source: "session.md 4.2; 1.22.md B4.5",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let mut service = with_unset(&node);
            service["Proxy"]["Mode"] = json!("transparent");
            service["Proxy"]["TransparentProxy"] = json!({"OutboundListenerPort": 15001});
            register(t, &node, &json!({"Service": service}));
            let rows = t.api_get(&format!("/v1/catalog/connect/{node}")).json();
            let expected = json!({
                "TransparentProxy": {"OutboundListenerPort": 15001}, "DestinationServiceName": node,
                "Mode": "transparent",
                "Upstreams": [{"DestinationType": "", "DestinationName": "db", "Datacenter": "",
                    "LocalBindPort": 9191, "MeshGateway": {}}],
                "MeshGateway": {},
                "Expose": {"Paths": [{"Path": "/4", "ListenerPort": 4, "LocalPathPort": 5}]},
            });
            t.same("proxy", &rows[0]["ServiceProxy"], &expected);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/proxy/needs-a-port-since-1-22",
        claim: "A proxy and a native service need a port or a socket",
        source: "1.22.md B4.2; session.md 4.2 [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let nowhere = "Port or SocketPath must be set for a connect-proxy";
            let proxy = proxy("px", "db", 0);
            refused(t, &node, &json!({"Service": proxy}), &[nowhere]);
            let nameless = json!({"Service": "px", "Kind": "connect-proxy"});
            let unnamed =
                "Proxy.DestinationServiceName must be non-empty for Connect proxy services";
            refused(t, &node, &json!({"Service": nameless}), &[nowhere, unnamed]);
            let words = "Port or SocketPath must be set for a Connect native service.";
            let native = native("nt", 0);
            refused(t, &node, &json!({"Service": native}), &[words]);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/proxies-and-native-with-ports",
        claim: "Who asks for the Connect of a service gets its proxies and the instances that need none, each with its port",
        source: "session.md 4.5; 1.22.md B4.5",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            register(t, &node, &json!({"Service": native(&node, 1)}));
            register(t, &node, &json!({"Service": proxy("px", &node, 2)}));
            let plain = json!({"ID": "plain", "Service": format!("{node}-plain"), "Port": 3});
            register(t, &node, &json!({"Service": plain}));
            let rows = t.api_get(&format!("/v1/catalog/connect/{node}")).list();
            let ports: Vec<&Value> = rows.iter().map(|row| &row["ServicePort"]).collect();
            t.same("ports", ports, vec![&json!(1), &json!(2)]);
            for path in ["/v1/catalog/connect", "/v1/health/connect"] {
                t.api_get(&format!("{path}/{node}-plain")).is(200, "[]");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/no-virtual-address-before-1-11",
        claim: "Proxies and native services have no addresses but their own",
        source: "1.22.md B4.5",
        until: Some(Version::V1_11),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            register(t, &node, &json!({"Service": native(&node, 1)}));
            register(t, &node, &json!({"Service": proxy("px", &node, 2)}));
            for row in t.api_get(&format!("/v1/catalog/connect/{node}")).list() {
                t.same("addresses", row.get("ServiceTaggedAddresses"), None);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/virtual-address-since-1-11",
        claim: "All proxies and native instances of a service have one virtual address, the next service the next one; the agent does not show it",
        source: "1.22.md B4.5 (1.11.0 [D])",
        since: Version::V1_11,
        needs: OWN,
        run: |t| {
            let node = t.node("n");
            register(t, &node, &json!({"Service": native("one", 1)}));
            register(t, &node, &json!({"Service": proxy("of-two", "two", 2)}));
            register(t, &node, &json!({"Service": proxy("of-one", "one", 3)}));
            let body = json!({"Name": "own", "Kind": "connect-proxy", "Port": 4,
                "Proxy": {"DestinationServiceName": "two"}});
            t.api_put("/v1/agent/service/register", body.to_string())
                .is(200, "");
            let own = t.eventually(
                "the catalog has the agent's proxy",
                std::time::Duration::from_secs(10),
                || t.api_get("/v1/catalog/service/own").list().pop(),
            );
            address_is(t, &own["ServiceTaggedAddresses"], "240.0.0.2", 4);
            let services = t.api_get(&format!("/v1/catalog/node/{node}")).json();
            for (id, address, port) in [
                ("one", "240.0.0.1", 1),
                ("of-two", "240.0.0.2", 2),
                ("of-one", "240.0.0.1", 3),
            ] {
                let addresses = &services["Services"][id]["TaggedAddresses"];
                address_is(t, addresses, address, port);
            }
            let health = t.api_get("/v1/health/service/of-two").json();
            address_is(t, &health[0]["Service"]["TaggedAddresses"], "240.0.0.2", 2);
            let known = t.api_get("/v1/agent/services").json();
            t.same("the agent", known["own"].get("TaggedAddresses"), None);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/connect/virtual-address-of-entries-since-1-22",
        claim: "Entries and terminating gateways give addresses and hold them; one that nothing holds is given out again before a new one",
        source: "1.22.md B4.5, B4.5.r11",
        since: Version::V1_22,
        needs: OWN,
        run: |t| {
            let node = t.node("n");
            let entry = |entry: Value| {
                t.api_put("/v1/config", entry.to_string()).is(200, "true");
            };
            entry(json!({"Kind": "service-resolver", "Name": "one"}));
            entry(
                json!({"Kind": "terminating-gateway", "Name": "out", "Services": [{"Name": "two"}]}),
            );
            let address_of = |id: &str, tag: &str| {
                let services = t.api_get(&format!("/v1/catalog/node/{node}")).json();
                services["Services"][id]["TaggedAddresses"][tag].clone()
            };
            for (name, address) in [("three", "240.0.0.3"), ("one", "240.0.0.1")] {
                register(t, &node, &json!({"Service": native(name, 1)}));
                t.same(
                    name,
                    address_of(name, "consul-virtual")["Address"].clone(),
                    json!(address),
                );
            }
            let gateway =
                json!({"ID": "out", "Service": "out", "Kind": "terminating-gateway", "Port": 2});
            register(t, &node, &json!({"Service": gateway}));
            let behind = address_of("out", "consul-virtual:two");
            t.same(
                "the gateway",
                behind,
                json!({"Address": "240.0.0.2", "Port": 0}),
            );
            let gone = |id: &str| {
                let body = json!({"Node": node, "ServiceID": id});
                t.api_put("/v1/catalog/deregister", body.to_string())
                    .is(200, "true");
            };
            gone("one");
            register(t, &node, &json!({"Service": proxy("of-four", "four", 3)}));
            let held = address_of("of-four", "consul-virtual");
            t.same(
                "while the entry is there",
                held["Address"].clone(),
                json!("240.0.0.4"),
            );
            t.send(&Request::delete("/v1/config/service-resolver/one"))
                .is(200, "{}");
            register(t, &node, &json!({"Service": native("five", 4)}));
            let freed = address_of("five", "consul-virtual");
            t.same(
                "once it is gone",
                freed["Address"].clone(),
                json!("240.0.0.1"),
            );
            register(t, &node, &json!({"Service": proxy("of-three", "three", 5)}));
            gone("three");
            register(t, &node, &json!({"Service": native("six", 6)}));
            for id in ["of-three", "six"] {
                let address = address_of(id, "consul-virtual");
                t.same(id, address["Address"].clone(), json!("240.0.0.3"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/proxy/exposed-paths",
        claim: "All that is wrong with the exposed paths of a proxy is said, path after path; late releases take a path twice",
        source: "session.md 4.2",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let mut service = proxy("px", &node, 9);
            let path = |path: &str, port: u32| json!({"Path": path, "ListenerPort": port});
            service["Proxy"]["Expose"] =
                json!({"Paths": [path("", 4), path("/p", 4), path("/p", 70_000)]});
            let mut words = vec![
                "expose.paths: empty path exposed",
                "expose.paths: duplicate listener ports exposed",
                "expose.paths: duplicate paths exposed",
                "expose.paths: invalid listener port: 70000",
            ];
            if t.facts().version >= Version::V1_22 {
                words.remove(2);
            }
            refused(t, &node, &json!({"Service": service}), &words);
        },
        ..Case::REAL
    },
];
