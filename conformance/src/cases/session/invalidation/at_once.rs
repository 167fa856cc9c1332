//! Every trigger of the end of a session (session.md 3.1) with every effect of that end (3.2), all under one index.
//!
//! Each case has a server of its own, where nobody else moves an index, and pulls its trigger once for each behavior.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::catalog::query::make;
use crate::cases::catalog::{check, deregister, register, service_check};
use crate::cases::session::{LIST, info, is_gone, lives, of_node};
use crate::wire::Request;
use crate::wire::waiting::Waiting;

const NEEDS: &[Feature] = &[
    Feature::OwnServer,
    Feature::Registration,
    Feature::PreparedQueries,
    Feature::Blocking,
];

/// What the triggers of the agent need.
pub(in crate::cases) const NEEDS_OF_AGENT: &[Feature] = &[
    Feature::OwnServer,
    Feature::AgentRegistration,
    Feature::PreparedQueries,
    Feature::Blocking,
];
/// Both behaviors.
pub(in crate::cases) const BOTH: &[&str] = &["release", "delete"];
/// A read that shows the index of all checks.
pub(in crate::cases) const CHECKS: &str = "/v1/health/state/any";
/// A read that shows the index of all services.
pub(in crate::cases) const SERVICES: &str = "/v1/catalog/services";
/// A read that shows the index of all nodes.
pub(in crate::cases) const NODES: &str = "/v1/catalog/nodes";
/// Longer than the slowest trigger takes in real time.
const PATIENCE: Duration = Duration::from_secs(150);
/// All prepared queries.
pub(in crate::cases) const QUERIES: &str = "/v1/query";

/// A session of this node, bound to these checks, with this TTL or none.
pub(in crate::cases) struct Bound {
    pub(in crate::cases) node: String,
    pub(in crate::cases) checks: Vec<String>,
    pub(in crate::cases) ttl: String,
}

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

/// The `ModifyIndex` of a check.
#[track_caller]
pub(in crate::cases) fn index_of_check(t: &Trial, node: &str, id: &str) -> u64 {
    let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
    let found = checks.iter().find(|check| check["CheckID"] == id);
    found
        .and_then(|check| check["ModifyIndex"].as_u64())
        .unwrap_or_default()
}

/// The index of a read.
#[track_caller]
pub(in crate::cases) fn index_of(t: &Trial, path: &str) -> u64 {
    t.api_get(path).index()
}

/// A read that waits for anything to happen to what it shows.
#[track_caller]
fn waiting(t: &Trial, path: &str) -> Waiting {
    let index = index_of(t, path);
    let sign = if path.contains('?') { '&' } else { '?' };
    let target = format!("{path}{sign}index={index}&wait=300s");
    t.start(&Request::get(&target).patience(PATIENCE))
}

/// What one session has that its end touches, and who waits for it.
struct Scene {
    session: String,
    /// The key that it holds, and a tree with nothing else in it.
    key: String,
    tree: String,
    queries: [String; 2],
    /// Who waits for the key, the tree, and the three lists of sessions; all queries.
    waiting: [Waiting; 6],
}

impl Scene {
    #[track_caller]
    fn new(t: &Trial, behavior: &str, bound: &Bound) -> Self {
        let body = json!({
            "Node": bound.node, "NodeChecks": bound.checks, "TTL": bound.ttl, "Behavior": behavior,
            "LockDelay": "60s",
        });
        let session = t.session(&body.to_string());
        let (tree, key) = (t.key(behavior), t.key(&format!("{behavior}/held")));
        t.put(&key, &format!("acquire={session}&flags=7"), "held")
            .is(200, "true");
        let query = |name: &str| {
            let service = json!({"Service": "nobody"});
            make(
                t,
                &json!({"Name": name, "Session": session, "Service": service}),
            )
        };
        let queries = [query(""), query(&t.node(behavior))];
        let paths = [
            format!("/v1/kv/{key}"),
            format!("/v1/kv/{tree}?recurse"),
            info(&session),
            of_node(&bound.node),
            LIST.to_owned(),
            QUERIES.to_owned(),
        ];
        Self {
            waiting: paths.map(|path| waiting(t, &path)),
            session,
            key,
            tree,
            queries,
        }
    }

    /// All that ends with the session has ended, everybody was told, and all of it under one index: this. Not even `other` gets the key.
    #[track_caller]
    fn has_ended(&self, t: &Trial, behavior: &str, other: &str) -> u64 {
        let answers = self.waiting.each_ref().map(Waiting::answer);
        let index = answers[0].index();
        for answer in &answers {
            t.same("the index of an answer", answer.index(), index);
        }
        is_gone(t, &self.session);
        let [key, tree, info, ..] = answers;
        info.is(200, "[]");
        if behavior == "delete" {
            key.is(404, "");
            tree.is(404, "");
            t.get(&self.key, "").is(404, "");
        } else {
            let entry = t.get(&self.key, "").entry();
            entry.value_is("held").flags_is(7).lock_index_is(1);
            let entry = key.entry().is_unlocked();
            t.same("ModifyIndex", entry.modify_index, index);
        }
        for query in &self.queries {
            t.api_get(&format!("/v1/query/{query}")).status_is(404);
        }
        t.same("the sessions' index", index_of(t, LIST), index);
        t.same("the queries' index", index_of(t, QUERIES), index);
        let tree = t.get(&self.tree, "recurse").index();
        t.same("the index of the tree", tree, index);
        t.put(&self.key, &format!("acquire={other}"), "")
            .is(200, "false");
        index
    }
}

/// For each behavior: `prepare` makes what a session is bound to, `pull` ends that session, and `own` is the index that the trigger's
/// own write shows. Everything that hangs on the session ends under that index; another session with its key and its query stays.
#[track_caller]
pub(in crate::cases) fn ends_at_once(
    t: &Trial,
    behaviors: &[&str],
    prepare: impl Fn(&str) -> Bound,
    pull: impl Fn(&Bound, &str),
    own: impl Fn(&Bound) -> u64,
) {
    for behavior in behaviors {
        let bystander = t.session_without_delay();
        let beside = t.key("beside");
        t.put(&beside, &format!("acquire={bystander}"), "v")
            .is(200, "true");
        let untouched = t.get(&beside, "").entry();
        let bound = prepare(behavior);
        let scene = Scene::new(t, behavior, &bound);
        pull(&bound, &scene.session);
        let index = scene.has_ended(t, behavior, &bystander);
        t.same("the index of the trigger's own write", own(&bound), index);
        lives(t, &bystander);
        t.get(&beside, "").entry().is_unchanged_since(&untouched);
        t.destroy(&bystander);
    }
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
        source: "session.md 3.1, 3.2, 3.3, 5, trap 19",
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
        source: "session.md 3.1, 3.2, 5, 3.4, 3.3",
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
        source: "session.md 3.1, 3.2, 3.3, 5, trap 19",
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
        source: "session.md 3.1, 3.2, 5, 4.2",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5, 3.3",
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
        source: "session.md 3.1, 3.2, 5, 3.3",
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
        source: "session.md 3.1, 3.2, 3.3, 5, trap 19",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5",
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
        source: "session.md 3.1, 3.2, 5, kv.md 7.5",
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
        source: "session.md 3.1, 3.2, 5, kv.md 7.5",
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
        source: "session.md 3.1, 3.2, 5",
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
