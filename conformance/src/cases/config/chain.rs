//! Discovery chains (operator.md 5).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{set, write};
use crate::wire::Request;
use crate::wire::answer::Answer;

fn get(t: &Trial, service: &str) -> Answer {
    t.api_get(&format!("/v1/discovery-chain/{service}"))
}

fn post(t: &Trial, service: &str, body: &Value) -> Answer {
    let path = format!("/v1/discovery-chain/{service}");
    t.send(&Request::new("POST", &path).body(body.to_string()))
}

/// The chain of an answer without the names for TLS, which have the domain of the cluster.
fn chain(answer: &Answer) -> Value {
    let mut chain = answer.json()["Chain"].clone();
    if let Some(targets) = chain["Targets"].as_object_mut() {
        for target in targets.values_mut().filter_map(Value::as_object_mut) {
            target.remove("SNI");
            target.remove("Name");
        }
    }
    chain
}

fn resolver(timeout: &str, is_default: bool, target: &str, failover: &[&str]) -> Value {
    let mut resolver = json!({"ConnectTimeout": timeout, "Target": target});
    if is_default {
        resolver["Default"] = json!(true);
    }
    if !failover.is_empty() {
        resolver["Failover"] = json!({"Targets": failover});
    }
    json!({"Type": "resolver", "Name": target, "Resolver": resolver})
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/chain/default-in-1-8",
        claim: "Every name has a chain of one resolver",
        source: "operator.md 5",
        until: Some(Version::V1_10),
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let answer = get(t, "a/b")
                .status_is(200)
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Effective-Consistency", "leader");
            t.same(
                "the chain",
                chain(&answer),
                json!({
                    "ServiceName": "a/b", "Namespace": "default", "Datacenter": "dc1", "Protocol": "tcp",
                    "StartNode": "resolver:a/b.default.dc1",
                    "Nodes": {"resolver:a/b.default.dc1": resolver("5s", true, "a/b.default.dc1", &[])},
                    "Targets": {"a/b.default.dc1": {"ID": "a/b.default.dc1", "Service": "a/b", "Namespace": "default", "Datacenter": "dc1", "MeshGateway": {}, "Subset": {}}},
                }),
            );
            t.api_get("/v1/discovery-chain/")
                .is(400, "Bad request: Missing chain name");
            t.api_put("/v1/discovery-chain/a", "{}")
                .status_is(405)
                .header_is("Allow", "OPTIONS,GET,POST");
            get(t, "a?dc=nope")
                .is(500, "No path to datacenter")
                .header_is("X-Consul-Knownleader", "false");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/default-since-1-22",
        claim: "Ids have a partition, and the chain says that it is the default one",
        source: "operator.md 5",
        since: Version::V1_22,
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let chain = chain(&get(t, "web"));
            t.same("Default", &chain["Default"], &json!(true));
            t.same("Partition", &chain["Partition"], &json!("default"));
            let id = "web.default.default.dc1";
            t.same(
                "the start",
                &chain["StartNode"],
                &json!(format!("resolver:{id}")),
            );
            t.same(
                "the target",
                &chain["Targets"][id],
                &json!({"ConnectTimeout": "5s", "ID": id, "Service": "web", "Namespace": "default", "Partition": "default", "Datacenter": "dc1", "MeshGateway": {}, "Subset": {}, "TransparentProxy": {}}),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/empty-maps-are-default",
        claim: "A resolver whose maps are empty is as default as one that says nothing",
        source: "operator.md 5.r2b",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let is_default = |more: Value| {
                let mut entry = json!({"Kind": "service-resolver", "Name": "db"});
                for (name, value) in more.as_object().into_iter().flatten() {
                    entry[name] = value.clone();
                }
                set(t, &entry);
                let found = chain(&get(t, "db"));
                let nodes = found["Nodes"].as_object();
                let mut nodes = nodes.into_iter().flatten().map(|(_, node)| node);
                nodes.all(|node| node["Resolver"]["Default"] == true)
            };
            for empty in [json!({}), json!({"Subsets": {}}), json!({"Failover": {}})] {
                let text = format!("{empty} is not default");
                t.check(is_default(empty), &text);
            }
            t.check(
                !is_default(json!({"Subsets": {"v1": {}}})),
                "a subset is default",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/resolvers-in-1-8",
        claim: "A chain follows redirects, default subsets and failover; ?compile-dc= moves it to another datacenter",
        source: "operator.md 5.r2 to 5.r4, 5.r7, 5.r7c",
        until: Some(Version::V1_10),
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "db", "ConnectTimeout": "12s", "DefaultSubset": "v1", "Subsets": {"v1": {"Filter": "f"}, "v2": {}}, "Failover": {"v1": {"ServiceSubset": "v2", "Datacenters": ["dc1", "dc2"]}}}),
            );
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "web", "Redirect": {"Service": "db"}}),
            );
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "db", "MeshGateway": {"Mode": "remote"}}),
            );
            let found = chain(&get(t, "web"));
            let failover = ["v2.db.default.dc1", "v2.db.default.dc2"];
            t.same(
                "the start",
                &found["StartNode"],
                &json!("resolver:v1.db.default.dc1"),
            );
            t.same(
                "the nodes",
                &found["Nodes"],
                &json!({"resolver:v1.db.default.dc1": resolver("12s", false, "v1.db.default.dc1", &failover)}),
            );
            t.same(
                "the first target",
                &found["Targets"]["v1.db.default.dc1"],
                &json!({"ID": "v1.db.default.dc1", "Service": "db", "ServiceSubset": "v1", "Namespace": "default", "Datacenter": "dc1", "MeshGateway": {}, "Subset": {"Filter": "f"}}),
            );
            t.same(
                "the last target",
                &found["Targets"]["v2.db.default.dc2"]["MeshGateway"],
                &json!({"Mode": "remote"}),
            );
            let elsewhere = chain(&get(t, "web?compile-dc=dc9"));
            t.same(
                "the start",
                &elsewhere["StartNode"],
                &json!("resolver:v1.db.default.dc9"),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/splitters-in-1-8",
        claim: "Splitters take over the parts of those that they lead to, and routers end in a route for the rest",
        source: "operator.md 5.r5, 5.r6, 5.r7b",
        until: Some(Version::V1_10),
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "grpc"}}),
            );
            set(
                t,
                &json!({"Kind": "service-splitter", "Name": "a", "Splits": [{"Weight": 60}, {"Weight": 40, "Service": "c"}]}),
            );
            set(
                t,
                &json!({"Kind": "service-splitter", "Name": "c", "Splits": [{"Weight": 33.33}, {"Weight": 66.67, "Service": "d"}]}),
            );
            let found = chain(&get(t, "a"));
            t.same("the protocol", &found["Protocol"], &json!("grpc"));
            t.same(
                "the splitter",
                &found["Nodes"]["splitter:a.default"],
                &json!({"Type": "splitter", "Name": "a.default", "Splits": [
                    {"Weight": 60, "NextNode": "resolver:a.default.dc1"},
                    {"Weight": 13.33, "NextNode": "resolver:c.default.dc1"},
                    {"Weight": 26.67, "NextNode": "resolver:d.default.dc1"},
                ]}),
            );
            set(
                t,
                &json!({"Kind": "service-router", "Name": "a", "Routes": [{"Match": {"HTTP": {"PathPrefix": "/x"}}, "Destination": {"Service": "z"}}]}),
            );
            let found = chain(&get(t, "a"));
            t.same("the start", &found["StartNode"], &json!("router:a.default"));
            t.same(
                "the router",
                &found["Nodes"]["router:a.default"],
                &json!({"Type": "router", "Name": "a.default", "Routes": [
                    {"Definition": {"Match": {"HTTP": {"PathPrefix": "/x"}}, "Destination": {"Service": "z"}}, "NextNode": "resolver:z.default.dc1"},
                    {"Definition": {"Match": {"HTTP": {"PathPrefix": "/"}}, "Destination": {"Service": "a", "Namespace": "default"}}, "NextNode": "splitter:a.default"},
                ]}),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/without-requests",
        claim: "A POST that sets a protocol without requests leaves routers and splitters out",
        source: "operator.md 5.r8b",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "a", "Protocol": "http"}),
            );
            set(
                t,
                &json!({"Kind": "service-splitter", "Name": "a", "Splits": [{"Weight": 100}]}),
            );
            let whole = chain(&get(t, "a"));
            let plain = chain(&post(t, "a", &json!({"OverrideProtocol": "tcp"})));
            let starts = [&whole, &plain]
                .map(|chain| chain["StartNode"].as_str().unwrap_or_default().to_owned());
            t.check(
                starts[0].starts_with("splitter:a."),
                "the chain starts with a splitter",
            );
            t.check(
                starts[1].starts_with("resolver:a."),
                "the other starts with a resolver",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/overrides",
        claim: "A POST sets protocol, timeout and mesh gateways; only what changes something makes a hash",
        source: "operator.md 5.r8, 5.r8b",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let found = chain(&post(
                t,
                "q",
                &json!({"override_protocol": "http", "OverrideConnectTimeout": "7s", "Bogus": 1}),
            ));
            t.same("the protocol", &found["Protocol"], &json!("http"));
            t.same("the hash", &found["CustomizationHash"], &json!("89a4d3b7"));
            let start = found["StartNode"].as_str().unwrap_or_default();
            t.same(
                "the timeout",
                &found["Nodes"][start]["Resolver"]["ConnectTimeout"],
                &json!("7s"),
            );
            let same = chain(&post(
                t,
                "q",
                &json!({"OverrideProtocol": "tcp", "OverrideMeshGateway": {"Mode": "local"}}),
            ));
            // Within a datacenter mesh gateways are used by later releases only.
            let gateway = if t.since(Version::V1_22) {
                json!("c225dc1c")
            } else {
                Value::Null
            };
            t.same("the hash", &same["CustomizationHash"], &gateway);
            post(t, "q", &json!({"OverrideMeshGateway": {"Mode": "bogus"}}))
                .is(400, "Invalid OverrideMeshGateway.Mode parameter");
            post(t, "q", &json!([])).says(
                400,
                "json: cannot unmarshal array into Go value of type map[string]interface {}",
            );
            t.send(&Request::new("POST", "/v1/discovery-chain/q"))
                .says(400, "Request decoding failed: EOF");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/external",
        claim: "A service outside of the mesh has its own name for TLS, and no subsets",
        source: "operator.md 4.2.r14c, 5.r7d",
        until: Some(Version::V1_10),
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "m", "ExternalSNI": "e.x"}),
            );
            let target = get(t, "m").json()["Chain"]["Targets"]["m.default.dc1"].clone();
            t.same("External", &target["External"], &json!(true));
            t.same("SNI", &target["SNI"], &json!("e.x"));
            for (field, what) in [
                (json!({"Redirect": {"Datacenter": "dc2"}}), "redirects"),
                (
                    json!({"Subsets": {"v1": {}}, "DefaultSubset": "v1"}),
                    "subsets",
                ),
                (
                    json!({"Failover": {"*": {"Datacenters": ["dc3"]}}}),
                    "failover",
                ),
            ] {
                let mut entry = field;
                entry["Kind"] = json!("service-resolver");
                entry["Name"] = json!("m");
                let text = format!(
                    "service \"m\" has an external SNI set; cannot define {what} for external services"
                );
                write(t, &entry).is(500, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/chain/cached",
        claim: "A chain can be read from the cache, which tells names, compile-dc as it is written and overrides apart; an empty body is as GET",
        source: "operator.md 5.r9",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let get = |rest: &str| t.api_get(&format!("/v1/discovery-chain/{rest}"));
            let post = |body: &str| {
                t.send(&Request::new("POST", "/v1/discovery-chain/web?cached").body(body))
            };
            let is =
                |answer: Answer, state: &str| answer.status_is(200).header_is("X-Cache", state);
            is(get("web?cached"), "MISS").has_no_header("Age");
            is(get("web?cached"), "HIT").header_is("Age", "0");
            is(get("web?cached&stale"), "HIT").header_is("X-Consul-Effective-Consistency", "stale");
            // Later releases tell filters apart, though the chain has none.
            let filtered = if t.since(Version::V1_22) {
                "MISS"
            } else {
                "HIT"
            };
            is(get("web?cached&dc=dc1&filter=x"), filtered);
            is(post("{}"), "HIT");
            for other in [
                "Web?cached",
                "web?cached&compile-dc=dc1",
                "web?cached&compile-dc=dc2",
            ] {
                is(get(other), "MISS");
                is(get(other), "HIT");
            }
            for body in [
                r#"{"OverrideProtocol":"http"}"#,
                r#"{"OverrideConnectTimeout":"5s"}"#,
                r#"{"OverrideMeshGateway":{"Mode":"local"}}"#,
            ] {
                is(post(body), "MISS");
                is(post(body), "HIT");
            }
            get("web").has_no_header("X-Cache");
            get("web?cached&dc=nope")
                .status_is(500)
                .has_no_header("X-Cache");
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "web", "Protocol": "http"}),
            );
            let changed = t.eventually("the change is shown", Duration::from_secs(5), || {
                let answer = get("web?cached");
                (answer.json()["Chain"]["Protocol"] == "http").then_some(answer)
            });
            is(changed, "HIT").header_is("Age", "0");
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/tenancy",
        claim: "Namespaces are refused behind the name, as a feature of Enterprise",
        source: "operator.md 5.r10",
        needs: &[Feature::Connect],
        run: |t| {
            get(t, "web?ns=x").says(
                400,
                "Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature",
            );
            get(t, "?ns=x").says(400, "Missing chain name");
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/peers-since-1-22",
        claim: "A redirect or failover to a peer has a target there, which no entry of this cluster concerns",
        source: "operator.md 5.r11",
        since: Version::V1_22,
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "x", "ConnectTimeout": "9s", "Subsets": {"v1": {}}, "DefaultSubset": "v1"}),
            );
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "pe", "Redirect": {"Service": "x", "Peer": "peer1"}}),
            );
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "ft", "Failover": {"*": {"Targets": [{"Peer": "pp"}, {"Datacenter": "dc7"}]}}}),
            );
            let found = chain(&get(t, "pe"));
            let id = "x.default.default.external.peer1";
            t.same(
                "the nodes",
                &found["Nodes"],
                &json!({format!("resolver:{id}"): resolver("5s", true, id, &[])}),
            );
            t.same(
                "the target",
                &found["Targets"][id],
                &json!({"ConnectTimeout": "5s", "ID": id, "Service": "x", "Namespace": "default", "Partition": "default", "Peer": "peer1", "MeshGateway": {}, "Subset": {}, "TransparentProxy": {}}),
            );
            let failover = ["ft.default.default.external.pp", "ft.default.default.dc7"];
            let id = "ft.default.default.dc1";
            t.same(
                "the failover",
                &chain(&get(t, "ft"))["Nodes"][format!("resolver:{id}")],
                &resolver("5s", false, id, &failover),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/shown-since-1-22",
        claim: "Late 2025 shows the timeout of requests, the load balancer and how instances are dialed, and has modes of mesh gateways within a datacenter",
        source: "operator.md 5.r7c, 5.r12",
        since: Version::V1_22,
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let id = "lb.default.default.dc1";
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "lb", "MeshGateway": {"Mode": "local"}, "TransparentProxy": {"DialedDirectly": true}}),
            );
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "lb", "RequestTimeout": "9s", "LoadBalancer": {"Policy": "ring_hash", "RingHashConfig": {"MinimumRingSize": 5}}}),
            );
            let found = chain(&get(t, "lb"));
            t.same(
                "the node",
                &found["Nodes"][format!("resolver:{id}")],
                &json!({"Type": "resolver", "Name": id, "Resolver": {"ConnectTimeout": "5s", "RequestTimeout": 9_000_000_000_i64, "Target": id}, "LoadBalancer": {"Policy": "ring_hash", "RingHashConfig": {"MinimumRingSize": 5}}}),
            );
            let target = &found["Targets"][id];
            t.same(
                "the mode",
                &target["MeshGateway"],
                &json!({"Mode": "local"}),
            );
            t.same(
                "the proxy",
                &target["TransparentProxy"],
                &json!({"DialedDirectly": true}),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/protocol-of-the-first-service",
        claim: "A chain has the protocol of the first service that it leads to, or of its router; the others must have it, too",
        source: "operator.md 4.2.r14",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            let protocol = |name: &str, protocol: &str| {
                set(
                    t,
                    &json!({"Kind": "service-defaults", "Name": name, "Protocol": protocol}),
                );
            };
            let splitter = |name: &str, splits: Value| json!({"Kind": "service-splitter", "Name": name, "Splits": splits});
            let to = |service: &str| json!({"Weight": 50, "Service": service});
            let mixed = |chain: &str, text: &str| {
                format!("discovery chain \"{chain}\" uses inconsistent protocols; service {text}")
            };
            protocol("a", "http");
            protocol("b", "http");
            // The splitter's own service has no protocol but TCP, and is no part of the chain.
            set(t, &splitter("s", json!([to("a"), to("b")])));
            let found = chain(&get(t, "s"));
            t.same("the protocol", &found["Protocol"], &json!("http"));
            let same = chain(&post(t, "s", &json!({"OverrideProtocol": "http"})));
            t.same("no hash", &same["CustomizationHash"], &json!(null));
            let plain = chain(&post(t, "s", &json!({"OverrideProtocol": "tcp"})));
            t.same("the hash", &plain["CustomizationHash"], &json!("96f2c150"));
            for (splits, text) in [
                (
                    json!([to("a"), {"Weight": 50}]),
                    "\"db\" has \"tcp\" which is not \"http\"",
                ),
                (
                    json!([{"Weight": 50}, to("a")]),
                    "\"a\" has \"http\" which is not \"tcp\"",
                ),
            ] {
                write(t, &splitter("db", splits)).is(500, &mixed("db", text));
            }
            let subset = json!([to("a"), {"Weight": 50, "ServiceSubset": "v"}]);
            let text = "\"db\" has \"tcp\" which is not \"http\"";
            write(t, &splitter("db", subset)).is(500, &mixed("db", text));
            let router = json!({"Kind": "service-router", "Name": "r", "Routes": [{"Destination": {"Service": "s"}}]});
            let text = "\"a\" has \"http\" which is not \"tcp\"";
            write(t, &router).is(500, &mixed("r", text));
            protocol("r", "http");
            set(t, &router);
        },
        ..Case::REAL
    },
    Case {
        id: "config/chain/external-without-gateways",
        claim: "An external service is reached through no mesh gateway, in any datacenter",
        source: "operator.md 5.r7c, 5.r7d",
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "web", "MeshGateway": {"Mode": "local"}, "ExternalSNI": "s"}),
            );
            for path in ["web", "web?compile-dc=dc9"] {
                let found = chain(&get(t, path));
                let targets = found["Targets"].as_object();
                let targets: Vec<_> = targets.into_iter().flat_map(|all| all.values()).collect();
                t.same("the targets", targets.len(), 1);
                t.same("the gateway", &targets[0]["MeshGateway"], &json!({}));
                t.same("external", &targets[0]["External"], &json!(true));
                let asked = json!({"OverrideMeshGateway": {"Mode": "remote"}});
                let same = chain(&post(t, path, &asked));
                t.same("no hash", &same["CustomizationHash"], &json!(null));
            }
        },
        ..Case::REAL
    },
];
