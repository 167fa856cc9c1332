//! Parses the words of a line to a step of the store.

use std::time::Duration;

use super::super::any::{Command, Query};
use super::Step;
use super::words::{Words, duration, key, list, nanoseconds, session_id, session_text, value};
use proconsul_store::{
    Behavior, Content, Deregistration, HealthCheckDefinition, Index, KvVerb, KvWrite, Labels,
    NewCheck, NewEvent, NewNode, NewPreparedQuery, NewService, NewSession, PreparedQueryTarget,
    PreparedQueryWrite, Registration, ServiceCheck, ServiceView, Template, TxnOperation, TxnVerb,
};

/// A step: one line of a script.
pub(super) enum Instruction {
    /// A command.
    Apply(Command),
    /// A read-only transaction.
    ReadTxn(Vec<TxnOperation>),
    /// A read.
    Read(Read),
    /// Start a blocking query: its name, its read, and the client's index.
    Wait(String, Read, Index),
    /// Time out a blocking query.
    Stop(String),
    /// Let time pass.
    Tick(Duration),
    /// Lower all indexes.
    Lower(u64),
}

/// A read, with the form of its answer.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) query: Query,
    /// Whether to show only the names of rows.
    pub(super) names_only: bool,
}

/// Parses a step.
pub(super) fn parse(step: &Step) -> Result<Instruction, String> {
    let mut words = Words::new(&step.command);
    let verb = words.take()?;
    let instruction = match verb {
        "put" => Instruction::Apply(put(&mut words)?),
        "delete" | "delete-tree" => Instruction::Apply(delete(verb, &mut words)?),
        "txn" => transaction(&step.operations)?,
        "session" => Instruction::Apply(session(&mut words)?),
        "register" => Instruction::Apply(Command::Register(Box::new(registration(&mut words)?))),
        "deregister" => Instruction::Apply(Command::Deregister(deregistration(&mut words)?)),
        "query" => Instruction::Apply(query(&mut words)?),
        "fire" => Instruction::Apply(Command::Fire(Box::new(event(&mut words)?))),
        "wait" => {
            let name = words.take()?.to_owned();
            let verb = words.take()?;
            let read = read(verb, &mut words)?;
            Instruction::Wait(name, read, Index(words.number("index")?))
        }
        "stop" => Instruction::Stop(words.take()?.to_owned()),
        "tick" => Instruction::Tick(duration(words.take()?)?),
        "lower" => Instruction::Lower(words.number("by")?),
        _ => Instruction::Read(read(verb, &mut words)?),
    };
    words.end()?;
    Ok(instruction)
}

fn read(verb: &str, words: &mut Words<'_>) -> Result<Read, String> {
    let query = match verb {
        "get" => Query::KvGet(key(words.take()?)),
        "list" | "keys" => Query::KvList(key(words.take()?)),
        "info" => Query::SessionInfo(session_text(words.take()?)),
        "sessions" if words.take_if("of") => Query::SessionNode(words.take()?.to_owned()),
        "sessions" => Query::SessionList,
        "queries" => Query::PreparedQueries,
        "query-info" => Query::PreparedQueryInfo(session_text(words.take()?)),
        "query-for" => Query::PreparedQueryFor(session_text(words.take()?)),
        "events" if words.take_if("named") => Query::Events(Some(words.take()?.as_bytes().into())),
        "events" => Query::Events(None),
        "nodes" => Query::Nodes,
        "node" => Query::Node(words.take()?.to_owned()),
        "services" => Query::Services(Labels::new()),
        "health" if words.take_if("of") => {
            Query::Service(ServiceView::Health, words.take()?.to_owned())
        }
        "checks" if words.take_if("of") => Query::NodeChecks(words.take()?.to_owned()),
        "checks" if words.take_if("for") => {
            Query::ServiceChecks(words.take()?.to_owned(), Labels::new())
        }
        "instances" => Query::Service(ServiceView::Catalog, words.take()?.to_owned()),
        "checks" if words.take_if("in") => {
            Query::ChecksInState(words.take()?.to_owned(), Labels::new())
        }
        _ => return Err(format!("no command {verb:?}")),
    };
    Ok(Read {
        query,
        names_only: matches!(verb, "keys" | "sessions"),
    })
}

fn put(words: &mut Words<'_>) -> Result<Command, String> {
    let (key, content) = key_and_content(words)?;
    let verb = if let Some(session) = words.option("acquire") {
        KvVerb::Acquire(content, session_text(session))
    } else if let Some(session) = words.option("release") {
        KvVerb::Release(content, session_text(session))
    } else if let Some(index) = words.option("cas") {
        KvVerb::Cas(content, index_of(index)?)
    } else {
        KvVerb::Set(content)
    };
    Ok(Command::Kv(KvWrite { key, verb }))
}

