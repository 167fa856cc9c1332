//! Prints the outcomes of commands and reads in the form of scripts.

use std::sync::Arc;

use super::super::any::{Answer, Applied, Refused, Reply, Rows};
use super::command::Read;
use super::words::{duration_name, key_name, session_name, value_name};
use proconsul_store::{
    AcquireRefused, Behavior, Cause, CheckRow, Effects, Entry, EventRow, IdError, Index, Key,
    KvRefused, KvRow, PreparedQueryRefusal, PreparedQueryRow, ProbeRun, Refusal, ServiceRow,
    SessionEnd, SessionRow, TxnError, TxnOutcome, TxnRefusal, TxnResult,
};

/// Prints the outcome of a command.
pub(super) fn of_command(applied: &Applied) -> String {
    let Effects {
        index,
        touched: _,
        runs_unwanted: _,
        holders: _,
        ended,
        notes: _,
        runs,
    } = &applied.effects;
    let mut facts = Vec::new();
    match &applied.result {
        Ok(Reply::Done) if ended.is_empty() => facts.push("done".to_owned()),
        Ok(Reply::Done) => {}
        Ok(Reply::Written) => facts.push("true".to_owned()),
        Ok(Reply::Session(row)) => facts.push(session_name(&row.session.id.to_string())),
        Ok(Reply::PreparedQuery(id)) => facts.push(session_name(&id.to_string())),
        Ok(Reply::Txn(results)) => facts.extend(txn_results(results)),
        Err(Refused::Txn(errors)) => facts.extend(errors.iter().map(txn_error)),
        Err(Refused::Kv(refused)) => facts.extend(not_written(refused)),
        Err(refused) => facts.push(format!("refused: {}", of_refused(refused))),
    }
    facts.extend(ends(ended));
    facts.extend(runs.iter().map(run_name));
    facts.extend(index.map(|index| format!("index {index}")));
    facts.join(", ")
}

fn not_written(refused: &KvRefused) -> Vec<String> {
    let why = match refused {
        KvRefused::Acquire(AcquireRefused::HeldBy(holder)) => {
            Some(format!("held by {}", session_name(holder)))
        }
        KvRefused::Acquire(AcquireRefused::LockDelay(left)) => {
            let left = i128::try_from(left.as_nanos()).expect("a lock-delay is at most a minute");
            Some(format!("lock-delay {} left", duration_name(left)))
        }
        _ => None,
    };
    std::iter::once("false".to_owned()).chain(why).collect()
}

/// Prints the effects of a deadline.
pub(super) fn of_deadline(what: &str, effects: &Effects) -> String {
    let mut facts = ends(&effects.ended);
    facts.extend(effects.runs.iter().map(run_name));
    if facts.is_empty() {
        facts.push(what.to_owned());
    }
    facts.extend(effects.index.map(|index| format!("index {index}")));
    facts.join(", ")
}

fn run_name(run: &ProbeRun) -> String {
    format!("runs {}", run.check_id)
}

/// Prints the outcome of a read-only transaction.
pub(super) fn of_read_transaction(outcome: &TxnOutcome) -> String {
    let facts = match outcome {
        Ok(results) => txn_results(results),
        Err(errors) => errors.iter().map(txn_error).collect(),
    };
    facts.join(", ")
}

fn ends(ended: &[SessionEnd]) -> Vec<String> {
    let mut facts = Vec::new();
    for end in ended {
        let session = session_name(&end.session.to_string());
        facts.push(match &end.cause {
            Cause::Destroyed => format!("destroyed {session}"),
            Cause::Lapsed => format!("lapsed {session}"),
            Cause::CheckCritical(check) => format!("critical {check} ended {session}"),
            Cause::CheckDeleted(check) => format!("deleted {check} ended {session}"),
            Cause::NodeDeleted => format!("deleted node ended {session}"),
        });
        let released = end.released.iter().map(|key| ("released", key));
        let deleted = end.deleted.iter().map(|key| ("deleted", key));
        let keys = released.chain(deleted);
        facts.extend(keys.map(|(what, key)| format!("{what} {}", key_name(key))));
    }
    facts
}

