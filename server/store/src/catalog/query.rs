//! Prepared queries: named searches for services, which end with their session (session.md 5).

use std::convert::Infallible;
use std::sync::Arc;

use crate::Index;
use crate::catalog::registration::Labels;
use crate::command::effects::Touched;
use crate::command::entry::LogEntry;
use crate::command::{Command, Refusal};
use crate::ordered::{OrderedMap, OrderedSet};
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::session::id::{IdError, SessionId};
use crate::{Change, Store};

/// The id of a prepared query. It has the form of a session id, and every version requires a UUID.
pub type PreparedQueryId = SessionId;

/// A prepared query as a client sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewPreparedQuery {
    /// The name; empty for a query known by its id only.
    pub name: String,
    /// The session that it ends with, as sent; empty if unset.
    pub session: String,
    /// The token. It is stored and shown.
    pub token: String,
    /// The template, which serves names that begin with the query's.
    pub template: Template,
    /// The search.
    pub service: ServiceSearch,
    /// The DNS TTL. It is stored and shown.
    pub dns_ttl: String,
}

/// How a query serves names that begin with its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The kind; empty for an ordinary query.
    pub kind: String,
    /// The regular expression that parses the name.
    pub regexp: String,
    /// Whether to omit empty tags.
    pub remove_empty_tags: bool,
}

impl Template {
    /// Whether the query is a template.
    #[must_use]
    pub fn is_some(&self) -> bool {
        !self.kind.is_empty()
    }
}

/// The search of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSearch {
    /// The name of the service.
    pub service: String,
    /// The number of nearest datacenters to fail over to. It is stored and shown.
    pub failover_nearest: i64,
    /// The datacenters to fail over to. They are stored and shown. `None` is shown as `null`, here and below.
    pub failover_datacenters: Option<Vec<String>>,
    /// Whether warnings count as failures.
    pub only_passing: bool,
    /// The checks to ignore.
    pub ignore_check_ids: Option<Vec<String>>,
    /// The node by whose distance results are sorted.
    pub near: String,
    /// The tags required of instances; with an exclamation mark, forbidden.
    pub tags: Option<Vec<String>>,
    /// The meta data required of nodes.
    pub node_meta: Option<Labels>,
    /// The meta data required of instances.
    pub service_meta: Option<Labels>,
    /// Whether to search for proxies.
    pub connect: bool,
}

/// A stored prepared query.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct PreparedQueryRow {
    /// The id, made by the caller.
    pub id: PreparedQueryId,
    /// The query as sent.
    pub query: NewPreparedQuery,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// A write of a prepared query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedQueryWrite {
    /// The query to create or replace.
    pub target: PreparedQueryTarget,
    /// The query.
    pub query: NewPreparedQuery,
    /// Why the template is invalid, from the caller that compiled it. Raft reports it.
    pub flaw: Option<String>,
}

/// The query to create or replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreparedQueryTarget {
    /// A new one, with an id made by the caller.
    New(PreparedQueryId),
    /// An existing one, by its id as the client spelled it.
    Existing(String),
}

/// Why a call on a prepared query is refused. The wire layer has the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreparedQueryRefusal {
    /// The query of a read does not exist.
    NotFound,
    /// The id of a read is not a UUID.
    MalformedId(IdError),
    /// The id of a write is not a UUID.
    MalformedTarget(IdError),
    /// The query of a write does not exist.
    NoTarget(String),
    /// The session is not a UUID, and this version requires one.
    MalformedSession(IdError),
    /// No session has the id.
    InvalidSession(String),
    /// Another query has the name.
    NameIsQueryName(String),
    /// Another query has the name as its id.
    NameIsQueryId(String),
    /// A template without a name exists already.
    EmptyTemplateExists,
    /// The template is invalid.
    TemplateFlaw(String),
}

impl From<Infallible> for PreparedQueryRefusal {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Deletes the prepared query with this id, as the client spelled it.
#[derive(Clone, Debug)]
pub struct PreparedQueryDelete(pub String);

/// Reads all prepared queries, in the order of their ids.
#[derive(Clone, Debug)]
pub struct PreparedQueryList;

/// Reads the prepared query with this id, as the client spelled it. The list has one entry.
#[derive(Clone, Debug)]
pub struct PreparedQueryInfo(pub String);

/// Reads the prepared query for a name: the query with this id, with this name, or the template whose name is
/// the longest prefix of it.
#[derive(Clone, Debug)]
pub struct PreparedQueryFor(pub String);

/// The prepared queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreparedQueries {
    pub(crate) rows: OrderedMap<PreparedQueryId, Arc<PreparedQueryRow>>,
    /// By name in lower case; of queries without a name, only templates.
    pub(crate) by_name: OrderedMap<String, PreparedQueryId>,
    /// (session, query).
    pub(crate) by_session: OrderedSet<(SessionId, PreparedQueryId)>,
    /// The index of the last change of any.
    pub(crate) newest: Index,
}

