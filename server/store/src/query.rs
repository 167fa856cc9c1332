//! Reads: what can be asked, what is answered, and what the answer depends on.

use std::sync::Arc;

use super::agent::LocalService;
use super::event::EventRow;
use super::index::Index;
use super::key::Key;
use super::kv::KvRow;
use super::prepared_query::PreparedQueryRow;
use super::registration::{CheckRow, Labels, NodeRow, ServiceRow};
use super::session::SessionRow;
use super::session_id::SessionId;

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A single key.
    KvGet(Key),
    /// All keys with this prefix; the empty prefix is the whole store.
    KvList(Key),
    /// A session by its id, as the client spelled it.
    SessionInfo(String),
    /// All sessions, in the order of their ids.
    SessionList,
    /// The sessions of a node.
    SessionNode(String),
    /// All nodes.
    Nodes,
    /// A node and its services.
    Node(String),
    /// All services: name and tags; those on nodes with this meta data.
    Services(Labels),
    /// The instances of a service.
    Service(String),
    /// The instances of a service, for their health: only the index is another where there are none.
    ServiceHealth(String),
    /// The proxies of a service, and its instances that need none, at an index of their own.
    Connect(String),
    /// The same for their health.
    ConnectHealth(String),
    /// The checks of a service's instances on nodes with this meta data.
    ServiceChecks(String, Labels),
    /// The checks of a node.
    NodeChecks(String),
    /// All prepared queries, in the order of their ids.
    PreparedQueries,
    /// A prepared query by its id, as the client spelled it.
    PreparedQuery(String),
    /// The prepared query that serves a name or id.
    PreparedQueryFor(String),
    /// The events with a name, or all that are kept.
    Events(Option<Box<[u8]>>),
    /// The checks with a status on nodes with this meta data; `any` means all.
    ChecksInState(String, Labels),
    /// A service of the agent's own, by its id. It has no index of its own.
    AgentService(String),
}

/// What a read found.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The index of what was read, at least 1: `X-Consul-Index`.
    pub index: Index,
    /// The rows.
    pub rows: Rows,
    /// What has to change before the same read can answer differently. A change of it is a hint, no more.
    pub reads: ReadSet,
    /// The read names one thing, which does not exist, and a wait for it is to go on through unrelated
    /// writes ([`super::Rules::missing_keeps_blocking`]).
    pub waits_for_existence: bool,
}

/// The rows of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A key's row, if there is one.
    Entry(Option<Entry>),
    /// Keys and their rows, in byte order.
    Entries(Vec<Entry>),
    /// Sessions, in the order of their ids.
    Sessions(Vec<Arc<SessionRow>>),
    /// Nodes, in the order of their names.
    Nodes(Vec<Arc<NodeRow>>),
    /// A node with its services, in the order of their ids.
    Node(Option<(Arc<NodeRow>, Vec<Arc<ServiceRow>>)>),
    /// Checks, in the order of node and id.
    Checks(Vec<Arc<CheckRow>>),
    /// Prepared queries, in the order of their ids.
    PreparedQueries(Vec<Arc<PreparedQueryRow>>),
    /// Events, oldest first.
    Events(Vec<Arc<EventRow>>),
    /// The instances of one service or of all, in the order of node and id.
    Instances(Vec<Instance>),
    /// A service of the agent's own, if there is one.
    AgentService(Option<Arc<LocalService>>),
}

/// A service instance with its node, and the checks of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The node.
    pub node: Arc<NodeRow>,
    /// The instance.
    pub service: Arc<ServiceRow>,
    /// The checks of the node, then those of the instance; none where all services are asked for.
    pub checks: Vec<Arc<CheckRow>>,
}

/// A key with its row.
pub type Entry = (Key, Arc<KvRow>);

/// Everything that an answer depends on.
pub type ReadSet = Vec<Watch>;

/// One thing that an answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watch {
    /// The row of this key.
    Key(Key),
    /// The rows of all keys with this prefix; the empty prefix is every key.
    KeyPrefix(Key),
    /// The row of this session.
    Session(SessionId),
    /// The sessions of this node (lower case).
    NodeSessions(String),
    /// Every session.
    AnySession,
    /// Every node, or every node and service where those move the same index.
    Nodes,
    /// This node and its services (lower case).
    Node(String),
    /// Every service.
    Services,
    /// All that a read of this service shows.
    Service(String),
    /// Every check.
    Checks,
    /// This service of the agent's own.
    AgentService(String),
    /// Every prepared query.
    PreparedQueries,
    /// Every event.
    Events,
}
