//! Sidecars, proxies and Connect in the agent and in the catalog.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::ports::problems as text_of;
use crate::cases::support::proxy::{NEEDS, REGISTER, register};

#[track_caller]
fn refused(t: &Trial, body: &Value, problems: &[&str]) {
    t.api_put(REGISTER, body.to_string())
        .is(400, &text_of(problems));
}

#[track_caller]
fn known(t: &Trial, id: &str) -> Value {
    t.api_get("/v1/agent/services").status_is(200).json()[id].clone()
}

/// The cases, in the order of the contract.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/sidecar/comes-and-goes",
        claim: "A sidecar is registered with its service, has its tags and meta data and two checks, and goes with it",
        source: "session.md 4.4.r9, 4.4.r36",
        needs: NEEDS,
        run: |t| {
            let web = t.agent_service("web");
            register(
                t,
                &json!({"Name": web, "Port": 8080, "Tags": ["a"], "Meta": {"k": "v"},
                    "Connect": {"SidecarService": {"Port": 21999}}}),
            );
            let id = format!("{web}-sidecar-proxy");
            let sidecar = known(t, &id);
            t.same("kind", sidecar["Kind"].clone(), json!("connect-proxy"));
            t.same("name", sidecar["Service"].clone(), json!(id));
            t.same("tags", sidecar["Tags"].clone(), json!(["a"]));
            t.same("meta", sidecar["Meta"].clone(), json!({"k": "v"}));
            t.same("port", sidecar["Port"].clone(), json!(21999));
            let proxy = &sidecar["Proxy"];
            for (field, value) in [
                ("DestinationServiceName", json!(web)),
                ("DestinationServiceID", json!(web)),
                ("LocalServiceAddress", json!("127.0.0.1")),
                ("LocalServicePort", json!(8080)),
            ] {
                t.same(field, proxy[field].clone(), value);
            }
            let checks = t.api_get("/v1/agent/checks").json();
            let name = |number: u8| checks[format!("service:{id}:{number}")]["Name"].clone();
            t.same("first check", name(1), json!("Connect Sidecar Listening"));
            let aliasing = format!("Connect Sidecar Aliasing {web}");
            t.same("second check", name(2), json!(aliasing));
            t.api_put(&format!("/v1/agent/service/deregister/{web}"), "")
                .is(200, "");
            t.same("sidecar", known(t, &id), Value::Null);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/sidecar/refusals",
        claim: "A sidecar has no id and no sidecar of its own, and gateways have none",
        source: "session.md 4.4.r36",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let with =
                |sidecar: Value| json!({"Name": "e", "Connect": {"SidecarService": sidecar}});
            let id = "A SidecarService cannot specify an ID as this is managed by the agent";
            refused(t, &with(json!({"ID": "x"})), &[id]);
            let nested = "A SidecarService cannot have a nested SidecarService";
            let body = with(json!({"Connect": {"SidecarService": {}}}));
            refused(t, &body, &[nested]);
            let gateway = "A mesh-gateway cannot have a sidecar service defined";
            let body = json!({"Name": "e", "Kind": "mesh-gateway", "Port": 1,
                "Connect": {"SidecarService": {}}});
            refused(t, &body, &[gateway]);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/sidecar/refused-checks-before-1-13",
        claim: "What is wrong with a sidecar's own checks and meta data is a 500",
        source: "session.md 4.4.r36",
        until: Some(Version::V1_12),
        needs: NEEDS,
        run: |t| {
            let with = |sidecar: Value| {
                json!({"Name": "e", "Connect": {"SidecarService": sidecar}}).to_string()
            };
            t.api_put(REGISTER, with(json!({"Check": {"TTL": "1s", "Interval": "1s"}})))
                .is(500, "Bad request: Invalid check in sidecar_service: Interval and TTL cannot both be specified");
            t.api_put(REGISTER, with(json!({"Meta": {"a b": "c"}})))
                .is(500, "Bad request: Invalid SidecarService: Couldn't load metadata pair ('a b', 'c'): Key contains invalid characters");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/proxy/is-kept",
        claim: "All that a proxy says is shown by the agent and the catalog",
        source: "session.md 4.4.r7",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let (px, db) = (t.agent_service("px"), t.agent_service("db"));
            register(
                t,
                &json!({"Name": px, "Kind": "connect-proxy", "Port": 9, "Proxy": {
                    "DestinationServiceName": db, "DestinationServiceID": "db1",
                    "LocalServiceAddress": "127.0.0.1", "LocalServicePort": 5,
                    "Config": {"b": "x", "a": 1.5},
                    "Upstreams": [{"DestinationName": "u", "LocalBindPort": 1234, "Datacenter": "dc1",
                        "Config": {"z": 1.5}, "MeshGateway": {"Mode": "remote"}}],
                    "MeshGateway": {"Mode": "local"},
                    "Expose": {"Paths": [{"Path": "/p", "ListenerPort": 4, "LocalPathPort": 5}]}}}),
            );
            let rows = t.eventually(
                "the catalog has the proxy",
                std::time::Duration::from_secs(10),
                || {
                    let rows = t.api_get(&format!("/v1/catalog/connect/{db}")).list();
                    (rows.len() == 1).then_some(rows)
                },
            );
            for proxy in [
                known(t, &px)["Proxy"].clone(),
                rows[0]["ServiceProxy"].clone(),
            ] {
                t.same("name", proxy["DestinationServiceName"].clone(), json!(db));
                t.same(
                    "config",
                    proxy["Config"].clone(),
                    json!({"a": 1.5, "b": "x"}),
                );
                let upstream = &proxy["Upstreams"][0];
                t.same(
                    "type",
                    upstream["DestinationType"].clone(),
                    json!("service"),
                );
                t.same("port", upstream["LocalBindPort"].clone(), json!(1234));
                t.same("settings", upstream["Config"].clone(), json!({"z": 1.5}));
                t.same(
                    "gateway",
                    upstream["MeshGateway"].clone(),
                    json!({"Mode": "remote"}),
                );
                t.same(
                    "mode",
                    proxy["MeshGateway"].clone(),
                    json!({"Mode": "local"}),
                );
                let path = json!({"ListenerPort": 4, "Path": "/p", "LocalPathPort": 5, "ParsedFromCheck": false});
                t.same("path", proxy["Expose"]["Paths"][0].clone(), path);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/proxy/refusals",
        claim: "All that is wrong with a proxy or gateway is said at once",
        source: "session.md 4.2.r13, 4.4.r36",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let body = json!({"Name": "e", "Kind": "connect-proxy"});
            let missing = [
                "Proxy.DestinationServiceName must be non-empty for Connect proxy services",
                "Port must be set for a Connect proxy",
            ];
            refused(t, &body, &missing);
            let body = json!({"Name": "e", "Kind": "connect-proxy", "Port": 1,
                "Connect": {"Native": true}, "Proxy": {"DestinationServiceName": "x"}});
            let native = "A Proxy cannot also be Connect Native, only typical services";
            refused(t, &body, &[native]);
            let body = json!({"Name": "e", "Kind": "terminating-gateway"});
            refused(
                t,
                &body,
                &["Port must be non-zero for a terminating-gateway"],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/connect/proxies-and-native",
        claim: "Who asks for the Connect of a service gets its proxies and the instances that need none",
        source: "session.md 4.5",
        until: Some(Version::V1_22),
        run: |t| {
            let node = t.node("n");
            let web = format!("{node}-web");
            let enter = |service: Value| {
                t.register(&json!({"Node": node, "Address": "127.0.0.1", "Service": service}));
            };
            enter(json!({"Service": web, "Connect": {"Native": true}}));
            let proxy = json!({"DestinationServiceName": web});
            let name = format!("{node}-px");
            enter(json!({"Service": name, "Kind": "connect-proxy", "Port": 2, "Proxy": proxy}));
            let plain = format!("{node}-plain");
            enter(json!({"Service": plain, "Port": 2}));
            for path in ["/v1/catalog/connect", "/v1/health/connect"] {
                t.same("both", t.api_get(&format!("{path}/{web}")).list().len(), 2);
                t.same(
                    "none",
                    t.api_get(&format!("{path}/{plain}")).list().len(),
                    0,
                );
            }
        },
        ..Case::SHOULD
    },
];