/// Prints the answer to a read.
pub(super) fn of_read(read: &Read, answer: &Answer) -> String {
    let mut facts = rows(&answer.rows, read.names_only);
    if facts.is_empty() {
        facts.push("nothing".to_owned());
    }
    facts.push(format!("index {}", answer.index));
    facts.join(", ")
}

fn rows(rows: &Rows, names_only: bool) -> Vec<String> {
    match rows {
        Rows::Entry(None) => vec!["missing".to_owned()],
        Rows::Entry(Some(found)) => vec![entry(found)],
        Rows::Entries(found) if names_only => {
            let names: Vec<_> = found.iter().map(|(key, _)| key_name(key)).collect();
            together(&names)
        }
        Rows::Entries(found) => found.iter().map(entry).collect(),
        Rows::Sessions(found) if names_only => {
            let names = found.iter().map(|row| row.session.id.to_string());
            together(&names.map(|id| session_name(&id)).collect::<Vec<_>>())
        }
        Rows::Sessions(found) => found.iter().map(|row| session(row)).collect(),
        Rows::Nodes(found) => {
            let names = found.iter().map(|row| row.node.node.clone());
            together(&names.collect::<Vec<_>>())
        }
        Rows::Node(None) => vec!["missing".to_owned()],
        Rows::Node(Some((node, services))) => {
            let name = &node.node.node;
            let address = &node.node.address;
            let node = indexes(node.create_index, node.modify_index);
            let services = services.iter().map(|row| service(row));
            std::iter::once(format!("{name} address={address} {node}"))
                .chain(services)
                .collect()
        }
        Rows::Checks(found) => found.iter().map(|row| check(row)).collect(),
        Rows::PreparedQueries(found) => {
            let name = |row: &Arc<PreparedQueryRow>| {
                let id = session_name(&row.id.to_string());
                let indexes = indexes(row.create_index, row.modify_index);
                format!("{id} name={} {indexes}", row.query.name)
            };
            found.iter().map(name).collect()
        }
        Rows::Events(found) => {
            let name = |row: &Arc<EventRow>| {
                let name = String::from_utf8_lossy(&row.event.name);
                format!("{name}@{}", row.logical_time)
            };
            together(&found.iter().map(name).collect::<Vec<_>>())
        }
        Rows::Instances(found) => found
            .iter()
            .flat_map(|instance| {
                let checks = instance.checks.iter().map(|row| check(row));
                std::iter::once(service(&instance.service)).chain(checks)
            })
            .collect(),
    }
}

fn together(names: &[String]) -> Vec<String> {
    (!names.is_empty())
        .then(|| names.join(" "))
        .into_iter()
        .collect()
}

fn entry((key, row): &Entry) -> String {
    format!(
        "{}={}{}",
        key_name(key),
        value_name(&row.value),
        of_row(row)
    )
}

fn of_row(row: &KvRow) -> String {
    let flags = (row.flags() != 0).then(|| format!(" flags={}", row.flags()));
    let lock = (row.lock_index() != 0).then(|| format!(" lock={}", row.lock_index()));
    let holder = row.session().map(session_name);
    let holder = holder.map(|holder| format!(" session={holder}"));
    let indexes = indexes(row.create_index, row.modify_index);
    let parts = [flags, lock, holder].map(Option::unwrap_or_default);
    format!("{} {indexes}", parts.concat())
}

fn indexes(created: Index, modified: Index) -> String {
    format!("created={created} modified={modified}")
}