impl PreparedQueries {
    pub(crate) fn insert(&mut self, row: PreparedQueryRow) {
        self.remove(row.id);
        if let Some(name) = row.query.key_name() {
            self.by_name.insert(name, row.id);
        }
        if let Some(session) = session_of(&row.query) {
            self.by_session.insert((session, row.id));
        }
        self.rows.insert(row.id, Arc::new(row));
    }

    fn remove(&mut self, id: PreparedQueryId) {
        let Some(row) = self.rows.remove(&id) else {
            return;
        };
        if let Some(name) = row.query.key_name() {
            self.by_name.remove(&name);
        }
        if let Some(session) = session_of(&row.query) {
            self.by_session.remove(&(session, id));
        }
    }
}

impl NewPreparedQuery {
    /// Returns the name that finds the query.
    pub(crate) fn key_name(&self) -> Option<String> {
        (!self.name.is_empty() || self.template.is_some()).then(|| self.name.to_lowercase())
    }
}

/// Returns the session that a query ends with, whatever its spelling.
fn session_of(query: &NewPreparedQuery) -> Option<SessionId> {
    SessionId::parse(&query.session).ok().flatten()
}

impl Read for PreparedQueryList {
    type Rows = Vec<Arc<PreparedQueryRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all prepared queries")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store.prepared_queries.rows.values();
        let rows = rows.map(Arc::clone).collect();
        Ok(store.prepared_query_answer(rows, Watch::PreparedQueries))
    }
}

impl Read for PreparedQueryInfo {
    type Rows = Vec<Arc<PreparedQueryRow>>;
    type Refused = PreparedQueryRefusal;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("prepared query {}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.prepared_query_row(&self.0);
        let row = row.map_err(PreparedQueryRefusal::MalformedId)?;
        let row = row.ok_or(PreparedQueryRefusal::NotFound)?;
        let watch = Watch::PreparedQuery(row.id);
        Ok(store.prepared_query_answer(vec![row], watch))
    }
}

impl Read for PreparedQueryFor {
    type Rows = Arc<PreparedQueryRow>;
    type Refused = PreparedQueryRefusal;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("the prepared query for {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.prepared_query_row(&self.0).ok().flatten();
        let row = row.or_else(|| store.prepared_query_named(&self.0));
        let row = row.ok_or(PreparedQueryRefusal::NotFound)?;
        Ok(store.prepared_query_answer(row, Watch::PreparedQueries))
    }
}

impl Store {
    fn prepared_query_named(&self, name: &str) -> Option<Arc<PreparedQueryRow>> {
        let queries = &self.prepared_queries;
        let name = name.to_lowercase();
        if let Some(id) = queries.by_name.get(&name)
            && !name.is_empty()
        {
            return queries.rows.get(id).cloned();
        }
        let templates = queries.by_name.iter().filter(|(own, id)| {
            let row = queries.rows.get(*id);
            name.starts_with(own.as_str()) && row.is_some_and(|row| row.query.template.is_some())
        });
        let (_, id) = templates.max_by_key(|(own, _)| own.len())?;
        queries.rows.get(id).cloned()
    }

    fn prepared_query_row(&self, id: &str) -> Result<Option<Arc<PreparedQueryRow>>, IdError> {
        let id = PreparedQueryId::parse(id)?;
        Ok(id.and_then(|id| self.prepared_queries.rows.get(&id).cloned()))
    }

    fn prepared_query_answer<T>(&self, rows: T, watch: Watch) -> Answer<T> {
        Answer::new(self.prepared_queries.newest, rows, vec![watch])
    }

