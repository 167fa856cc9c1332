//! Rights on nodes and services: registrations, and what reads of the catalog and of health show (acl.md 7).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{NOBODY, ROOT, SETTINGS, granted, ready, shown, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies, Feature::Registration],
    settings: SETTINGS,
    ..Case::SHOULD
};
const DENIED: &str = "Permission denied";
const FILTERED: &str = "X-Consul-Results-Filtered-By-Acls";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/register/node",
        claim: "A new or changed node needs node:write; who repeats an unchanged one, in later releases in any case, or leaves it as it is, needs nothing",
        source: "acl.md 7.r4, trap 2",
        run: |t| {
            ready(t);
            let (_, node) = granted(t, "p1", r#"node "w1" { policy = "write" }"#);
            let (_, service) = granted(t, "p2", r#"service "web" { policy = "write" }"#);
            let plain = json!({"Node": "w1", "Address": "1.2.3.4"});
            register(t, "", &plain).says(403, DENIED);
            register(t, &service, &plain).says(403, DENIED);
            register(t, &node, &plain).is(200, "true");
            register(t, "", &plain).is(200, "true");
            for (field, value) in [
                ("Node", json!("W1")),
                ("Address", json!("1.2.3.5")),
                ("ID", json!("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")),
                ("NodeMeta", json!({"a": "b"})),
                ("NodeMeta", json!({})),
                ("TaggedAddresses", json!({"lan": "1.1.1.1"})),
            ] {
                let mut changed = plain.clone();
                changed[field] = value;
                let repeated = register(t, "", &changed);
                if field == "Node" && t.since(Version::V1_22) {
                    repeated.is(200, "true");
                } else {
                    repeated.says(403, DENIED);
                }
                changed["SkipNodeUpdate"] = json!(true);
                let left = register(t, "", &changed);
                if field == "Node" {
                    left.status_is_one_of(&[200, 403]);
                } else {
                    left.is(200, "true");
                }
            }
            register(t, "", &json!({"Node": "new", "SkipNodeUpdate": true})).says(403, DENIED);
            register(t, &node, &json!({"Node": "w2", "Address": "1.2.3.4"})).says(403, DENIED);
        },
        ..BASE
    },
    Case {
        id: "acl/register/service",
        claim: "A service needs service:write on the name sent and on the name that now has its id",
        source: "acl.md 7.r4",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let service =
                |token: &str, service: Value| register(t, token, &of_w1("Service", service));
            service("", json!({"Service": "web"})).says(403, DENIED);
            service(&tokens.node, json!({"Service": "web"})).says(403, DENIED);
            service(&tokens.service, json!({"ID": "web-9", "Service": "web"})).is(200, "true");
            service(&tokens.service, json!({"ID": "db-1", "Service": "web"})).says(403, DENIED);
            service(&tokens.service, json!({"ID": "web-1", "Service": "db"})).says(403, DENIED);
        },
        ..BASE
    },
    Case {
        id: "acl/register/check",
        claim: "A check needs node:write, and one of a service service:write on the name of its service, whatever name is sent",
        source: "acl.md 7.r4",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let check = |token: &str, check: Value| register(t, token, &of_w1("Check", check));
            let own = |service: &str| json!({"CheckID": "c9", "ServiceID": service});
            check(&tokens.service, json!({"CheckID": "c8"})).says(403, DENIED);
            check(&tokens.node, json!({"CheckID": "c8"})).is(200, "true");
            check(&tokens.service, own("db-1")).says(403, DENIED);
            let named = json!({"CheckID": "c9", "ServiceID": "db-1", "ServiceName": "web"});
            check(&tokens.service, named).says(403, DENIED);
            check(&tokens.node, own("web-1")).says(403, DENIED);
            check(&tokens.service, own("web-1")).is(200, "true");
            let mut both = of_w1("Service", json!({"ID": "web-8", "Service": "web"}));
            both["Checks"] = json!([{"CheckID": "c10", "ServiceID": "web-8"}]);
            register(t, &tokens.service, &both).is(200, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/register/unknown-service",
        claim: "A check of a missing service, or of another node, is refused in the words of the step that asks for rights",
        source: "acl.md 7.r4",
        until: Some(Version::V1_11),
        run: |t| {
            let tokens = Tokens::prepared(t);
            for token in [&tokens.node, &tokens.service, ROOT] {
                let check = json!({"CheckID": "c9", "ServiceID": "none"});
                register(t, token, &of_w1("Check", check))
                    .is(500, "Unknown service 'none' for check 'c9'");
                let check = json!({"Node": "w2", "CheckID": "c9", "Status": "passing"});
                register(t, token, &of_w1("Check", check)).is(
                    500,
                    "Node 'w2' for check 'c9' doesn't match register request node 'w1'",
                );
            }
        },
        ..BASE
    },
    Case {
        id: "acl/register/order",
        claim: "JSON and datacenter come before the token, the token before the node, the service and its rights last",
        source: "acl.md 2.9, 2.10",
        run: |t| {
            ready(t);
            register(t, NOBODY, &json!({"Foo": 1})).status_is(400);
            register(t, NOBODY, &json!({"Node": "", "Datacenter": "dc9"}))
                .is(500, "No path to datacenter");
            register(t, NOBODY, &json!({"Node": ""})).says(403, "ACL not found");
            register(t, "", &json!({"Node": ""})).is(500, "Must provide node");
            let service = json!({"Service": "web", "Address": "0.0.0.0"});
            register(t, "", &of_w1("Service", service)).is(500, "Invalid service address");
        },
        ..BASE
    },
    Case {
        id: "acl/deregister/rights",
        claim: "node:write allows everything; else a service needs service:write on its name, a check that of its service",
        source: "acl.md 7.r5",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let gone = |token: &str, what: Value| deregister(t, token, &what);
            gone(&tokens.service, json!({"Node": "w1"})).says(403, DENIED);
            gone(&tokens.service, json!({"Node": "w1", "ServiceID": "db-1"})).says(403, DENIED);
            gone(&tokens.service, json!({"Node": "w1", "CheckID": "of-db"})).says(403, DENIED);
            gone(&tokens.service, json!({"Node": "w1", "CheckID": "of-node"})).says(403, DENIED);
            gone(&tokens.service, json!({"Node": "w1", "CheckID": "OF-WEB"})).is(200, "true");
            gone(&tokens.service, json!({"Node": "W1", "ServiceID": "web-1"})).is(200, "true");
            // The right goes by the name as it is sent.
            gone(&tokens.node, json!({"Node": "W1", "ServiceID": "db-1"})).says(403, DENIED);
            gone(&tokens.node, json!({"Node": "w1", "ServiceID": "none"})).is(200, "true");
            gone(&tokens.node, json!({"Node": "w1", "ServiceID": "db-1"})).is(200, "true");
            gone(&tokens.node, json!({"Node": "w2"})).says(403, DENIED);
            gone("", json!({"Node": "none"})).says(403, DENIED);
            gone(&tokens.node, json!({"Node": "w1"})).is(200, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/deregister/unknown",
        claim: "Who may not write the node is told that a service or check is unknown",
        source: "acl.md 7.r5",
        until: Some(Version::V1_11),
        run: |t| {
            let tokens = Tokens::prepared(t);
            for node in ["w1", "none"] {
                deregister(t, &tokens.service, &json!({"Node": node, "ServiceID": "x"}))
                    .is(500, "Unknown service 'x'");
                deregister(t, "", &json!({"Node": node, "CheckID": "x"}))
                    .is(500, "Unknown check 'x'");
            }
            deregister(t, NOBODY, &json!({"Node": "w1", "CheckID": "x"}))
                .says(403, "ACL not found");
            deregister(t, NOBODY, &json!({"Node": ""})).is(500, "Must provide node");
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/nodes",
        claim: "catalog/nodes shows the nodes that the token may read, with the index of all",
        source: "acl.md 7.r6",
        run: |t| {
            t.not_compared("the indexes of the server's own rows move by themselves");
            let tokens = Tokens::prepared(t);
            let all = read(t, ROOT, "catalog/nodes");
            let some = read(t, &tokens.reads, "catalog/nodes");
            t.same("nodes", shown(&some, "/Node"), vec!["w1".to_owned()]);
            t.same("the index", some.index(), all.index());
            read(t, "", "catalog/nodes").is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/services",
        claim: "catalog/services shows the services that the token may read, if it may read a node that has them",
        source: "acl.md 7.r7, 13.r18",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let services = read(t, &tokens.reads, "catalog/services").status_is(200);
            t.same("services", services.json(), json!({"web": []}));
            read(t, "", "catalog/services").is(200, "{}");
            read(t, &tokens.nodes, "catalog/services").is(200, "{}");
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/instances",
        claim: "Instances of a service are shown to who may read the service and their node",
        source: "acl.md 7.r8",
        run: |t| {
            let tokens = Tokens::prepared(t);
            for (path, node) in [
                ("catalog/service/web", "/Node"),
                ("health/service/web", "/Node/Node"),
                ("health/checks/web", "/Node"),
            ] {
                let some = read(t, &tokens.reads, path);
                t.same(path, shown(&some, node), vec!["w1".to_owned()]);
                for token in ["", &tokens.nodes, &tokens.services] {
                    read(t, token, path).is(200, "[]");
                }
                let index = read(t, ROOT, path).index();
                t.same("the index", read(t, "", path).index(), index);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/node",
        claim: "catalog/node is null without a right on the node, and filters services by their ids",
        source: "acl.md 7.r9, trap 13",
        run: |t| {
            let tokens = Tokens::prepared(t);
            for token in ["", &tokens.services] {
                read(t, token, "catalog/node/w1")
                    .is(200, "null")
                    .has_header("X-Consul-Index");
            }
            read(t, &tokens.reads, "catalog/node/w1")
                .status_is(200)
                .field_is("/Node/Node", "w1")
                .field_is("/Services", json!({}));
            let (_, by_id) = granted(
                t,
                "by-id",
                r#"node "w1" { policy = "read" } service "web-1" { policy = "read" }"#,
            );
            let seen = read(t, &by_id, "catalog/node/w1").status_is(200);
            let seen = seen.field_is("/Services/web-1/Service", "web");
            t.check(seen.json()["Services"].get("db-1").is_none(), "db is shown");
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/node-by-id",
        claim: "Who reads a node by its id needs a right on its name",
        source: "session.md 4.5.r12, acl.md 7.r9",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            ready(t);
            let id = "dec0de00-0000-4000-8000-000000000000";
            register(t, ROOT, &of_w1("ID", json!(id))).is(200, "true");
            let right = |name: &str, node: &str| {
                granted(t, name, &format!(r#"node "{node}" {{ policy = "read" }}"#)).1
            };
            let path = "catalog/node/dec0de00";
            let by_name = read(t, &right("by-name", "w1"), path).status_is(200);
            by_name.field_is("/Node/Node", "w1");
            for (name, right_on) in [("by-start", "dec0de00"), ("by-id", id)] {
                read(t, &right(name, right_on), path).is(200, "null");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/node-services",
        claim: "catalog/node-services is null without a right on the node, and filters services by name; nothing left is []",
        source: "acl.md 7.r10",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let path = "catalog/node-services/w1";
            let nothing = json!({"Node": null, "Services": null});
            t.same("services", read(t, "", path).status_is(200).json(), nothing);
            let seen = read(t, &tokens.reads, path).status_is(200);
            t.same(
                "services",
                seen.json()["Services"].as_array().map_or(0, Vec::len),
                1,
            );
            seen.field_is("/Services/0/ID", "web-1");
            read(t, &tokens.nodes, path)
                .status_is(200)
                .field_is("/Node/Node", "w1")
                .field_is("/Services", json!([]));
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/checks",
        claim: "Checks need node:read, and those with the name of a service service:read on it, too",
        source: "acl.md 7.r11",
        run: |t| {
            let tokens = Tokens::prepared(t);
            let named = json!({"CheckID": "named", "ServiceName": "zzz"});
            register(t, ROOT, &of_w1("Check", named)).is(200, "true");
            for path in ["health/node/w1", "health/state/critical"] {
                let of = |token: &str| shown(&read(t, token, path), "/CheckID");
                t.same(
                    path,
                    of(&tokens.reads),
                    vec!["of-node".to_owned(), "of-web".to_owned()],
                );
                t.same(path, of(&tokens.nodes), vec!["of-node".to_owned()]);
                for token in ["", &tokens.services] {
                    read(t, token, path).is(200, "[]");
                }
            }
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/connect",
        claim: "Without service:read, proxies and gateways of a service are [] with index 1 and no known leader, and nothing blocks",
        source: "acl.md 7.r12, 7.r44, 13.r19",
        until: Some(Version::V1_9),
        run: |t| {
            let tokens = Tokens::prepared(t);
            for path in [
                "catalog/connect/web",
                "health/connect/web",
                "health/ingress/web",
                "health/connect/web?filter=bad",
                "health/connect/web?index=1000000",
            ] {
                for token in ["", &tokens.nodes] {
                    read(t, token, path)
                        .is(200, "[]")
                        .header_is("X-Consul-Index", "1")
                        .header_is("X-Consul-Knownleader", "false");
                }
                read(t, NOBODY, path).says(403, "ACL not found");
            }
            for path in ["catalog/connect/web", "health/connect/web"] {
                read(t, &tokens.services, path)
                    .is(200, "[]")
                    .header_is("X-Consul-Knownleader", "true");
            }
            let path = "catalog/gateway-services/web";
            read(t, "", path)
                .is(403, DENIED)
                .header_is("X-Consul-Index", "1");
            read(t, &tokens.services, path).status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/unknown-token",
        claim: "An unknown token is 403 with the headers of a read; after paths, parameters and datacenter, and for instances before the filter",
        source: "acl.md 2.5, 2.9, 2.11.r10",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for path in [
                "catalog/nodes",
                "catalog/services",
                "catalog/service/web",
                "catalog/service/web?filter=bad",
                "catalog/connect/web",
                "catalog/node/w1",
                "catalog/node-services/w1",
                "health/node/w1",
                "health/state/any",
                "health/checks/web",
                "health/service/web",
                "health/service/web?filter=bad",
                "health/service/web?passing=x",
                "coordinate/nodes",
                "coordinate/node/w1",
                "connect/intentions",
            ] {
                read(t, NOBODY, path)
                    .is(403, "ACL not found")
                    .header_is("X-Consul-Index", "1")
                    .header_is("X-Consul-Knownleader", "false");
            }
            for path in [
                "catalog/nodes?filter=bad",
                "catalog/node/w1?filter=bad",
                "health/state/any?filter=bad",
                "catalog/nodes?dc=other",
            ] {
                read(t, NOBODY, path).status_is(500);
            }
            for path in ["catalog/nodes?index=x", "catalog/service/", "health/state/"] {
                read(t, NOBODY, path).status_is(400);
            }
            for path in ["catalog/datacenters", "coordinate/datacenters"] {
                read(t, NOBODY, path).status_is(200);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/catalog/filtered-is-said-since-1-11",
        claim: "Reads of the catalog and of health say that they were filtered, also where nothing is left, but not to the anonymous token",
        source: "acl.md 2.12",
        since: Version::V1_11,
        run: |t| {
            let tokens = Tokens::prepared(t);
            for path in [
                "catalog/nodes",
                "catalog/services",
                "catalog/node/w1",
                "catalog/node-services/w1",
                "health/node/w1",
                "health/state/critical",
            ] {
                read(t, &tokens.reads, path).header_is(FILTERED, "true");
                read(t, "", path).has_no_header(FILTERED);
                read(t, ROOT, path).has_no_header(FILTERED);
            }
            for path in [
                "catalog/service/web",
                "health/service/web",
                "health/checks/web",
            ] {
                read(t, &tokens.nodes, path).header_is(FILTERED, "true");
                read(t, &tokens.reads, path).has_no_header(FILTERED);
            }
        },
        ..BASE
    },
];

/// Tokens with different rights, on a server with a node `w1` that has a service `web` and a service `db`.
struct Tokens {
    /// Writes the node.
    node: String,
    /// Writes `web`.
    service: String,
    /// Reads the node and `web`.
    reads: String,
    /// Reads all nodes.
    nodes: String,
    /// Reads all services.
    services: String,
}

impl Tokens {
    fn prepared(t: &Trial) -> Self {
        ready(t);
        let check = |id: &str, service: &str| json!([{"CheckID": id, "ServiceID": service}]);
        let mut web = of_w1("Service", json!({"ID": "web-1", "Service": "web"}));
        web["Checks"] = check("of-web", "web-1");
        let mut db = of_w1("Service", json!({"ID": "db-1", "Service": "db"}));
        db["Checks"] = check("of-db", "db-1");
        let node = of_w1("Check", json!({"CheckID": "of-node"}));
        for body in [web, db, node] {
            register(t, ROOT, &body).is(200, "true");
        }
        let with_rules = |name: &str, rules: &str| granted(t, name, rules).1;
        Self {
            node: with_rules("node", r#"node "w1" { policy = "write" }"#),
            service: with_rules("service", r#"service "web" { policy = "write" }"#),
            reads: with_rules(
                "reads",
                r#"node "w1" { policy = "read" } service "web" { policy = "read" }"#,
            ),
            nodes: with_rules("nodes", r#"node_prefix "" { policy = "read" }"#),
            services: with_rules("services", r#"service_prefix "" { policy = "read" }"#),
        }
    }
}

/// A registration of the node `w1`, unchanged, with one thing more.
fn of_w1(field: &str, what: Value) -> Value {
    let mut body = json!({"Node": "w1", "Address": "1.2.3.4"});
    body[field] = what;
    body
}

fn register(t: &Trial, token: &str, body: &Value) -> Answer {
    let request = Request::put("/v1/catalog/register", body.to_string());
    with(t, token, &request)
}

fn deregister(t: &Trial, token: &str, body: &Value) -> Answer {
    let request = Request::put("/v1/catalog/deregister", body.to_string());
    with(t, token, &request)
}

fn read(t: &Trial, token: &str, path: &str) -> Answer {
    with(t, token, &Request::get(&format!("/v1/{path}")))
}
