//! The whole state as plain data, and its restoration.
//!
//! An image has everything that clients can see, and all deadlines, each once: the store's indexes are rebuilt
//! from it. Its times are relative to the time of the image, which is [`Timestamp::ZERO`].

mod flaw;
#[cfg(feature = "dump")]
pub mod form;
mod restore;
mod shift;
#[cfg(feature = "dump")]
pub(crate) mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Index;
use crate::acl::AclTables;
use crate::acl::image::AclImage;
use crate::agent::AgentImage;
use crate::agent::event::{EventRow, Events};
use crate::catalog::Catalog;
use crate::catalog::coordinate::{CoordinateImage, CoordinateTable};
use crate::catalog::query::{PreparedQueries, PreparedQueryRow};
use crate::catalog::registration::{CheckRow, NewNode, NodeRow, ServiceRow};
use crate::catalog::service::gateway::GatewayTable;
use crate::catalog::service::virtual_address;
use crate::catalog::trees::Trees;
use crate::config::autopilot::AutopilotRow;
use crate::config::{ConfigImage, ConfigTable};
use crate::kv::key::Key;
use crate::kv::lock_delay::LockDelays;
use crate::kv::tombstone::Tombstones;
use crate::kv::{KvRow, KvTable};
use crate::ordered::OrderedMap;
use crate::session::id::SessionId;
use crate::session::{SessionRow, SessionTable};
use crate::timestamp::Timestamp;
use crate::{Agent, Store};

pub use flaw::Flaw;
pub(crate) use flaw::{HIGHEST, all_different};

/// The whole state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The index of the last command.
    pub applied: Index,
    /// The table indexes.
    pub indexes: TableIndexes,
    /// The keys, in byte order.
    pub keys: Vec<(Key, KvRow)>,
    /// The tombstones, with the index of the delete.
    pub tombstones: Vec<(Key, Index)>,
    /// The times and indexes of the reapings of tombstones.
    pub reaps: Vec<(Timestamp, Index)>,
    /// The origin of the times of reaping.
    pub reaps_counted_from: Timestamp,
    /// The keys under a lock-delay, with its end.
    pub lock_delays: Vec<(Key, Timestamp)>,
    /// The sessions in the order of their ids, with their lapses.
    pub sessions: Vec<(SessionRow, Option<Timestamp>)>,
    /// The nodes, in the order of their names.
    pub nodes: Vec<Arc<NodeRow>>,
    /// The service instances, in the order of nodes and ids.
    pub services: Vec<Arc<ServiceRow>>,
    /// The checks, in the order of nodes and ids.
    pub checks: Vec<Arc<CheckRow>>,
    /// The prepared queries, in the order of their ids.
    pub prepared_queries: Vec<Arc<PreparedQueryRow>>,
    /// The kept events, oldest first.
    pub events: Vec<EventRow>,
    /// The number of events fired.
    pub events_fired: u64,
    /// The agent's own services and checks.
    pub agent: AgentImage,
    /// The tables of ACLs.
    pub acl: AclImage,
    /// The coordinates of nodes.
    pub coordinates: CoordinateImage,
    /// The settings of autopilot; `None` for those of a new server.
    pub autopilot: Option<AutopilotRow>,
    /// The configuration entries.
    pub config: ConfigImage,
}

/// The indexes of the last changes of tables that their rows do not show.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct TableIndexes {
    /// The last change of any key.
    pub keys: Index,
    /// The last deletion of a key.
    pub tombstones: Index,
    /// The last creation or end of a session.
    pub sessions: Index,
    /// The last change of any node.
    pub nodes: Index,
    /// The last deletion of a node.
    pub node_deleted: Index,
    /// The last change of any service.
    pub services: Index,
    /// The last change of any check.
    pub checks: Index,
    /// The last loss of a service's last instance.
    pub service_extinct: Index,
    /// The last change of any prepared query.
    pub prepared_queries: Index,
    /// The last change of each node or its services, by name in lower case.
    pub by_node: BTreeMap<String, Index>,
    /// The last change that reads of each service show, by name.
    pub by_service: BTreeMap<String, Index>,
}

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

/// Returns node names by node id, both in lower case.
fn node_ids(rows: &[Arc<NodeRow>]) -> OrderedMap<String, String> {
    let ids = rows.iter().map(|row| {
        let NewNode { id, node, .. } = &row.node;
        (id.to_lowercase(), node.to_lowercase())
    });
    ids.filter(|(id, _)| !id.is_empty()).collect()
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

impl Image {
    /// Returns a name, the create index and the modify index of every row.
    fn rows(&self) -> impl Iterator<Item = (String, Index, Index)> {
        let keys = self.keys.iter();
        let keys = keys.map(|(key, row): &(Key, KvRow)| {
            (format!("key {key:?}"), row.create_index, row.modify_index)
        });
        let sessions = self.sessions.iter().map(|(row, _)| {
            let name = format!("session {}", row.session.id);
            (name, row.create_index, row.create_index)
        });
        let nodes = self.nodes.iter().map(|row| {
            let name = format!("node {:?}", row.node.node);
            (name, row.create_index, row.modify_index)
        });
        let services = self.services.iter().map(|row| {
            let name = format!("service {:?}", row.service.id);
            (name, row.create_index, row.modify_index)
        });
        let checks = self.checks.iter().map(|row| {
            let name = format!("check {:?}", row.check.check_id);
            (name, row.create_index, row.modify_index)
        });
        let queries = self.prepared_queries.iter().map(|row| {
            let name = format!("prepared query {}", row.id);
            (name, row.create_index, row.modify_index)
        });
        let autopilot = self.autopilot.iter().map(|row| {
            let name = "the settings of autopilot".to_owned();
            (name, row.create_index, row.modify_index)
        });
        let config = self.config.rows.iter().map(|row| {
            let entry = &row.entry;
            let name = format!("{} {:?}", entry.kind, entry.name);
            (name, row.create_index, row.modify_index)
        });
        let catalog = nodes.chain(services).chain(checks);
        let rest = queries.chain(self.acl.rows());
        let gateways = self.config.gateway_services.iter().flatten().map(|row| {
            let name = format!("{:?} behind gateway {:?}", row.service, row.gateway);
            (name, row.create_index, row.modify_index)
        });
        let rest = rest.chain(autopilot).chain(config).chain(gateways);
        keys.chain(sessions).chain(catalog).chain(rest)
    }
}
