//! `catalog/register`: what a registration must hold, and what it writes (session.md 4.2).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, register};
use crate::cases::support::session::leaves_alone;
use crate::wire::Request;
use crate::wire::answer::Answer;

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "session.md 4.2";
const REGISTER: &str = "/v1/catalog/register";

/// A registration of this node with these further fields, whatever comes of it.
fn try_register(t: &Trial, node: &str, fields: &Value) -> Answer {
    let mut body = json!({"Node": node, "Address": "127.0.0.1"});
    extend(&mut body, fields);
    t.api_put(REGISTER, body.to_string())
}

/// Adds the fields of an object to another.
fn extend(object: &mut Value, fields: &Value) {
    if let (Some(object), Some(fields)) = (object.as_object_mut(), fields.as_object()) {
        object.extend(fields.clone());
    }
}

/// The check of this id as `health/node` shows it.
#[track_caller]
fn shown(t: &Trial, node: &str, id: &str) -> Value {
    let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
    let found = checks.into_iter().find(|check| check["CheckID"] == id);
    found.unwrap_or_default()
}

/// The node's row as `catalog/node` shows it.
#[track_caller]
fn row(t: &Trial, node: &str) -> Value {
    t.api_get(&format!("/v1/catalog/node/{node}")).json()["Node"].clone()
}

