//! Makes an image of a store, and a store of an image.

use crate::acl::AclTables;
use crate::agent::event::{EventRow, Events};
use crate::catalog::Catalog;
use crate::catalog::coordinate::CoordinateTable;
use crate::catalog::node::id::key_of_id;
use crate::catalog::query::{PreparedQueries, PreparedQueryRow};
use crate::catalog::registration::{NewNode, NodeRow, ServiceRow};
use crate::catalog::service::gateway::GatewayTable;
use crate::catalog::service::virtual_address;
use crate::catalog::trees::Trees;
use crate::config::ConfigTable;
use crate::image::flaw::Flaw;
use crate::image::whole::{Image, TableIndexes};
use crate::kv::key::Key;
use crate::kv::lock_delay::LockDelays;
use crate::kv::tombstone::Tombstones;
use crate::kv::{KvRow, KvTable};
use crate::ordered::OrderedMap;
use crate::session::id::SessionId;
use crate::session::{SessionRow, SessionTable};
use crate::timestamp::Timestamp;
use crate::{Agent, AgentImage, Store};
use std::sync::Arc;

impl Store {
    /// Returns the whole state at `now`.
    #[must_use]
    pub fn image(mut self, now: Timestamp) -> Image {
        // Results of runs in progress never reach the restored store.
        self.run_checks_again(now);
        self.carry(now, Timestamp::ZERO);
        let keys = self.kv.rows.iter();
        let sessions = self.sessions.rows.values();
        let lapse = |row: &SessionRow| self.sessions.lapses.get(&row.session.id).copied();
        Image {
            applied: self.applied,
            indexes: self.table_indexes(),
            keys: keys
                .map(|(key, row)| (key.clone(), KvRow::clone(row)))
                .collect(),
            tombstones: owned(&self.tombstones.by_key),
            reaps: owned(&self.tombstones.reaps),
            reaps_counted_from: self.tombstones.counted_from,
            lock_delays: owned(&self.lock_delays.by_key),
            sessions: sessions
                .map(|row| (SessionRow::clone(row), lapse(row)))
                .collect(),
            nodes: self.catalog.nodes.values().cloned().collect(),
            services: self.catalog.services.values().cloned().collect(),
            checks: self
                .catalog
                .checks
                .iter()
                .map(|(_, row)| Arc::clone(row))
                .collect(),
            prepared_queries: self.prepared_queries.rows.values().cloned().collect(),
            events: self
                .events
                .rows
                .iter()
                .map(|row| EventRow::clone(row))
                .collect(),
            events_fired: self.events.fired,
            agent: self.agent.image(),
            other_agents: self.others.iter().map(Agent::image).collect(),
            acl: self.acl.image(),
            coordinates: self.catalog.coordinates.image(),
            autopilot: self.autopilot,
            config: self.config.image(&self.catalog.gateway_services),
        }
    }

    fn table_indexes(&self) -> TableIndexes {
        let catalog = &self.catalog;
        TableIndexes {
            keys: self.kv.newest,
            tombstones: self.tombstones.newest,
            sessions: self.sessions.newest,
            nodes: catalog.nodes_newest,
            node_deleted: catalog.node_deleted,
            services: catalog.services_newest,
            checks: catalog.checks_newest,
            service_extinct: catalog.service_extinct,
            prepared_queries: self.prepared_queries.newest,
            by_node: owned(&catalog.newest_by_node).into_iter().collect(),
            by_service: owned(&catalog.newest_by_service).into_iter().collect(),
        }
    }

