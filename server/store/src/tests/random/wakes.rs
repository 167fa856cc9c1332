//! Compares the read sets of reads with the changes of their answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::agent_steps::OWN_ID;
use super::steps::{KEYS, NODES, OTHER_ID, SERVICES, World};
use crate::read::watch::Registry;
use crate::tests::any::{Answer, Command, Query, Rows};
use crate::{
    Effects, Key, KvVerb, Labels, ServiceRow, ServiceView, Store, Touched, TxnOperation, TxnVerb,
};

/// The answers to all reads, each with a waiter.
pub(super) struct Waiting {
    registry: Registry<usize>,
    answers: BTreeMap<usize, (Query, Answer)>,
}

/// All reads that can show rows of these steps.
fn reads(world: &World) -> Vec<Query> {
    let keys = KEYS
        .iter()
        .chain(&["", "none", "a/none", "ac"])
        .map(Key::new);
    let nobody = Labels::from([("meta".to_owned(), "of nobody".to_owned())]);
    let mut reads = vec![
        Query::SessionList,
        Query::PreparedQueries,
        Query::Events(None),
        Query::Nodes,
        Query::Services(Labels::new()),
        Query::Services(nobody.clone()),
        Query::ChecksInState("any".to_owned(), Labels::new()),
        Query::ChecksInState("critical".to_owned(), nobody.clone()),
    ];
    for key in keys {
        reads.extend([Query::KvGet(key.clone()), Query::KvList(key)]);
    }
    // A name that nobody has, and beginnings of the ids.
    let others = ["n3", &OWN_ID[..2], &OTHER_ID[..8]];
    for node in NODES.iter().chain(&others).map(|node| (*node).to_owned()) {
        reads.extend([
            Query::SessionNode(node.clone()),
            Query::Node(node.clone()),
            Query::NodeChecks(node),
        ]);
    }
    for service in SERVICES.map(str::to_owned) {
        reads.extend([
            Query::Service(ServiceView::Catalog, service.clone()),
            Query::Service(ServiceView::Health, service.clone()),
            Query::Service(ServiceView::StreamedHealth, service.clone()),
            Query::Connect(ServiceView::Catalog, service.clone()),
            Query::Connect(ServiceView::Health, service.clone()),
            Query::ServiceChecks(service.clone(), Labels::new()),
            Query::ServiceChecks(service, nobody.clone()),
        ]);
    }
    reads.extend(world.sessions().map(Query::SessionInfo));
    reads
}

impl Waiting {
    /// Registers a waiter for each read of a store.
    pub(super) fn at(store: &Store, world: &World) -> Self {
        let mut registry = Registry::default();
        let mut answers = BTreeMap::new();
        for (number, read) in reads(world).into_iter().enumerate() {
            let answer = read.look(store).expect("the ids are well-formed");
            assert!(!answer.reads.is_empty(), "{read:?} depends on something");
            // The index of a list of events comes from an id.
            let of_raft = !matches!(read, Query::Events(_));
            assert!(answer.index.0 > 0);
            assert!(!of_raft || answer.index.0 <= store.applied().0.max(1));
            let waiter = registry.admit();
            registry.register(waiter, &number, &answer.reads);
            answers.insert(number, (read, answer));
        }
        Self { registry, answers }
    }

    /// Asserts that the command that led to `after` wakes every waiter with a changed answer at a higher
    /// index, and none on an existing key or prefix without a change.
    pub(super) fn check(&self, after: &Store, command: &Command, effects: &Effects) {
        let woken = self.registry.concerned(&effects.touched);
        // The deletion of a neighbour changes the node at which a read waits.
        let is_merge = |touched: &Touched| matches!(touched, Touched::MergedKeys(_));
        let merges = effects.touched.iter().any(is_merge);
        for (number, (read, before)) in &self.answers {
            let now = read.look(after).expect("the ids are well-formed");
            let is_woken = woken.contains(number);
            if shows_the_same(read, &now.rows, &before.rows) {
                assert!(
                    !is_woken || merges || may_wake_in_vain(read, before, command),
                    "{read:?} is woken in vain by {command:?}"
                );
                continue;
            }
            assert!(is_woken, "{read:?} sleeps through {command:?}");
            assert!(
                now.index > before.index || may_slide_back(after, read, &now.rows, command),
                "{read:?} stays at {} at {command:?}",
                before.index
            );
        }
    }
}

/// Whether two answers to a read are equal for clients. The list of services shows nothing of nodes, which
/// only filters use, and reads of the catalog show nothing of checks.
fn shows_the_same(read: &Query, now: &Rows, before: &Rows) -> bool {
    let parts = |rows: &Rows| match rows {
        Rows::Instances(found) => {
            let found = found.iter();
            found
                .map(|row| (Arc::clone(&row.node), Arc::clone(&row.service)))
                .collect()
        }
        _ => Vec::new(),
    };
    let services = |rows: &Rows| -> Vec<Arc<ServiceRow>> {
        match rows {
            Rows::Instances(found) => found.iter().map(|row| Arc::clone(&row.service)).collect(),
            _ => Vec::new(),
        }
    };
    match read {
        Query::Services(_) => services(now) == services(before),
        Query::Service(ServiceView::Catalog, _) | Query::Connect(ServiceView::Catalog, _) => {
            parts(now) == parts(before)
        }
        _ => now == before,
    }
}

/// Whether a wake may be spurious: for missing rows, for other rows than keys, and for transactions that
/// restore a row.
fn may_wake_in_vain(read: &Query, before: &Answer, command: &Command) -> bool {
    let found = match (read, &before.rows) {
        (Query::KvGet(_), Rows::Entry(entry)) => entry.is_some(),
        (Query::KvList(prefix), Rows::Entries(entries)) => !entries.is_empty() || prefix.is_empty(),
        _ => false,
    };
    !found || matches!(command, Command::Txn(_))
}

/// Whether a read may change without a higher index (kv.md 4.3): after the deletion of a tree by a shorter
/// prefix, whose tombstone does not count for a longer one; for a deleted node, until 1.13, and for one that was found by an
/// id which it lost, or which is no more the only one; for the last instance that
/// stands for a service, when that goes on without Connect (session.md 4.5b.r29); and for events, whose indexes have no
/// order.
fn may_slide_back(after: &Store, read: &Query, now: &Rows, command: &Command) -> bool {
    match read {
        Query::Connect(..) => matches!(now, Rows::Instances(rows) if rows.is_empty()),
        Query::KvList(_) => match command {
            Command::Kv(write) => deletes_tree(&write.verb),
            Command::Txn(operations) => operations.iter().any(|operation| match operation {
                TxnOperation::Kv {
                    verb: TxnVerb::Write(verb),
                    ..
                } => deletes_tree(verb),
                TxnOperation::Kv { .. } | TxnOperation::Catalog(_) => false,
            }),
            _ => false,
        },
        Query::Node(name) => !after.rules.index_per_node || !NODES.contains(&name.as_str()),
        Query::Events(_) => true,
        _ => false,
    }
}

fn deletes_tree(verb: &KvVerb) -> bool {
    matches!(verb, KvVerb::DeleteTree)
}
