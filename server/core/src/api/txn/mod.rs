//! `/v1/txn`: several operations, all or none (kv.md 7).

pub(crate) mod catalog;
pub(crate) mod failure;
mod rights;
pub(crate) mod service_body;
pub(crate) mod wire;

use bytes::Bytes;
use http::StatusCode;

use crate::api::txn::catalog::{CheckOperation, NodeOperation, ServiceOperation};
use crate::api::txn::wire::ResultEntry;
use crate::auth::rights::Rights;
use crate::body::kv::KvEntry;
use crate::body::query_meta::query_meta;
use crate::body::wire::{Check, Node, NodeService};
use crate::failure::Failure;
use crate::reply::object::{JsonMembers, JsonObject, object};
use crate::reply::table::Look;
use crate::reply::{Reply, header};
use crate::request::Request;
use crate::route::routes;
use proconsul_gocompat::json::context::{DecodeOptions, UnknownFields};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{
    Content, Index, Key, KvVerb, Txn, TxnError, TxnOperation, TxnOutcome, TxnRefusal,
    TxnResult as Shown, TxnVerb,
};
use proconsul_version::{Behaviour, Version};

routes! {
    "/v1/txn" [PUT] => waits(txn);
}

go_struct! {
    /// An operation of the body. Of several members, the first in this order counts. Most operations are about keys, and
    /// the others are large.
    struct OperationBody as "api.TxnOp" {
        "KV": Option<KvBody> => kv,
        "Node": Option<Box<NodeOperation>> => node,
        "Service": Option<Box<ServiceOperation>> => service,
        "Check": Option<Box<CheckOperation>> => check,
    }
}

go_struct! {
    struct KvBody as "api.KVTxnOp" {
        "Verb" is "api.KVOp": String => verb,
        "Key": String => key,
        "Value": Bytes => value,
        "Flags": u64 => flags,
        "Index": u64 => index,
        "Session": String => session,
        "Namespace": String,
        "Partition" since Behaviour::JsonPartition: String,
    }
}

/// Runs a transaction.
pub(crate) async fn txn(mut request: Request) -> Result<Reply, Failure> {
    let operations = operations(&mut request).await?;
    if operations.iter().any(TxnOperation::is_write) {
        write(&request, operations)
    } else {
        read(&request, operations)
    }
}

/// Whether a request to `/v1/txn`, whose handler comes after this, only reads, or is refused by its agent.
pub(crate) async fn only_reads(request: &mut Request) -> bool {
    request.body.keep();
    let operations = operations(request).await;
    !operations.is_ok_and(|operations| operations.iter().any(TxnOperation::is_write))
}

async fn operations(request: &mut Request) -> Result<Vec<TxnOperation>, Failure> {
    let bodies = read_operations(request).await?;
    let limit = if request.has(Behaviour::TxnLimit128) {
        128
    } else {
        64
    };
    let count = bodies.len();
    if count > limit {
        return Err(failure::too_many_operations(count, limit));
    }
    let mut operations = Vec::with_capacity(count);
    for body in bodies {
        operations.extend(operation(request, body)?);
    }
    Ok(operations)
}

async fn read_operations(request: &mut Request) -> Result<Vec<OperationBody>, Failure> {
    let config = &request.context.config;
    let limit = config.txn_max_req_len.max(config.kv_max_value_size);
    let version = config.version;
    let too_large = |length| Failure::body_too_large(length, limit, "txn_max_req_len", version);
    let length = request.content_length();
    if length.is_some_and(|length| length > limit) {
        return Err(too_large(length));
    }
    let body = request.body.read(limit).await;
    let body = body.ok_or_else(|| too_large(None))?;
    let rules = DecodeOptions {
        go_type: Some("api.TxnOps"),
        ..request.decoding(UnknownFields::Refused)
    };
    let mut operations = Vec::new();
    let decoded = request.decode::<Vec<Option<OperationBody>>>(body, &mut operations, rules);
    decoded.map_err(|words| failure::unparsable(&words))?;
    // Consul's handler panics on a null operation, which closes the connection (kv.md 7.1).
    operations
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(Failure::dropped)
}

/// Returns the operation of a body; `None` for an empty object, which Consul skips.
fn operation(request: &Request, body: OperationBody) -> Result<Option<TxnOperation>, Failure> {
    let Some(kv) = body.kv else {
        let catalog = if let Some(node) = body.node {
            node.into_operation(request)
        } else if let Some(service) = body.service {
            service.into_operation(request)
        } else if let Some(check) = body.check {
            check.into_operation(request)
        } else {
            return Ok(None);
        };
        return Ok(Some(TxnOperation::Catalog(Box::new(catalog))));
    };
    let limit = request.context.config.kv_max_value_size;
    let size = kv.value.len();
    if size as u64 > limit {
        let version = request.version();
        return Err(failure::value_too_large(&kv.key, size, limit, version));
    }
    Ok(Some(TxnOperation::Kv {
        key: Key::new(&kv.key),
        verb: verb(request, kv),
    }))
}

