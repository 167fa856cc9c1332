//! The JSON of what a transaction did (kv.md 7).

use serde::Serialize;

use crate::http::body::kv::KvEntry;
use crate::http::body::wire::{Check, Node, NodeService};

/// A result of a transaction; which member it has says what it is of.
#[derive(Serialize)]
pub(crate) enum ResultEntry<'a> {
    #[serde(rename = "KV")]
    Kv(KvEntry<'a>),
    Node(Node<'a>),
    Service(NodeService<'a>),
    Check(Check<'a>),
}
