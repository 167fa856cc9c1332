//! What ends a session besides its destruction and its TTL: the catalog's checks, services and nodes (session.md 3.1).
//!
//! All nodes are catalog nodes of the case's own. What an end does to keys is in `effects`.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::{check, deregister, register, service_check};
use crate::cases::support::invalidation::{Holder, bound, node_with_checks};
use crate::cases::support::session::{is_gone, try_session};

const NEEDS: &[Feature] = &[Feature::Registration];

/// `fields` with Behavior delete.
fn deleting(mut fields: Value) -> Value {
    fields["Behavior"] = json!("delete");
    fields
}

/// The trigger ends every session that is bound to `check`, of either behavior, puts a lock-delay on their keys, and leaves a session
/// alone that is bound to the check `other` on the same node.
#[track_caller]
fn ends_those_bound_to(t: &Trial, check: &str, trigger: impl FnOnce(&str)) {
    let node = node_with_checks(t);
    let fields = bound(&node, &[check]);
    let released = Holder::new(t, "released", &fields);
    let deleted = Holder::new(t, "deleted", &deleting(fields));
    let bystander = Holder::new(t, "bystander", &bound(&node, &["other"]));
    trigger(&node);
    released.was_released(t);
    deleted.was_deleted(t);
    bystander.holds(t);
    released.is_guarded(t);
    deleted.is_guarded(t);
}

