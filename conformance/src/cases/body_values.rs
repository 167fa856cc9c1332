//! What Consul makes of values in bodies that are none, or too large, or empty.

use serde_json::{Value, json};

use super::txn_catalog::{service_op, shown};
use crate::case::Case;
use crate::feature::Feature;

const SOURCE: &str = "observed on 1.8.7";
const NEEDS: &[Feature] = &[Feature::Registration];

pub(super) const CASES: &[Case] = &[
    Case {
        id: "endpoint/body/empty-durations",
        claim: "An empty text is no duration, neither in the catalog nor in a transaction",
        source: SOURCE,
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
        source: SOURCE,
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
        source: SOURCE,
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
        source: SOURCE,
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
        source: SOURCE,
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
];
