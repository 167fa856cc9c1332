//! Keys, sessions, prepared queries, events and the indexes of the tables in a state.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::value::{self, Bytes, Id, Moment, Span};
use crate::store::{
    self, Behavior, EventRow, Index, KvRow, Labels, NewEvent, NewPreparedQuery, NewSession,
    PreparedQueryRow, ServiceCheck, ServiceSearch, SessionId, SessionRow, Template,
};
use crate::timestamp::Timestamp;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    key: Bytes,
    value: Bytes,
    flags: u64,
    lock_index: u64,
    /// The holder, as the client spelled it.
    session: Option<Box<str>>,
    #[serde(with = "value::index")]
    create_index: Index,
    #[serde(with = "value::index")]
    modify_index: Index,
}

impl From<store::Entry> for Key {
    fn from((key, row): store::Entry) -> Self {
        Self {
            key: Bytes::of(key.as_bytes()),
            value: Bytes::of(&row.value),
            flags: row.flags,
            lock_index: row.lock_index,
            session: row.session.clone(),
            create_index: row.create_index,
            modify_index: row.modify_index,
        }
    }
}

impl From<Key> for store::Entry {
    fn from(key: Key) -> Self {
        let row = KvRow {
            value: key.value.bytes().into(),
            flags: key.flags,
            lock_index: key.lock_index,
            session: key.session,
            create_index: key.create_index,
            modify_index: key.modify_index,
        };
        (store::Key::new(key.key.bytes()), Arc::new(row))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockDelay {
    key: Bytes,
    left: Moment,
}

impl From<(store::Key, Timestamp)> for LockDelay {
    fn from((key, end): (store::Key, Timestamp)) -> Self {
        Self {
            key: Bytes::of(key.as_bytes()),
            left: Moment(end),
        }
    }
}

impl From<LockDelay> for (store::Key, Timestamp) {
    fn from(delay: LockDelay) -> Self {
        (store::Key::new(delay.key.bytes()), delay.left.0)
    }
}

/// A deleted key or prefix.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tombstone {
    key: Bytes,
    #[serde(with = "value::index")]
    index: Index,
}

impl From<(store::Key, Index)> for Tombstone {
    fn from((key, index): (store::Key, Index)) -> Self {
        Self {
            key: Bytes::of(key.as_bytes()),
            index,
        }
    }
}

impl From<Tombstone> for (store::Key, Index) {
    fn from(tombstone: Tombstone) -> Self {
        (store::Key::new(tombstone.key.bytes()), tombstone.index)
    }
}

/// When tombstones are forgotten, and which.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reap {
    r#in: Moment,
    #[serde(with = "value::index")]
    up_to_index: Index,
}

impl From<(Timestamp, Index)> for Reap {
    fn from((at, up_to_index): (Timestamp, Index)) -> Self {
        Self {
            r#in: Moment(at),
            up_to_index,
        }
    }
}