/// The node is not there.
#[track_caller]
fn is_not_registered(t: &Trial, node: &str) {
    t.api_get(&format!("/v1/catalog/node/{node}"))
        .is(200, "null");
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/register/node-and-address",
        claim: "A registration needs the name of a node, and an address unless the node's row is left alone",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            for body in ["{}", "null", r#"{"Address":"127.0.0.1"}"#] {
                t.api_put(REGISTER, body).is(500, "Must provide node");
            }
            let node = t.node("n");
            let bare = json!({"Node": node}).to_string();
            t.api_put(REGISTER, bare)
                .is(500, "Must provide address if SkipNodeUpdate is not set");
            is_not_registered(t, &node);
            let skipped = json!({"Node": node, "SkipNodeUpdate": true}).to_string();
            t.api_put(REGISTER, skipped).is(200, "true");
            t.same("Address", row(t, &node)["Address"].clone(), json!(""));
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/bodies",
        claim: "A registration that is empty, cut off, no object or of wrong kinds is 400",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            t.api_put(REGISTER, "")
                .is(400, "Request decode failed: EOF");
            t.api_put(REGISTER, "{")
                .is(400, "Request decode failed: unexpected EOF");
            for body in [
                "[]",
                r#"{"Node":5}"#,
                r#"{"Node":"n","Address":[]}"#,
                r#"{"Node":"n","Address":"a","Service":"s"}"#,
                r#"{"Node":"n","Address":"a","Check":{"Status":1}}"#,
                r#"{"Node":"n","Address":"a","NodeMeta":{"a":1}}"#,
                r#"{"Node":"n","Address":"a","Check":{"Definition":{"Interval":"soon"}}}"#,
            ] {
                t.api_put(REGISTER, body)
                    .says(400, "Request decode failed: ");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/unknown-fields",
        claim: "A field that a registration, its service or its check does not have is 400 and named",
        source: "session.md 0.13, trap 9",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for fields in [
                json!({"Bogus": 1}),
                json!({"Service": {"Service": "s", "Bogus": 1}}),
                json!({"Check": {"CheckID": "c", "Bogus": 1}}),
                json!({"Checks": [{"CheckID": "c", "Bogus": 1}]}),
            ] {
                try_register(t, &node, &fields)
                    .says(400, r#"Request decode failed: json: unknown field "Bogus""#);
            }
            is_not_registered(t, &node);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/other-datacenter",
        claim: "A registration for a datacenter that is not there is 500, and one that names the own one is not",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            try_register(t, &node, &json!({"Datacenter": "none"})).is(500, "No path to datacenter");
            is_not_registered(t, &node);
            try_register(t, &node, &json!({"Datacenter": t.facts().datacenter})).is(200, "true");
            t.same(
                "Datacenter",
                row(t, &node)["Datacenter"].clone(),
                json!(t.facts().datacenter),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/register/service-name",
        claim: "A service with an id needs a name, and one without an id has its name as its id",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            try_register(t, &node, &json!({"Service": {"ID": "s1"}}))
                .says(500, "Must provide service name");
            is_not_registered(t, &node);
            register(t, &node, &json!({"Service": {"Service": "named"}}));
            let shown = t.api_get(&format!("/v1/catalog/node/{node}"));
            shown.field_is("/Services/named/Service", "named");
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/service-name-before-1-13",
        claim: "A service with an id and no name is 500 with a short text",
        source: "session.md 4.2, 1.22.md B4.2",
        until: Some(Version::V1_13),
        needs: NEEDS,
        run: |t| {
            try_register(t, &t.node("n"), &json!({"Service": {"ID": "s1"}}))
                .is(500, "Must provide service name with ID");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/service-name-since-1-14",
        claim: "A service with an id and no name is 500 with a text that tells the fields",
        source: "1.22.md B4.2",
        since: Version::new(1, 14, 0),
        needs: NEEDS,
        run: |t| {
            try_register(t, &t.node("n"), &json!({"Service": {"ID": "s1"}})).is(
                500,
                "Must provide service name (Service.Service) when service ID is provided",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/empty-service-before-1-21-2",
        claim: "A service with neither id nor name is 500 in the words of the store",
        source: "1.22.md B4.2",
        until: Some(Version::new(1, 21, 2)),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            try_register(t, &node, &json!({"Service": {}})).is(
                500,
                "failed inserting service: failed inserting service: object missing primary index",
            );
            is_not_registered(t, &node);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/empty-service-since-1-21-2",
        claim: "A service with neither id nor name is 500 with a text that tells the fields",
        source: "1.22.md B4.2",
        since: Version::new(1, 21, 2),
        needs: NEEDS,
        run: |t| {
            try_register(t, &t.node("n"), &json!({"Service": {}})).is(
                500,
                "service name (Service.Service) is required; both Service ID (Service.ID) and Service Name cannot be empty",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-of-another-node",
        claim: "A check that names another node than the registration is 500, whichever of the two fields it stands in",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let other = json!({"Node": "other", "CheckID": "c", "Name": "c"});
            for fields in [json!({"Check": other}), json!({"Checks": [other]})] {
                try_register(t, &node, &fields).says(500, "other");
            }
            is_not_registered(t, &node);
            let own = json!({"Node": node, "CheckID": "c", "Name": "c"});
            register(t, &node, &json!({"Check": own}));
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/check-of-another-node-before-1-11",
        claim: "The node that a check names is compared letter by letter, and the refusal names both",
        source: "session.md 4.2",
        until: Some(Version::new(1, 11, 0)),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let upper = node.to_uppercase();
            for other in ["other", &upper] {
                let check = json!({"Node": other, "CheckID": "c", "Name": "c"});
                try_register(t, &node, &json!({"Check": check})).is(
                    500,
                    &format!("check node \"{other}\" does not match node \"{node}\""),
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-of-another-node-since-1-11",
        claim: "The node that a check names is compared without case, and the refusal names both and the check",
        source: "1.22.md B4.2",
        since: Version::new(1, 11, 0),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let check = json!({"Node": "other", "CheckID": "c", "Name": "c"});
            try_register(t, &node, &json!({"Check": check})).is(
                500,
                &format!("Node 'other' for check 'c' doesn't match register request node '{node}'"),
            );
            let upper = json!({"Node": node.to_uppercase(), "CheckID": "c", "Name": "c"});
            register(t, &node, &json!({"Check": upper}));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-of-an-unknown-service",
        claim: "A check of a service that its node does not have is 500, and nothing of its registration stays",
        source: "session.md 4.2; 1.22.md B4.2",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let check = json!({"CheckID": "c", "Name": "c", "ServiceID": "none"});
            let fields = json!({"Service": {"Service": "some"}, "Check": check});
            let expected = if t.since(Version::new(1, 11, 0)) {
                "Unknown service ID 'none' for check ID 'c'".to_owned()
            } else {
                format!("failed inserting check: Missing service registration on node \"{node}\"")
            };
            try_register(t, &node, &fields).is(500, &expected);
            is_not_registered(t, &node);
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/register/check-without-id",
        claim: "A check has its name as its id, and one without both is 500",
        source: SOURCE,
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            try_register(t, &node, &json!({"Check": {"Status": "passing"}})).is(
                500,
                &format!("failed inserting check: failed inserting check: object missing primary index on node \"{node}\""),
            );
            is_not_registered(t, &node);
            register(
                t,
                &node,
                &json!({"Check": {"Name": "a name", "Status": "passing"}}),
            );
            let check = shown(t, &node, "a name");
            t.same("Name", check["Name"].clone(), json!("a name"));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/status",
        claim: "A check without a status is critical, and any other text is stored as it is",
        source: "session.md 4.2, trap 26",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            register(
                t,
                &node,
                &json!({"Check": {"CheckID": "none", "Name": "c"}}),
            );
            for status in ["passing", "warning", "critical", "Nonsense"] {
                check(t, &node, status, status);
            }
            let status = |id: &str| shown(t, &node, id)["Status"].clone();
            t.same("the status of none", status("none"), json!("critical"));
            for id in ["passing", "warning", "critical", "Nonsense"] {
                t.same("Status", status(id), json!(id));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/check-and-checks",
        claim: "Check and Checks are registered together, one index for all, with the service and the node",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let named = |id: &str| json!({"CheckID": id, "Name": id, "Status": "passing"});
            let fields = json!({
                "Service": {"Service": "some"}, "Check": named("one"), "Checks": [named("two"), named("three")],
            });
            register(t, &node, &fields);
            let index = row(t, &node)["ModifyIndex"].clone();
            for id in ["one", "two", "three"] {
                t.same(
                    "ModifyIndex",
                    shown(t, &node, id)["ModifyIndex"].clone(),
                    index.clone(),
                );
            }
            let services = t.api_get(&format!("/v1/catalog/node/{node}"));
            services.field_is("/Services/some/ModifyIndex", index);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/identical",
        claim: "What is registered again as it is keeps its indexes",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let fields = json!({
                "Service": {"Service": "some", "Tags": ["a"]}, "Check": {"CheckID": "c", "Name": "c", "Status": "passing"},
            });
            register(t, &node, &fields);
            let whole = || {
                let node_and_services = t.api_get(&format!("/v1/catalog/node/{node}")).json();
                (node_and_services, shown(t, &node, "c"))
            };
            let before = whole();
            register(t, &node, &fields);
            t.same("what is registered", whole(), before);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/empty-is-not-unset",
        claim: "An empty list or object where there was none before is a change: ModifyIndex moves, though the same is shown",
        source: "session.md 4.2, 4.2.r17b",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let proxy = |fields: Value| {
                let mut proxy = json!({"DestinationServiceName": "web"});
                extend(&mut proxy, &fields);
                json!({"Service": {"ID": "px", "Service": "px", "Kind": "connect-proxy", "Port": 9, "Proxy": proxy}})
            };
            let definition = |fields: Value| json!({"Check": {"CheckID": "c", "Name": "c", "Definition": fields}});
            for (unset, empty) in [
                (proxy(json!({})), proxy(json!({"Upstreams": []}))),
                (proxy(json!({})), proxy(json!({"Expose": {"Paths": []}}))),
                (definition(json!({})), definition(json!({"Header": {}}))),
            ] {
                let mut indexes = Vec::new();
                let mut shown = [&unset, &empty, &empty].map(|fields| {
                    register(t, &node, fields);
                    let service = t.api_get(&format!("/v1/catalog/node/{node}")).json()["Services"]
                        ["px"]
                        .clone();
                    let check = shown(t, &node, "c");
                    if fields["Check"].is_null() {
                        service
                    } else {
                        check
                    }
                });
                for row in &mut shown {
                    indexes.push(row["ModifyIndex"].as_u64().unwrap_or_default());
                    row["ModifyIndex"] = Value::Null;
                }
                t.same("what is shown", &shown[1], &shown[0]);
                t.grew("ModifyIndex", indexes[0], indexes[1]);
                t.same("ModifyIndex of the same again", indexes[2], indexes[1]);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/identical-check-wakes-before-1-9",
        claim: "A check that is registered again as it is moves the index of all checks, and wakes who waits for the checks of its node",
        source: "session.md 4.2 (until 1.9.0)",
        until: Some(Version::new(1, 9, 0)),
        needs: &[Feature::OwnServer, Feature::Registration, Feature::Blocking],
        run: |t| {
            let node = t.node("n");
            check(t, &node, "c", "passing");
            let path = format!("/v1/health/node/{node}");
            let before = t.api_get(&path);
            let index = before.index();
            let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
            t.still_blocked(&waiting);
            check(t, &node, "c", "passing");
            let answer = waiting.answer();
            t.grew("the index of all checks", index, answer.index());
            t.same("the checks", answer.json(), before.json());
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/identical-check-is-still-since-1-9",
        claim: "A check that is registered again as it is moves no index",
        source: "1.22.md B3",
        since: Version::new(1, 9, 0),
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let node = t.node("n");
            check(t, &node, "c", "passing");
            let path = format!("/v1/health/node/{node}");
            leaves_alone(
                t,
                "the index of all checks",
                || t.api_get(&path).index(),
                || check(t, &node, "c", "passing"),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/node-is-replaced",
        claim: "The node's row is replaced as a whole: what is not given again is cleared, unless SkipNodeUpdate leaves the row alone",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let full = json!({"NodeMeta": {"a": "b"}, "TaggedAddresses": {"lan": "127.0.0.1"}});
            register(t, &node, &full);
            let before = row(t, &node);
            t.same("Meta", before["Meta"].clone(), json!({"a": "b"}));
            let other = json!({"Address": "127.0.0.9", "SkipNodeUpdate": true, "Service": {"Service": "s"}});
            register(t, &node, &other);
            t.same("the node's row", row(t, &node), before.clone());
            register(t, &node, &json!({}));
            let after = row(t, &node);
            t.same("Meta", after["Meta"].clone(), Value::Null);
            t.same(
                "TaggedAddresses",
                after["TaggedAddresses"].clone(),
                Value::Null,
            );
            t.same("CreateIndex", &after["CreateIndex"], &before["CreateIndex"]);
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/register/definition",
        claim: "The definition of a check is shown: its interval, timeout and term as texts, whatever they were sent as",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let definition = json!({
                "HTTP": "http://127.0.0.1:1/", "Method": "HEAD", "Header": {"a": ["b"]}, "Interval": "5s",
                "Timeout": 1_000_000_000, "DeregisterCriticalServiceAfter": "90m",
            });
            let check =
                json!({"CheckID": "c", "Name": "c", "Status": "passing", "Definition": definition});
            register(t, &node, &json!({"Check": check}));
            let shown = shown(t, &node, "c")["Definition"].clone();
            for (field, expected) in [
                ("HTTP", json!("http://127.0.0.1:1/")),
                ("Method", json!("HEAD")),
                ("Header", json!({"a": ["b"]})),
                ("Interval", json!("5s")),
                ("Timeout", json!("1s")),
                ("DeregisterCriticalServiceAfter", json!("1h30m0s")),
            ] {
                t.same(field, shown[field].clone(), expected);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/register/no-timers",
        claim: "The catalog runs no checks: one with a TTL stays as it was registered",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let check = json!({
                "CheckID": "c", "Name": "c", "Status": "passing", "Definition": {"TTL": "1s"},
            });
            register(t, &node, &json!({"Check": check}));
            let before = shown(t, &node, "c");
            t.same("Status", before["Status"].clone(), json!("passing"));
            t.pass(std::time::Duration::from_secs(3));
            t.same("the check", shown(t, &node, "c"), before);
        },
        ..Case::MUST
    },
];