/// Returns the verb of an operation on a key. Verbs are case-sensitive (kv.md 7.3).
fn verb(request: &Request, kv: KvBody) -> TxnVerb {
    let content = Content {
        value: kv.value,
        flags: kv.flags,
    };
    let index = Index(kv.index);
    match kv.verb.as_str() {
        "set" => TxnVerb::Write(KvVerb::Set(content)),
        "cas" => TxnVerb::Write(KvVerb::Cas(content, index)),
        "lock" => TxnVerb::Write(KvVerb::Acquire(content, kv.session)),
        "unlock" => TxnVerb::Write(KvVerb::Release(content, kv.session)),
        "delete" => TxnVerb::Write(KvVerb::Delete),
        "delete-cas" => TxnVerb::Write(KvVerb::DeleteCas(index)),
        "delete-tree" => TxnVerb::Write(KvVerb::DeleteTree),
        "get" => TxnVerb::Get,
        "get-or-empty" if request.has(Behaviour::TxnGetOrEmpty) => TxnVerb::GetOrEmpty {
            flags: kv.flags,
            session: kv.session,
            index,
        },
        "get-tree" => TxnVerb::GetTree,
        "check-index" => TxnVerb::CheckIndex(index),
        "check-session" => TxnVerb::CheckSession(kv.session),
        "check-not-exists" => TxnVerb::CheckNotExists,
        _ => TxnVerb::Unknown(kv.verb),
    }
}

/// Runs a transaction that writes. Of the parameters only the datacenter counts (kv.md 7.2).
fn write(request: &Request, operations: Vec<TxnOperation>) -> Result<Reply, Failure> {
    request.check_datacenter()?;
    let mut rights = request.rights()?;
    let checked = rights::check(request, &rights, &operations);
    let engine = &request.context.engine;
    let mut outcome = checked.and_then(|()| engine.apply(Txn(operations)));
    filter(&mut rights, &mut outcome);
    Ok(answer(request, &outcome, object! {}))
}

/// Runs a transaction that only reads. Its parameters are checked like those of a GET, but it never waits
/// (kv.md trap 28).
fn read(request: &Request, operations: Vec<TxnOperation>) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_datacenter()?;
    let mut rights = request.rights()?;
    let checked = rights::check(request, &rights, &operations);
    let engine = &request.context.engine;
    let mut outcome = checked.and_then(|()| engine.read_transaction(operations));
    filter(&mut rights, &mut outcome);
    let pre_check_failed = outcome.as_ref().err().is_some_and(|errors| {
        errors.iter().any(|error| match error.refusal {
            TxnRefusal::EmptyKey | TxnRefusal::Denied(_) => true,
            TxnRefusal::UnknownVerb(_) => request.has(Behaviour::TxnUnknownVerbEarly),
            _ => false,
        })
    });
    // Before 1.12 the index is 0, and the leader is known even if the check fails (1.22.md A7).
    let reports_index = request.has(Behaviour::TxnReadIndexOne);
    let known_leader = !(reports_index && pre_check_failed);
    let index = u64::from(reports_index && !pre_check_failed);
    let is_filtered = rights.tell_removal();
    let meta = query_meta(request, index, known_leader, "", is_filtered);
    let reply = answer(request, &outcome, meta);
    Ok(reply.with_leader(known_leader))
}

/// Removes the results that the caller may not see.
fn filter(rights: &mut Rights, outcome: &mut TxnOutcome) {
    if let Ok(results) = outcome {
        rights.retain(results, rights::sees);
    }
}

/// Returns a result in its form on the wire.
fn shown(result: &Shown, version: Version) -> ResultEntry<'_> {
    match result {
        Shown::Kv {
            key,
            row,
            with_value,
        } => ResultEntry::Kv(KvEntry::new(key, row, *with_value)),
        Shown::Node(row) => ResultEntry::Node(Node::new(row, version)),
        Shown::Service(row) => ResultEntry::Service(NodeService::new(row, Look::of_txn(version))),
        Shown::Check(row) => ResultEntry::Check(Check::new(row, Look::of_txn(version))),
    }
}

fn answer(request: &Request, outcome: &TxnOutcome, meta: JsonObject<impl JsonMembers>) -> Reply {
    let version = request.version();
    let results = outcome.as_ref().ok().map(|results| {
        let results = results.iter();
        results
            .map(|result| shown(result, version))
            .collect::<Vec<_>>()
    });
    let errors = outcome.as_ref().err().map(|errors| {
        let error = |error: &TxnError| {
            object! {
                "OpIndex" => error.operation,
                "What" => failure::what(error, version),
            }
        };
        errors.iter().map(error).collect::<Vec<_>>()
    });
    let answer = object! {
        "Results" => results,
        "Errors" => errors,
        ..meta
    };
    let mut reply = Reply::json(request, &answer);
    if outcome.is_err() {
        reply.status = StatusCode::CONFLICT;
        if request.has(Behaviour::TxnConflictCharset) {
            reply.content_type = Some(header::JSON_UTF_8);
        }
    }
    reply
}