impl From<Reap> for (Timestamp, Index) {
    fn from(reap: Reap) -> Self {
        (reap.r#in.0, reap.up_to_index)
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    id: Id,
    name: String,
    node: String,
    lock_delay_ns: i64,
    #[serde(with = "BehaviorName")]
    behavior: Behavior,
    /// As the client sent it.
    ttl_text: String,
    ttl: Span,
    lapses_in: Option<Moment>,
    node_checks: Option<Vec<String>>,
    service_checks: Option<Vec<SessionServiceCheck>>,
    checks: Vec<String>,
    #[serde(with = "value::index")]
    create_index: Index,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "Behavior", rename_all = "kebab-case")]
enum BehaviorName {
    Release,
    Delete,
}

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct SessionServiceCheck(#[serde(with = "ServiceCheckFields")] ServiceCheck);

#[derive(Deserialize, Serialize)]
#[serde(remote = "ServiceCheck", deny_unknown_fields)]
struct ServiceCheckFields {
    id: String,
    namespace: String,
}

type SessionAndLapse = (Arc<SessionRow>, Option<Timestamp>);

impl From<SessionAndLapse> for Session {
    fn from((row, lapse): SessionAndLapse) -> Self {
        let SessionRow {
            session,
            create_index,
        } = SessionRow::clone(&row);
        let checks = session.service_checks.map(|checks| {
            let checks = checks.into_iter();
            checks.map(SessionServiceCheck).collect()
        });
        Self {
            id: Id(session.id),
            name: session.name,
            node: session.node,
            lock_delay_ns: session.lock_delay_ns,
            behavior: session.behavior,
            ttl_text: session.ttl_text,
            ttl: Span(session.ttl),
            lapses_in: lapse.map(Moment),
            node_checks: session.node_checks,
            service_checks: checks,
            checks: session.checks,
            create_index,
        }
    }
}

impl From<Session> for SessionAndLapse {
    fn from(session: Session) -> Self {
        let checks = session.service_checks.map(|checks| {
            let checks = checks.into_iter();
            checks.map(|SessionServiceCheck(check)| check).collect()
        });
        let row = SessionRow {
            session: NewSession {
                id: session.id.0,
                name: session.name,
                node: session.node,
                lock_delay_ns: session.lock_delay_ns,
                behavior: session.behavior,
                ttl_text: session.ttl_text,
                ttl: session.ttl.0,
                node_checks: session.node_checks,
                service_checks: checks,
                checks: session.checks,
            },
            create_index: session.create_index,
        };
        (Arc::new(row), session.lapses_in.map(|lapse| lapse.0))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct PreparedQuery(#[serde(with = "QueryRowFields")] pub(super) PreparedQueryRow);

#[derive(Deserialize, Serialize)]
#[serde(remote = "PreparedQueryRow", deny_unknown_fields)]
struct QueryRowFields {
    #[serde(with = "value::id")]
    id: SessionId,
    #[serde(with = "QueryFields")]
    query: NewPreparedQuery,
    #[serde(with = "value::index")]
    create_index: Index,
    #[serde(with = "value::index")]
    modify_index: Index,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "NewPreparedQuery", deny_unknown_fields)]
struct QueryFields {
    name: String,
    session: String,
    token: String,
    #[serde(with = "TemplateFields")]
    template: Template,
    #[serde(with = "SearchFields")]
    service: ServiceSearch,
    dns_ttl: String,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "Template", deny_unknown_fields)]
struct TemplateFields {
    kind: String,
    regexp: String,
    remove_empty_tags: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "ServiceSearch", deny_unknown_fields)]
struct SearchFields {
    service: String,
    failover_nearest: i64,
    failover_datacenters: Option<Vec<String>>,
    only_passing: bool,
    ignore_check_ids: Option<Vec<String>>,
    near: String,
    tags: Option<Vec<String>>,
    node_meta: Option<Labels>,
    service_meta: Option<Labels>,
    connect: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    id: Id,
    name: Bytes,
    payload: Bytes,
    node_filter: String,
    service_filter: String,
    tag_filter: String,
    logical_time: u64,
}

impl From<EventRow> for Event {
    fn from(row: EventRow) -> Self {
        let event = row.event;
        Self {
            id: Id(SessionId::from_bytes(event.id)),
            name: Bytes::of(&event.name),
            payload: Bytes::of(&event.payload),
            node_filter: event.node_filter,
            service_filter: event.service_filter,
            tag_filter: event.tag_filter,
            logical_time: row.logical_time,
        }
    }
}

impl From<Event> for EventRow {
    fn from(event: Event) -> Self {
        Self {
            event: NewEvent {
                id: event.id.0.bytes(),
                name: event.name.bytes().into(),
                payload: event.payload.bytes().into(),
                node_filter: event.node_filter,
                service_filter: event.service_filter,
                tag_filter: event.tag_filter,
                // Others are not kept.
                concerns_agent: true,
            },
            logical_time: event.logical_time,
        }
    }
}

/// The index of the last change of each table, and of each node and service.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableIndexes {
    keys: u64,
    tombstones: u64,
    sessions: u64,
    nodes: u64,
    node_deleted: u64,
    services: u64,
    checks: u64,
    service_extinct: u64,
    prepared_queries: u64,
    by_node: BTreeMap<String, u64>,
    by_service: BTreeMap<String, u64>,
}

impl From<store::TableIndexes> for TableIndexes {
    fn from(indexes: store::TableIndexes) -> Self {
        let numbers = |by_name: BTreeMap<String, Index>| {
            let by_name = by_name.into_iter();
            by_name.map(|(name, index)| (name, index.0)).collect()
        };
        Self {
            keys: indexes.keys.0,
            tombstones: indexes.tombstones.0,
            sessions: indexes.sessions.0,
            nodes: indexes.nodes.0,
            node_deleted: indexes.node_deleted.0,
            services: indexes.services.0,
            checks: indexes.checks.0,
            service_extinct: indexes.service_extinct.0,
            prepared_queries: indexes.prepared_queries.0,
            by_node: numbers(indexes.by_node),
            by_service: numbers(indexes.by_service),
        }
    }
}

impl From<TableIndexes> for store::TableIndexes {
    fn from(numbers: TableIndexes) -> Self {
        let indexes = |by_name: BTreeMap<String, u64>| {
            let by_name = by_name.into_iter();
            by_name
                .map(|(name, number)| (name, Index(number)))
                .collect()
        };
        Self {
            keys: Index(numbers.keys),
            tombstones: Index(numbers.tombstones),
            sessions: Index(numbers.sessions),
            nodes: Index(numbers.nodes),
            node_deleted: Index(numbers.node_deleted),
            services: Index(numbers.services),
            checks: Index(numbers.checks),
            service_extinct: Index(numbers.service_extinct),
            prepared_queries: Index(numbers.prepared_queries),
            by_node: indexes(numbers.by_node),
            by_service: indexes(numbers.by_service),
        }
    }
}
