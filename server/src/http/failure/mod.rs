//! Every refusal that a client can cause, with its status and its exact text: the one table (design rule 8).

pub(crate) mod query;

use http::StatusCode;

use self::query::{PlainFailure, prepared_query_text};
use super::server::BodyFailure;
use crate::go::number::NumberError;
use crate::go::printable::Unicode;
use crate::go::quote::{Quoted, QuotedBy};
use crate::http::api::agent::failure::AgentFailure;
use crate::http::api::catalog::failure::{
    RegisterFailure, catalog_refusal_text, node_lookup_text, node_name_text, subject_text,
    txn_refusal_text, unknown_verb_text,
};
use crate::store::{IdError, PreparedQueryRefusal, Refusal, TxnError, TxnRefusal};
use crate::version::{Behaviour, Version};

/// A request that is answered with a text instead of what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `http_config.block_endpoints` names the path.
    EndpointBlocked,
    /// The endpoint does not take this method.
    Method {
        /// As sent.
        method: String,
        /// For the `Allow` header.
        allow: String,
    },
    /// `http_config.allow_write_http_from` does not name the client.
    AccessRestricted,
    /// `?stale&consistent`.
    StaleAndConsistent,
    /// `?cached&consistent`.
    CachedAndConsistent,
    /// `?max_stale` is no duration.
    MaxStale(String),
    /// The `Cache-Control` header has a bad number.
    CacheControl,
    /// `?wait` is no duration.
    Wait,
    /// `?index` is no number.
    Index,
    /// A tenancy parameter of Consul Enterprise.
    Enterprise {
        /// `query parameter` or `header`.
        place: &'static str,
        /// `ns`, `X-Consul-Namespace` and so on.
        name: &'static str,
        /// `Namespaces` or `Partitions`.
        feature: &'static str,
    },
    /// Another datacenter than the only one there is.
    Datacenter,
    /// A KV request without a key.
    MissingKeyName,
    /// `cas`, `acquire` and `release` exclude each other, as do `recurse` and `cas` of a delete.
    ConflictingFlags(String),
    /// A number in a KV parameter.
    Number(NumberError),
    /// The key breaks the rules of 1.21.5 or of 1.22.0.
    KeyName(KeyRule),
    /// `Content-Length` says that the body is too large.
    BodyTooLarge {
        /// The length; none where the body was cut off while it was read.
        length: Option<u64>,
        /// The limit.
        limit: u64,
        /// The setting that the text links to.
        setting: &'static str,
    },
    /// A chunked value is too large (since 1.22.0).
    ChunkedValueTooLarge {
        /// The limit.
        limit: u64,
    },
    /// A value inside a transaction is too large.
    TxnValueTooLarge {
        /// The key.
        key: Vec<u8>,
        /// The size of the value.
        size: usize,
        /// The limit.
        limit: u64,
    },
    /// Too many operations in a transaction.
    TxnTooManyOperations {
        /// How many came.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// A transaction's body does not parse; with Go's words.
    TxnParse(String),
    /// A body does not parse; with Go's words.
    Decode(String),
    /// A path that names nothing: `session`, `node name` and so on.
    Missing(&'static str),
    /// A session for a node without a name.
    NodeEmpty,
    /// The behavior of a session is neither release nor delete.
    Behavior(String),
    /// The TTL of a session is no duration; with Go's words.
    TtlInvalid(String, String),
    /// The TTL of a session is out of range: in nanoseconds, and the minimum as a Go duration.
    TtlRange(i64, String),
    /// The store refused a KV write.
    KvRefused(Refusal),
    /// The store refused a session call.
    SessionRefused(Refusal),
    /// The body ended before its time, or was no HTTP body at all.
    BodyUnreadable(BodyFailure),
    /// A registration is refused before it reaches the store.
    Register(RegisterFailure),
    /// The store refused a change of the catalog.
    CatalogRefused(Refusal),
    /// `?passing` is neither true nor false.
    Passing,
    /// What a fault makes of the request.
    Injected {
        /// The status.
        status: StatusCode,
        /// The text.
        text: String,
    },
    /// The agent does not do what it is told.
    Agent(AgentFailure),
    /// A prepared query is refused by the store.
    PreparedQuery(PreparedQueryRefusal),
    /// What prepared queries, events and filters are refused for.
    Plain(PlainFailure),
    /// No answer: the connection is closed, as Consul's is when a handler dies.
    Dropped,
}

/// Which rule a key's name breaks (1.22.md A1.6b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyRule {
    /// 1.21.5: the name does not match the pattern.
    Pattern,
    /// Since 1.22.0: a space at either end.
    Spaces,
    /// Since 1.22.0: a way out of the tree.
    Traversal,
}

