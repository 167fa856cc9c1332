//! What sequences are made of: requests over a few keys and sessions, so that they get in each other's way.

use proptest::prelude::*;
use proptest::sample::select;

use super::acl::Call;
use super::odd::{OddRequest, odd_request};

/// The keys that sequences use: neighbours in order, in the tree and by prefix.
pub(super) const KEYS: [&str; 7] = ["a", "a/b", "a/b/c", "a/d", "aa", "b", "b/"];
/// How many sessions a sequence has at most.
pub(super) const SESSIONS: usize = 3;
/// How many prepared queries a sequence has at most.
pub(super) const QUERIES: usize = 3;

/// A key by its place in [`KEYS`].
type KeySlot = usize;
/// A session by the order of creation; one that was not created yet is an unknown one.
type SessionSlot = usize;

/// The nodes that sequences register.
pub(super) const NODES: [&str; 2] = ["n1", "n2"];
/// The services on them.
pub(super) const SERVICES: [&str; 2] = ["web", "api"];
/// The statuses of their checks.
const STATUSES: [&str; 3] = ["passing", "warning", "critical"];

/// A node by its place in [`NODES`].
type NodeSlot = usize;
/// A prepared query by the order of creation; one that was not created yet is an unknown one.
type QuerySlot = usize;

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A write of a key.
    Put {
        /// Which key.
        key: KeySlot,
        /// The value; there are few, so that identical writes happen.
        value: &'static str,
        /// The flags, if any are sent.
        flags: Option<u64>,
        /// On which condition.
        condition: Condition,
    },
    /// A read of a key or a tree.
    Get {
        /// Which key, or the root of the sequence.
        key: Option<KeySlot>,
        /// How.
        read: Read,
    },
    /// A read that waits for the write of a fresh value, which follows.
    Watch {
        /// Which key is written.
        key: KeySlot,
        /// How it is read.
        read: Read,
    },
    /// A request that may be wrong in any way.
    Odd(OddRequest),
    /// A change while reads of all kinds are blocked.
    Blocked(Box<Operation>),
    /// A deletion.
    Delete {
        /// Which key.
        key: KeySlot,
        /// Everything below it, too.
        recurse: bool,
        /// On which condition.
        cas: Option<CasIndex>,
    },
    /// `session/create`.
    CreateSession {
        /// `release` or `delete`.
        behavior: &'static str,
        /// Long enough to last, or none at all.
        lock_delay: &'static str,
    },
    /// `session/destroy`.
    DestroySession(SessionSlot),
    /// `session/renew`.
    RenewSession(SessionSlot),
    /// `session/info`.
    SessionInfo(SessionSlot),
    /// `session/list`.
    SessionList,
    /// A transaction.
    Txn(Vec<TxnStep>),
    /// `catalog/register` of a node of the sequence's own.
    Register(NodeSlot, Registered),
    /// `catalog/deregister` of what stands on it.
    Deregister(NodeSlot, Registered),
    /// A read of the catalog or of health.
    Catalog(NodeSlot, CatalogRead),
    /// `session/create` on such a node, bound to its check or to none.
    CreateSessionOn(NodeSlot, bool),
    /// A transaction on nodes, services and checks.
    CatalogTxn(Vec<CatalogStep>),
    /// `POST /v1/query`: a query that falls with a session.
    CreateQuery(NewQuery),
    /// `PUT /v1/query/<id>`.
    UpdateQuery(QuerySlot, NewQuery),
    /// `GET /v1/query/<id>`.
    ReadQuery(QuerySlot),
    /// `DELETE /v1/query/<id>`.
    DeleteQuery(QuerySlot),
    /// A step that asks this agent of a cluster.
    Through(usize, Box<Operation>),
    /// A step with a token: how it is given, and whose.
    As(&'static str, Box<Operation>),
    /// A request of sequences with tokens.
    Call(Call),
}

/// One operation of a transaction on the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogStep {
    /// `get`, `set`, `cas`, `delete`, `delete-cas`, or none of them.
    pub verb: &'static str,
    /// On which node.
    pub node: NodeSlot,
    /// What it is about.
    pub what: Registered,
    /// The index that it names.
    pub index: CasIndex,
}

/// A prepared query as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQuery {
    /// The name, which no other sequence has; `None` for a query without a name.
    pub name: Option<&'static str>,
    /// The session that it falls with.
    pub session: SessionSlot,
    /// The service that it searches.
    pub service: &'static str,
}

