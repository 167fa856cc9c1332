//! Rights on what Consul's own page reads (operator.md 3.r18b).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::cases::support::acl::{ROOT, SETTINGS, granted, ready, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

const UI: &str = "/v1/internal/ui";

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies, Feature::Registration],
    settings: SETTINGS,
    ..Case::REAL
};

/// What a token sees of each node: the ids of its services and of its checks.
fn contents(answer: &Answer) -> Vec<Value> {
    let ids = |list: &Value, field: &str| {
        let list = list.as_array().cloned().unwrap_or_default();
        let ids = list.iter().map(|row| row[field].clone());
        ids.collect::<Vec<_>>()
    };
    let rows = answer.list().into_iter();
    let row = |row: Value| {
        json!([
            row["Node"],
            ids(&row["Services"], "ID"),
            ids(&row["Checks"], "CheckID")
        ])
    };
    rows.map(row).collect()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/page/rows",
        claim: "The page shows nodes with node:read, services and their checks with service:read besides; a missing node and one that may not be read are the same",
        source: "operator.md 3.r18b; acl.md 10.5",
        run: |t| {
            ready(t);
            let read =
                |token: &str, path: &str| with(t, token, &Request::get(&format!("{UI}/{path}")));
            let root = |body: Value| {
                with(
                    t,
                    ROOT,
                    &Request::put("/v1/catalog/register", body.to_string()),
                )
                .is(200, "true")
            };
            for name in ["web", "api"] {
                root(
                    json!({"Node": "na", "Address": "1", "Service": {"Service": name}, "Check": {"CheckID": name, "ServiceID": name}}),
                );
            }
            root(json!({"Node": "na", "Address": "1", "Check": {"CheckID": "alive"}}));
            let (_, node) = granted(t, "p1", r#"node "na" { policy = "read" }"#);
            let (_, service) = granted(t, "p2", r#"service "web" { policy = "read" }"#);
            let (_, both) = granted(
                t,
                "p3",
                r#"node "na" { policy = "read" } service "web" { policy = "read" }"#,
            );
            for token in [&node, &service] {
                read(token, "services").is(200, "[]");
            }
            read(&both, "services")
                .field_is("/0/Name", "web")
                .field_is("/0/InstanceCount", 1);
            t.same(
                "the nodes",
                contents(&read(&node, "nodes")),
                vec![json!(["na", [], ["alive"]])],
            );
            t.same(
                "the nodes",
                contents(&read(&both, "nodes")),
                vec![json!(["na", ["web"], ["alive", "web"]])],
            );
            read(&service, "nodes").is(200, "[]");
            read(&node, "node/na").field_is("/Services", json!([]));
            read(&service, "node/na").is(404, "");
            read("nope", "services?filter=zork").says(403, "ACL not found");
            read("nope", "node/na").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/page/gateway",
        claim: "ui/gateway-services-nodes needs service:read on the gateway, and shows the services behind it that may be read",
        source: "operator.md 3.r18b",
        run: |t| {
            ready(t);
            let path = format!("{UI}/gateway-services-nodes/t");
            let read = |token: &str| with(t, token, &Request::get(&path));
            let entry = json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "web"}, {"Name": "api"}]});
            with(t, ROOT, &Request::put("/v1/config", entry.to_string())).is(200, "true");
            let (_, web) = granted(t, "p1", r#"service "web" { policy = "read" }"#);
            let (_, gateway) = granted(t, "p2", r#"service "t" { policy = "read" }"#);
            let (_, both) = granted(
                t,
                "p3",
                r#"service "t" { policy = "read" } service "web" { policy = "read" }"#,
            );
            read("").says(403, "Permission denied");
            read(&web).says(403, "Permission denied");
            read(&gateway).is(200, "[]");
            t.same("the services", read(&both).list().len(), 1);
            read(&both)
                .field_is("/0/Name", "web")
                .field_is("/0/Nodes", Value::Null);
        },
        ..BASE
    },
];