    /// Returns the query to replace. A missing one is refused before raft.
    ///
    /// # Errors
    /// The id is malformed or unknown.
    pub fn prepared_query_target(
        &self,
        id: &str,
    ) -> Result<Arc<PreparedQueryRow>, PreparedQueryRefusal> {
        let row = self.prepared_query_row(id);
        let row = row.map_err(PreparedQueryRefusal::MalformedTarget)?;
        row.ok_or_else(|| PreparedQueryRefusal::NoTarget(id.to_owned()))
    }
}

/// Creates or replaces a prepared query. The caller has checked what Consul checks before raft.
impl Command for PreparedQueryWrite {
    type Reply = PreparedQueryId;
    type Refused = PreparedQueryRefusal;

    fn entry(&self) -> Option<LogEntry> {
        let operation = match self.target {
            PreparedQueryTarget::New(_) => "create",
            PreparedQueryTarget::Existing(_) => "update",
        };
        Some(LogEntry::new(
            "prepared-query.apply",
            "prepared-query",
            operation,
        ))
    }

    fn run(self, change: &mut Change<'_>) -> Result<PreparedQueryId, PreparedQueryRefusal> {
        change.put_prepared_query(self)
    }
}

impl Command for PreparedQueryDelete {
    type Reply = ();
    type Refused = PreparedQueryRefusal;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new(
            "prepared-query.apply",
            "prepared-query",
            "delete",
        ))
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), PreparedQueryRefusal> {
        let row = change.store.prepared_query_target(&self.0)?;
        change.take_indexes(1);
        change.store.prepared_queries.remove(row.id);
        change.prepared_query_changed(row.id);
        Ok(())
    }
}

impl Change<'_> {
    fn put_prepared_query(
        &mut self,
        write: PreparedQueryWrite,
    ) -> Result<PreparedQueryId, PreparedQueryRefusal> {
        let (id, current) = match &write.target {
            PreparedQueryTarget::New(id) => (*id, None),
            PreparedQueryTarget::Existing(id) => {
                let current = self.store.prepared_query_target(id)?;
                (current.id, Some(current))
            }
        };
        self.take_indexes(1);
        self.check_name(id, &write.query)?;
        self.check_session(&write.query.session)?;
        if let Some(flaw) = write.flaw {
            return Err(PreparedQueryRefusal::TemplateFlaw(flaw));
        }
        let row = PreparedQueryRow {
            id,
            query: write.query,
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
        };
        self.store.prepared_queries.insert(row);
        self.prepared_query_changed(id);
        Ok(id)
    }

    /// Refuses a name that is the name or id of another query.
    fn check_name(
        &self,
        id: PreparedQueryId,
        query: &NewPreparedQuery,
    ) -> Result<(), PreparedQueryRefusal> {
        let queries = &self.store.prepared_queries;
        let Some(name) = query.key_name() else {
            return Ok(());
        };
        if queries.by_name.get(&name).is_some_and(|other| *other != id) {
            return Err(if name.is_empty() {
                PreparedQueryRefusal::EmptyTemplateExists
            } else {
                PreparedQueryRefusal::NameIsQueryName(query.name.clone())
            });
        }
        let named = PreparedQueryId::parse(&name).ok().flatten();
        if named.is_some_and(|named| queries.rows.contains_key(&named)) {
            return Err(PreparedQueryRefusal::NameIsQueryId(query.name.clone()));
        }
        Ok(())
    }

    fn check_session(&self, session: &str) -> Result<(), PreparedQueryRefusal> {
        if session.is_empty() {
            return Ok(());
        }
        match self.store.require_session(session) {
            Ok(_) => Ok(()),
            Err(Refusal::MalformedSessionId(error)) => {
                Err(PreparedQueryRefusal::MalformedSession(error))
            }
            Err(_) => Err(PreparedQueryRefusal::InvalidSession(session.to_owned())),
        }
    }

    /// Deletes the prepared queries that end with a session.
    pub(crate) fn remove_queries_of(&mut self, session: SessionId) {
        let first = (session, PreparedQueryId::from_bytes([0; 16]));
        let of_session = self.store.prepared_queries.by_session.range(first..);
        let fall: Vec<_> = of_session
            .take_while(|(of, _)| *of == session)
            .map(|(_, id)| *id)
            .collect();
        for id in fall {
            self.store.prepared_queries.remove(id);
            self.prepared_query_changed(id);
        }
    }

    fn prepared_query_changed(&mut self, id: PreparedQueryId) {
        self.store.prepared_queries.newest = self.index;
        self.effects.touched.push(Touched::PreparedQuery(id));
    }
}
