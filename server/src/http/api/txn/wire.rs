//! The JSON of transactions (kv.md 7; 1.22.md A7).

use serde::Serialize;

use crate::http::body::kv::KvEntry;
use crate::http::body::query_meta::QueryMeta;
use crate::http::body::wire::{Check, Node, NodeService};

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
    Service(NodeService<'a>),
    Check(Check<'a>),
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

/// The answer of a transaction that only read.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TxnReadAnswer<'a> {
    #[serde(flatten)]
    pub(crate) answer: TxnAnswer<'a>,
    #[serde(flatten)]
    pub(crate) meta: QueryMeta,
}
