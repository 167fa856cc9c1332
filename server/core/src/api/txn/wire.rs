//! The JSON of the results of a transaction (kv.md 7).

use serde::Serialize;

use crate::body::kv::KvEntry;
use crate::body::wire::{Check, Node, NodeService};

/// A result of a transaction: an object with one member, whose name is the kind.
#[derive(Serialize)]
pub(crate) enum ResultEntry<'a> {
    #[serde(rename = "KV")]
    Kv(KvEntry<'a>),
    Node(Node<'a>),
    Service(NodeService<'a>),
    Check(Check<'a>),
}