    /// Returns a store with the state of `image` at `now`, and the rules and the agent's identity of this one.
    ///
    /// # Errors
    /// The image is invalid.
    pub fn with_image(&self, mut image: Image, now: Timestamp) -> Result<Store, Flaw> {
        image.check()?;
        let gateway_services = image.config.gateway_services.take();
        let has_virtual_addresses = image.config.virtual_addresses.is_some();
        let indexes = &image.indexes;
        let keys = image.keys.into_iter();
        let mut store = Store {
            rules: self.rules,
            applied: image.applied,
            kv: KvTable {
                newest: indexes.keys,
                rows: keys.map(|(key, row)| (key, Arc::new(row))).collect(),
            },
            tombstones: Tombstones {
                by_key: image.tombstones.into_iter().collect(),
                reaps: image.reaps.into_iter().collect(),
                newest: indexes.tombstones,
                counted_from: image.reaps_counted_from,
            },
            lock_delays: lock_delays(&image.lock_delays),
            sessions: SessionTable {
                newest: indexes.sessions,
                ..sessions(image.sessions)
            },
            catalog: Catalog {
                node_ids: node_ids(&image.nodes),
                nodes: by_name(image.nodes, |row| row.node.node.to_lowercase()),
                checks: image.checks.into_iter().collect(),
                nodes_newest: indexes.nodes,
                newest_by_node: indexes.by_node.clone().into_iter().collect(),
                node_deleted: indexes.node_deleted,
                services_newest: indexes.services,
                checks_newest: indexes.checks,
                newest_by_service: indexes.by_service.clone().into_iter().collect(),
                service_extinct: indexes.service_extinct,
                coordinates: CoordinateTable::of(image.coordinates),
                ..services(image.services)
            },
            agent: Agent::of(image.agent, &self.agent),
            others: others(image.other_agents, &self.others),
            cluster: self.cluster.clone(),
            prepared_queries: prepared_queries(image.prepared_queries, indexes),
            events: Events {
                rows: Arc::new(image.events.into_iter().map(Arc::new).collect()),
                fired: image.events_fired,
            },
            acl: AclTables::of(image.acl),
            autopilot: image.autopilot,
            config: ConfigTable::of(image.config),
        };
        if !has_virtual_addresses {
            let instances = store.catalog.services.values();
            store.config.virtual_addresses = virtual_address::anew(instances.map(|row| &**row));
        }
        store.hold_keys();
        store.catalog.gateway_services = match gateway_services {
            Some(rows) => GatewayTable::of(rows),
            None => store.gateway_services_anew(),
        };
        store.catalog.trees = Trees::of(&store.catalog, store.config.tree_entries());
        store.carry(Timestamp::ZERO, now);
        Ok(store)
    }

    /// Rebuilds the index of held keys.
    fn hold_keys(&mut self) {
        for (key, row) in &self.kv.rows {
            let holder = row.session().map(SessionId::parse);
            if let Some(Ok(Some(session))) = holder {
                self.sessions.held.insert((session, key.clone()));
            }
        }
    }
}

fn owned<K: Ord + Clone, V: Clone, S>(map: &OrderedMap<K, V, S>) -> Vec<(K, V)> {
    let pairs = map.iter();
    pairs
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn by_name<K: Ord + Clone, R>(rows: Vec<Arc<R>>, name: impl Fn(&R) -> K) -> OrderedMap<K, Arc<R>> {
    let rows = rows.into_iter();
    rows.map(|row| (name(&row), row)).collect()
}

/// Returns the other agents with the state that is saved of them.
fn others(images: Vec<AgentImage>, own: &[Agent]) -> Vec<Agent> {
    let saved = images.into_iter().map(Some).chain(std::iter::repeat(None));
    let others = own.iter().zip(saved);
    let other = |(own, image): (&Agent, Option<AgentImage>)| match image {
        Some(image) => Agent::of(image, own),
        None => own.clone(),
    };
    others.map(other).collect()
}

fn lock_delays(image: &[(Key, Timestamp)]) -> LockDelays {
    let pairs = image.iter();
    LockDelays {
        by_key: pairs.clone().cloned().collect(),
        by_end: pairs.map(|(key, end)| (*end, key.clone())).collect(),
    }
}

fn sessions(image: Vec<(SessionRow, Option<Timestamp>)>) -> SessionTable {
    let mut table = SessionTable::default();
    for (row, lapse) in image {
        let session = &row.session;
        let node = session.node.to_lowercase();
        for check in session.bound_checks() {
            let binding = (node.clone(), check.to_lowercase(), session.id);
            table.by_check.insert(binding);
        }
        table.by_node.insert((node, session.id));
        if let Some(lapse) = lapse {
            table.lapses.insert(session.id, lapse);
            let place = (lapse, row.create_index, session.id);
            table.by_lapse.insert(place);
        }
        table.rows.insert(session.id, Arc::new(row));
    }
    table
}

/// Returns node names, in lower case, by node id.
fn node_ids(rows: &[Arc<NodeRow>]) -> OrderedMap<Key, String> {
    let ids = rows.iter().map(|row| {
        let NewNode { id, node, .. } = &row.node;
        Some((key_of_id(id)?, node.to_lowercase()))
    });
    ids.flatten().collect()
}

fn services(rows: Vec<Arc<ServiceRow>>) -> Catalog {
    let mut catalog = Catalog::default();
    for row in rows {
        let (node, service) = (row.node.to_lowercase(), &row.service);
        let id = service.id.to_lowercase();
        let instance = (service.name.to_lowercase(), node.clone(), id.clone());
        catalog.instances.insert(instance);
        catalog.services.insert((node, id), row);
    }
    catalog
}

fn prepared_queries(rows: Vec<Arc<PreparedQueryRow>>, indexes: &TableIndexes) -> PreparedQueries {
    let mut queries = PreparedQueries {
        newest: indexes.prepared_queries,
        ..PreparedQueries::default()
    };
    for row in rows {
        queries.insert(PreparedQueryRow::clone(&row));
    }
    queries
}