/// Whatever is done, a session that is bound to the check `ok` goes on holding its key.
#[track_caller]
fn does_not_matter(t: &Trial, act: impl FnOnce(&str)) {
    let node = node_with_checks(t);
    let holder = Holder::new(t, "lock", &bound(&node, &["ok"]));
    act(&node);
    holder.holds(t);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "invalidation/trigger/check-becomes-critical",
        claim: "A check that becomes critical ends the sessions bound to it, and no others",
        source: "session.md 3.1.r2, trap 25, 3.2.r5",
        needs: NEEDS,
        run: |t| ends_those_bound_to(t, "ok", |node| check(t, node, "ok", "critical")),
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/check-without-status",
        claim: "A check that is registered without a Status is critical, and ends the sessions bound to it",
        source: "session.md 3.1.r2, 4.2, trap 26",
        needs: NEEDS,
        run: |t| {
            ends_those_bound_to(t, "ok", |node| {
                register(t, node, &json!({"Check": {"CheckID": "ok", "Name": "ok"}}));
                let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
                let found = checks.iter().find(|check| check["CheckID"] == "ok");
                t.same(
                    "Status",
                    found.map(|check| check["Status"].clone()),
                    Some(json!("critical")),
                );
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/check-in-any-case",
        claim: "A check whose id is written in another case becomes critical as the check it is",
        source: "session.md 3.1.r2, trap 14",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &["Ok"]));
            check(t, &node, "OK", "critical");
            holder.was_released(t);
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/trigger/check-of-a-node-in-any-case",
        claim: "A session that names its node in another case is bound to that node's checks all the same",
        source: "session.md 3.1.r2, trap 14",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node.to_uppercase(), &["ok"]));
            check(t, &node, "ok", "critical");
            holder.was_released(t);
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/trigger/check-deregistered",
        claim: "A check that is deregistered ends the sessions bound to it",
        source: "session.md 3.1.r4, trap 25",
        needs: NEEDS,
        run: |t| {
            ends_those_bound_to(t, "ok", |node| {
                deregister(t, node, &json!({"CheckID": "ok"}));
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/service-check-becomes-critical",
        claim: "A check of a service that becomes critical ends the sessions bound to it",
        source: "session.md 3.1.r2",
        needs: NEEDS,
        run: |t| {
            ends_those_bound_to(t, "svcok", |node| {
                service_check(t, node, "svc", "svcok", "critical");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/service-deregistered",
        claim: "A service that is deregistered ends the sessions bound to its checks",
        source: "session.md 3.1.r5",
        needs: NEEDS,
        run: |t| {
            ends_those_bound_to(t, "svcok", |node| {
                deregister(t, node, &json!({"ServiceID": "svc"}));
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/service-with-several-checks",
        claim: "A service that is deregistered ends the sessions bound to any of its checks, and those of the node's own checks stay",
        source: "session.md 3.1.r5",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            service_check(t, &node, "svc", "svctoo", "passing");
            let ended = ["svcok", "svctoo"].map(|id| Holder::new(t, id, &bound(&node, &[id])));
            let bystander = Holder::new(t, "bystander", &bound(&node, &["ok"]));
            deregister(t, &node, &json!({"ServiceID": "svc"}));
            for holder in &ended {
                holder.was_released(t);
            }
            bystander.holds(t);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/node-deregistered",
        claim: "A node that is deregistered ends all its sessions, also those bound to nothing, and no others",
        source: "session.md 3.1.r6",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let with_check = Holder::new(t, "a", &bound(&node, &["ok"]));
            let without = Holder::new(t, "b", &bound(&node, &[]));
            let deleted = Holder::new(t, "c", &deleting(bound(&node, &[])));
            let elsewhere = t.node("elsewhere");
            t.register(&json!({"Node": elsewhere, "Address": "127.0.0.1"}));
            let bystander = Holder::new(t, "bystander", &bound(&elsewhere, &[]));
            deregister(t, &node, &json!({}));
            let (first, second) = (with_check.was_released(t), without.was_released(t));
            t.same("the indexes", first.modify_index, second.modify_index);
            deleted.was_deleted(t);
            bystander.holds(t);
            with_check.is_guarded(t);
            deleted.is_guarded(t);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/node-named-in-any-case",
        claim: "A node that is deregistered under its name in another case ends its sessions all the same",
        source: "session.md 3.1, 4.3, trap 14",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &[]));
            deregister(t, &node.to_uppercase(), &json!({}));
            holder.was_released(t);
        },
        ..Case::REAL
    },
    Case {
        id: "invalidation/trigger/transaction-sets-critical",
        claim: "A transaction that sets a check critical ends the sessions bound to it",
        source: "session.md 3.1.r2",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &["ok"]));
            let set = json!({"Node": node, "CheckID": "ok", "Name": "ok", "Status": "critical"});
            t.txn(&json!([{"Check": {"Verb": "set", "Check": set}}]))
                .status_is(200);
            holder.was_released(t);
            holder.is_guarded(t);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/transaction-deletes-check",
        claim: "A transaction that deletes a check ends the sessions bound to it",
        source: "session.md 3.1.r4",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &["ok"]));
            let delete = json!({"Node": node, "CheckID": "ok"});
            t.txn(&json!([{"Check": {"Verb": "delete", "Check": delete}}]))
                .status_is(200);
            holder.was_released(t);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/transaction-deletes-node",
        claim: "A transaction that deletes a node ends all its sessions",
        source: "session.md 3.1.r6",
        needs: NEEDS,
        run: |t| {
            let node = node_with_checks(t);
            let holder = Holder::new(t, "lock", &bound(&node, &[]));
            t.txn(&json!([{"Node": {"Verb": "delete", "Node": {"Node": node}}}]))
                .status_is(200);
            holder.was_released(t);
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/trigger/serf-health",
        claim: "A serfHealth that is written critical, or deleted, ends the sessions bound to it",
        source: "session.md 3.1.r2, 3.1.r4",
        needs: NEEDS,
        run: |t| {
            for deleted in [false, true] {
                let node = t.register_node(if deleted { "deleted" } else { "critical" });
                // The leader takes such a node away within a minute; both ends show the same.
                let session = t.eventually(
                    "the node keeps its serfHealth",
                    std::time::Duration::from_secs(5),
                    || {
                        check(t, &node, "serfHealth", "passing");
                        let body = json!({"Node": node, "LockDelay": "0s"}).to_string();
                        try_session(t, &body)
                    },
                );
                if deleted {
                    deregister(t, &node, &json!({"CheckID": "serfHealth"}));
                } else {
                    check(t, &node, "serfHealth", "critical");
                }
                is_gone(t, &session);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/warning",
        claim: "A check that goes to warning and back ends nothing",
        source: "session.md 3.1.r9, trap 25",
        needs: NEEDS,
        run: |t| {
            does_not_matter(t, |node| {
                check(t, node, "ok", "warning");
                check(t, node, "ok", "passing");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/other-checks",
        claim: "Checks of the same node that a session is not bound to may be critical or go away",
        source: "session.md 3.1.r9",
        needs: NEEDS,
        run: |t| {
            does_not_matter(t, |node| {
                check(t, node, "other", "critical");
                service_check(t, node, "svc", "svcok", "critical");
                deregister(t, node, &json!({"CheckID": "other"}));
                deregister(t, node, &json!({"ServiceID": "svc"}));
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/same-check-elsewhere",
        claim: "A check of the same id on another node may become critical",
        source: "session.md 3.1.r2",
        needs: NEEDS,
        run: |t| {
            does_not_matter(t, |_| {
                let other = t.register_node("other");
                check(t, &other, "ok", "critical");
                deregister(t, &other, &json!({}));
            });
        },
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/node-maintenance",
        claim: "Maintenance of the node ends nothing",
        source: "session.md 3.1.r9, trap 25",
        needs: NEEDS,
        run: |t| does_not_matter(t, |node| check(t, node, "_node_maintenance", "critical")),
        ..Case::MUST
    },
    Case {
        id: "invalidation/no-trigger/node-registered-again",
        claim: "Registering the node again with another address, id or metadata ends nothing",
        source: "session.md 3.1.r9",
        needs: NEEDS,
        run: |t| {
            does_not_matter(t, |node| {
                t.register(&json!({"Node": node, "Address": "127.0.0.2"}));
                t.register(&json!({"Node": node, "Address": "127.0.0.2", "NodeMeta": {"a": "b"}}));
                let id = t.session("{}");
                t.register(&json!({"Node": node, "Address": "127.0.0.2", "ID": id}));
            });
        },
        ..Case::MUST
    },
];
