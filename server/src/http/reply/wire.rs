//! The JSON that Consul sends, field by field in its order. Written by hand for this server alone: the client
//! and the conformance suite have their own, so that a mistake here disagrees with somebody (design rule 5).

use serde::Serialize;

use crate::go::json::encode::{Base64, Text};
use crate::http::api::catalog::wire::{Check, Node, NodeService};
use crate::store::{Key, KvRow, SessionRow};

/// A key (kv.md 1.3).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct KvEntry<'a> {
    lock_index: u64,
    key: Text<'a>,
    flags: u64,
    value: Base64<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    create_index: u64,
    modify_index: u64,
}

impl<'a> KvEntry<'a> {
    /// The entry of a key; results of most transaction verbs show no value (kv.md trap 27).
    pub(crate) fn new(key: &'a Key, row: &'a KvRow, with_value: bool) -> Self {
        Self {
            lock_index: row.lock_index,
            key: Text(key.as_bytes()),
            flags: row.flags,
            value: Base64(if with_value { &row.value } else { &[] }),
            session: row.session.as_deref(),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}

/// A session (session.md 2).
#[derive(Serialize)]
pub(crate) struct Session<'a> {
    #[serde(rename = "ID")]
    id: String,
    #[serde(rename = "Name")]
    name: &'a str,
    #[serde(rename = "Node")]
    node: &'a str,
    #[serde(rename = "LockDelay")]
    lock_delay: i64,
    #[serde(rename = "Behavior")]
    behavior: &'static str,
    #[serde(rename = "TTL")]
    ttl: &'a str,
    #[serde(rename = "NodeChecks")]
    node_checks: Option<&'a [String]>,
    #[serde(rename = "ServiceChecks")]
    service_checks: Option<Vec<ServiceCheck<'a>>>,
    #[serde(rename = "Checks", skip_serializing_if = "<[String]>::is_empty")]
    checks: &'a [String],
    #[serde(rename = "CreateIndex")]
    create_index: u64,
    #[serde(rename = "ModifyIndex")]
    modify_index: u64,
}

#[derive(Serialize)]
struct ServiceCheck<'a> {
    #[serde(rename = "ID")]
    id: &'a str,
    #[serde(rename = "Namespace")]
    namespace: &'a str,
}

impl<'a> Session<'a> {
    pub(crate) fn new(row: &'a SessionRow) -> Self {
        let session = &row.session;
        let service_check = |check: &'a crate::store::ServiceCheck| ServiceCheck {
            id: &check.id,
            namespace: &check.namespace,
        };
        let service_checks = session.service_checks.as_ref();
        Self {
            id: session.id.to_string(),
            name: &session.name,
            node: &session.node,
            lock_delay: session.lock_delay_ns,
            behavior: match session.behavior {
                crate::store::Behavior::Release => "release",
                crate::store::Behavior::Delete => "delete",
            },
            ttl: &session.ttl_text,
            node_checks: session.node_checks.as_deref(),
            service_checks: service_checks.map(|checks| checks.iter().map(service_check).collect()),
            checks: &session.checks,
            create_index: row.create_index.0,
            // A session's row never changes.
            modify_index: row.create_index.0,
        }
    }
}

/// The answer of `session/create`.
#[derive(Serialize)]
pub(crate) struct SessionCreated {
    /// The new session's id.
    #[serde(rename = "ID")]
    pub(crate) id: String,
}

/// The answer of a transaction that wrote.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TxnAnswer<'a> {
    pub(crate) results: Option<Vec<TxnResult<'a>>>,
    pub(crate) errors: Option<Vec<TxnError>>,
}

/// A result of a transaction; which member it has says what it is of.
#[derive(Serialize)]
pub(crate) enum TxnResult<'a> {
    #[serde(rename = "KV")]
    Kv(KvEntry<'a>),
    Node(Node<'a>),
    Service(Box<NodeService<'a>>),
    Check(Box<Check<'a>>),
}

/// A failed operation of a transaction.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TxnError {
    /// Its place in the transaction.
    pub(crate) op_index: usize,
    /// Why.
    pub(crate) what: String,
}

/// The answer of a transaction that only read; the fields beyond results and errors came with the versions
/// (1.22.md A7).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TxnReadAnswer<'a> {
    #[serde(flatten)]
    pub(crate) answer: TxnAnswer<'a>,
    pub(crate) index: u64,
    pub(crate) last_contact: u64,
    pub(crate) known_leader: bool,
    pub(crate) consistency_level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_modified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<u64>,
    #[serde(
        rename = "ResultsFilteredByACLs",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) results_filtered_by_acls: Option<bool>,
}
