//! What decides about each request before the rules do: a schedule that is explored.

use std::fmt;
use std::net::IpAddr;

use super::{Asked, Plan};
use proconsul_store::timestamp::Timestamp;

/// Decides about each request, and about the links of clients, before the rules do.
pub trait Director: fmt::Debug + Send + Sync {
    /// Returns the plan for a request that has arrived; `None` leaves it to the rules. Each request is asked about once.
    fn arrived(&self, asked: &Asked<'_>, now: Timestamp) -> Option<Plan>;

    /// Returns the state of the link to a client. [`Faults::links_changed`](super::Faults::links_changed) says that one has
    /// changed.
    fn link(&self, client: Option<IpAddr>) -> Link;
}

/// The state of the link between a client and the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Requests and responses get through.
    #[default]
    Up,
    /// Nothing gets through. What is sent meanwhile arrives when the link is up again, as TCP delivers it.
    Silent,
    /// Connections are reset, those of parked requests, too.
    Cut,
}

crate::named! {
    /// What a request is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum RequestKind {
        Create "create" "Creates a session.",
        Renew "renew" "Renews a session.",
        Destroy "destroy" "Destroys a session.",
        Acquire "acquire" "Acquires a key.",
        Release "release" "Releases a key.",
        Write "write" "Writes a key without a session.",
        Delete "delete" "Deletes keys.",
        Read "read" "Reads keys.",
        Watch "watch" "Waits for a change: any read with `?index=`.",
        Txn "txn" "A transaction.",
        Other "other" "Anything else.",
    }
}

impl RequestKind {
    /// Returns what a request is for. `has` says whether it has a parameter.
    #[must_use]
    pub fn of(method: &str, path: &[u8], has: impl Fn(&str) -> bool) -> Self {
        let is_read = matches!(method, "GET" | "HEAD");
        let of_session = path.strip_prefix(b"/v1/session/").unwrap_or_default();
        match method {
            _ if is_read && has("index") => Self::Watch,
            _ if is_read && path.starts_with(b"/v1/kv/") => Self::Read,
            "PUT" if of_session.starts_with(b"create") => Self::Create,
            "PUT" if of_session.starts_with(b"renew/") => Self::Renew,
            "PUT" if of_session.starts_with(b"destroy/") => Self::Destroy,
            "PUT" if path == b"/v1/txn" => Self::Txn,
            "DELETE" if path.starts_with(b"/v1/kv/") => Self::Delete,
            "PUT" if !path.starts_with(b"/v1/kv/") => Self::Other,
            "PUT" if has("acquire") => Self::Acquire,
            "PUT" if has("release") => Self::Release,
            "PUT" => Self::Write,
            _ => Self::Other,
        }
    }
}