impl Failure {
    /// The status of the answer.
    pub(crate) fn status(&self, version: Version) -> StatusCode {
        match self {
            Failure::Agent(failure) => failure.status(version),
            Failure::EndpointBlocked | Failure::AccessRestricted => StatusCode::FORBIDDEN,
            Failure::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Failure::StaleAndConsistent
            | Failure::CachedAndConsistent
            | Failure::MaxStale(_)
            | Failure::CacheControl
            | Failure::Wait
            | Failure::Index
            | Failure::Enterprise { .. }
            | Failure::MissingKeyName
            | Failure::ConflictingFlags(_)
            | Failure::TxnParse(_)
            | Failure::Decode(_)
            | Failure::Missing(_)
            | Failure::Passing => StatusCode::BAD_REQUEST,
            Failure::BodyTooLarge { .. }
            | Failure::ChunkedValueTooLarge { .. }
            | Failure::TxnValueTooLarge { .. }
            | Failure::TxnTooManyOperations { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::SessionRefused(Refusal::SessionNotFound(_))
            | Failure::PreparedQuery(PreparedQueryRefusal::NotFound) => StatusCode::NOT_FOUND,
            // Consul answers with 500 whatever it has no status for (kv.md 6.4).
            Failure::Datacenter
            | Failure::Number(_)
            | Failure::KeyName(_)
            | Failure::NodeEmpty
            | Failure::Behavior(_)
            | Failure::TtlInvalid(..)
            | Failure::TtlRange(..)
            | Failure::KvRefused(_)
            | Failure::SessionRefused(_)
            | Failure::BodyUnreadable(_)
            | Failure::Register(_)
            | Failure::CatalogRefused(_)
            | Failure::PreparedQuery(_)
            | Failure::Dropped => StatusCode::INTERNAL_SERVER_ERROR,
            Failure::Plain(failure) => failure.status(),
            Failure::Injected { status, .. } => *status,
        }
    }

    /// Whether the handler writes the text itself: it never gets the prefix of 1.12, and its type is guessed.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(
            self,
            Failure::StaleAndConsistent
                | Failure::CachedAndConsistent
                | Failure::MaxStale(_)
                | Failure::CacheControl
                | Failure::Wait
                | Failure::Index
                | Failure::ConflictingFlags(_)
        )
    }

    /// Whether Consul's handler returns it as an error, which the log then names, and does not write it itself. Seen on
    /// 1.8.7, which writes most answers of 400 and 404 itself; since 1.12 only a few are written so.
    pub(crate) fn is_error_value(&self, version: Version) -> bool {
        if self.is_direct() || self.is_absence() {
            return false;
        }
        let status = self.status(version);
        version.has(Behaviour::HttpBadRequestPrefix)
            || version.has(Behaviour::HttpNamespaceErrorUnprefixed)
            || matches!(self, Failure::Enterprise { .. })
            || status.is_server_error()
            || matches!(
                status,
                StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED
            )
    }

    /// The text of the answer.
    pub(crate) fn text(&self, version: Version) -> String {
        let text = self.bare_text(version);
        let prefixed = match self {
            Failure::Enterprise { .. } => !version.has(Behaviour::HttpNamespaceErrorUnprefixed),
            _ => {
                version.has(Behaviour::HttpBadRequestPrefix)
                    && self.status(version) == StatusCode::BAD_REQUEST
                    && !self.is_direct()
            }
        };
        if prefixed {
            format!("Bad request: {text}")
        } else {
            text
        }
    }

    fn bare_text(&self, version: Version) -> String {
        match self {
            Failure::EndpointBlocked => "Endpoint is blocked by agent configuration".into(),
            Failure::Method { method, .. } => format!("method {method} not allowed"),
            Failure::AccessRestricted => "Access is restricted".into(),
            Failure::StaleAndConsistent => {
                "Cannot specify ?stale with ?consistent, conflicting semantics.".into()
            }
            Failure::CachedAndConsistent => {
                "Cannot specify ?cached with ?consistent, conflicting semantics.".into()
            }
            Failure::MaxStale(value) => max_stale_text(value, version),
            Failure::CacheControl => "Invalid Cache-Control header.".into(),
            Failure::Wait => "Invalid wait time".into(),
            Failure::Index => "Invalid index".into(),
            Failure::Enterprise {
                place,
                name,
                feature,
            } => format!("Invalid {place}: \"{name}\" - {feature} are a Consul Enterprise feature"),
            Failure::Datacenter => "No path to datacenter".into(),
            Failure::MissingKeyName => "Missing key name".into(),
            Failure::ConflictingFlags(query) => conflict_text(query, version),
            Failure::Number(error) => error.message(Unicode::of(version)),
            Failure::KeyName(rule) => rule.text().into(),
            Failure::BodyTooLarge {
                length,
                limit,
                setting,
            } => body_too_large_text(*length, *limit, setting, version),
            Failure::ChunkedValueTooLarge { limit } => {
                format!("Request body too large. Max allowed is {limit} bytes.")
            }
            Failure::TxnValueTooLarge { key, size, limit } => {
                format!(
                    "Value for key {} is too large ({size} > {limit} bytes)",
                    quoted(key, version)
                )
            }
            Failure::TxnTooManyOperations { count, limit } => {
                format!("Transaction contains too many operations ({count} > {limit})")
            }
            Failure::TxnParse(words) => format!("Failed to parse body: {words}"),
            Failure::Decode(words) => format!("Request decode failed: {words}"),
            Failure::Missing(what) => format!("Missing {what}"),
            Failure::NodeEmpty => "Must provide Node".into(),
            Failure::Behavior(behavior) => format!("Invalid Behavior setting '{behavior}'"),
            Failure::TtlInvalid(ttl, words) => format!("Session TTL '{ttl}' invalid: {words}"),
            Failure::TtlRange(nanoseconds, minimum) => ttl_range_text(*nanoseconds, minimum),
            Failure::KvRefused(refusal) => prefixed_text(
                refusal,
                "raft apply",
                version.has(Behaviour::KvApplyErrorPrefix),
            ),
            Failure::SessionRefused(refusal) => {
                let prefixed = version.has(Behaviour::SessionApplyErrorPrefix);
                prefixed_text(refusal, "apply", prefixed && refusal.comes_from_raft())
            }
            Failure::BodyUnreadable(failure) => failure.to_string(),
            Failure::Register(failure) => failure.text(version),
            Failure::CatalogRefused(refusal) => catalog_refusal_text(refusal, version),
            Failure::Passing => "Invalid value for ?passing".into(),
            Failure::Injected { text, .. } => text.clone(),
            Failure::Agent(failure) => failure.text(version),
            Failure::PreparedQuery(refusal) => query::refusal_text(refusal, version),
            Failure::Plain(failure) => failure.text(version),
            Failure::Dropped => String::new(),
        }
    }
}

