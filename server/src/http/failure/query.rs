//! The refusals of prepared queries, events, filters and of what is not emulated, with their exact texts
//! (session.md 4.6, 5).

use http::StatusCode;

use crate::go::quote::Quoted;
use crate::http::failure::{id_error_text, quoted};
use crate::store::PreparedQueryRefusal;
use crate::version::{Behaviour, Version};

/// Why a prepared query is refused before it reaches the store. All are answered with 500 behind the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PreparedQueryFailure {
    /// A query without a name and without a session.
    Unbound,
    /// A query without a service.
    NoService,
    /// A number of nearest datacenters below zero.
    NearestN(i64),
    /// The TTL of DNS answers is no duration; with Go's words.
    DnsTtl(String, String),
    /// The TTL of DNS answers is negative, in nanoseconds.
    DnsTtlNegative(i64),
    /// Too much meta data of nodes.
    MetaTooMany,
    /// A pair of the meta data of nodes, and what is wrong with it.
    Meta(String, String, &'static str),
}

/// What prepared queries, events and filters are refused for before they reach the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlainFailure {
    /// `?filter` is no expression, or none for the rows of the endpoint; with what is wrong.
    Filter(String),
    /// A prepared query.
    PreparedQuery(PreparedQueryFailure),
    /// A new prepared query with an id.
    PreparedQueryHasId,
    /// `limit` is no number; with Go's words.
    Limit(String),
    /// `connect` is neither true nor false; with Go's words.
    Connect(String),
    /// A filter of an event is no regular expression: which one, and Go's words.
    EventFilter(&'static str, String),
    /// A filter for tags without one for services.
    EventTagAlone,
    /// An event is larger than what is sent around.
    EventTooLarge,
    /// The payload of an event has this many bytes (since 1.22).
    EventPayload(u64),
    /// The payload of an event has no known length (since 1.22).
    EventEmpty,
    /// ACLs are disabled.
    AclDisabled,
    /// Consul does what is asked for, and this server does not.
    NotEmulated {
        /// As sent.
        method: String,
        /// The path.
        path: String,
    },
    /// A kind of configuration entries that there is not.
    ConfigKind(String),
    /// The same of a deletion.
    ConfigKindToDelete(String),
    /// A deletion of a configuration entry without a name.
    ConfigNameMissing,
    /// A configuration entry that there is not.
    ConfigEntryMissing {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
}

impl PlainFailure {
    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            PlainFailure::EventPayload(_) => StatusCode::PAYLOAD_TOO_LARGE,
            PlainFailure::EventEmpty | PlainFailure::ConfigKindToDelete(_) => {
                StatusCode::BAD_REQUEST
            }
            PlainFailure::AclDisabled => StatusCode::UNAUTHORIZED,
            PlainFailure::NotEmulated { .. } => StatusCode::NOT_IMPLEMENTED,
            PlainFailure::ConfigNameMissing | PlainFailure::ConfigEntryMissing { .. } => {
                StatusCode::NOT_FOUND
            }
            PlainFailure::Filter(_)
            | PlainFailure::PreparedQuery(_)
            | PlainFailure::PreparedQueryHasId
            | PlainFailure::Limit(_)
            | PlainFailure::Connect(_)
            | PlainFailure::EventFilter(..)
            | PlainFailure::EventTagAlone
            | PlainFailure::ConfigKind(_)
            | PlainFailure::EventTooLarge => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The text of the answer.
    pub(crate) fn text(&self, version: Version) -> String {
        match self {
            PlainFailure::Filter(error) => {
                format!("Failed to create boolean expression evaluator: {error}")
            }
            PlainFailure::EventPayload(length) => format!(
                "Event payload too large, received {length} bytes, max size: 300 bytes. \
                 User events should be kept small for efficient gossip propagation."
            ),
            PlainFailure::AclDisabled => "ACL support disabled".into(),
            PlainFailure::NotEmulated { method, path } => {
                format!("{method} {path} is not emulated by proconsul")
            }
            PlainFailure::ConfigKind(kind) | PlainFailure::ConfigKindToDelete(kind) => {
                format!("invalid config entry kind: {kind}")
            }
            PlainFailure::ConfigNameMissing => "Must provide both a kind and name to delete".into(),
            PlainFailure::ConfigEntryMissing { kind, name } => {
                let kind = quoted(kind.as_bytes(), version);
                let name = quoted(name.as_bytes(), version);
                format!("Config entry not found for {kind} / {name}")
            }
            PlainFailure::EventEmpty => "Event payload size must be greater than zero".into(),
            PlainFailure::PreparedQuery(failure) => {
                format!("Invalid prepared query: {}", failure.text())
            }
            PlainFailure::PreparedQueryHasId => {
                "ID must be empty when creating a new prepared query".into()
            }
            PlainFailure::Limit(words) => format!("Bad limit: {words}"),
            PlainFailure::Connect(words) => format!("Error parsing 'connect' value: {words}"),
            PlainFailure::EventFilter(which, words) => format!("Invalid {which} filter: {words}"),
            PlainFailure::EventTagAlone => {
                "Cannot provide tag filter without service filter".into()
            }
            PlainFailure::EventTooLarge => "1 error occurred:\n\t* error broadcasting event to \
                segment \"\": user event exceeds configured limit of 512 bytes before encoding\n\n"
                .into(),
        }
    }
}

impl PreparedQueryFailure {
    fn text(&self) -> String {
        match self {
            PreparedQueryFailure::Unbound => "Must be bound to a session".into(),
            PreparedQueryFailure::NoService => "Must provide a Service name to query".into(),
            PreparedQueryFailure::NearestN(number) => {
                format!("Bad NearestN '{number}', must be >= 0")
            }
            PreparedQueryFailure::DnsTtl(ttl, words) => format!("Bad DNS TTL '{ttl}': {words}"),
            PreparedQueryFailure::DnsTtlNegative(nanoseconds) => {
                format!("DNS TTL '{nanoseconds}', must be >=0")
            }
            PreparedQueryFailure::MetaTooMany => {
                "Node metadata cannot contain more than 64 key/value pairs".into()
            }
            PreparedQueryFailure::Meta(key, value, problem) => {
                format!("Couldn't load metadata pair ('{key}', '{value}'): {problem}")
            }
        }
    }
}

/// The text of a refusal of the store, as the release says it.
pub(crate) fn refusal_text(refusal: &PreparedQueryRefusal, version: Version) -> String {
    let text = prepared_query_text(refusal);
    if comes_from_raft(refusal) && version.has(Behaviour::KvApplyErrorPrefix) {
        format!("raft apply failed: {text}")
    } else {
        text
    }
}

fn comes_from_raft(refusal: &PreparedQueryRefusal) -> bool {
    match refusal {
        PreparedQueryRefusal::NotFound
        | PreparedQueryRefusal::MalformedId(_)
        | PreparedQueryRefusal::MalformedTarget(_)
        | PreparedQueryRefusal::NoTarget(_) => false,
        PreparedQueryRefusal::MalformedSession(_)
        | PreparedQueryRefusal::InvalidSession(_)
        | PreparedQueryRefusal::NameIsQueryName(_)
        | PreparedQueryRefusal::NameIsQueryId(_)
        | PreparedQueryRefusal::EmptyTemplateExists
        | PreparedQueryRefusal::TemplateFlaw(_) => true,
    }
}

/// The text of a refusal of the store, without any prefix.
pub(crate) fn prepared_query_text(refusal: &PreparedQueryRefusal) -> String {
    let lookup = |error| {
        let error = id_error_text(error);
        format!("failed prepared query lookup: index error: {error}")
    };
    match refusal {
        PreparedQueryRefusal::NotFound => "Query not found".into(),
        PreparedQueryRefusal::MalformedId(error) => lookup(*error),
        PreparedQueryRefusal::MalformedTarget(error) => {
            format!("Prepared Query lookup failed: {}", lookup(*error))
        }
        PreparedQueryRefusal::NoTarget(id) => {
            format!("Cannot modify non-existent prepared query: '{id}'")
        }
        PreparedQueryRefusal::MalformedSession(error) => {
            format!("invalid session: index error: {}", id_error_text(*error))
        }
        PreparedQueryRefusal::InvalidSession(id) => {
            format!("invalid session {}", Quoted(id.as_bytes()))
        }
        PreparedQueryRefusal::NameIsQueryName(name) => {
            format!("name '{name}' aliases an existing query name")
        }
        PreparedQueryRefusal::NameIsQueryId(name) => {
            format!("name '{name}' aliases an existing query ID")
        }
        PreparedQueryRefusal::EmptyTemplateExists => {
            "a query template with an empty name already exists".into()
        }
        PreparedQueryRefusal::TemplateFlaw(flaw) => format!("failed compiling template: {flaw}"),
    }
}
