//! The services behind gateways, and entries that the configuration of the agent has (operator.md 3.r6, 4.4).

use serde_json::{Value, json};

use super::{read, remove, set};
use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

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
            t.not_compared("the emulator's index does not follow services that go");
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
];