/// The text of a refusal of the store, since some release with what failed before it.
fn prefixed_text(refusal: &Refusal, what: &str, prefixed: bool) -> String {
    let text = refusal_text(refusal);
    if prefixed {
        return format!("{what} failed: {text}");
    }
    text
}

impl KeyRule {
    fn text(self) -> &'static str {
        match self {
            KeyRule::Pattern => {
                r#"invalid key name, keys should respect the "^[a-zA-Z0-9,_./\\-?&=]+$" format"#
            }
            KeyRule::Spaces => "invalid key name, leading/trailing spaces are not allowed",
            KeyRule::Traversal => "invalid key name, path traversal is not allowed",
        }
    }
}

fn ttl_range_text(nanoseconds: i64, minimum: &str) -> String {
    format!("Invalid Session TTL '{nanoseconds}', must be between [{minimum}=24h0m0s]")
}

fn max_stale_text(value: &str, version: Version) -> String {
    let value = quoted(value.as_bytes(), version);
    format!("Invalid max_stale value {value}")
}

fn conflict_text(query: &str, version: Version) -> String {
    let newline = version.has(Behaviour::KvConflictNewline);
    format!(
        "Conflicting flags: {query}{}",
        if newline { "\n" } else { "" }
    )
}

fn body_too_large_text(length: Option<u64>, limit: u64, setting: &str, version: Version) -> String {
    let length = length.map_or_else(String::new, |length| format!("({length} bytes)"));
    let link = limit_link(version);
    format!("Request body{length} too large, max size: {limit} bytes. See {link}#{setting}.")
}

