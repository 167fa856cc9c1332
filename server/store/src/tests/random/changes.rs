//! Compares the effects of a command with the rows that it changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ordered::OrderedMap;
use crate::tests::any::{Applied, Command};
use crate::{Deadline, Effects, Store, Touched};

/// Asserts that the effects name every changed row, and no other.
pub(super) fn check(before: &Store, after: &Store, command: &Command, applied: &Applied) {
    let Effects {
        index,
        touched,
        ended,
        ..
    } = &applied.effects;
    let changed = changed_rows(before, after);
    let touched: BTreeSet<String> = touched.iter().flat_map(names).collect();
    let missing: Vec<_> = changed.difference(&touched).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} changed in silence at {command:?}"
    );
    // A transaction or a command of the agent may change a row and restore it. An identical check is touched
    // where it moves the index.
    let may_touch_more = matches!(
        command,
        Command::Txn(_) | Command::Agent(_) | Command::Due(Deadline::Agent(..))
    ) || matches!(command, Command::Register(_))
        && after.rules.identical_check_moves_index;
    let more: Vec<_> = touched.difference(&changed).collect();
    assert!(
        may_touch_more || more.is_empty(),
        "{more:?} did not change at {command:?}"
    );

    assert!(after.applied >= before.applied);
    assert_eq!(
        *index,
        (after.applied > before.applied).then_some(after.applied)
    );
    let gone = |id| before.sessions.rows.contains_key(id) && !after.sessions.rows.contains_key(id);
    assert!(ended.iter().all(|end| gone(&end.session)));
    let fallen = before.sessions.rows.keys().filter(|id| gone(id)).count();
    assert_eq!(ended.len(), fallen, "each end of a session is told once");
    if applied.result.is_err() {
        assert!(changed.is_empty(), "{changed:?} at the refused {command:?}");
    }
}

fn names(touched: &Touched) -> Vec<String> {
    match touched {
        Touched::Keys(keys) => keys.iter().map(|key| format!("key {key}")).collect(),
        other => name(other).into_iter().collect(),
    }
}

/// Returns a row's table and key, for both sides of the comparison; `None` for effects without a row, or with several.
fn name(touched: &Touched) -> Option<String> {
    Some(match touched {
        Touched::Key(key) => format!("key {key}"),
        Touched::Session { id, node } => format!("session {id} {node}"),
        Touched::Node(node) => format!("node {node}"),
        Touched::Service { node, name } => format!("service {node} {name}"),
        Touched::Check { node, service_name } => format!("check {node} {service_name}"),
        Touched::Keys(_)
        | Touched::MergedKeys(_)
        | Touched::NodeOfService(_)
        | Touched::ServiceIndex(_)
        | Touched::Entry(..)
        | Touched::Merged(..)
        | Touched::AgentService(_) => return None,
        Touched::PreparedQuery(_) => "prepared queries".to_owned(),
        Touched::ConfigEntry { kind, name } => format!("{kind} {name}"),
        Touched::Event => "events".to_owned(),
        Touched::AclObject(kind, id) => format!("{} {id}", kind.name()),
        Touched::AclTable(kind) => kind.name().to_owned(),
    })
}

fn changed_rows(before: &Store, after: &Store) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (key, _) in changes(&before.kv.rows, &after.kv.rows) {
        names.insert(format!("key {key}"));
    }
    for (id, row) in changes(&before.sessions.rows, &after.sessions.rows) {
        names.insert(format!("session {id} {}", row.session.node.to_lowercase()));
    }
    for (node, _) in changes(&before.catalog.nodes, &after.catalog.nodes) {
        names.insert(format!("node {node}"));
    }
    for ((node, _), row) in changes(&before.catalog.services, &after.catalog.services) {
        names.insert(format!("service {node} {}", row.service.name));
    }
    for ((node, _), row) in changes(&before.catalog.checks.rows, &after.catalog.checks.rows) {
        names.insert(format!("check {node} {}", row.service_name));
    }
    let queries = |store: &Store| store.prepared_queries.rows.clone();
    if queries(before) != queries(after) {
        names.insert("prepared queries".to_owned());
    }
    if before.events.rows != after.events.rows {
        names.insert("events".to_owned());
    }
    names
}

/// Returns the keys of new, changed and removed rows.
fn changes<'a, K: Ord + Clone, V: PartialEq, S>(
    before: &'a OrderedMap<K, Arc<V>, S>,
    after: &'a OrderedMap<K, Arc<V>, S>,
) -> Vec<(&'a K, &'a Arc<V>)> {
    let new = after
        .iter()
        .filter(|(key, row)| before.get(*key) != Some(*row));
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    new.chain(gone).collect()
}