/// What is registered on a node, or taken off it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The node alone, with everything on it.
    Node,
    /// A service instance; of one of two, so that services come and go.
    Service(&'static str),
    /// The check of the node, with this status.
    Check(&'static str),
    /// The check of a service instance, with this status.
    ServiceCheck(&'static str, &'static str),
}

/// How the catalog is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogRead {
    /// The node and its services.
    Node,
    /// The node's checks.
    Checks,
    /// The node's sessions.
    Sessions,
    /// The instances of a service.
    Service(&'static str),
    /// The instances of a service and their health.
    Health(&'static str),
    /// The checks of a service.
    ServiceChecks(&'static str),
}

/// Under which condition a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// None.
    Always,
    /// `cas`.
    Cas(CasIndex),
    /// `acquire`.
    Acquire(SessionSlot),
    /// `release`.
    Release(SessionSlot),
}

/// Which index a conditional write names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasIndex {
    /// 0.
    Zero,
    /// The key's own, read just before; 0 when there is no key.
    Current,
    /// One that no key has.
    Stale,
}

/// How a key is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The entry.
    Entry,
    /// The value as it is.
    Raw,
    /// All entries below.
    Recurse,
    /// All keys below.
    Keys,
    /// The keys up to a slash.
    Folders,
}

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnStep {
    /// The verb; one of them is unknown.
    pub verb: &'static str,
    /// Which key.
    pub key: KeySlot,
    /// The value of writes.
    pub value: &'static str,
    /// The index of conditional verbs.
    pub index: CasIndex,
    /// The session of lock verbs.
    pub session: SessionSlot,
}

const VERBS: [&str; 14] = [
    "set",
    "set",
    "cas",
    "lock",
    "unlock",
    "get",
    "get-tree",
    "check-index",
    "check-session",
    "check-not-exists",
    "delete",
    "delete-cas",
    "delete-tree",
    "bogus",
];

impl Read {
    /// The parameter that asks for it.
    pub(super) fn parameter(self) -> &'static str {
        match self {
            Read::Entry => "",
            Read::Raw => "raw",
            Read::Recurse => "recurse",
            Read::Keys => "keys",
            Read::Folders => "keys&separator=/",
        }
    }
}

/// Sequences of up to `length` operations. With `blocked_reads`, reads are blocked now and then while a step changes
/// something. With `odd_requests`, most steps are requests that may be wrong in any way. Of several agents each step asks one.
pub(super) fn sequences(
    length: usize,
    blocked_reads: bool,
    odd_requests: bool,
    agents: usize,
) -> impl Strategy<Value = Vec<Operation>> {
    let operation = if blocked_reads {
        operation_or_blocked().boxed()
    } else {
        simple_operation().boxed()
    };
    let operation = match odd_requests {
        true => prop_oneof![1 => operation, 9 => odd_request().prop_map(Operation::Odd)].boxed(),
        false => operation,
    };
    let operation = match agents {
        1 => operation,
        _ => through_one_of(agents, operation).boxed(),
    };
    prop::collection::vec(operation, 1..=length)
}

fn through_one_of(
    agents: usize,
    operation: impl Strategy<Value = Operation>,
) -> impl Strategy<Value = Operation> {
    let through = (0..agents, operation);
    through.prop_map(|(agent, operation)| Operation::Through(agent, Box::new(operation)))
}

fn operation_or_blocked() -> impl Strategy<Value = Operation> {
    let blocked = prop_oneof![
        4 => change_of_catalog(),
        1 => simple_operation().prop_filter("it waits itself", |step| !matches!(step, Operation::Watch { .. })),
    ];
    prop_oneof![
        59 => simple_operation(),
        1 => blocked.prop_map(|change| Operation::Blocked(Box::new(change))),
    ]
}

fn change_of_catalog() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (node(), registered()).prop_map(|(node, what)| Operation::Register(node, what)),
        2 => (node(), registered()).prop_map(|(node, what)| Operation::Deregister(node, what)),
        1 => prop::collection::vec(catalog_step(), 1..4).prop_map(Operation::CatalogTxn),
    ]
}