fn key_and_content(words: &mut Words<'_>) -> Result<(proconsul_store::Key, Content), String> {
    let word = words.take()?;
    let (name, text) = word.split_once('=').ok_or("a write needs key=value")?;
    let content = Content {
        value: value(text),
        flags: words.number("flags")?,
    };
    Ok((key(name), content))
}

fn index_of(text: &str) -> Result<Index, String> {
    let index = text.parse().map(Index);
    index.map_err(|_| format!("{text:?} is no index"))
}

fn delete(verb: &str, words: &mut Words<'_>) -> Result<Command, String> {
    let key = key(words.take()?);
    let verb = match (verb, words.option("cas")) {
        ("delete-tree", _) => KvVerb::DeleteTree,
        (_, None) => KvVerb::Delete,
        (_, Some(index)) => KvVerb::DeleteCas(index_of(index)?),
    };
    Ok(Command::Kv(KvWrite { key, verb }))
}

fn transaction(lines: &[String]) -> Result<Instruction, String> {
    let operations: Vec<_> = lines
        .iter()
        .map(|line| operation(line))
        .collect::<Result<_, _>>()?;
    Ok(if operations.iter().any(TxnOperation::is_write) {
        Instruction::Apply(Command::Txn(operations))
    } else {
        Instruction::ReadTxn(operations)
    })
}

fn operation(line: &str) -> Result<TxnOperation, String> {
    let mut words = Words::new(line);
    let verb = words.take()?;
    let operation = match verb {
        "set" | "cas" | "lock" | "unlock" => {
            let (key, content) = key_and_content(&mut words)?;
            let verb = TxnVerb::Write(match verb {
                "set" => KvVerb::Set(content),
                "cas" => KvVerb::Cas(content, Index(words.number("index")?)),
                "lock" => KvVerb::Acquire(content, session_option(&mut words)),
                _ => KvVerb::Release(content, session_option(&mut words)),
            });
            TxnOperation::Kv { key, verb }
        }
        _ => TxnOperation::Kv {
            key: key(words.take()?),
            verb: verb_without_value(verb, &mut words)?,
        },
    };
    words.end()?;
    Ok(operation)
}

fn verb_without_value(verb: &str, words: &mut Words<'_>) -> Result<TxnVerb, String> {
    Ok(match verb {
        "get" => TxnVerb::Get,
        "get-or-empty" => TxnVerb::GetOrEmpty {
            flags: words.number("flags")?,
            session: session_option(words),
            index: Index(words.number("index")?),
        },
        "get-tree" => TxnVerb::GetTree,
        "check-index" => TxnVerb::CheckIndex(Index(words.number("index")?)),
        "check-session" => TxnVerb::CheckSession(session_option(words)),
        "check-not-exists" => TxnVerb::CheckNotExists,
        "delete" => TxnVerb::Write(KvVerb::Delete),
        "delete-cas" => TxnVerb::Write(KvVerb::DeleteCas(Index(words.number("index")?))),
        "delete-tree" => TxnVerb::Write(KvVerb::DeleteTree),
        other => TxnVerb::Unknown(other.to_owned()),
    })
}

/// `query create|update|delete id [template] [name=n] [session=s] [flaw=f]`. The ids have the form of session
/// ids.
fn query(words: &mut Words<'_>) -> Result<Command, String> {
    let verb = words.take()?;
    let id = words.take()?;
    let target = match verb {
        "delete" => {
            return Ok(Command::DeletePreparedQuery(session_text(id)));
        }
        "create" => {
            let id = session_id(id).ok_or_else(|| format!("{id:?} names no query"))?;
            PreparedQueryTarget::New(id)
        }
        "update" => PreparedQueryTarget::Existing(session_text(id)),
        other => return Err(format!("no command \"query {other}\"")),
    };
    let kind = if words.take_if("template") {
        "name_prefix_match"
    } else {
        ""
    };
    Ok(Command::PutPreparedQuery(Box::new(PreparedQueryWrite {
        target,
        query: NewPreparedQuery {
            name: session_text(words.option("name").unwrap_or_default()),
            session: session_option(words),
            template: Template {
                kind: kind.to_owned(),
                ..Template::default()
            },
            ..NewPreparedQuery::default()
        },
        flaw: words.option("flaw").map(str::to_owned),
    })))
}