fn session(row: &SessionRow) -> String {
    let session = &row.session;
    let mut parts = vec![session_name(&session.id.to_string())];
    parts.push(format!("node={}", session.node));
    let lock_delay = duration_name(session.lock_delay_ns.into());
    parts.push(format!("lock_delay={lock_delay}"));
    if session.behavior == Behavior::Delete {
        parts.push("behavior=delete".to_owned());
    }
    if !session.ttl_text.is_empty() {
        parts.push(format!("ttl={}", session.ttl_text));
    }
    let node_checks = session.node_checks.iter().flatten();
    let service_checks = session
        .service_checks
        .iter()
        .flatten()
        .map(|check| &check.id);
    let checks = node_checks.chain(&session.checks).chain(service_checks);
    let checks: Vec<_> = checks.map(String::as_str).collect();
    parts.push(format!("checks={}", checks.join(",")));
    parts.push(format!("created={}", row.create_index));
    parts.join(" ")
}

fn service(row: &ServiceRow) -> String {
    let place = format!("{}/{}", row.node, row.service.id);
    let indexes = indexes(row.create_index, row.modify_index);
    format!("{place} name={} {indexes}", row.service.name)
}

fn check(row: &CheckRow) -> String {
    let place = format!("{}/{}", row.node, row.check.check_id);
    let service = if row.service_name.is_empty() {
        String::new()
    } else {
        format!(" service={}", row.service_name)
    };
    let indexes = indexes(row.create_index, row.modify_index);
    format!("{place} {}{service} {indexes}", row.check.status)
}

fn txn_results(results: &[TxnResult]) -> Vec<String> {
    if results.is_empty() {
        return vec!["no results".to_owned()];
    }
    results.iter().map(txn_result).collect()
}

/// Prints a result. One without a value shows only its key, without `null`.
fn txn_result(result: &TxnResult) -> String {
    match result {
        TxnResult::Kv {
            key,
            row,
            with_value,
        } => {
            let value = value_name(&row.value);
            let value = with_value.then(|| format!("={value}"));
            let value = value.unwrap_or_default();
            format!("{}{value}{}", key_name(key), of_row(row))
        }
        TxnResult::Node(row) => row.node.node.clone(),
        TxnResult::Service(row) => service(row),
        TxnResult::Check(row) => check(row),
    }
}

fn txn_error(error: &TxnError) -> String {
    let key: &Key = &error.key;
    let why = match &error.refusal {
        TxnRefusal::EmptyKey => "empty key".to_owned(),
        TxnRefusal::UnknownVerb(verb) => format!("unknown verb {verb}"),
        TxnRefusal::Write(KvRefused::Acquire(AcquireRefused::LockDelay(_))) => {
            "lock-delay".to_owned()
        }
        TxnRefusal::Write(KvRefused::Acquire(AcquireRefused::HeldBy(_))) => "held".to_owned(),
        TxnRefusal::Write(KvRefused::NotHolder) => "not held".to_owned(),
        TxnRefusal::Write(KvRefused::StaleSet | KvRefused::StaleDelete) => "stale".to_owned(),
        TxnRefusal::Write(
            KvRefused::Acquire(AcquireRefused::Session(refusal)) | KvRefused::Release(refusal),
        ) => of_refusal(refusal),
        TxnRefusal::KeyMissing
        | TxnRefusal::CheckIndexMissing
        | TxnRefusal::CheckSessionMissing => "missing".to_owned(),
        TxnRefusal::CheckIndex { current, expected } => {
            format!("index {current} is not {expected}")
        }
        TxnRefusal::CheckSession { current, expected } => {
            let [current, expected] = [current, expected].map(|text| session_name(text));
            format!("session {current:?} is not {expected:?}")
        }
        TxnRefusal::KeyExists => "exists".to_owned(),
        TxnRefusal::Catalog(refusal) => of_refusal(refusal),
        TxnRefusal::Denied(text) => text.clone(),
        TxnRefusal::UnknownCatalogVerb { kind, verb } => format!("unknown {kind} verb {verb}"),
        TxnRefusal::NodeNameMissing | TxnRefusal::ServiceNameMissing => "no name".to_owned(),
        TxnRefusal::NodeIdMalformed(_) | TxnRefusal::NodeLookup { .. } => "malformed id".to_owned(),
        TxnRefusal::ServiceAddress => "the address of all interfaces".to_owned(),
        TxnRefusal::CheckLookup { .. } => "a check without an id".to_owned(),
        TxnRefusal::ServiceKeyMissing => "neither id nor name".to_owned(),
        TxnRefusal::CatalogMissing(_) => "missing".to_owned(),
        TxnRefusal::CatalogStaleSet(_) | TxnRefusal::CatalogStaleDelete(_) => "stale".to_owned(),
    };
    format!("#{} {}: {why}", error.operation, key_name(key))
}

