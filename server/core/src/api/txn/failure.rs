//! The errors of transactions: of the request, and of its operations (kv.md 7.3).

use crate::api::catalog::failure as register;
use crate::failure::refusal::{EMPTY_ID, check_without_id_text, node_name_text, service_meta_text};
use crate::failure::{Failure, failures, quoted};
use proconsul_config::definition::node_id;
use proconsul_gocompat::quote::QuotedBy;
use proconsul_store::{
    AcquireRefused, CatalogSubject, CatalogVerb, KvRefused, NodeIdFlaw, Refusal, RegistrationFlaw,
    TxnError, TxnRefusal,
};
use proconsul_version::{Behaviour, Version};

failures! {
    /// The body is not a list of operations; `words` is Go's text.
    unparsable(words: &str) => 400, format!("Failed to parse body: {words}");
    /// The transaction has too many operations.
    too_many_operations(count: usize, limit: usize) => 413,
        format!("Transaction contains too many operations ({count} > {limit})");
    /// The value of an operation is too large.
    value_too_large(key: &str, size: usize, limit: u64, version: Version) => 413, format!(
        "Value for key {} is too large ({size} > {limit} bytes)", quoted(key, version)
    );
}

/// Returns the `What` of a failed operation.
pub(crate) fn what(error: &TxnError, version: Version) -> String {
    let key = quoted(error.key.as_bytes(), version);
    match &error.refusal {
        TxnRefusal::EmptyKey => "Must provide key".into(),
        TxnRefusal::UnknownVerb(verb) => {
            if version.has(Behaviour::TxnUnknownVerbEarly) {
                format!("unknown KV operation: {verb}")
            } else {
                format!("unknown KV verb {}", quoted(verb, version))
            }
        }
        TxnRefusal::Write(refused) => write_text(&key, refused, version),
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
            quoted(current, version),
            quoted(expected, version)
        ),
        TxnRefusal::KeyExists => format!("key {key} exists"),
        TxnRefusal::Catalog(refusal) => refusal_text(refusal, version),
        TxnRefusal::Denied(text) => text.clone(),
        TxnRefusal::UnknownCatalogVerb { kind, verb } => unknown_verb_text(kind, verb, version),
        TxnRefusal::NodeNameMissing => register::missing_node().text(version),
        TxnRefusal::NodeIdMalformed(flaw) => register::invalid_node_id(*flaw).text(version),
        TxnRefusal::NodeLookup { id, flaw } => node_lookup_text(id, *flaw, version),
        TxnRefusal::ServiceNameMissing => register::missing_service_name(version).text(version),
        TxnRefusal::ServiceAddress => register::invalid_service_address().text(version),
        TxnRefusal::ServiceKeyMissing => register::missing_service().text(version),
        TxnRefusal::CheckLookup { verb } => match verb {
            CatalogVerb::Delete => format!("check lookup failed: {EMPTY_ID}"),
            CatalogVerb::DeleteCas => {
                format!("check lookup failed: failed check lookup: {EMPTY_ID}")
            }
            _ => format!("failed check lookup: {EMPTY_ID}"),
        },
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

/// Returns the text of a refused write of a key.
fn write_text(key: &QuotedBy<'_>, refused: &KvRefused, version: Version) -> String {
    match refused {
        KvRefused::Acquire(AcquireRefused::LockDelay(_)) => {
            format!("failed to lock key {key} due to lock delay")
        }
        KvRefused::Acquire(AcquireRefused::HeldBy(_)) => {
            format!("failed to lock key {key}, lock is already held")
        }
        KvRefused::NotHolder => {
            format!("failed to unlock key {key}, lock isn't held, or is held by another session")
        }
        KvRefused::StaleSet => format!("failed to set key {key}, index is stale"),
        KvRefused::StaleDelete => format!("failed to delete key {key}, index is stale"),
        KvRefused::Acquire(AcquireRefused::Session(refusal)) | KvRefused::Release(refusal) => {
            refusal_text(refusal, version)
        }
    }
}

/// Returns the text of a refusal of the store, without the prefix of registrations.
fn refusal_text(refusal: &Refusal, version: Version) -> String {
    match refusal {
        Refusal::MissingService { .. } => "Missing service registration".into(),
        Refusal::Registration(RegistrationFlaw::ServiceWithoutId) => {
            "failed inserting service: object missing primary index".into()
        }
        Refusal::Registration(RegistrationFlaw::ServiceMeta { node, service, why }) => {
            service_meta_text(node, service, why)
        }
        Refusal::Registration(RegistrationFlaw::CheckWithoutId { .. }) => {
            check_without_id_text(version)
        }
        Refusal::NodeNameTaken {
            by,
            renamed,
            holder,
        } => node_name_text(by, *renamed, holder),
        other => Failure::refused(other, version).text(version),
    }
}

/// Returns the text of a read with an invalid node id.
fn node_lookup_text(id: &str, flaw: NodeIdFlaw, version: Version) -> String {
    let flaw = node_id::text(flaw);
    if version.has(Behaviour::CatalogIndexErrors) {
        return format!("node lookup by ID failed: index error: invalid UUID: {flaw}");
    }
    format!("node lookup by ID failed, wrong UUID: {flaw} for '{id}'")
}

/// Returns the text of an unknown verb for nodes, services or checks (kv.md 7.5, 1.22.md A7).
fn unknown_verb_text(kind: &str, verb: &str, version: Version) -> String {
    if version.has(Behaviour::TxnUnknownVerbEarly) {
        return format!("unknown {kind} operation: {verb}");
    }
    let (first, rest) = kind.split_at(1);
    format!(
        "unknown {}{rest} verb {}",
        first.to_uppercase(),
        quoted(verb, version)
    )
}

/// Names the node, service or check of an operation.
fn subject_text(subject: &CatalogSubject, version: Version) -> String {
    let quoted = |text: &str| quoted(text, version).to_string();
    match subject {
        CatalogSubject::Node(node) => format!("node {}", quoted(&node.node)),
        CatalogSubject::Service { node, service } => {
            format!("service {} on node {}", quoted(&service.id), quoted(node))
        }
        CatalogSubject::Check { node, check } => {
            format!("check {} on node {}", quoted(&check.check_id), quoted(node))
        }
    }
}
