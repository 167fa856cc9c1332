//! Services of the agent with several ports, and what later releases say of its proxies (1.22.md B4.2p, session.md 4.4).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::ports::{flaws, problems, two_ports, two_ports_shown};
use crate::cases::support::proxy::{NEEDS, REGISTER, register};

#[track_caller]
fn refused(t: &Trial, body: &Value, words: &[&str]) {
    let text = format!("Validation failed: {}", problems(words));
    t.api_put(REGISTER, body.to_string()).is(400, &text);
}

/// A proxy with an upstream that has this further field.
fn with_upstream(name: &str, field: &str, value: &Value) -> Value {
    let upstream = json!({"DestinationName": "u", "LocalBindPort": 1234, field: value});
    json!({"Name": name, "Kind": "connect-proxy", "Port": 9,
        "Proxy": {"DestinationServiceName": "db", "Upstreams": [upstream]}})
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/ports/shown-since-1-22",
        claim: "The agent shows all ports of a service, and the default one as its port; so does the catalog",
        source: "1.22.md B4.2p; 1.22.md B4.4 [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("s");
            register(t, &json!({"Name": id, "Ports": two_ports()}));
            let one = t.api_get(&format!("/v1/agent/service/{id}")).json();
            let all = t.api_get("/v1/agent/services").json()[&id].clone();
            for shown in [one, all] {
                t.same("port", &shown["Port"], &json!(80));
                t.same("ports", &shown["Ports"], &two_ports_shown());
            }
            let row = t.eventually(
                "the catalog has the service",
                std::time::Duration::from_secs(10),
                || t.api_get(&format!("/v1/catalog/service/{id}")).list().pop(),
            );
            t.same("port", &row["ServicePort"], &json!(80));
            t.same("ports", &row["ServicePorts"], &two_ports_shown());
        },
        ..Case::REAL
    },
    Case {
        id: "agent/ports/refusals-since-1-22",
        claim: "The agent refuses several ports in the words of the catalog, and beside a sidecar in words of its own",
        source: "1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            for (mut service, words) in flaws() {
                service["Name"] = json!("e");
                refused(t, &service, &[words]);
            }
            let body =
                json!({"Name": "e", "Ports": two_ports(), "Connect": {"SidecarService": {}}});
            t.api_put(REGISTER, body.to_string())
                .is(400, "MultiPort cannot be used with Consul Connect.");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/refusals-since-1-22",
        claim: "What is wrong with a proxy, a gateway, a sidecar or a native service is a failed validation",
        source: "session.md 4.4; session.md 4.2; 1.22.md B4.2p [N]",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let nowhere = "Port or SocketPath must be set for a connect-proxy";
            let nameless =
                "Proxy.DestinationServiceName must be non-empty for Connect proxy services";
            let body = json!({"Name": "e", "Kind": "connect-proxy"});
            refused(t, &body, &[nowhere, nameless]);
            let body = json!({"Name": "e", "Connect": {"Native": true}});
            let native = "Port or SocketPath must be set for a Connect native service.";
            refused(t, &body, &[native]);
            let body = json!({"Name": "e", "Connect": {"SidecarService": {"ID": "x"}}});
            let id = "A SidecarService cannot specify an ID as this is managed by the agent";
            refused(t, &body, &[id]);
            let body = json!({"Name": "e", "Weights": {"Passing": 0, "Warning": 1}});
            t.api_put(REGISTER, body.to_string())
                .is(400, "Invalid Weights: Passing must be greater than 0");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/paths-of-checks",
        claim: "A path of a proxy may say whether it was made of a check; the agent shows it",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("px");
            let path = json!({"ListenerPort": 4, "Path": "/p", "LocalPathPort": 5, "ParsedFromCheck": true});
            let body = json!({"Name": id, "Kind": "connect-proxy", "Port": 9,
                "Proxy": {"DestinationServiceName": "db", "Expose": {"Paths": [path]}}});
            register(t, &body);
            let known = t.api_get("/v1/agent/services").json()[&id]["Proxy"].clone();
            t.same("path", &known["Expose"]["Paths"][0], &path);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/upstreams-before-1-22",
        claim: "An upstream that says whether it was configured centrally is refused",
        source: "session.md 4.4",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let body = with_upstream("e", "CentrallyConfigured", &json!(true));
            t.api_put(REGISTER, body.to_string()).says(
                400,
                "Request decode failed: json: unknown field \"CentrallyConfigured\"",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/upstreams-since-1-22",
        claim: "An upstream may say whether it was configured centrally, which is not shown; it is of a service, and has no mode",
        source: "session.md 4.4; 1.22.md B4.5",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("px");
            register(t, &with_upstream(&id, "CentrallyConfigured", &json!(false)));
            let known = t.api_get("/v1/agent/services").json()[&id]["Proxy"].clone();
            let upstream = json!({"DestinationType": "service", "DestinationName": "u",
                "LocalBindPort": 1234, "MeshGateway": {}});
            let expected = json!({"DestinationServiceName": "db", "Upstreams": [upstream],
                "MeshGateway": {}, "Expose": {}});
            t.same("proxy", known, expected);
        },
        ..Case::REAL
    },
];