/// Prints the refusal of a command or a read.
pub(super) fn of_refused(refused: &Refused) -> String {
    match refused {
        Refused::Other(refusal) => of_refusal(refusal),
        Refused::PreparedQuery(refusal) => of_query_refusal(refusal),
        Refused::Kv(_) | Refused::Txn(_) => format!("{refused:?}"),
    }
}

fn of_refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::MissingSession => "missing session".to_owned(),
        Refusal::InvalidSession(text) => format!("invalid session {}", session_name(text)),
        Refusal::MalformedSessionId(error) => of_id_error(*error),
        Refusal::SessionNotFound(text) => format!("no session {}", session_name(text)),
        Refusal::MissingNode => "missing node".to_owned(),
        Refusal::MissingCheck(check) => format!("missing check {check}"),
        Refusal::CriticalCheck(check) => format!("check {check} is critical"),
        Refusal::EmptyCheckId => "a check without an id".to_owned(),
        Refusal::Registration(flaw) => format!("{flaw:?}"),
        Refusal::MissingService {
            node,
            service,
            check,
        } => format!("missing service {service} of check {check} on {node}"),
        Refusal::AgentNoSidecarPort(_) => "no port for a sidecar".to_owned(),
        Refusal::NodeNameTaken { holder, .. } => {
            format!("the name is that of {}", holder.node.id)
        }
        Refusal::AgentServiceUnknown(id) | Refusal::AgentCheckServiceUnknown(id) => {
            format!("the agent has no service {id}")
        }
        Refusal::AgentCheckUnknown(id) => format!("the agent has no check {id}"),
        Refusal::AgentCheckNotTtl(id) => format!("nobody reports {id}"),
    }
}

fn of_id_error(error: IdError) -> String {
    match error {
        IdError::Length => "an id has 36 characters".to_owned(),
        IdError::Hyphens(hyphens) => format!("an id has no {hyphens} hyphens"),
        IdError::OddLength => "an id has an even number of digits".to_owned(),
        IdError::InvalidByte(byte) => format!("{:?} is no digit of an id", char::from(byte)),
    }
}

fn of_query_refusal(refusal: &PreparedQueryRefusal) -> String {
    match refusal {
        PreparedQueryRefusal::NotFound => "no such query".to_owned(),
        PreparedQueryRefusal::MalformedId(error)
        | PreparedQueryRefusal::MalformedTarget(error)
        | PreparedQueryRefusal::MalformedSession(error) => of_id_error(*error),
        PreparedQueryRefusal::NoTarget(id) => format!("no query {}", session_name(id)),
        PreparedQueryRefusal::InvalidSession(id) => {
            format!("invalid session {}", session_name(id))
        }
        PreparedQueryRefusal::NameIsQueryName(name) => format!("{name} is a query's name"),
        PreparedQueryRefusal::NameIsQueryId(name) => {
            format!("{} is a query's id", session_name(name))
        }
        PreparedQueryRefusal::EmptyTemplateExists => "another template without a name".to_owned(),
        PreparedQueryRefusal::TemplateFlaw(flaw) => format!("template: {flaw}"),
    }
}
