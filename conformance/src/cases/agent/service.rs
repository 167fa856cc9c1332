//! The agent's own services: registered, read, in maintenance, taken away (session.md 4.4, 1.22.md B4.4).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// How long the agent may take to tell the catalog.
const SYNC: Duration = Duration::from_secs(10);

const NEEDS: &[Feature] = &[Feature::AgentRegistration];

/// For what the checks of others on the agent's node have a say in.
const ALONE: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];

const REGISTER: &str = "/v1/agent/service/register";

#[track_caller]
fn register(t: &Trial, body: &Value) {
    t.api_put(REGISTER, body.to_string()).is(200, "");
}

#[track_caller]
fn put(t: &Trial, target: &str) {
    t.api_put(target, "").is(200, "");
}

/// The agent's own service with this id.
#[track_caller]
fn known(t: &Trial, id: &str) -> Value {
    t.api_get("/v1/agent/services").status_is(200).json()[id].clone()
}

/// Polls until the catalog has this many instances of a service, and returns them.
#[track_caller]
fn instances(t: &Trial, name: &str, count: usize) -> Vec<Value> {
    let path = format!("/v1/catalog/service/{name}");
    t.eventually("the catalog has the instances", SYNC, || {
        let found = t.api_get(&path).list();
        (found.len() == count).then_some(found)
    })
}

/// Polls until the checks of a service in the catalog are these.
#[track_caller]
fn checks_are(t: &Trial, name: &str, expected: &[&str]) {
    let path = format!("/v1/health/checks/{name}");
    t.eventually("the catalog has the checks", SYNC, || {
        let found = t.api_get(&path).list();
        let ids: Vec<&str> = found
            .iter()
            .filter_map(|check| check["CheckID"].as_str())
            .collect();
        (ids == expected).then_some(())
    });
}

