//! The services behind gateways, and entries that the configuration of the agent has (operator.md 3.r6, 4.4).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{PATH, read, remove, set, write};
use crate::wire::Request;

fn behind(t: &Trial, gateway: &str) -> Vec<Value> {
    let answer = t.api_get(&format!("/v1/catalog/gateway-services/{gateway}"));
    // Without any there is no list in 1.8.
    let mut rows = match answer.json() {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    };
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("CreateIndex");
        row.remove("ModifyIndex");
    }
    rows
}

fn service(t: &Trial, name: &str, kind: &str) {
    t.register(&json!({"Node": "n", "Address": "127.0.0.9", "Service": {"Service": name, "Kind": kind, "Port": 80}}));
}

/// Registers an instance of a typical service.
fn instance(t: &Trial, id: &str, name: &str) {
    t.register(
        &json!({"Node": "n", "Address": "127.0.0.9", "Service": {"ID": id, "Service": name}}),
    );
}

fn gone(t: &Trial, id: &str) {
    let body = json!({"Node": "n", "ServiceID": id}).to_string();
    t.api_put("/v1/catalog/deregister", body).is(200, "true");
}

fn terminating(services: &Value) -> Value {
    json!({"Kind": "terminating-gateway", "Name": "t", "Services": services})
}

/// The index of a gateway that has no services.
fn index(t: &Trial) -> u64 {
    t.api_get("/v1/catalog/gateway-services/none").index()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/gateway/services",
        claim: "A gateway has the services that its entry names, by name, with what it says of them",
        source: "operator.md 3.r6",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/catalog/gateway-services/i")
                .is(200, "null")
                .header_is("X-Consul-Index", "1");
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [{"Port": 80, "Protocol": "http", "Services": [{"Name": "web", "Hosts": ["a.b"]}, {"Name": "db"}]}]}),
            );
            set(
                t,
                &json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "b", "SNI": "s"}, {"Name": "a", "CAFile": "c", "CertFile": "x", "KeyFile": "y"}]}),
            );
            let ingress = |service: &str| json!({"Gateway": {"Name": "i"}, "Service": {"Name": service}, "GatewayKind": "ingress-gateway", "Port": 80, "Protocol": "http"});
            let mut web = ingress("web");
            web["Hosts"] = json!(["a.b"]);
            t.same("the services", behind(t, "I"), vec![ingress("db"), web]);
            t.same(
                "the services",
                behind(t, "t"),
                vec![
                    json!({"Gateway": {"Name": "t"}, "Service": {"Name": "a"}, "GatewayKind": "terminating-gateway", "CAFile": "c", "CertFile": "x", "KeyFile": "y"}),
                    json!({"Gateway": {"Name": "t"}, "Service": {"Name": "b"}, "GatewayKind": "terminating-gateway", "SNI": "s"}),
                ],
            );
            let index = read(t, "ingress-gateway/i")
                .field_is("/Kind", "ingress-gateway")
                .json()["ModifyIndex"]
                .clone();
            t.api_get("/v1/catalog/gateway-services/i")
                .field_is("/0/CreateIndex", index.clone())
                .field_is("/0/ModifyIndex", index);
            remove(t, "ingress-gateway/i").is(200, "{}");
            t.api_get("/v1/catalog/gateway-services/i").is(200, "null");
            t.api_get("/v1/catalog/gateway-services/")
                .says(400, "Missing gateway name");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/gateway/wildcard",
        claim: "A gateway for all services has those of the catalog that are no proxies, as they come and go",
        source: "operator.md 3.r6b",
        needs: &[Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "*", "CAFile": "w"}]}),
            );
            t.same("the services", behind(t, "t").len(), 0);
            service(t, "web", "");
            service(t, "t", "terminating-gateway");
            let rows = behind(t, "t");
            t.same("the services", rows.len(), 1);
            t.same("the service", &rows[0]["Service"]["Name"], &json!("web"));
            t.same("FromWildcard", &rows[0]["FromWildcard"], &json!(true));
            let gone = json!({"Node": "n", "ServiceID": "web"});
            t.api_put("/v1/catalog/deregister", gone.to_string())
                .is(200, "true");
            t.same("the services", behind(t, "t").len(), 0);
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/gateway/wildcard-of-a-protocol",
        claim: "The wildcard of an ingress gateway leads to the services with the protocol of its listener, as their entries have it when it is asked for",
        source: "operator.md 3.r6d",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            let names = || {
                let rows = behind(t, "i");
                let names = rows.iter().map(|row| row["Service"]["Name"].clone());
                Value::Array(names.collect())
            };
            for name in ["api", "t1", "web"] {
                service(t, name, "");
            }
            let protocol = |name: &str, protocol: &str| {
                set(
                    t,
                    &json!({"Kind": "service-defaults", "Name": name, "Protocol": protocol}),
                );
            };
            protocol("api", "http");
            protocol("web", "http");
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [{"Port": 80, "Protocol": "http", "Services": [{"Name": "*"}]}]}),
            );
            t.same("the services", names(), json!(["api", "web"]));
            let path = "/v1/catalog/gateway-services/i";
            let index = t.api_get(path).index();
            let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
            protocol("t1", "http");
            t.grew("the index", index, waiting.answer().index());
            t.same("the services", names(), json!(["api", "t1", "web"]));
            service(t, "new", "");
            remove(t, "service-defaults/api").is(200, "{}");
            t.same("the services", names(), json!(["t1", "web"]));
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/wildcard-of-the-mesh-since-1-22",
        claim: "The wildcard of an ingress gateway leads to services of the mesh alone: behind a proxy, or native",
        source: "operator.md 3.r6d",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let native = |name: &str| {
                t.register(&json!({"Node": "n", "Address": "127.0.0.9", "Service": {"Service": name, "Port": 80, "Connect": {"Native": true}}}));
            };
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            service(t, "web", "");
            service(t, "mesh", "");
            t.register(&json!({"Node": "n", "Address": "127.0.0.9", "Service": {"Service": "proxy", "Kind": "connect-proxy", "Port": 1, "Proxy": {"DestinationServiceName": "mesh"}}}));
            native("nat");
            native("tcpsvc");
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "tcpsvc", "Protocol": "tcp"}),
            );
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [{"Port": 80, "Protocol": "http", "Services": [{"Name": "*"}]}]}),
            );
            let rows = behind(t, "i");
            let names = rows.iter().map(|row| row["Service"]["Name"].clone());
            t.same(
                "the services",
                Value::Array(names.collect()),
                json!(["mesh", "nat"]),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/index",
        claim: "The index of all gateways moves when a row comes, changes or goes, and for nothing else",
        source: "operator.md 3.r6c",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &terminating(&json!([])));
            service(t, "web", "");
            let same = |what: &str, change: &dyn Fn()| {
                let before = index(t);
                change();
                t.same(what, index(t), before);
            };
            let moves = |what: &str, change: &dyn Fn()| {
                let before = index(t);
                change();
                t.grew(what, before, index(t));
            };
            moves("all services", &|| {
                set(t, &terminating(&json!([{"Name": "*"}])));
            });
            same("the same services", &|| {
                set(t, &terminating(&json!([{"Name": "*"}])));
            });
            same("an instance again", &|| service(t, "web", ""));
            same("another instance", &|| instance(t, "web-2", "web"));
            same("a proxy", &|| service(t, "gate", "ingress-gateway"));
            same("an instance that goes", &|| gone(t, "web-2"));
            moves("a service that comes", &|| service(t, "api", ""));
            moves("a service that goes", &|| gone(t, "api"));
            same("a proxy that goes", &|| gone(t, "gate"));
            moves("a service of a node that goes", &|| {
                service(t, "api", "");
                let before = index(t);
                t.api_put("/v1/catalog/deregister", r#"{"Node":"n"}"#)
                    .is(200, "true");
                t.grew("the index", before, index(t));
            });
            moves("the entry that goes", &|| {
                remove(t, "terminating-gateway/t").status_is(200);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/named-and-wildcard",
        claim: "A named service becomes one of the wildcard's when it is registered, keeps its CreateIndex, and goes with its last instance",
        source: "operator.md 3.r6b",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            service(t, "web", "");
            set(
                t,
                &terminating(
                    &json!([{"Name": "web", "SNI": "own"}, {"Name": "*", "CAFile": "w"}, {"Name": "late"}]),
                ),
            );
            let row = |service: &str| json!({"Gateway": {"Name": "t"}, "Service": {"Name": service}, "GatewayKind": "terminating-gateway"});
            let mut named = row("web");
            named["SNI"] = json!("own");
            let mut of_all = row("web");
            of_all["CAFile"] = json!("w");
            of_all["FromWildcard"] = json!(true);
            t.same("before", behind(t, "t"), vec![row("late"), named.clone()]);
            gone(t, "web");
            t.same(
                "without an instance",
                behind(t, "t"),
                vec![row("late"), named],
            );
            service(t, "web", "");
            t.same("with one", behind(t, "t"), vec![row("late"), of_all]);
            let shown = t.api_get("/v1/catalog/gateway-services/t").list();
            t.same(
                "CreateIndex",
                &shown[1]["CreateIndex"],
                &shown[0]["CreateIndex"],
            );
            t.check(
                shown[1]["ModifyIndex"] != shown[0]["ModifyIndex"],
                "ModifyIndex is that of the entry",
            );
            gone(t, "web");
            t.same("gone", behind(t, "t"), vec![row("late")]);
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/renamed-and-changed",
        claim: "A service that takes another name leaves its row; one of which only gateways are left keeps it until the last instance goes",
        source: "operator.md 3.r6c",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &terminating(&json!([{"Name": "*"}])));
            let names = || {
                let rows = behind(t, "t").into_iter();
                let names = rows.map(|row| {
                    row["Service"]["Name"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()
                });
                names.collect::<Vec<_>>()
            };
            instance(t, "a", "old");
            instance(t, "a", "new");
            t.same("renamed", names(), vec!["new".to_owned(), "old".to_owned()]);
            gone(t, "a");
            t.same("gone", names(), vec!["old".to_owned()]);
            service(t, "web", "");
            service(t, "web", "mesh-gateway");
            t.same(
                "a gateway",
                names(),
                vec!["old".to_owned(), "web".to_owned()],
            );
            gone(t, "web");
            t.same("gone", names(), vec!["old".to_owned()]);
            instance(t, "m1", "mixed");
            t.register(&json!({"Node": "n", "Address": "127.0.0.9", "Service": {"ID": "m2", "Service": "mixed", "Kind": "mesh-gateway", "Port": 80}}));
            gone(t, "m1");
            let both = vec!["mixed".to_owned(), "old".to_owned()];
            t.same("gateways alone", names(), both);
            gone(t, "m2");
            t.same("gone", names(), vec!["old".to_owned()]);
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/ports",
        claim: "An ingress gateway has a row for each service and port; ports are in the order of their varints",
        source: "operator.md 3.r6c",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            let listener = |port: u16, services: Value| json!({"Port": port, "Protocol": "http", "Services": services});
            let web = json!([{"Name": "web"}]);
            let ports = [443, 8080, 80, 9].map(|port| listener(port, web.clone()));
            let mut listeners = ports.to_vec();
            listeners.push(listener(
                70,
                json!([{"Name": "web", "Hosts": ["a.b"]}, {"Name": "*"}]),
            ));
            listeners.push(listener(71, json!([{"Name": "*"}])));
            service(t, "web", "");
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "t", "Listeners": listeners}),
            );
            let rows = behind(t, "t");
            let shown: Vec<Value> = rows
                .iter()
                .map(|row| json!([row["Port"], row.get("FromWildcard").is_some()]))
                .collect();
            t.same(
                "the rows",
                shown,
                vec![
                    json!([9, false]),
                    json!([70, false]),
                    json!([71, true]),
                    json!([80, false]),
                    json!([8080, false]),
                    json!([443, false]),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/waiting",
        claim: "A read of a gateway's services waits for its own, though the index is that of all",
        source: "operator.md 3.r6c",
        needs: &[Feature::OwnServer],
        run: |t| {
            let gateway = |name: &str, service: &str| {
                set(
                    t,
                    &json!({"Kind": "terminating-gateway", "Name": name, "Services": [{"Name": service}]}),
                );
            };
            gateway("own", "a");
            gateway("other", "a");
            gateway("zed", "a");
            let waiting = |name: &str| {
                let path = format!("/v1/catalog/gateway-services/{name}");
                let index = t.api_get(&path).index();
                t.start(&Request::get(&format!("{path}?index={index}&wait=60s")))
            };
            let read = waiting("own");
            gateway("zed", "b");
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            service(t, "a", "");
            t.still_blocked(&read);
            gateway("own", "b");
            read.answer().field_is("/0/Service/Name", "b");
            gateway("zed", "*");
            let [own, all] = ["own", "zed"].map(waiting);
            service(t, "c", "");
            t.same("the services", all.answer().list().len(), 2);
            t.still_blocked(&own);
            remove(t, "terminating-gateway/own").status_is(200);
            own.answer().status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/ingress",
        claim: "health/ingress has the instances of the ingress gateways before a service",
        source: "operator.md 3.r6b",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/health/ingress/web").is(200, "[]");
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [{"Port": 80, "Protocol": "tcp", "Services": [{"Name": "web"}]}]}),
            );
            service(t, "i", "ingress-gateway");
            let found = t.api_get("/v1/health/ingress/web").list();
            t.same("the instances", found.len(), 1);
            t.same("the gateway", &found[0]["Service"]["ID"], &json!("i"));
            t.api_get("/v1/health/ingress/other").is(200, "[]");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/bootstrap/there-at-the-start",
        claim: "Entries of the configuration are there at the start, in their order",
        source: "operator.md 4.4.r1",
        settings: r#"{"config_entries":{"bootstrap":[{"kind":"service-defaults","name":"web","protocol":"http"},{"Kind":"proxy-defaults","Name":"global","config":[{"a":[1]}]},{"Kind":"service-resolver","Name":"r","connect_timeout":"3s"}]}}"#,
        run: |t| {
            let web = read(t, "service-defaults/web")
                .field_is("/Protocol", "http")
                .json();
            let all = read(t, "proxy-defaults/global")
                .field_is("/Config/a", 1)
                .json();
            read(t, "service-resolver/r").field_is("/ConnectTimeout", "3s");
            t.grew(
                "the index",
                web["CreateIndex"].as_u64(),
                all["CreateIndex"].as_u64(),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/gateway/name-of-the-other-kind",
        claim: "An ingress gateway and a terminating gateway cannot have one name, in any case",
        source: "operator.md 4.2.r15b",
        needs: &[Feature::OwnServer],
        run: |t| {
            let ingress = |name: &str, protocol: &str| json!({"Kind": "ingress-gateway", "Name": name, "Listeners": [{"Port": 80, "Protocol": protocol, "Services": [{"Name": "a"}]}]});
            let terminating = |name: &str| json!({"Kind": "terminating-gateway", "Name": name});
            let refused = |kind: &str, name: &str, other: &str| {
                format!(
                    "cannot create a \"{kind}\" config entry with name \"{name}\", a \"{other}\" config entry with that name already exists"
                )
            };
            let [enters, leaves] = ["ingress-gateway", "terminating-gateway"];
            set(t, &ingress("g", "tcp"));
            write(t, &terminating("g")).is(500, &refused(leaves, "g", enters));
            let body = terminating("g").to_string();
            t.api_put(&format!("{PATH}?cas=5"), &body).is(200, "false");
            t.api_put(&format!("{PATH}?cas=0"), &body)
                .is(500, &refused(leaves, "g", enters));
            remove(t, "ingress-gateway/g").is(200, "{}");
            set(t, &terminating("g"));
            // The name is checked before the protocol.
            for protocol in ["tcp", "http"] {
                write(t, &ingress("G", protocol)).is(500, &refused(enters, "G", leaves));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/gateway/protocols-behind-tcp",
        claim: "The services of a listener for TCP may get another protocol later, those of other listeners may not",
        source: "operator.md 4.2.r15",
        needs: &[Feature::OwnServer],
        run: |t| {
            let protocol = |name: &str, protocol: &str| json!({"Kind": "service-defaults", "Name": name, "Protocol": protocol});
            let gateway = |protocol: &str, service: &str, port: u16| json!({"Kind": "ingress-gateway", "Name": protocol, "Listeners": [{"Port": port, "Protocol": protocol, "Services": [{"Name": service}]}]});
            set(t, &gateway("tcp", "a", 80));
            set(t, &protocol("a", "http"));
            let text = |service: &str, has: &str, wants: &str| {
                format!(
                    "service \"{service}\" has protocol \"{has}\", which does not match defined listener protocol \"{wants}\""
                )
            };
            write(t, &gateway("tcp", "a", 81)).is(500, &text("a", "http", "tcp"));
            set(t, &protocol("h", "http"));
            set(t, &gateway("http", "h", 80));
            for other in ["grpc", "tcp"] {
                write(t, &protocol("h", other)).is(500, &text("h", other, "http"));
            }
        },
        ..Case::REAL
    },
];
