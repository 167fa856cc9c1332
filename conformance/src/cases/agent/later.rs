//! Fields of services, proxies and checks that later releases take, and how they are spelled (session.md 4.4).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::registration;
use crate::cases::support::proxy::{NEEDS, REGISTER, register};
use crate::wire::Request;

const CHECK: &str = "/v1/agent/check/register";
const CATALOG: &str = "/v1/catalog/register";

/// A proxy with these further settings.
fn proxy(name: &str, settings: &Value) -> Value {
    let mut proxy = json!({"DestinationServiceName": "db"});
    if let (Some(proxy), Some(settings)) = (proxy.as_object_mut(), settings.as_object()) {
        proxy.extend(settings.clone());
    }
    json!({"Name": name, "Kind": "connect-proxy", "Port": 9, "Proxy": proxy})
}

/// A proxy with one upstream, which has these further settings.
fn with_upstream(name: &str, settings: &Value) -> Value {
    let mut upstream = json!({"DestinationName": "u"});
    if let (Some(upstream), Some(settings)) = (upstream.as_object_mut(), settings.as_object()) {
        upstream.extend(settings.clone());
    }
    proxy(name, &json!({"Upstreams": [upstream]}))
}

/// What the agent shows of a proxy.
fn shown(t: &Trial, id: &str) -> Value {
    t.api_get(&format!("/v1/agent/service/{id}")).json()["Proxy"].clone()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/check/snake-names-since-1-22",
        claim: "The switches of TLS may be spelled with underscores; that of redirects in a check by itself alone",
        source: "session.md 4.4.r32",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let switches = [
                "grpc_use_tls",
                "tcp_use_tls",
                "h2ping_use_tls",
                "disable_redirects",
            ];
            for name in switches {
                let check = json!({"Name": "c", "ID": t.node("c"), "TTL": "1h", name: true});
                t.api_put(CHECK, check.to_string()).is(200, "");
                t.api_put(&format!("/v1/agent/check/deregister/{}", t.node("c")), "")
                    .is(200, "");
                let service =
                    json!({"Name": t.agent_service("s"), "Check": {"TTL": "1h", name: true}});
                let answer = t.api_put(REGISTER, service.to_string());
                if name == "disable_redirects" {
                    answer.is(
                        400,
                        "Request decode failed: json: unknown field \"disable_redirects\"",
                    );
                } else {
                    answer.is(200, "");
                }
            }
            let words = t.api_put(CHECK, "5");
            for field in [
                "TLSServerName",
                "TCPUseTLS",
                "GRPCUseTLS",
                "H2PingUseTLS",
                "DisableRedirects",
            ] {
                words.clone().says(400, &format!("{field}Snake "));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "agent/check/failures-before-warning-since-1-22",
        claim: "A check needs no fewer failures to be critical than to be in warning",
        source: "session.md 4.4.r32",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let check = json!({"Name": "c", "TTL": "1h", "FailuresBeforeWarning": 1});
            t.api_put(CHECK, check.to_string()).is(
                400,
                "Invalid check: FailuresBeforeWarning can't be higher than FailuresBeforeCritical",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/later-settings-since-1-22",
        claim: "The agent shows the socket, the access logs and the extensions of a proxy, in either spelling; a sidecar with a socket has no address of its service",
        source: "session.md 4.4.r33",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("px");
            let extension = json!({"Name": "builtin/lua", "Required": true, "Arguments": {"a": 1},
                "ConsulVersion": "", "EnvoyVersion": ""});
            let logs = json!({"Enabled": true, "Type": "file", "Path": "/p"});
            for names in [
                ["LocalServiceSocketPath", "AccessLogs", "EnvoyExtensions"],
                [
                    "local_service_socket_path",
                    "access_logs",
                    "envoy_extensions",
                ],
            ] {
                let [socket, access, extensions] = names;
                let settings = json!({socket: "/run/s", access: logs, extensions: [extension]});
                register(t, &proxy(&id, &settings));
                let proxy = shown(t, &id);
                t.same("socket", &proxy["LocalServiceSocketPath"], &json!("/run/s"));
                t.same("logs", &proxy["AccessLogs"], &logs);
                t.same("extensions", &proxy["EnvoyExtensions"], &json!([extension]));
            }
            let web = t.agent_service("web");
            let sidecar = json!({"Proxy": {"LocalServiceSocketPath": "/run/s"}});
            register(
                t,
                &json!({"Name": web, "Port": 80, "Connect": {"SidecarService": sidecar}}),
            );
            let proxy = shown(t, &format!("{web}-sidecar-proxy"));
            t.same("address", proxy.get("LocalServiceAddress"), None);
            t.same("port", proxy.get("LocalServicePort"), None);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/upstream/later-settings-since-1-22",
        claim: "The agent shows the peer, the partition and the socket of an upstream, in either spelling, and whether it comes from the whole mesh",
        source: "session.md 4.4.r33; session.md 4.4.r7",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("px");
            for names in [
                [
                    "DestinationPeer",
                    "DestinationPartition",
                    "LocalBindSocketPath",
                    "LocalBindSocketMode",
                ],
                [
                    "destination_peer",
                    "destination_partition",
                    "local_bind_socket_path",
                    "local_bind_socket_mode",
                ],
            ] {
                let [peer, partition, path, mode] = names;
                let settings = json!({peer: "p", partition: "q", path: "/run/u", mode: "0600",
                    "CentrallyConfigured": true});
                register(t, &with_upstream(&id, &settings));
                let expected = json!({"DestinationType": "service", "DestinationPartition": "q",
                    "DestinationPeer": "p", "DestinationName": "u", "LocalBindSocketPath": "/run/u",
                    "LocalBindSocketMode": "0600", "MeshGateway": {}, "CentrallyConfigured": true});
                t.same("upstream", &shown(t, &id)["Upstreams"][0], &expected);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "agent/upstream/port-or-socket-since-1-22",
        claim: "An upstream has a port or a socket, not both",
        source: "session.md 4.4.r33",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let settings = json!({"LocalBindPort": 1, "LocalBindSocketPath": "/run/u"});
            t.api_put(REGISTER, with_upstream("e", &settings).to_string())
                .says(400, "only one of ");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/proxy/mesh-gateway-has-one-name",
        claim: "The mesh gateway of a proxy and of an upstream has no name with underscores in a body",
        source: "session.md 4.4.r7",
        needs: NEEDS,
        run: |t| {
            let text = "Request decode failed: json: unknown field \"mesh_gateway\"";
            let gateway = json!({"mesh_gateway": {"Mode": "local"}, "LocalBindPort": 1});
            t.api_put(REGISTER, with_upstream("e", &gateway).to_string())
                .is(400, text);
            let gateway = json!({"mesh_gateway": {"Mode": "local"}});
            t.api_put(REGISTER, proxy("e", &gateway).to_string())
                .is(400, text);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/null-proxy",
        claim: "A service with a null proxy closes the connection of a registration in the catalog; the agent takes it",
        source: "session.md 4.2.r20",
        needs: &[Feature::Registration, Feature::AgentRegistration],
        run: |t| {
            let node = t.node("n");
            for kind in ["", "connect-proxy"] {
                let service = json!({"Service": "s", "Kind": kind, "Port": 1, "Proxy": null});
                let body = registration(&node, &json!({"Service": service}));
                t.api_put(CATALOG, body.to_string()).is_closed();
            }
            t.api_get(&format!("/v1/catalog/node-services/{node}"))
                .status_is(200);
            register(t, &json!({"Name": t.agent_service("s"), "Proxy": null}));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/partition-since-1-22",
        claim: "A partition is unknown to the bodies of the catalog; only there the edition that has namespaces is named",
        source: "1.22.md B0, 0.13",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let unknown = "Request decode failed: json: unknown field";
            let body = registration(&t.node("n"), &json!({"Partition": "x"}));
            t.api_put(CATALOG, body.to_string())
                .is(400, &format!("{unknown} \"Partition\""));
            let body = registration(&t.node("n"), &json!({"Namespace": "x"}));
            let tail = " - Namespaces are a Consul Enterprise feature";
            t.api_put(CATALOG, body.to_string())
                .is(400, &format!("{unknown} \"Namespace\"{tail}"));
            let body = json!({"Name": "e", "Namespace": "x"});
            t.api_put(REGISTER, body.to_string())
                .is(400, &format!("{unknown} \"Namespace\""));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/order-since-1-22",
        claim: "A registration finds a null check before a wrong datacenter, a bad id of its node before a missing address, and an unknown service before a check without an id",
        source: "1.22.md B4.2.r10",
        since: Version::V1_22,
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            let put = |body: Value| t.api_put(CATALOG, body.to_string());
            put(json!({"Datacenter": "nope", "Checks": [null]})).is_closed();
            put(json!({"Node": node, "ID": "x"}))
                .is(500, "Bad node ID: uuid string is wrong length");
            let checks = json!([{"Node": node}, {"CheckID": "c1", "ServiceID": "db"}]);
            put(registration(&node, &json!({"Checks": checks})))
                .is(500, "Unknown service ID 'db' for check ID 'c1'");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/check/exposed-port-since-1-22",
        claim: "The catalog keeps the port of a proxy through which a check is made",
        source: "session.md 4.2.r21",
        since: Version::V1_22,
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            let check = json!({"CheckID": "c", "Name": "c", "ExposedPort": 7});
            t.register(&registration(&node, &json!({"Check": check})));
            t.api_get(&format!("/v1/health/node/{node}"))
                .field_is("/0/ExposedPort", 7);
        },
        ..Case::REAL
    },
    Case {
        id: "health/streaming/empty-maps-since-1-22",
        claim: "A streamed read of health shows empty metadata as null, another one as it was registered",
        source: "1.22.md B4.5.r19",
        since: Version::V1_22,
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            let fields = json!({"NodeMeta": {}, "Service": {"Service": node, "Meta": {}}});
            t.register(&registration(&node, &fields));
            let path = format!("/v1/health/service/{node}");
            for (query, meta) in [("", json!({})), ("?index=1", Value::Null)] {
                let shown = t.api_get(&format!("{path}{query}")).json()[0].clone();
                t.same("of the node", &shown["Node"]["Meta"], &meta);
                t.same("of the service", &shown["Service"]["Meta"], &meta);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "agent/members/filter-since-1-22",
        claim: "The members may be filtered; partitions are refused there and of coordinates, namespaces are not",
        source: "1.22.md B4.4.r8; 1.22.md A6.r2",
        since: Version::V1_22,
        run: |t| {
            t.api_get("/v1/agent/members?filter=Name==nobody")
                .is(200, "[]");
            t.api_get("/v1/agent/members?filter=((")
                .says(500, "Failed to create boolean expression evaluator: ");
            let refused = "Invalid query parameter: \"partition\" - Partitions are a Consul Enterprise feature";
            for path in ["/v1/agent/members", "/v1/coordinate/nodes"] {
                t.api_get(&format!("{path}?partition=x")).is(400, refused);
                t.api_get(&format!("{path}?ns=x")).status_is(200);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/embedded-index-since-1-22",
        claim: "An index of another kind is named with both structs that it is embedded in",
        source: "1.22.md B0, 0.14",
        since: Version::V1_22,
        run: |t| {
            for field in ["CreateIndex", "ModifyIndex"] {
                t.create_session(&json!({field: "5"}).to_string()).says(
                    400,
                    &format!("Go struct field .Alias.RaftIndex.{field} of type uint64"),
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "query/create/sameness-group-since-1-22",
        claim: "A query for a sameness group is refused",
        source: "1.22.md B5",
        since: Version::V1_22,
        needs: &[Feature::PreparedQueries],
        run: |t| {
            let search = json!({"Service": "web", "SamenessGroup": "x"});
            let query = json!({"Name": t.node("q"), "Service": search});
            let text = "Invalid prepared query: sameness-groups are an enterprise-only feature";
            t.send(&Request::new("POST", "/v1/query").body(query.to_string()))
                .is(500, text);
        },
        ..Case::REAL
    },
    Case {
        id: "health/ingress/fails-without-headers-since-1-22",
        claim: "A read of the gateways before a service that fails lacks the headers of reads",
        source: "1.22.md B4.5.r14",
        since: Version::V1_22,
        run: |t| {
            for query in ["dc=conformance-nowhere", "filter=(("] {
                t.api_get(&format!("/v1/health/ingress/{}?{query}", t.node("s")))
                    .status_is(500)
                    .has_no_header("X-Consul-Index");
            }
        },
        ..Case::REAL
    },
];
