//! Enums of all commands and all reads, for random steps here and for the server's scripts.

use std::convert::Infallible;
use std::sync::Arc;

use super::store;
use super::store::timestamp::Timestamp;
use super::store::{
    AgentCommand, CheckRow, ChecksInState, ConnectInstances, Deadline, Deregistration, Entry,
    EventList, EventRow, Instance, Key, KvGet, KvList, KvRefused, KvWrite, Labels, NewEvent,
    NewSession, NodeByNameOrId, NodeChecks, NodeList, NodeRow, NodeSessions, PreparedQueryDelete,
    PreparedQueryFor, PreparedQueryId, PreparedQueryInfo, PreparedQueryList, PreparedQueryRefusal,
    PreparedQueryRow, PreparedQueryWrite, Read, Refusal, Registration, ServiceChecks,
    ServiceInstances, ServiceList, ServiceRow, ServiceView, SessionDestroy, SessionInfo,
    SessionList, SessionRenew, SessionRow, Store, Txn, TxnError, TxnOperation, TxnResult,
};

/// Any command.
#[derive(Clone, Debug)]
pub(super) enum Command {
    Kv(KvWrite),
    Txn(Vec<TxnOperation>),
    SessionCreate(NewSession),
    SessionDestroy(String),
    SessionRenew(String),
    Register(Box<Registration>),
    Deregister(Deregistration),
    Agent(Box<AgentCommand>),
    PutPreparedQuery(Box<PreparedQueryWrite>),
    DeletePreparedQuery(String),
    Fire(Box<NewEvent>),
    Due(Deadline),
}

/// The reply to any command.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Done,
    Written,
    Session(Arc<SessionRow>),
    PreparedQuery(PreparedQueryId),
    Txn(Vec<TxnResult>),
}

/// The refusal of any command or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Kv(KvRefused),
    Other(Refusal),
    PreparedQuery(PreparedQueryRefusal),
    Txn(Vec<TxnError>),
}

/// The outcome of any command.
pub(super) type Applied = store::Applied<Reply, Refused>;

impl Command {
    /// Applies the command to a store.
    pub(super) fn apply(self, store: &mut Store, now: Timestamp) -> Applied {
        match self {
            Self::Kv(write) => apply(store, now, write, |()| Reply::Written),
            Self::Txn(operations) => apply(store, now, Txn(operations), Reply::Txn),
            Self::SessionCreate(session) => apply(store, now, session, Reply::Session),
            Self::SessionDestroy(id) => apply(store, now, SessionDestroy(id), done),
            Self::SessionRenew(id) => apply(store, now, SessionRenew(id), Reply::Session),
            Self::Register(registration) => apply(store, now, *registration, done),
            Self::Deregister(what) => apply(store, now, what, done),
            Self::Agent(command) => apply(store, now, *command, done),
            Self::PutPreparedQuery(write) => apply(store, now, *write, Reply::PreparedQuery),
            Self::DeletePreparedQuery(id) => apply(store, now, PreparedQueryDelete(id), done),
            Self::Fire(event) => apply(store, now, *event, done),
            Self::Due(due) => apply(store, now, due, done),
        }
    }
}

fn apply<C: store::Command<Refused: Into<Refused>>>(
    store: &mut Store,
    now: Timestamp,
    command: C,
    reply: fn(C::Reply) -> Reply,
) -> Applied {
    let applied = store.apply(now, command);
    Applied {
        result: applied.result.map(reply).map_err(Into::into),
        effects: applied.effects,
    }
}

fn done((): ()) -> Reply {
    Reply::Done
}

impl From<Infallible> for Refused {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<KvRefused> for Refused {
    fn from(refused: KvRefused) -> Self {
        match refused.error() {
            None => Self::Kv(refused),
            Some(refusal) => Self::Other(refusal.clone()),
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Other(refusal)
    }
}

impl From<PreparedQueryRefusal> for Refused {
    fn from(refusal: PreparedQueryRefusal) -> Self {
        Self::PreparedQuery(refusal)
    }
}

impl From<Vec<TxnError>> for Refused {
    fn from(errors: Vec<TxnError>) -> Self {
        Self::Txn(errors)
    }
}

/// Any read.
#[derive(Clone, Debug)]
pub(super) enum Query {
    KvGet(Key),
    KvList(Key),
    SessionInfo(String),
    SessionList,
    SessionNode(String),
    Nodes,
    Node(String),
    Services(Labels),
    Service(ServiceView, String),
    Connect(ServiceView, String),
    ServiceChecks(String, Labels),
    NodeChecks(String),
    PreparedQueries,
    PreparedQueryInfo(String),
    PreparedQueryFor(String),
    Events(Option<Box<[u8]>>),
    ChecksInState(String, Labels),
}

/// The rows of any read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Entry(Option<Entry>),
    Entries(Vec<Entry>),
    Sessions(Vec<Arc<SessionRow>>),
    Nodes(Vec<Arc<NodeRow>>),
    Node(Option<(Arc<NodeRow>, Vec<Arc<ServiceRow>>)>),
    Checks(Vec<Arc<CheckRow>>),
    PreparedQueries(Vec<Arc<PreparedQueryRow>>),
    Events(Vec<Arc<EventRow>>),
    Instances(Vec<Instance>),
}

/// The answer to any read.
pub(super) type Answer = store::Answer<Rows>;

impl Query {
    /// Answers the read.
    pub(super) fn look(&self, store: &Store) -> Result<Answer, Refused> {
        match self.clone() {
            Self::KvGet(key) => look(store, &KvGet(key), Rows::Entry),
            Self::KvList(prefix) => look(store, &KvList(prefix), Rows::Entries),
            Self::SessionInfo(id) => look(store, &SessionInfo(id), Rows::Sessions),
            Self::SessionList => look(store, &SessionList, Rows::Sessions),
            Self::SessionNode(node) => look(store, &NodeSessions(node), Rows::Sessions),
            Self::Nodes => look(store, &NodeList(Labels::new()), Rows::Nodes),
            Self::Node(node) => look(store, &NodeByNameOrId(node), Rows::Node),
            Self::Services(meta) => look(store, &ServiceList(meta), Rows::Instances),
            Self::Service(view, name) => {
                look(store, &ServiceInstances(view, name), Rows::Instances)
            }
            Self::Connect(view, name) => {
                look(store, &ConnectInstances(view, name), Rows::Instances)
            }
            Self::ServiceChecks(name, meta) => {
                look(store, &ServiceChecks(name, meta), Rows::Checks)
            }
            Self::NodeChecks(node) => look(store, &NodeChecks(node), Rows::Checks),
            Self::PreparedQueries => look(store, &PreparedQueryList, Rows::PreparedQueries),
            Self::PreparedQueryInfo(id) => {
                look(store, &PreparedQueryInfo(id), Rows::PreparedQueries)
            }
            Self::PreparedQueryFor(name) => look(store, &PreparedQueryFor(name), |row| {
                Rows::PreparedQueries(vec![row])
            }),
            Self::Events(name) => look(store, &EventList(name), Rows::Events),
            Self::ChecksInState(state, meta) => {
                look(store, &ChecksInState(state, meta), Rows::Checks)
            }
        }
    }
}

fn look<R: Read<Refused: Into<Refused>>>(
    store: &Store,
    read: &R,
    rows: fn(R::Rows) -> Rows,
) -> Result<Answer, Refused> {
    let answer = read.look(store).map_err(Into::into)?;
    Ok(Answer {
        index: answer.index,
        rows: rows(answer.rows),
        reads: answer.reads,
        news: answer.news,
    })
}
