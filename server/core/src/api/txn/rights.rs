//! What the operations of a transaction ask for (acl.md 6.7).

use crate::auth::rights::Rights;
use crate::auth::state::Caller;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_acl::{Access, Question, Resource};
use proconsul_store::{
    CatalogOperation, CatalogSubject, CatalogVerb, KvVerb, NewNode, NodeInfo, TxnError,
    TxnOperation, TxnRefusal, TxnResult, TxnVerb,
};
use proconsul_version::Behaviour;

/// Checks that the caller may do all operations.
///
/// # Errors
/// Those that it may not do, and what fails beside them before anything runs.
pub(super) fn check(
    request: &Request,
    rights: &Rights,
    operations: &[TxnOperation],
) -> Result<(), Vec<TxnError>> {
    if !rights.are_limited() {
        return Ok(());
    }
    let denied: Vec<_> = operations
        .iter()
        .map(|operation| denial(request, rights, operation).err())
        .collect();
    if denied.iter().all(Option::is_none) {
        return Ok(());
    }
    let checked = request.context.engine.pre_check_transaction(operations);
    let mut failed = checked.err().unwrap_or_default().into_iter().peekable();
    let mut errors = Vec::new();
    for (place, denial) in denied.into_iter().enumerate() {
        let error = failed.next_if(|error| error.operation == place);
        // Only the lock-delay comes after the rights.
        let is_late = |error: &TxnError| matches!(error.refusal, TxnRefusal::Write(_));
        errors.extend(match (error, denial) {
            (error, None) => error,
            (Some(error), Some(_)) if !is_late(&error) => Some(error),
            (_, Some(denial)) => Some(TxnError {
                operation: place,
                key: operations[place].key(),
                refusal: TxnRefusal::Denied(denial.text(request.version())),
            }),
        });
    }
    Err(errors)
}

fn denial(request: &Request, rights: &Rights, operation: &TxnOperation) -> Result<(), Failure> {
    let operation = match operation {
        TxnOperation::Kv { key, verb } => {
            let Some(access) = access(verb) else {
                return Ok(());
            };
            return rights.check(Question {
                resource: Resource::Key,
                access,
                name: &key.text(),
            });
        }
        TxnOperation::Catalog(operation) => operation,
    };
    let CatalogOperation { verb, subject, .. } = &**operation;
    if *verb == CatalogVerb::Get {
        return Ok(());
    }
    let (node, id, name) = match subject {
        CatalogSubject::Service { node, service } => (node, &service.id, &service.name),
        CatalogSubject::Check { node, check } if !check.service_id.is_empty() => {
            (node, &check.service_id, &check.named_service)
        }
        CatalogSubject::Node(NewNode { node, .. }) | CatalogSubject::Check { node, .. } => {
            return rights.check(Question::write(Resource::Node, node));
        }
    };
    let may_write = |name| rights.check(Question::write(Resource::Service, name));
    let stored = match request.has(Behaviour::TxnStoredNames) {
        true => stored_name(request, node, id),
        false => None,
    };
    let Some(stored) = stored else {
        return may_write(name);
    };
    may_write(&stored)?;
    // What is written may get another name.
    let is_service = matches!(subject, CatalogSubject::Service { .. });
    let is_deleted = matches!(verb, CatalogVerb::Delete | CatalogVerb::DeleteCas);
    match is_service && !is_deleted {
        true => may_write(name),
        false => Ok(()),
    }
}

/// Returns the name of the service with an id on a node.
fn stored_name(request: &Request, node: &str, id: &str) -> Option<String> {
    let Ok(found) = request.context.engine.read(&NodeInfo(node.to_owned()));
    let (_, services) = found.rows?;
    let row = services.iter().find(|row| row.service.id == id)?;
    Some(row.service.name.clone())
}

/// Returns the access to its key that a verb asks for; `None` where the results are filtered instead.
fn access(verb: &TxnVerb) -> Option<Access> {
    match verb {
        TxnVerb::Get | TxnVerb::GetOrEmpty { .. } | TxnVerb::GetTree => None,
        TxnVerb::CheckIndex(_) | TxnVerb::CheckSession(_) => Some(Access::Read),
        TxnVerb::Write(KvVerb::DeleteTree) => Some(Access::WriteTree),
        TxnVerb::Write(_) | TxnVerb::CheckNotExists | TxnVerb::Unknown(_) => Some(Access::Write),
    }
}

/// Whether the caller sees a result. A check of a node may name a service, which then counts.
pub(super) fn sees(caller: &Caller, result: &TxnResult) -> bool {
    let (resource, name) = match result {
        TxnResult::Kv { key, .. } => {
            return caller.may(Question::read(Resource::Key, &key.text()));
        }
        TxnResult::Node(row) => (Resource::Node, &row.node.node),
        TxnResult::Service(row) => (Resource::Service, &row.service.name),
        TxnResult::Check(row) if row.service_name.is_empty() => (Resource::Node, &row.node),
        TxnResult::Check(row) => (Resource::Service, &row.service_name),
    };
    caller.may(Question::read(resource, name))
}
