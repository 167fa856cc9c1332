//! The invariants of every store.

use std::collections::BTreeSet;

use crate::catalog::check::table::CheckTable;
use crate::catalog::node::id::key_of_id;
use crate::catalog::trees::Trees;
use crate::timestamp::Timestamp;
use crate::{Index, SessionId, Store};

/// Checks all tables of a store at `now`.
pub(super) fn check(store: &Store, now: Timestamp) {
    keys_and_holders(store);
    tombstones(store, now);
    sessions_and_their_places(store);
    deadlines(store, now);
    catalog(store);
    prepared_queries(store);
}

fn keys_and_holders(store: &Store) {
    let mut held = BTreeSet::new();
    assert!(store.kv.newest <= store.applied);
    for (key, row) in &store.kv.rows {
        assert!(row.create_index <= row.modify_index, "{key:?}: {row:?}");
        assert!(row.modify_index <= store.kv.newest, "{key:?}: {row:?}");
        let Some(text) = row.session() else { continue };
        let session = SessionId::parse(text).expect("a holder was looked up");
        let session = session.expect("a holder was found");
        let lives = store.sessions.rows.contains_key(&session);
        assert!(lives, "{key:?} is held by {text}, which has ended");
        held.insert((session, key.clone()));
    }
    let index: BTreeSet<_> = store.sessions.held.iter().cloned().collect();
    assert_eq!(index, held, "the index of held keys is that of the rows");
}

/// A key with a tombstone was created after its delete, or in the same transaction.
fn tombstones(store: &Store, now: Timestamp) {
    let tombstones = &store.tombstones;
    assert!(tombstones.newest() <= store.applied);
    for (key, deleted) in &tombstones.by_key {
        assert!(*deleted <= tombstones.newest());
        let row = store.kv.get(key.as_bytes());
        let newer = row.is_none_or(|row| row.create_index >= *deleted);
        assert!(
            newer,
            "{key:?} lives since before its tombstone at {deleted}"
        );
        let reap = tombstones.reaps.iter().find(|(_, up_to)| *up_to >= deleted);
        let (at, _) = reap.expect("each tombstone is reaped some day");
        assert!(*at > now && at.since(now) <= super::LONGEST_TOMBSTONE);
    }
}

fn sessions_and_their_places(store: &Store) {
    let sessions = &store.sessions;
    let mut by_node = BTreeSet::new();
    let mut by_check = BTreeSet::new();
    assert!(sessions.newest <= store.applied);
    for (id, row) in &sessions.rows {
        assert_eq!(*id, row.session.id);
        assert!(row.create_index <= sessions.newest);
        let node = row.session.node.to_lowercase();
        assert!(
            store.catalog.nodes.contains_key(&node),
            "{id} without its node"
        );
        for check in row.session.bound_checks() {
            let place = (node.clone(), check.to_lowercase());
            let check = store.catalog.checks.get(&place.0, &place.1);
            let check = check.expect("a session is bound to checks that exist");
            // A check that follows sessions may be critical when a session is created (1.22.md B1).
            let follows = store.rules.session_checks && check.check.kind == "session";
            assert!(
                follows || check.check.status != "critical",
                "{id}: {check:?}"
            );
            by_check.insert((place.0, place.1, *id));
        }
        by_node.insert((node, *id));
    }
    assert_eq!(
        sessions.by_node.iter().cloned().collect::<BTreeSet<_>>(),
        by_node
    );
    assert_eq!(
        sessions.by_check.iter().cloned().collect::<BTreeSet<_>>(),
        by_check
    );
}

