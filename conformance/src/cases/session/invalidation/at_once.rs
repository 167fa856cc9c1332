//! Every trigger of the end of a session (session.md 3.1) with every effect of that end (3.2), all under one index.
//!
//! Each case has a server of its own, where nobody else moves an index, and pulls its trigger once for each behavior.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::{check, deregister, register, service_check};
use crate::cases::support::invalidation::{
    BOTH, Bound, CHECKS, NODES, SERVICES, ends_at_once, index_of, index_of_check,
};
use crate::cases::support::session::LIST;

const NEEDS: &[Feature] = &[
    Feature::OwnServer,
    Feature::Registration,
    Feature::PreparedQueries,
    Feature::Blocking,
];

/// A node with its id, the service `svc` with the check `svcok`, and the check `ok`; a session would be bound to these checks.
#[track_caller]
fn on_node(t: &Trial, name: &str, checks: &[&str]) -> Bound {
    let node = t.node(name);
    register(t, &node, &json!({"ID": node_id(name)}));
    check(t, &node, "ok", "passing");
    service_check(t, &node, "svc", "svcok", "passing");
    // Registered without its id since, which took it away.
    register(t, &node, &json!({"ID": node_id(name)}));
    Bound {
        node,
        checks: checks.iter().map(|check| (*check).to_owned()).collect(),
        ttl: String::new(),
    }
}

/// The id of the node of this name.
fn node_id(name: &str) -> String {
    let digits: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("aaaaaaaa-0000-4000-8000-{digits:0>12.12}")
}

/// The same for a trigger on a node of the catalog.
#[track_caller]
fn on_node_at_once(t: &Trial, checks: &[&str], pull: impl Fn(&str), own: impl Fn(&str) -> u64) {
    ends_at_once(
        t,
        BOTH,
        |behavior| on_node(t, behavior, checks),
        |bound, _| pull(&bound.node),
        |bound| own(&bound.node),
    );
}

/// The same for one operation of a transaction, which needs the `ModifyIndex` of what it is about.
#[track_caller]
fn by_operation(
    t: &Trial,
    checks: &[&str],
    operation: impl Fn(&str, u64) -> Value,
    own: impl Fn(&str) -> u64,
) {
    let pull = |node: &str| {
        let current = match operation(node, 0) {
            json if json.get("Check").is_some() => index_of_check(t, node, "ok"),
            json if json.get("Service").is_some() => {
                let shown = t.api_get(&format!("/v1/catalog/node/{node}")).json();
                shown["Services"]["svc"]["ModifyIndex"]
                    .as_u64()
                    .unwrap_or_default()
            }
            _ => {
                let shown = t.api_get(&format!("/v1/catalog/node/{node}")).json();
                shown["Node"]["ModifyIndex"].as_u64().unwrap_or_default()
            }
        };
        t.txn(&json!([operation(node, current)])).status_is(200);
    };
    on_node_at_once(t, checks, pull, own);
}

/// A check operation on `ok`.
fn check_operation(verb: &str, node: &str, index: u64) -> Value {
    let check = json!({"Node": node, "CheckID": "ok", "Name": "ok", "Status": "critical", "ModifyIndex": index});
    json!({"Check": {"Verb": verb, "Check": check}})
}

/// A service operation on `svc`.
fn service_operation(verb: &str, node: &str, index: u64) -> Value {
    let service = json!({"ID": "svc", "Service": "svc", "ModifyIndex": index});
    json!({"Service": {"Verb": verb, "Node": node, "Service": service}})
}