#[track_caller]
fn health(t: &Trial, by: &str, of: &str) -> String {
    let path = format!("/v1/agent/health/service/{by}/{of}?format=text");
    let answer = t.api_get(&path).header_is("Content-Type", "text/plain");
    format!("{} {}", answer.status(), answer.text())
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/service/registered",
        claim: "A service that is registered with the agent stands in the catalog with all that it has",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("s");
            register(
                t,
                &json!({"ID": id, "Name": id, "Port": 80, "Address": "10.0.0.1", "Tags": ["a", "b"],
                    "Meta": {"k": "v"}, "Weights": {"Passing": 3, "Warning": 2}, "EnableTagOverride": true}),
            );
            let row = &instances(t, &id, 1)[0];
            t.same("port", row["ServicePort"].clone(), json!(80));
            t.same("address", row["ServiceAddress"].clone(), json!("10.0.0.1"));
            t.same("tags", row["ServiceTags"].clone(), json!(["a", "b"]));
            t.same("meta", row["ServiceMeta"].clone(), json!({"k": "v"}));
            t.same(
                "weights",
                row["ServiceWeights"].clone(),
                json!({"Passing": 3, "Warning": 2}),
            );
            let addresses = json!({"lan_ipv4": {"Address": "10.0.0.1", "Port": 80},
                "wan_ipv4": {"Address": "10.0.0.1", "Port": 80}});
            t.same(
                "addresses",
                row["ServiceTaggedAddresses"].clone(),
                addresses,
            );
        },
        ..Case::MUST
    },
    Case {
        id: "agent/services/json-before-1-9",
        claim: "agent/services and agent/service/<id> print a service with exactly these fields, the latter with a hash",
        source: "session.md 4.4",
        until: Some(Version::V1_9),
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("json");
            register(t, &json!({"Name": id, "ID": id}));
            let mut expected = json!({
                "ID": id, "Service": id, "Tags": [], "Meta": {}, "Port": 0, "Address": "",
                "Weights": {"Passing": 1, "Warning": 1}, "EnableTagOverride": false,
            });
            t.same("the service", known(t, &id), expected.clone());
            let answer = t
                .api_get(&format!("/v1/agent/service/{id}"))
                .has_no_header("X-Consul-Index");
            let hash = answer
                .header("X-Consul-Contenthash")
                .unwrap_or_default()
                .to_owned();
            t.check(!hash.is_empty(), "the answer has no hash");
            expected["ContentHash"] = json!(hash);
            t.same("the service", answer.json(), expected);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/unknown-is-404",
        claim: "agent/service/<id> of an unknown service is 404 with a text",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            t.api_get("/v1/agent/service/none")
                .is(404, "unknown service ID: none");
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/parameters",
        claim: "Of a read's parameters one service of the agent knows how long to wait, and nothing of consistency",
        source: "session.md 4.4.r12",
        run: |t| {
            let path = "/v1/agent/service/conformance-nobody";
            t.api_get(&format!("{path}?wait=x"))
                .is(400, "Invalid wait time");
            t.api_get(&format!("{path}?stale&consistent"))
                .status_is(404);
            t.api_get(&format!("{path}?max_stale=x")).status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/service/waits-on-its-hash",
        claim: "A read that knows the hash of a service waits until the service changes; another hash does not wait",
        source: "session.md 4.4",
        needs: &[Feature::AgentRegistration, Feature::Blocking],
        run: |t| {
            let id = t.agent_service("hash");
            register(t, &json!({"Name": id, "ID": id}));
            let path = format!("/v1/agent/service/{id}");
            let hash = t
                .api_get(&path)
                .header("X-Consul-Contenthash")
                .unwrap_or_default()
                .to_owned();
            t.api_get(&format!("{path}?hash=other"))
                .header_is("X-Consul-Contenthash", &hash);
            let waiting = t.start(&Request::get(&format!("{path}?hash={hash}&wait=60s")));
            t.still_blocked(&waiting);
            register(t, &json!({"Name": id, "ID": id, "Port": 7}));
            waiting.answer().status_is(200).field_is("/Port", 7);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/register-refusals",
        claim: "What is wrong with a service is said in this order: name, address, weights, meta, kind, checks",
        source: "session.md 4.4; seen on 1.8.7; session.md trap 9",
        needs: NEEDS,
        run: |t| {
            let kind = "2 errors occurred:\n\t* Proxy.DestinationServiceName must be non-empty for Connect proxy services\n\t* Port must be set for a Connect proxy\n\n";
            for (body, text) in [
                ("", "Request decode failed: EOF"),
                (
                    r#"{"Name":"a","Foo":1}"#,
                    "Request decode failed: json: unknown field \"Foo\"",
                ),
                (
                    r#"{"Service":"a"}"#,
                    "Request decode failed: json: unknown field \"Service\"",
                ),
                (r#"{"ID":"a","Address":"0.0.0.0"}"#, "Missing service name"),
                (
                    r#"{"Name":"a","Address":"0.0.0.0","Weights":{}}"#,
                    "Invalid service address",
                ),
                (r#"{"Name":"a","Address":"::"}"#, "Invalid service address"),
                (
                    r#"{"Name":"a","Weights":{},"Meta":{"":""}}"#,
                    "Invalid Weights: Passing must be greater than 0",
                ),
                (
                    r#"{"Name":"a","Meta":{"a b":"c"},"Kind":"mesh-gateway"}"#,
                    "Invalid Service Meta: Couldn't load metadata pair ('a b', 'c'): Key contains invalid characters",
                ),
                (
                    r#"{"Name":"a","Kind":"connect-proxy","Check":{"TTL":"-1s"}}"#,
                    kind,
                ),
                (
                    r#"{"Name":"a","Check":{"Status":"x","TTL":"-1s"}}"#,
                    "Invalid check: TTL must be > 0 for TTL checks",
                ),
                (
                    r#"{"Name":"a","Check":{"Status":"x","TTL":"1s"}}"#,
                    "Status for checks must 'passing', 'warning', 'critical'",
                ),
            ] {
                t.api_put(REGISTER, body).is(400, text);
            }
        },
        until: Some(Version::V1_9),
        ..Case::SHOULD
    },
    Case {
        id: "agent/service/names-of-its-checks",
        claim: "A service's only check is called service:<id>, several are numbered, and those that have an id keep it",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let one = t.agent_service("one");
            register(t, &json!({"Name": one, "ID": one, "Check": {"TTL": "1h"}}));
            checks_are(t, &one, &[&format!("service:{one}")]);
            let check = &t.api_get(&format!("/v1/health/checks/{one}")).list()[0];
            t.same(
                "name",
                check["Name"].clone(),
                json!(format!("Service '{one}' check")),
            );
            let many = t.agent_service("many");
            let own = format!("own-{many}");
            register(
                t,
                &json!({"Name": many, "ID": many, "Check": {"TTL": "1h"},
                    "Checks": [{"TTL": "1h", "CheckID": own}, {"TTL": "1h"}]}),
            );
            checks_are(
                t,
                &many,
                &[
                    &own,
                    &format!("service:{many}:1"),
                    &format!("service:{many}:3"),
                ],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/replaces-its-checks",
        claim: "Registering a service again adds to its checks; with ?replace-existing-checks it drops the others",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("s");
            let single = format!("service:{id}");
            let (first, second) = (format!("service:{id}:1"), format!("service:{id}:2"));
            register(
                t,
                &json!({"Name": id, "ID": id, "Checks": [{"TTL": "1h"}, {"TTL": "1h"}]}),
            );
            let body = json!({"Name": id, "ID": id, "Check": {"TTL": "1h"}});
            register(t, &body);
            checks_are(t, &id, &[&single, &first, &second]);
            let path = format!("{REGISTER}?replace-existing-checks=false");
            t.api_put(&path, body.to_string()).is(200, "");
            checks_are(t, &id, &[&single, &first, &second]);
            let path = format!("{REGISTER}?replace-existing-checks");
            t.api_put(&path, body.to_string()).is(200, "");
            checks_are(t, &id, &[&single]);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/deregistered",
        claim: "A deregistered service is gone with its checks, from the agent and from the catalog",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let id = t.agent_service("s");
            register(t, &json!({"Name": id, "ID": id, "Check": {"TTL": "1h"}}));
            instances(t, &id, 1);
            put(t, &format!("/v1/agent/service/deregister/{id}"));
            t.same("the service", known(t, &id), Value::Null);
            let checks = t.api_get("/v1/agent/checks").json();
            t.same(
                "its check",
                checks[format!("service:{id}")].clone(),
                Value::Null,
            );
            instances(t, &id, 0);
            checks_are(t, &id, &[]);
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/unknown-before-1-11",
        claim: "Deregistering an unknown service succeeds, unless it has no id; its maintenance is 404",
        source: "session.md 4.4",
        until: Some(Version::V1_11),
        needs: NEEDS,
        run: |t| {
            put(t, "/v1/agent/service/deregister/none");
            t.api_put("/v1/agent/service/deregister/", "")
                .is(500, "ServiceID missing");
            let path = "/v1/agent/service/maintenance/none?enable=true";
            t.api_put(path, "")
                .is(404, "No service registered with ID \"none\"");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/service/unknown-since-1-12",
        claim: "Deregistering an unknown service and its maintenance are 404, and say that the id is meant",
        source: "1.22.md B4.4",
        since: Version::V1_12,
        needs: NEEDS,
        run: |t| {
            let text = "Unknown service ID \"none\". Ensure that the service ID is passed, not the service name.";
            t.api_put("/v1/agent/service/deregister/none", "")
                .is(404, text);
            t.api_put("/v1/agent/service/maintenance/none?enable=true", "")
                .is(404, text);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/health/status-codes",
        claim: "How a service does is a status code: 200, 429 and 503, by its id and by its name",
        source: "session.md 4.4",
        needs: ALONE,
        run: |t| {
            let id = t.agent_service("s");
            register(t, &json!({"Name": id, "ID": id, "Check": {"TTL": "1h"}}));
            for (verb, expected) in [
                ("fail", "503 critical"),
                ("warn", "429 warning"),
                ("pass", "200 passing"),
            ] {
                put(t, &format!("/v1/agent/check/{verb}/service:{id}"));
                for by in ["id", "name"] {
                    t.same("health", health(t, by, &id), expected.to_owned());
                }
            }
            let answer = t.api_get(&format!("/v1/agent/health/service/id/{id}"));
            answer
                .header_is("X-Consul-Reason", "passing")
                .field_is("/AggregatedStatus", "passing");
        },
        ..Case::MUST
    },
    Case {
        id: "agent/health/unknown-is-404",
        claim: "How an unknown service does is 404, and critical, by its id; by its name there is nothing",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let by_id = "/v1/agent/health/service/id/none";
            let nothing = json!({"AggregatedStatus": "critical", "Service": null, "Checks": null});
            let answer = t.api_get(by_id).status_is(404);
            t.same("the answer", answer.json(), nothing);
            answer.header_is("X-Consul-Reason", "ServiceId none not found");
            let answer = t
                .api_get("/v1/agent/health/service/name/none")
                .status_is(404);
            t.same("the answer", answer.json(), json!([]));
            answer.header_is("X-Consul-Reason", "ServiceName none Not Found");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/maintenance/of-a-service",
        claim: "Maintenance of a service is a critical check with the reason as its notes; the first reason stays",
        source: "session.md 4.4",
        needs: ALONE,
        run: |t| {
            let id = t.agent_service("s");
            register(t, &json!({"Name": id, "ID": id}));
            let path = format!("/v1/agent/service/maintenance/{id}");
            t.api_put(&path, "").is(400, "Missing value for enable");
            t.api_put(&format!("{path}?enable=x"), "")
                .is(400, "Invalid value for enable: \"x\"");
            put(t, &format!("{path}?enable=true&reason=why%20not"));
            put(t, &format!("{path}?enable=true&reason=other"));
            checks_are(t, &id, &[&format!("_service_maintenance:{id}")]);
            let check = &t.api_get(&format!("/v1/health/checks/{id}")).list()[0];
            t.same(
                "name",
                check["Name"].clone(),
                json!("Service Maintenance Mode"),
            );
            t.same("notes", check["Notes"].clone(), json!("why not"));
            t.same("status", check["Status"].clone(), json!("critical"));
            t.same("type", check["Type"].clone(), json!("maintenance"));
            t.same("health", health(t, "id", &id), "503 maintenance".to_owned());
            put(t, &format!("{path}?enable=false"));
            checks_are(t, &id, &[]);
            t.same("health", health(t, "id", &id), "200 passing".to_owned());
        },
        ..Case::MUST
    },
    Case {
        id: "agent/maintenance/refusals",
        claim: "Maintenance of the node has to be on or off",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            let path = "/v1/agent/maintenance";
            t.api_put(path, "").is(400, "Missing value for enable");
            t.api_put(&format!("{path}?enable="), "")
                .is(400, "Invalid value for enable: \"\"");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/maintenance/of-the-node",
        claim: "Maintenance of the node is a critical check of the node that ends no session, and goes with it",
        source: "session.md 3.1, 4.4, trap 25",
        needs: ALONE,
        run: |t| {
            let session = t.session("{}");
            put(t, "/v1/agent/maintenance?enable=true");
            let path = "/v1/health/state/critical";
            let check = t.eventually("the catalog knows", SYNC, || t.api_get(path).list().pop());
            t.same("id", check["CheckID"].clone(), json!("_node_maintenance"));
            let reason = "Maintenance mode is enabled for this node, but no reason was provided. This is a default message.";
            t.same("notes", check["Notes"].clone(), json!(reason));
            let info = t.api_get(&format!("/v1/session/info/{session}")).list();
            t.same("the session", info.len(), 1);
            put(t, "/v1/agent/maintenance?enable=false");
            t.eventually("the check goes", SYNC, || {
                t.api_get(path).list().is_empty().then_some(())
            });
        },
        ..Case::MUST
    },
    Case {
        id: "agent/service/content-hash-before-1-10",
        claim: "The hash of a service's content follows from its fields alone",
        source: "session.md 4.4",
        until: Some(Version::V1_10),
        needs: HASHED,
        run: |t| {
            hashes(
                t,
                &[
                    (r#"{"Name":"a"}"#, "d9520ded3001b3c4"),
                    (r#"{"Name":"a","Port":8}"#, "daf7b3d7b8f03de2"),
                    (TAGGED, "a30f204d54e5e830"),
                    (
                        r#"{"Name":"a","Connect":{"Native":true}}"#,
                        "529d23323da93606",
                    ),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/service/content-hash-without-what-is-not-shown",
        claim: "The settings of a proxy that a service does not show, because it has no kind, are no part of its hash",
        source: "session.md 4.4.r12",
        needs: HASHED,
        run: |t| {
            let hash = |more: Value| {
                let mut service = json!({"Name": "a"});
                for (name, value) in more.as_object().into_iter().flatten() {
                    service[name] = value.clone();
                }
                t.api_put("/v1/agent/service/register", service.to_string())
                    .is(200, "");
                t.api_get("/v1/agent/service/a").json()["ContentHash"].clone()
            };
            let plain = hash(json!({}));
            let hidden = json!({"Proxy": {"DestinationServiceName": "x", "Config": {"a": 1}}});
            t.same("the hash", hash(hidden), plain);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/service/content-hash-since-1-22",
        claim: "The hash of a service's content counts SocketPath, PeerName and Ports, also where they are not set",
        source: "1.22.md B4.2q",
        since: Version::V1_22,
        until: Some(Version::new(2, 1, 0)),
        needs: HASHED,
        run: |t| hashes(t, &[(TAGGED, "ca72f316b779bc4")]),
        ..Case::REAL
    },
];

const HASHED: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];
const TAGGED: &str = r#"{"Name":"a","Tags":["x","y"],"Meta":{"m":"1"}}"#;

fn hashes(t: &Trial, services: &[(&str, &str)]) {
    for (body, hash) in services {
        t.api_put("/v1/agent/service/register", body).is(200, "");
        t.api_get("/v1/agent/service/a")
            .field_is("/ContentHash", json!(hash))
            .header_is("X-Consul-Contenthash", hash);
    }
}
