//! What the entries of the log are called that commands make, for who counts them.

/// The kind of the entry that a command makes, if it makes any. The names are Consul's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogEntry {
    /// What the leader does with it: `kvs.apply`. Empty if it has no name.
    pub applied_as: &'static str,
    /// The part of the state that it changes: `kvs`.
    pub part: &'static str,
    /// The operation: `set`. Empty if it has no name.
    pub operation: &'static str,
}

impl LogEntry {
    /// Returns a kind of entry.
    pub(crate) const fn new(
        applied_as: &'static str,
        part: &'static str,
        operation: &'static str,
    ) -> Self {
        Self {
            applied_as,
            part,
            operation,
        }
    }

    /// Returns the kind of a write of a key.
    pub(crate) const fn kvs(operation: &'static str) -> Self {
        Self::new("kvs.apply", "kvs", operation)
    }
}

/// Registers with the catalog.
pub(crate) const REGISTER: LogEntry = LogEntry::new("catalog.register", "register", "");
/// Deregisters from the catalog.
pub(crate) const DEREGISTER: LogEntry = LogEntry::new("catalog.deregister", "deregister", "");