/// The page that a refusal for size links to (`kv.413_link`).
fn limit_link(version: Version) -> &'static str {
    if version.has(Behaviour::KvLimitLinkDeveloperHost) {
        "https://developer.hashicorp.com/docs/agent/config/config-files"
    } else if version.has(Behaviour::KvLimitLinkConfigFiles) {
        "https://www.consul.io/docs/agent/config/config-files"
    } else {
        "https://www.consul.io/docs/agent/options.html"
    }
}

impl Refusal {
    /// Whether a session call is refused by the replicated state machine, and not before.
    fn comes_from_raft(&self) -> bool {
        matches!(
            self,
            Refusal::MissingNode | Refusal::MissingCheck(_) | Refusal::CriticalCheck(_)
        )
    }
}

/// A text in quotes, as the Go of this release quotes it.
pub(crate) fn quoted(text: &[u8], version: Version) -> QuotedBy<'_> {
    QuotedBy(Unicode::of(version), text)
}

/// The text of a refusal of the store, without any prefix.
pub(crate) fn refusal_text(refusal: &Refusal) -> String {
    match refusal {
        Refusal::MissingSession => "missing session".into(),
        Refusal::InvalidSession(id) => format!("invalid session {}", Quoted(id.as_bytes())),
        Refusal::MalformedSessionId(error) => {
            format!(
                "failed session lookup: index error: {}",
                id_error_text(*error)
            )
        }
        Refusal::SessionNotFound(id) => format!("Session id '{id}' not found"),
        Refusal::MissingNode => "Missing node registration".into(),
        Refusal::MissingCheck(check) => format!("Missing check '{check}' registration"),
        Refusal::CriticalCheck(check) => format!("Check '{check}' is in critical state"),
        Refusal::PreparedQuery(refusal) => prepared_query_text(refusal),
        Refusal::MissingService { node, .. } => {
            format!("failed inserting check: Missing service registration on node \"{node}\"")
        }
        Refusal::NodeNameTaken {
            by,
            renamed,
            holder,
        } => {
            format!(
                "failed inserting node: {}",
                node_name_text(by, *renamed, holder)
            )
        }
        Refusal::AgentServiceUnknown(_)
        | Refusal::AgentCheckUnknown(_)
        | Refusal::AgentCheckNotTtl(_)
        | Refusal::AgentCheckServiceUnknown(_)
        | Refusal::AgentNoSidecarPort(_) => {
            unreachable!("what the agent refuses has texts of its own")
        }
    }
}