/// A node operation.
fn node_operation(verb: &str, node: &str, index: u64) -> Value {
    json!({"Node": {"Verb": verb, "Node": {"Node": node, "ModifyIndex": index}}})
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "invalidation/at-once/destroyed",
        claim: "A session that is destroyed ends with its keys and queries under one index, which everyone who waits is told",
        source: "session.md 3.1.r1, 3.2, 3.2.r1, 3.2.r3, 3.2.r4, 3.2.r5, 3.2.r7, 3.3.r2, 5, trap 19",
        needs: NEEDS,
        run: |t| {
            let prepare = |behavior: &str| on_node(t, behavior, &["ok"]);
            ends_at_once(
                t,
                BOTH,
                prepare,
                |_, session| t.destroy(session),
                |_| index_of(t, LIST),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/lapsed",
        claim: "A session whose TTL is over ends with its keys and queries under one index, which everyone who waits is told",
        source: "session.md 3.1.r1, 3.2, 5, 3.4.r3, 3.3.r2",
        needs: NEEDS,
        run: |t| {
            let (length, ttl) = t.shortest_ttl();
            ends_at_once(
                t,
                BOTH,
                |behavior| Bound {
                    ttl: ttl.clone(),
                    ..on_node(t, behavior, &[])
                },
                |_, _| t.pass(length * 2),
                |_| index_of(t, LIST),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/check-critical",
        claim: "A check that becomes critical takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2, 3.2.r8, 3.3.r2, 5, trap 19",
        needs: NEEDS,
        run: |t| {
            on_node_at_once(
                t,
                &["ok"],
                |node| check(t, node, "ok", "critical"),
                |node| index_of_check(t, node, "ok"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/check-without-status",
        claim: "A check that is registered without a status takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2, 5, 4.2",
        needs: NEEDS,
        run: |t| {
            on_node_at_once(
                t,
                &["ok"],
                |node| register(t, node, &json!({"Check": {"CheckID": "ok", "Name": "ok"}})),
                |node| index_of_check(t, node, "ok"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/service-check-critical",
        claim: "A check of a service that becomes critical takes its sessions, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.2.r8, 5",
        needs: NEEDS,
        run: |t| {
            on_node_at_once(
                t,
                &["ok", "svcok"],
                |node| service_check(t, node, "svc", "svcok", "critical"),
                |node| index_of_check(t, node, "svcok"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/check-deregistered",
        claim: "A check that is deregistered takes its sessions, their keys and queries with it, all under the index of the checks",
        source: "session.md 3.1.r4, 3.2, 5, 3.3.r2",
        needs: NEEDS,
        run: |t| {
            on_node_at_once(
                t,
                &["ok"],
                |node| deregister(t, node, &json!({"CheckID": "ok"})),
                |_| index_of(t, CHECKS),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/service-deregistered",
        claim: "A service that is deregistered takes the sessions of its checks, their keys and queries with it, all under the index of the services",
        source: "session.md 3.1.r5, 3.2, 5, 3.3.r2",
        needs: NEEDS,
        run: |t| {
            on_node_at_once(
                t,
                &["svcok"],
                |node| deregister(t, node, &json!({"ServiceID": "svc"})),
                |_| index_of(t, SERVICES),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/node-deregistered",
        claim: "A node that is deregistered takes its sessions, their keys and queries with it, all under the index of the nodes, services and checks",
        source: "session.md 3.1.r6, 3.2.r8, 3.3.r2, 5, trap 19",
        needs: NEEDS,
        run: |t| {
            let own = |_: &str| {
                let index = index_of(t, NODES);
                t.same("the services' index", index_of(t, SERVICES), index);
                t.same("the checks' index", index_of(t, CHECKS), index);
                index
            };
            on_node_at_once(t, &[], |node| deregister(t, node, &json!({})), own);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/node-renamed",
        claim: "A node whose id comes under another name takes its sessions, their keys and queries with it, all under the index of the new name",
        source: "session.md 3.1.r6, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let renamed = |node: &str| format!("{node}-renamed");
            ends_at_once(
                t,
                BOTH,
                |behavior| {
                    // So that both names are taken away afterwards.
                    let _ = t.node(&format!("{behavior}-renamed"));
                    on_node(t, behavior, &["ok"])
                },
                |bound, _| {
                    let behavior = bound.node.rsplit('-').next().unwrap_or_default();
                    let fields = json!({"ID": node_id(behavior)});
                    register(t, &renamed(&bound.node), &fields);
                },
                |bound| {
                    let path = format!("/v1/catalog/node/{}", renamed(&bound.node));
                    let shown = t.api_get(&path).json();
                    shown["Node"]["ModifyIndex"].as_u64().unwrap_or_default()
                },
            );
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/at-once/transaction-sets-check",
        claim: "A check that a transaction sets critical takes its sessions, their keys and queries with it, all under the transaction's index",
        source: "session.md 3.1.r2, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let set = |node: &str, _| check_operation("set", node, 0);
            by_operation(t, &["ok"], set, |node| index_of_check(t, node, "ok"));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-sets-check-by-index",
        claim: "A check that a transaction's cas makes critical takes its sessions, their keys and queries with it, all under the transaction's index",
        source: "session.md 3.1.r2, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let cas = |node: &str, index| check_operation("cas", node, index);
            by_operation(t, &["ok"], cas, |node| index_of_check(t, node, "ok"));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-check",
        claim: "A check that a transaction deletes takes its sessions, their keys and queries with it, all under the index of the checks",
        source: "session.md 3.1.r4, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, _| check_operation("delete", node, 0);
            by_operation(t, &["ok"], delete, |_| index_of(t, CHECKS));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-check-by-index",
        claim: "A check that a transaction's delete-cas takes away takes its sessions, their keys and queries with it, all under the index of the checks",
        source: "session.md 3.1.r4, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, index| check_operation("delete-cas", node, index);
            by_operation(t, &["ok"], delete, |_| index_of(t, CHECKS));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-service",
        claim: "A service that a transaction deletes takes the sessions of its checks, their keys and queries with it, all under the index of the services",
        source: "session.md 3.1, 3.2, 5, kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, _| service_operation("delete", node, 0);
            by_operation(t, &["svcok"], delete, |_| index_of(t, SERVICES));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-service-by-index",
        claim: "A service that a transaction's delete-cas takes away takes the sessions of its checks, their keys and queries with it, all under the index of the services",
        source: "session.md 3.1, 3.2, 5, kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, index| service_operation("delete-cas", node, index);
            by_operation(t, &["svcok"], delete, |_| index_of(t, SERVICES));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-node",
        claim: "A node that a transaction deletes takes its sessions, their keys and queries with it, all under the index of the nodes",
        source: "session.md 3.1.r6, 3.2, 5, kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, _| node_operation("delete", node, 0);
            by_operation(t, &[], delete, |_| index_of(t, NODES));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/transaction-deletes-node-by-index",
        claim: "A node that a transaction's delete-cas takes away takes its sessions, their keys and queries with it, all under the index of the nodes",
        source: "session.md 3.1.r6, 3.2, 5, kv.md 7.5",
        needs: NEEDS,
        run: |t| {
            let delete = |node: &str, index| node_operation("delete-cas", node, index);
            by_operation(t, &[], delete, |_| index_of(t, NODES));
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/at-once/serf-health-critical",
        claim: "A serfHealth that is written critical takes the sessions of its node, their keys and queries with it, all under its own index",
        source: "session.md 3.1.r2, 3.1.r4, 3.2, 5",
        needs: NEEDS,
        run: |t| {
            let node = t.facts().node.clone();
            ends_at_once(
                t,
                // The leader puts it right within a minute, which would be a write of its own.
                &["release"],
                |_| Bound {
                    node: node.clone(),
                    checks: vec!["serfHealth".to_owned()],
                    ttl: String::new(),
                },
                |bound, _| {
                    let check = json!({"Node": bound.node, "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": "critical"});
                    let skip = json!({"Node": bound.node, "SkipNodeUpdate": true, "Check": check});
                    t.register(&skip);
                },
                |bound| index_of_check(t, &bound.node, "serfHealth"),
            );
        },
        ..Case::MUST
    },
];
