//! The indexes that reads of the catalog and of health show, and what moves them (session.md 4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register, service_check};
use crate::cases::support::session::{QUIET, leaves_alone};

const NEEDS: &[Feature] = &[Feature::Registration];
const OWN_SERVER: &[Feature] = &[Feature::OwnServer, Feature::Registration];

const NODES: &str = "/v1/catalog/nodes";
const SERVICES: &str = "/v1/catalog/services";
const CHECKS: &str = "/v1/health/state/any";

#[track_caller]
fn index(t: &Trial, path: &str) -> u64 {
    t.api_get(path).index()
}

/// The greatest `ModifyIndex` of rows.
fn newest(rows: &[Value]) -> u64 {
    let indexes = rows.iter().filter_map(|row| row["ModifyIndex"].as_u64());
    indexes.max().unwrap_or_default()
}

/// Adds this to a node's registration, whose row is left alone.
#[track_caller]
fn add(t: &Trial, node: &str, name: &str, what: &Value) {
    register(t, node, &json!({"SkipNodeUpdate": true, name: what}));
}

/// `catalog/service` and `health/service` of a service show this index.
#[track_caller]
fn service_is_at(t: &Trial, service: &str, what: &str, expected: u64) {
    for path in ["/v1/catalog/service", "/v1/health/service"] {
        let shown = index(t, &format!("{path}/{service}"));
        t.same(&format!("{path}, {what}"), shown, expected);
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/index/of-the-newest-row",
        claim: "The nodes have the index of the newest node, the checks, also of a state and of a node that are not there, that of the newest check",
        source: "session.md 4.5",
        until: Some(Version::V1_13),
        needs: OWN_SERVER,
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let node = t.register_node("n");
            let nodes = t.api_get(NODES);
            t.same("nodes", nodes.index(), newest(&nodes.list()));
            check(t, &node, "c", "passing");
            let checks = t.api_get(CHECKS);
            let expected = newest(&checks.list());
            t.same("checks", checks.index(), expected);
            for path in [
                "/v1/health/state/nobody",
                "/v1/health/node/nobody",
                "/v1/health/checks/nobody",
                &format!("/v1/health/node/{node}"),
            ] {
                t.same(path, index(t, path), expected);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/index/tables-do-not-move-each-other",
        claim: "A service moves the index of services and not that of nodes or checks, a check that of checks alone, a node that of nodes alone",
        source: "session.md 4.5",
        until: Some(Version::V1_13),
        needs: OWN_SERVER,
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let node = t.register_node("n");
            let others_stay = |moved: &str, act: &dyn Fn()| {
                let before = index(t, moved);
                let others: Vec<&str> = [NODES, SERVICES, CHECKS]
                    .into_iter()
                    .filter(|path| *path != moved)
                    .collect();
                let of_others = || others.iter().map(|path| index(t, path)).sum();
                leaves_alone(t, "the others' indexes", of_others, act);
                t.grew(moved, before, index(t, moved));
            };
            others_stay(SERVICES, &|| {
                add(t, &node, "Service", &json!({"Service": "one"}));
            });
            others_stay(CHECKS, &|| {
                add(t, &node, "Check", &json!({"CheckID": "c"}));
            });
            others_stay(NODES, &|| drop(t.register_node("other")));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/index/of-one-node",
        claim: "catalog/node of a node that is there has the greater of the indexes of all nodes and of all services",
        source: "session.md 4.5; 1.22.md B4.5 (until 1.13.0 [D])",
        until: Some(Version::V1_13),
        needs: OWN_SERVER,
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let (node, other) = (t.register_node("n"), t.register_node("other"));
            let path = format!("/v1/catalog/node/{node}");
            let is_the_greater = |of: &str| {
                let both = || (index(t, NODES), index(t, SERVICES));
                let (nodes, services, shown) = t.eventually("nobody else writes", QUIET, || {
                    let (before, shown) = (both(), index(t, &path));
                    (both() == before).then_some((before.0, before.1, shown))
                });
                t.same(&path, shown, nodes.max(services));
                let greater = if of == NODES {
                    nodes > services
                } else {
                    services > nodes
                };
                t.check(greater, format!("{of} is not the greater one"));
            };
            is_the_greater(NODES);
            add(t, &other, "Service", &json!({"Service": "one"}));
            is_the_greater(SERVICES);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/index/of-a-service",
        claim: "A service's index moves with itself, its checks and the checks of its nodes, and not with other services, their checks and other nodes",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (node, service) = (t.register_node("n"), t.node("service"));
            let of_check = |id: &str| {
                let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
                let found = checks.iter().find(|check| check["CheckID"] == id);
                found.and_then(|check| check["ModifyIndex"].as_u64())
            };
            add(t, &node, "Service", &json!({"ID": "s", "Service": service}));
            let rows = t.api_get(&format!("/v1/catalog/service/{service}")).list();
            service_is_at(t, &service, "registered", newest(&rows));
            let own = json!({"CheckID": "own", "ServiceID": "s", "Status": "passing"});
            add(t, &node, "Check", &own);
            let expected = of_check("own").unwrap_or_default();
            service_is_at(t, &service, "a check of its own", expected);
            add(
                t,
                &node,
                "Check",
                &json!({"CheckID": "of-node", "Status": "passing"}),
            );
            let expected = of_check("of-node").unwrap_or_default();
            service_is_at(t, &service, "a check of the node", expected);
            add(t, &node, "Service", &json!({"Service": t.node("next")}));
            service_is_at(t, &service, "another service", expected);
            let next = json!({"CheckID": "next", "ServiceID": t.node("next"), "Status": "passing"});
            add(t, &node, "Check", &next);
            service_is_at(t, &service, "a check of another service", expected);
            let far = t.register_node("far");
            check(t, &far, "far", "passing");
            service_is_at(t, &service, "another node", expected);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/index/of-the-last-extinction",
        claim: "A service without instances has the index at which a service last lost its last instance, whatever is registered since",
        source: "session.md 4.5",
        needs: OWN_SERVER,
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let node = t.register_node("n");
            service_check(t, &node, "gone", "of-gone", "passing");
            let before = index(t, "/v1/catalog/service/gone");
            deregister(t, &node, &json!({"ServiceID": "gone"}));
            let extinct = index(t, "/v1/catalog/service/gone");
            t.grew("the index of the service", before, extinct);
            service_check(t, &node, "new", "of-new", "passing");
            for service in ["gone", "nobody"] {
                service_is_at(t, service, "after the extinction", extinct);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "health/service/passing-values",
        claim: "passing is on when it is empty or true, off when it is false, and 400 when it is neither; a service is needed",
        source: "session.md 4.5",
        needs: NEEDS,
        run: |t| {
            let (node, service) = (t.register_node("n"), t.node("service"));
            service_check(t, &node, &service, "c", "warning");
            let path = format!("/v1/health/service/{service}?passing");
            for value in ["", "=", "=1", "=true"] {
                t.api_get(&format!("{path}{value}")).is(200, "[]");
            }
            for value in ["=0", "=false"] {
                let found = t.api_get(&format!("{path}{value}")).list();
                t.same(value, found.len(), 1);
            }
            t.api_get(&format!("{path}=abc"))
                .is(400, "Invalid value for ?passing");
            for path in [
                "/v1/catalog/service/",
                "/v1/health/service/",
                "/v1/health/checks/",
            ] {
                t.api_get(path).is(400, "Missing service name");
            }
        },
        ..Case::MUST
    },
];