pub(super) fn simple_operation() -> impl Strategy<Value = Operation> {
    let put = (key(), value(), flags(), condition());
    let put = put.prop_map(|(key, value, flags, condition)| Operation::Put {
        key,
        value,
        flags,
        condition,
    });
    let get = (prop::option::weighted(0.9, key()), read());
    let get = get.prop_map(|(key, read)| Operation::Get { key, read });
    let watch = (key(), read()).prop_map(|(key, read)| Operation::Watch { key, read });
    let delete = (
        key(),
        prop::bool::weighted(0.3),
        prop::option::weighted(0.3, cas()),
    );
    let delete = delete.prop_map(|(key, recurse, cas)| Operation::Delete { key, recurse, cas });
    let create = (
        select(&["release", "delete"][..]),
        select(&["0s", "15s"][..]),
    );
    let create = create.prop_map(|(behavior, lock_delay)| Operation::CreateSession {
        behavior,
        lock_delay,
    });
    prop_oneof![
        10 => put,
        8 => get,
        2 => watch,
        4 => delete,
        3 => create,
        2 => session().prop_map(Operation::DestroySession),
        1 => session().prop_map(Operation::RenewSession),
        1 => session().prop_map(Operation::SessionInfo),
        1 => Just(Operation::SessionList),
        3 => prop::collection::vec(txn_step(), 0..5).prop_map(Operation::Txn),
        5 => (node(), registered()).prop_map(|(node, what)| Operation::Register(node, what)),
        2 => (node(), registered()).prop_map(|(node, what)| Operation::Deregister(node, what)),
        4 => (node(), catalog_read()).prop_map(|(node, read)| Operation::Catalog(node, read)),
        2 => (node(), any::<bool>()).prop_map(|(node, bound)| Operation::CreateSessionOn(node, bound)),
        3 => prop::collection::vec(catalog_step(), 1..4).prop_map(Operation::CatalogTxn),
        3 => new_query().prop_map(Operation::CreateQuery),
        1 => (0..QUERIES, new_query()).prop_map(|(query, new)| Operation::UpdateQuery(query, new)),
        2 => (0..QUERIES).prop_map(Operation::ReadQuery),
        1 => (0..QUERIES).prop_map(Operation::DeleteQuery),
    ]
}

fn node() -> impl Strategy<Value = NodeSlot> {
    0..NODES.len()
}

fn registered() -> impl Strategy<Value = Registered> {
    let (service, status) = (select(&SERVICES[..]), select(&STATUSES[..]));
    prop_oneof![
        1 => Just(Registered::Node),
        2 => service.clone().prop_map(Registered::Service),
        3 => status.clone().prop_map(Registered::Check),
        3 => (service, status).prop_map(|(service, status)| Registered::ServiceCheck(service, status)),
    ]
}

fn catalog_step() -> impl Strategy<Value = CatalogStep> {
    let verbs = ["get", "set", "set", "cas", "delete", "delete-cas", "bogus"];
    let parts = (select(verbs.to_vec()), node(), registered(), cas());
    parts.prop_map(|(verb, node, what, index)| CatalogStep {
        verb,
        node,
        what,
        index,
    })
}

fn new_query() -> impl Strategy<Value = NewQuery> {
    let name = prop::option::of(select(&["q", "r"][..]));
    let parts = (name, session(), select(&SERVICES[..]));
    parts.prop_map(|(name, session, service)| NewQuery {
        name,
        session,
        service,
    })
}

fn catalog_read() -> impl Strategy<Value = CatalogRead> {
    let service = select(&SERVICES[..]);
    prop_oneof![
        Just(CatalogRead::Node),
        Just(CatalogRead::Checks),
        Just(CatalogRead::Sessions),
        service.clone().prop_map(CatalogRead::Service),
        service.clone().prop_map(CatalogRead::Health),
        service.prop_map(CatalogRead::ServiceChecks),
    ]
}

fn key() -> impl Strategy<Value = KeySlot> {
    0..KEYS.len()
}

fn session() -> impl Strategy<Value = SessionSlot> {
    0..SESSIONS
}

fn value() -> impl Strategy<Value = &'static str> {
    select(&["", "x", "y"][..])
}

fn flags() -> impl Strategy<Value = Option<u64>> {
    prop::option::weighted(0.3, select(&[0, 1, u64::MAX][..]))
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        4 => Just(Condition::Always),
        2 => cas().prop_map(Condition::Cas),
        4 => session().prop_map(Condition::Acquire),
        2 => session().prop_map(Condition::Release),
    ]
}

fn cas() -> impl Strategy<Value = CasIndex> {
    select(&[CasIndex::Zero, CasIndex::Current, CasIndex::Stale][..])
}

fn read() -> impl Strategy<Value = Read> {
    let all = [
        Read::Entry,
        Read::Raw,
        Read::Recurse,
        Read::Keys,
        Read::Folders,
    ];
    select(all.to_vec())
}

fn txn_step() -> impl Strategy<Value = TxnStep> {
    let parts = (select(&VERBS[..]), key(), value(), cas(), session());
    parts.prop_map(|(verb, key, value, index, session)| TxnStep {
        verb,
        key,
        value,
        index,
        session,
    })
}