pub(crate) fn id_error_text(error: IdError) -> String {
    match error {
        IdError::Length => "UUID must be 36 characters".into(),
        IdError::Hyphens(count) => {
            format!("UUID should have maximum of 4 \"-\"; got {count}")
        }
        IdError::OddLength => "Input (without hyphens) must be even length".into(),
        IdError::InvalidByte(byte) => format!(
            "Invalid UUID: encoding/hex: invalid byte: U+{byte:04X} '{}'",
            char::from(byte)
        ),
    }
}

/// The `What` of a failed operation of a transaction (kv.md 7.3).
pub(crate) fn txn_error_text(error: &TxnError, version: Version) -> String {
    let key = quoted(error.key.as_bytes(), version);
    match &error.refusal {
        TxnRefusal::EmptyKey => "Must provide key".into(),
        TxnRefusal::UnknownVerb(verb) => {
            if version.has(Behaviour::TxnUnknownVerbEarly) {
                format!("unknown KV operation: {verb}")
            } else {
                format!("unknown KV verb {}", quoted(verb.as_bytes(), version))
            }
        }
        TxnRefusal::LockDelay => format!("failed to lock key {key} due to lock delay"),
        TxnRefusal::LockHeld => format!("failed to lock key {key}, lock is already held"),
        TxnRefusal::NotHolder => {
            format!("failed to unlock key {key}, lock isn't held, or is held by another session")
        }
        TxnRefusal::StaleSet => format!("failed to set key {key}, index is stale"),
        TxnRefusal::StaleDelete => format!("failed to delete key {key}, index is stale"),
        TxnRefusal::KeyMissing => format!("key {key} doesn't exist"),
        TxnRefusal::CheckIndexMissing => format!("failed to check index, key {key} doesn't exist"),
        TxnRefusal::CheckIndex { current, expected } => format!(
            "failed index check for key {key}, current modify index {current} != {expected}"
        ),
        TxnRefusal::CheckSessionMissing => {
            format!("failed to check session, key {key} doesn't exist")
        }
        TxnRefusal::CheckSession { current, expected } => format!(
            "failed session check for key {key}, current session {} != {}",
            quoted(current.as_bytes(), version),
            quoted(expected.as_bytes(), version)
        ),
        TxnRefusal::KeyExists => format!("key {key} exists"),
        TxnRefusal::Session(refusal) | TxnRefusal::Catalog(refusal) => txn_refusal_text(refusal),
        TxnRefusal::UnknownCatalogVerb { kind, verb } => unknown_verb_text(kind, verb, version),
        TxnRefusal::NodeNameMissing => RegisterFailure::Node.text(version),
        TxnRefusal::NodeIdMalformed(flaw) => RegisterFailure::NodeId(*flaw).text(version),
        TxnRefusal::NodeLookup { id, flaw } => node_lookup_text(id, *flaw),
        TxnRefusal::ServiceNameMissing => RegisterFailure::ServiceName.text(version),
        TxnRefusal::ServiceKeyMissing if version.has(Behaviour::CatalogServiceEmptyText) => {
            RegisterFailure::ServiceEmpty.text(version)
        }
        TxnRefusal::ServiceKeyMissing => {
            "failed inserting service: object missing primary index".into()
        }
        TxnRefusal::CheckKeyMissing => {
            "failed inserting check: object missing primary index".into()
        }
        TxnRefusal::CatalogMissing(subject) => {
            format!("{} doesn't exist", subject_text(subject, version))
        }
        TxnRefusal::CatalogStaleSet(subject) => {
            format!(
                "failed to set {}, index is stale",
                subject_text(subject, version)
            )
        }
        TxnRefusal::CatalogStaleDelete(subject) => {
            format!(
                "failed to delete {}, index is stale",
                subject_text(subject, version)
            )
        }
    }
}