/// `fire name [elsewhere]`: an event for the agent, or for other agents. Lists get the index of its first
/// letter.
fn event(words: &mut Words<'_>) -> Result<NewEvent, String> {
    let name: Box<[u8]> = words.take()?.as_bytes().into();
    let mut id = [0; 16];
    id[7] = name.first().copied().unwrap_or_default();
    Ok(NewEvent {
        id,
        name,
        payload: Box::default(),
        node_filter: String::new(),
        service_filter: String::new(),
        tag_filter: String::new(),
        concerns_agent: !words.take_if("elsewhere"),
    })
}

fn session_option(words: &mut Words<'_>) -> String {
    session_text(words.option("session").unwrap_or_default())
}

fn session(words: &mut Words<'_>) -> Result<Command, String> {
    match words.take()? {
        "create" => Ok(Command::SessionCreate(new_session(words)?)),
        "destroy" => Ok(Command::SessionDestroy(session_text(words.take()?))),
        "renew" => Ok(Command::SessionRenew(session_text(words.take()?))),
        other => Err(format!("no command \"session {other}\"")),
    }
}

/// Parses a session. Unset options have the defaults of Consul's HTTP API.
fn new_session(words: &mut Words<'_>) -> Result<NewSession, String> {
    let name = words.take()?;
    let ttl_text = words.option("ttl").unwrap_or_default().to_owned();
    let behavior = match words.option("behavior") {
        None | Some("release") => Behavior::Release,
        Some("delete") => Behavior::Delete,
        Some(other) => return Err(format!("no behavior {other:?}")),
    };
    let service_checks = words.option("service_checks").map(|ids| {
        let ids = list(ids).into_iter();
        ids.map(|id| ServiceCheck {
            id,
            namespace: String::new(),
        })
        .collect()
    });
    Ok(NewSession {
        id: session_id(name).ok_or_else(|| format!("{name:?} names no session"))?,
        name: words.option("name").unwrap_or_default().to_owned(),
        node: words.option("node").unwrap_or("n1").to_owned(),
        lock_delay_ns: nanoseconds(words.option("lock_delay").unwrap_or("15s"))?,
        behavior,
        ttl: if ttl_text.is_empty() {
            Duration::ZERO
        } else {
            duration(&ttl_text)?
        },
        ttl_text,
        node_checks: Some(list(words.option("node_checks").unwrap_or("serfHealth"))),
        service_checks,
        checks: list(words.option("checks").unwrap_or_default()),
    })
}

/// `register node [skip_node_update] [address=a] [id=i] [service=id name=n ...] [check=id status=s ...]...`
fn registration(words: &mut Words<'_>) -> Result<Registration, String> {
    let mut checks = Vec::new();
    while let Some(mut group) = words.group("check") {
        checks.push(new_check(&mut group)?);
    }
    let service = match words.option("service") {
        None => None,
        Some(id) => Some(NewService {
            id: id.to_owned(),
            name: words.option("name").unwrap_or(id).to_owned(),
            tags: words.option("tags").map(list),
            port: i64::try_from(words.number("port")?).map_err(|_| "no such port")?,
            ..NewService::default()
        }),
    };
    let node = words.take()?.to_owned();
    Ok(Registration {
        skip_node_update: words.take_if("skip_node_update"),
        node: NewNode {
            node,
            id: words.option("id").unwrap_or_default().to_owned(),
            address: words.option("address").unwrap_or("127.0.0.1").to_owned(),
            ..NewNode::default()
        },
        service,
        checks,
        flaw: None,
    })
}

fn new_check(words: &mut Words<'_>) -> Result<NewCheck, String> {
    let id = words.option("check").ok_or("a check has an id")?;
    let check = NewCheck {
        check_id: id.to_owned(),
        name: id.to_owned(),
        status: words.option("status").unwrap_or("passing").to_owned(),
        output: words.option("output").unwrap_or_default().to_owned(),
        service_id: words.option("service_id").unwrap_or_default().to_owned(),
        kind: words.option("kind").unwrap_or_default().to_owned(),
        definition: HealthCheckDefinition {
            session_name: words.option("session_name").unwrap_or_default().to_owned(),
            ..HealthCheckDefinition::default()
        },
        ..NewCheck::default()
    };
    words.end()?;
    Ok(check)
}

fn deregistration(words: &mut Words<'_>) -> Result<Deregistration, String> {
    let node = words.take()?.to_owned();
    Ok(match (words.option("service"), words.option("check")) {
        (Some(id), _) => Deregistration::Service {
            node,
            id: id.to_owned(),
        },
        (None, Some(id)) => Deregistration::Check {
            node,
            id: id.to_owned(),
        },
        (None, None) => Deregistration::Node(node),
    })
}
