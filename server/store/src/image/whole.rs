//! The whole state as plain data.
//!
//! An image has everything that clients can see, and all deadlines, each once: the store's indexes are rebuilt
//! from it. Its times are relative to the time of the image, which is [`Timestamp::ZERO`].

use crate::Index;
use crate::acl::image::AclImage;
use crate::agent::AgentImage;
use crate::agent::event::EventRow;
use crate::catalog::coordinate::CoordinateImage;
use crate::catalog::query::PreparedQueryRow;
use crate::catalog::registration::{CheckRow, NodeRow, ServiceRow};
use crate::config::ConfigImage;
use crate::config::autopilot::AutopilotRow;
use crate::kv::KvRow;
use crate::kv::key::Key;
use crate::session::SessionRow;
use crate::timestamp::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// Those of the other agents, in the order of their numbers.
    pub other_agents: Vec<AgentImage>,
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

impl Image {
    /// Returns a name, the create index and the modify index of every row.
    pub(super) fn rows(&self) -> impl Iterator<Item = (String, Index, Index)> {
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