fn deadlines(store: &Store, now: Timestamp) {
    let later = store.next_deadline().is_none_or(|deadline| deadline > now);
    assert!(later, "nothing is due that was not applied");
    let sessions = &store.sessions;
    let lapses: BTreeSet<_> = sessions.lapses.iter().map(|(id, at)| (*id, *at)).collect();
    let by_lapse = sessions.by_lapse.iter().map(|(at, _, id)| (*id, *at));
    assert_eq!(by_lapse.collect::<BTreeSet<_>>(), lapses);
    let with_ttl = sessions
        .rows
        .iter()
        .filter(|(_, row)| !row.session.ttl.is_zero());
    let with_ttl: BTreeSet<_> = with_ttl.map(|(id, _)| *id).collect();
    assert_eq!(
        lapses.iter().map(|(id, _)| *id).collect::<BTreeSet<_>>(),
        with_ttl
    );
    for (id, at) in lapses {
        assert!(at.since(now) <= 2 * sessions.rows.get(&id).expect("a row").session.ttl);
    }
    let delays = &store.lock_delays;
    let by_key: BTreeSet<_> = delays
        .by_key
        .iter()
        .map(|(key, at)| (*at, key.clone()))
        .collect();
    assert_eq!(
        delays.by_end.iter().cloned().collect::<BTreeSet<_>>(),
        by_key
    );
    for (at, key) in by_key {
        assert!(at.since(now) <= super::LONGEST_LOCK_DELAY, "{key:?}");
        assert_eq!(store.lock_delay_left(now, &key), Some(at.since(now)));
    }
}

fn catalog(store: &Store) {
    let catalog = &store.catalog;
    for row in catalog.nodes.values() {
        in_order(row.create_index, row.modify_index, catalog.nodes_newest);
    }
    let ids = catalog
        .nodes
        .iter()
        .filter_map(|(name, row)| Some((key_of_id(&row.node.id)?, name.clone())));
    let ids: BTreeSet<_> = ids.collect();
    let index = catalog.node_ids.iter();
    assert!(
        index.eq(ids.iter().map(|(id, node)| (id, node))),
        "no two nodes have the same id"
    );
    for ((node, id), row) in &catalog.services {
        in_order(row.create_index, row.modify_index, catalog.services_newest);
        assert!(catalog.nodes.contains_key(node), "{id} without its node");
    }
    let rows = catalog.checks.rows.values().cloned();
    let rebuilt: CheckTable = rows.collect();
    assert_eq!(catalog.checks, rebuilt);
    store.agent(0).assert_consistent();
    for ((node, id), row) in &catalog.checks.rows {
        in_order(row.create_index, row.modify_index, catalog.checks_newest);
        assert!(catalog.nodes.contains_key(node), "{id} without its node");
        let service = (node.clone(), row.check.service_id.to_lowercase());
        let stands = service.1.is_empty() || catalog.services.contains_key(&service);
        assert!(stands, "{id} without its service");
    }
    let nodes: BTreeSet<_> = catalog.nodes.keys().collect();
    assert_eq!(
        catalog.newest_by_node.keys().collect::<BTreeSet<_>>(),
        nodes
    );
    let instances = catalog
        .services
        .iter()
        .map(|((node, id), row)| (row.service.name.to_lowercase(), node.clone(), id.clone()));
    let instances: BTreeSet<_> = instances.collect();
    assert_eq!(
        catalog.instances.iter().cloned().collect::<BTreeSet<_>>(),
        instances
    );
    let mut names = instances.iter().map(|(name, _, _)| name);
    assert!(names.all(|name| catalog.newest_by_service.contains_key(name)));
    assert_eq!(
        catalog.trees,
        Trees::of(catalog, store.config.tree_entries()),
        "the trees have the rows' entries"
    );
    let tables = [
        catalog.nodes_newest,
        catalog.services_newest,
        catalog.checks_newest,
        catalog.node_deleted,
        catalog.service_extinct,
    ];
    let by_name = catalog
        .newest_by_node
        .values()
        .chain(catalog.newest_by_service.values());
    assert!(by_name.chain(&tables).all(|index| *index <= store.applied));
}

fn prepared_queries(store: &Store) {
    let queries = &store.prepared_queries;
    let mut by_session = BTreeSet::new();
    for (id, row) in &queries.rows {
        in_order(row.create_index, row.modify_index, queries.newest);
        let session = &row.query.session;
        if session.is_empty() {
            continue;
        }
        let session = SessionId::parse(session).expect("a session was looked up");
        let session = session.expect("a session was found");
        let lives = store.sessions.rows.contains_key(&session);
        assert!(lives, "{id} belongs to {session}, which has ended");
        by_session.insert((session, *id));
    }
    let index = queries.by_session.iter().copied();
    assert_eq!(index.collect::<BTreeSet<_>>(), by_session);
}

fn in_order(created: Index, modified: Index, newest: Index) {
    assert!(
        created <= modified && modified <= newest,
        "{created} {modified} {newest}"
    );
}
