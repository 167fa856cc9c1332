//! What Consul makes of values in bodies that are none, or too large, or empty.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::txn_catalog::{service_op, shown};

const NEEDS: &[Feature] = &[Feature::Registration];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "endpoint/body/empty-durations",
        claim: "An empty text is no duration, neither in the catalog nor in a transaction",
        source: "session.md 4.2.r22",
        run: |t| {
            let text = r#"time: invalid duration """#;
            for field in ["Interval", "Timeout", "DeregisterCriticalServiceAfter"] {
                let body = format!(
                    r#"{{"Node":"n","Address":"1.1.1.1","Check":{{"Name":"c","Definition":{{"{field}":""}}}}}}"#
                );
                t.api_put("/v1/catalog/register", body)
                    .is(400, &format!("Request decode failed: {text}"));
                for field in [field.to_owned(), format!("{field}Duration")] {
                    let body =
                        format!(r#"[{{"Check":{{"Check":{{"Definition":{{"{field}":""}}}}}}}}]"#);
                    t.api_put("/v1/txn", body)
                        .is(400, &format!("Failed to parse body: {text}"));
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/body/number-beyond-durations",
        claim: "A number that no duration can hold is a negative one",
        source: "session.md 4.2.r22",
        run: |t| {
            let body = r#"{"Name":"a","TTL":1e20}"#;
            t.api_put("/v1/agent/check/register", body)
                .is(400, "Invalid check: TTL must be > 0 for TTL checks");
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/body/kinds-of-ignored-fields",
        claim: "Fields that are of no account have to be of their kind all the same",
        source: "session.md 4.2.r23; kv.md 7.5",
        run: |t| {
            for (target, body, text) in [
                (
                    "/v1/catalog/register",
                    r#"{"Check":{"ServiceTags":[1]}}"#,
                    "Request decode failed: json: cannot unmarshal number into Go struct field HealthCheck.Check.ServiceTags of type string",
                ),
                (
                    "/v1/txn",
                    r#"[{"Service":{"Service":{"Proxy":{"MeshGateway":7}}}}]"#,
                    "Failed to parse body: json: cannot unmarshal number into Go struct field AgentServiceConnectProxyConfig.Service.Service.Proxy.MeshGateway of type api.MeshGatewayConfig",
                ),
            ] {
                t.api_put(target, body).is(400, text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "txn/service/weights-that-cannot-be",
        claim: "A transaction gives a service whose weights cannot be those of a service without any",
        source: "kv.md 7.5.r11",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for (sent, passing, warning) in [
                (json!({}), 1, 1),
                (json!({"Passing": 3}), 3, 0),
                (json!({"Passing": 0, "Warning": 4}), 1, 1),
                (json!({"Passing": 7, "Warning": -1}), 1, 1),
            ] {
                let fields = json!({"Service": "s", "Weights": sent});
                let set = shown(t, &service_op("set", &node, &fields), "Service");
                let expected = json!({"Passing": passing, "Warning": warning});
                t.same("Weights", set["Weights"].clone(), expected);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-services/none",
        claim: "A node without services has no list of them, unless it is filtered",
        source: "session.md 4.5.r3",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("bare");
            let target = format!("/v1/catalog/node-services/{node}");
            t.api_get(&target).field_is("/Services", Value::Null);
            t.api_get(&format!("{target}?filter=Port==1"))
                .field_is("/Services", json!([]));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/service/tags-as-given",
        claim: "A transaction shows the tags of a service as they were given, null or an empty list; other reads show a list",
        source: "kv.md 7.5.r11",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for (given, shown_elsewhere) in [
                (Value::Null, json!([])),
                (json!([]), json!([])),
                (json!(["a"]), json!(["a"])),
            ] {
                let fields = json!({"Service": "s", "Tags": given});
                let set = shown(t, &service_op("set", &node, &fields), "Service");
                t.same("Tags", set["Tags"].clone(), given.clone());
                t.register(&json!({"Node": node, "Address": "127.0.0.1", "Service": fields}));
                let get = shown(t, &service_op("get", &node, &json!({"ID": "s"})), "Service");
                t.same("Tags", get["Tags"].clone(), given);
                t.api_get(&format!("/v1/catalog/node/{node}"))
                    .field_is("/Services/s/Tags", shown_elsewhere);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/weights-that-cannot-be",
        claim: "The catalog gives a service whose weights cannot be those of a service without any",
        source: "session.md 4.2.r24",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for (passing, warning, kept) in [
                (0, 0, false),
                (0, 2, false),
                (1, -1, false),
                (65_536, 1, false),
                (2, 0, true),
            ] {
                let sent = json!({"Passing": passing, "Warning": warning});
                let service = json!({"Service": "s", "Weights": sent});
                t.register(&json!({"Node": node, "Address": "127.0.0.1", "Service": service}));
                let default = json!({"Passing": 1, "Warning": 1});
                t.api_get(&format!("/v1/catalog/node/{node}"))
                    .field_is("/Services/s/Weights", if kept { sent } else { default });
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/definition-as-given",
        claim: "Negative durations and headers without a list are kept in the definition of a check",
        source: "session.md 4.2.r22",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let definition = json!({"HTTP": "http://x", "Header": {"a": null, "b": []},
                "Interval": "-5s", "Timeout": -5, "DeregisterCriticalServiceAfter": "-90m"});
            let check = json!({"Name": "c", "Definition": definition});
            t.register(&json!({"Node": node, "Address": "127.0.0.1", "Check": check}));
            let kept = json!({"HTTP": "http://x", "Header": {"a": null, "b": []},
                "Interval": "-5s", "Timeout": "-5ns", "DeregisterCriticalServiceAfter": "-1h30m0s"});
            t.api_get(&format!("/v1/health/node/{node}"))
                .field_is("/0/Definition", kept)
                .field_is("/0/Type", json!(""));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-names-a-service",
        claim: "A check of the node keeps the service name and the tags that it came with, and stays one of the node",
        source: "session.md 4.2.r25",
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let name = format!("{node}-named");
            let check = json!({"Name": "c", "ServiceName": name, "ServiceTags": ["z"]});
            t.register(&json!({"Node": node, "Address": "127.0.0.1",
                "Service": {"Service": "s"}, "Check": check}));
            t.api_get(&format!("/v1/health/checks/{name}"))
                .field_is("/0/ServiceID", json!(""))
                .field_is("/0/ServiceName", json!(name))
                .field_is("/0/ServiceTags", json!(["z"]));
            t.api_get(&format!("/v1/health/node/{node}"))
                .field_is("/0/ServiceName", json!(name));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/join/nobody-there",
        claim: "An address where no agent listens cannot be joined",
        source: "session.md 4.4.r14",
        until: Some(Version::V1_22),
        run: |t| {
            t.api_put("/v1/agent/join/127.0.0.1:1", "").is(
                500,
                "1 error occurred:\n\t* Failed to join 127.0.0.1: dial tcp 127.0.0.1:1: connect: connection refused\n\n",
            );
            t.api_put("/v1/agent/join/127.0.0.1:x", "").is(
                500,
                "1 error occurred:\n\t* Failed to resolve 127.0.0.1:x: strconv.ParseUint: parsing \"x\": invalid syntax\n\n",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/join/nobody-there-since-1-22",
        claim: "An address where no agent listens cannot be joined, and is named with its port",
        source: "1.22.md B4.4 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| {
            t.api_put("/v1/agent/join/127.0.0.1:1", "").is(
                500,
                "1 error occurred:\n\t* Failed to join 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n\n",
            );
        },
        ..Case::SHOULD
    },
];
