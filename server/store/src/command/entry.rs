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

/// The parts of the state that are kinds of configuration entries.
const CONFIG: [&str; 18] = [
    "config_entry.api-gateway",
    "config_entry.bound-api-gateway",
    "config_entry.exported-services",
    "config_entry.file-system-certificate",
    "config_entry.http-route",
    "config_entry.ingress-gateway",
    "config_entry.inline-certificate",
    "config_entry.jwt-provider",
    "config_entry.mesh",
    "config_entry.proxy-defaults",
    "config_entry.sameness-group",
    "config_entry.service-defaults",
    "config_entry.service-intentions",
    "config_entry.service-resolver",
    "config_entry.service-router",
    "config_entry.service-splitter",
    "config_entry.tcp-route",
    "config_entry.terminating-gateway",
];

/// Returns the kind of a change of a configuration entry; none for what is not one by its kind.
pub(crate) fn of_config(
    kind: &str,
    applied_as: &'static str,
    operation: &'static str,
) -> Option<LogEntry> {
    let is_of = |part: &&&str| part.strip_prefix("config_entry.") == Some(kind);
    let part = CONFIG.iter().find(is_of)?;
    Some(LogEntry::new(applied_as, part, operation))
}

/// Registers with the catalog.
pub(crate) const REGISTER: LogEntry = LogEntry::new("catalog.register", "register", "");
/// Deregisters from the catalog.
pub(crate) const DEREGISTER: LogEntry = LogEntry::new("catalog.deregister", "deregister", "");
