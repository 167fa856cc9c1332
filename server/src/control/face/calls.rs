//! The calls, each of which is a method of [`Control`].

use serde_json::{Value, json};

use super::input::{
    AtRate, By, ByIndexes, Clients, DelayWakes, Left, LoseLeader, Name, NewRule, NewServerBody,
    OneCheck, OneNode, OneSession, Prefix, RestartWith, Safety, WaitBlocked, WaitEvent, WaitIdle,
    body, filter, no_body,
};
use super::{Answer, Call, Outcome, Refused, show};
use crate::clock::Rate;
use crate::control::{Control, NotStarted, Restart};
use crate::engine::{BlockedOn, Unmet};
use crate::faults::RuleId;
use crate::history::Record;

pub(super) fn clock(control: &Control, _: &Call) -> Outcome {
    let next = control.next_deadline();
    let next = next.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    Ok(Answer::json(json!({
        "now_ms": show::at_ms(control.now()),
        "rate": control.rate().factor(),
        "next_deadline_in_ms": next,
    })))
}

fn caused(control: &Control, records: &[Record]) -> Outcome {
    Ok(Answer::json(json!({
        "now_ms": show::at_ms(control.now()),
        "caused": show::records(records),
    })))
}

pub(super) fn advance(control: &Control, call: &Call) -> Outcome {
    let By { by } = body(call)?;
    caused(control, &control.advance(by.0))
}

pub(super) fn advance_to_next(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    caused(control, &control.advance_to_next())
}

pub(super) fn jump(control: &Control, call: &Call) -> Outcome {
    let By { by } = body(call)?;
    caused(control, &control.jump(by.0))
}

pub(super) fn freeze(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.freeze();
    clock(control, call)
}

pub(super) fn resume(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.resume();
    clock(control, call)
}

pub(super) fn rate(control: &Control, call: &Call) -> Outcome {
    let AtRate { rate } = body(call)?;
    control.set_rate(Rate::new(rate).map_err(Refused::input)?);
    clock(control, call)
}

pub(super) fn auto(control: &Control, call: &Call) -> Outcome {
    let Clients { clients } = body(call)?;
    if clients == 0 {
        return Err(Refused::input("expected at least one client"));
    }
    control.auto_advance(clients);
    Ok(Answer::done())
}

pub(super) fn no_auto(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.stop_auto_advance();
    Ok(Answer::done())
}

pub(super) fn history(control: &Control, call: &Call) -> Outcome {
    let mut parameters = call.parameters(&["kind", "key", "session", "after", "format"])?;
    let formats: Vec<_> = parameters
        .extract_if(.., |(name, _)| name == "format")
        .collect();
    let filter = filter(parameters)?;
    let records = control.history(&filter);
    match formats
        .first()
        .map_or("json", |(_, format)| format.as_str())
    {
        "json" => Ok(Answer::json(json!({
            "records": show::records(&records),
            "lost": control.lost_records(),
        }))),
        "text" => {
            let lines = records.iter().map(|record| format!("{record}\n"));
            Ok(Answer::text(
                control.lost_in_words() + &lines.collect::<String>(),
            ))
        }
        other => Err(Refused::input(format!(
            "a format is json or text, not {other:?}"
        ))),
    }
}

pub(super) fn clear_history(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.clear_history();
    Ok(Answer::done())
}

/// The key that a call is about.
fn key(call: &Call) -> Result<String, Refused> {
    let parameters = call.parameters(&["key"])?;
    let key = parameters.into_iter().next();
    let (_, key) = key.ok_or_else(|| Refused::input("expected the parameter key"))?;
    Ok(key)
}

pub(super) fn timeline(control: &Control, call: &Call) -> Outcome {
    Ok(Answer::text(control.timeline(key(call)?)))
}

pub(super) fn explain(control: &Control, call: &Call) -> Outcome {
    let explanation = control.explain(key(call)?);
    Ok(Answer::json(show::explanation(&explanation)))
}

pub(super) fn safety(control: &Control, call: &Call) -> Outcome {
    let safety: Safety = body(call)?;
    let checked = control.check_lock_safety(&safety.key, &safety.intervals()?);
    let violations = checked.err().unwrap_or_default();
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    Ok(Answer::json(json!({
        "safe": texts.is_empty(),
        "violations": texts,
        "timeline": control.timeline(&safety.key),
    })))
}

pub(super) fn blocked(control: &Control, call: &Call) -> Outcome {
    call.parameters(&[])?;
    let blocked: Value = control.blocked().iter().map(show::blocked).collect();
    Ok(Answer::json(json!({ "blocked": blocked })))
}

fn unmet(unmet: &Unmet) -> Refused {
    Refused::unmet(unmet.to_string())
}

pub(super) fn wait_blocked(control: &Control, call: &Call) -> Outcome {
    let wait: WaitBlocked = body(call)?;
    let on = match (wait.prefix, wait.session, wait.service) {
        (None, None, None) => BlockedOn::Anything,
        (Some(prefix), None, None) => BlockedOn::prefix(prefix),
        (None, Some(session), None) => BlockedOn::Session(session),
        (None, None, Some(service)) => BlockedOn::Service(service),
        _ => {
            return Err(Refused::input(
                "expected at most one of prefix, session and service",
            ));
        }
    };
    let found = control.wait_blocked(&on, wait.count, wait.timeout.0);
    let found: Value = found
        .map_err(|error| unmet(&error))?
        .iter()
        .map(show::blocked)
        .collect();
    Ok(Answer::json(json!({ "blocked": found })))
}

pub(super) fn wait_event(control: &Control, call: &Call) -> Outcome {
    let wait: WaitEvent = body(call)?;
    let found = control.wait_for(&wait.filter()?, wait.timeout.0);
    Ok(Answer::json(show::record(
        &found.map_err(|error| unmet(&error))?,
    )))
}

pub(super) fn wait_idle(control: &Control, call: &Call) -> Outcome {
    let WaitIdle { timeout } = body(call)?;
    let idle = control.wait_idle(timeout.0);
    idle.map_err(|error| unmet(&error))?;
    Ok(Answer::done())
}

pub(super) fn faults(control: &Control, call: &Call) -> Outcome {
    call.parameters(&[])?;
    let rules: Value = control.faults().iter().map(show::rule).collect();
    Ok(Answer::json(json!({ "rules": rules })))
}

pub(super) fn install_fault(control: &Control, call: &Call) -> Outcome {
    let rule = body::<NewRule>(call)?.into_rule()?;
    let guard = control.fault(rule);
    let guard = guard.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Answer::json(json!({ "id": guard.keep().0 })))
}

pub(super) fn clear_faults(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.clear_faults();
    Ok(Answer::done())
}

fn number(call: &Call) -> Result<u64, Refused> {
    let parsed = call.id().parse();
    parsed.map_err(|_| Refused::input(format!("an id is a number, not {:?}", call.id())))
}

pub(super) fn remove_fault(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    let id = number(call)?;
    if !control.remove_fault(RuleId(id)) {
        return Err(Refused::missing(format!("there is no rule {id}")));
    }
    Ok(Answer::done())
}

pub(super) fn lose_leader(control: &Control, call: &Call) -> Outcome {
    control.lose_leader(body::<LoseLeader>(call)?.into_loss()?);
    Ok(Answer::done())
}

pub(super) fn find_leader(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.find_leader();
    Ok(Answer::done())
}

pub(super) fn lower_indexes(control: &Control, call: &Call) -> Outcome {
    let ByIndexes { by } = body(call)?;
    control.lower_indexes(by);
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn wake(control: &Control, call: &Call) -> Outcome {
    let Prefix { prefix } = body(call)?;
    Ok(Answer::json(json!({ "woken": control.wake(prefix) })))
}

pub(super) fn delay_wakes(control: &Control, call: &Call) -> Outcome {
    let DelayWakes { prefix, by, times } = body(call)?;
    if times == Some(0) {
        return Err(Refused::input("expected times to be at least 1"));
    }
    control.delay_wakes(prefix, by.0, times);
    Ok(Answer::done())
}

/// That the control plane is not behind the doors that the call is about.
fn has_own_port(control: &Control) -> Result<(), Refused> {
    if control.has_own_port() {
        return Ok(());
    }
    Err(Refused::unmet(
        "this would close the control plane's own connection; start the server with a control port",
    ))
}

pub(super) fn refuse_connections(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    has_own_port(control)?;
    let refused = control.refuse_connections();
    refused.map_err(|error| Refused(500, error.to_string()))?;
    Ok(Answer::done())
}

pub(super) fn accept_connections(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    let accepted = control.accept_connections();
    accepted.map_err(|error| Refused(500, error.to_string()))?;
    Ok(Answer::done())
}

pub(super) fn restart(control: &Control, call: &Call) -> Outcome {
    let RestartWith { state } = body(call)?;
    has_own_port(control)?;
    let restarted = control.restart(match state {
        Left::Keep => Restart::KeepState,
        Left::Wipe => Restart::WipeState,
    });
    restarted.map_err(|error| Refused(500, error.to_string()))?;
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn expire_session(control: &Control, call: &Call) -> Outcome {
    let OneSession { session } = body(call)?;
    let expired = control.sessions().expire(&session);
    expired.map_err(|_| Refused::missing(format!("there is no session {session:?}")))?;
    Ok(Answer::done())
}

pub(super) fn fail_check(control: &Control, call: &Call) -> Outcome {
    let OneCheck { node, check } = body(call)?;
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let failed = control.catalog().fail_check(&node, &check);
    failed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Answer::done())
}

pub(super) fn pass_check(control: &Control, call: &Call) -> Outcome {
    let OneCheck { node, check } = body(call)?;
    let node = node.unwrap_or_else(|| control.node_name().to_owned());
    let passed = control.catalog().pass_check(&node, &check);
    passed.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Answer::done())
}

pub(super) fn delete_node(control: &Control, call: &Call) -> Outcome {
    let OneNode { node } = body(call)?;
    let nodes = control.catalog().nodes();
    if !nodes
        .iter()
        .any(|row| row.node.node.eq_ignore_ascii_case(&node))
    {
        return Err(Refused::missing(format!("there is no node {node:?}")));
    }
    control.catalog().delete_node(&node);
    Ok(Answer::done())
}

pub(super) fn reset(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    control.reset();
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn checkpoint(control: &Control, call: &Call) -> Outcome {
    let Name { name } = body(call)?;
    control.checkpoint(&name);
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn rollback(control: &Control, call: &Call) -> Outcome {
    let Name { name } = body(call)?;
    let back = control.rollback(&name);
    back.map_err(|unknown| Refused::missing(unknown.to_string()))?;
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn dump(control: &Control, call: &Call) -> Outcome {
    call.parameters(&[])?;
    Ok(Answer::written(control.dump()))
}

pub(super) fn load(control: &Control, call: &Call) -> Outcome {
    call.parameters(&[])?;
    let state = str::from_utf8(&call.body);
    let state = state.map_err(|error| Refused::input(format!("not a state: {error}")))?;
    let loaded = control.load(state);
    loaded.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Answer::json(json!({ "index": control.index().0 })))
}

pub(super) fn export_kv(control: &Control, call: &Call) -> Outcome {
    let parameters = call.parameters(&["prefix"])?;
    let prefix = parameters.into_iter().next().map(|(_, prefix)| prefix);
    Ok(Answer::written(
        control.kv().export(prefix.unwrap_or_default()),
    ))
}

pub(super) fn import_kv(control: &Control, call: &Call) -> Outcome {
    let text = String::from_utf8_lossy(&call.body);
    let imported = control.kv().import(&text);
    let keys = imported.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Answer::json(json!({ "keys": keys })))
}

pub(super) fn servers(control: &Control, call: &Call) -> Outcome {
    call.parameters(&[])?;
    let servers = control.servers().into_iter();
    let servers: Value = servers
        .map(|started| json!({ "id": started.id, "url": started.url }))
        .collect();
    Ok(Answer::json(json!({ "servers": servers })))
}

pub(super) fn start_server(control: &Control, call: &Call) -> Outcome {
    let new: NewServerBody = if call.body.is_empty() {
        NewServerBody::default()
    } else {
        body(call)?
    };
    let new = new.read()?;
    let started = control.start_server(&new).map_err(|error| match error {
        NotStarted::Settings(text) => Refused::input(text),
        NotStarted::Start(text) => Refused(500, text),
    })?;
    Ok(Answer::json(json!({
        "id": started.id,
        "url": started.url,
        "control": started.control,
    })))
}

pub(super) fn stop_server(control: &Control, call: &Call) -> Outcome {
    no_body(call)?;
    let id = number(call)?;
    if !control.stop_server(id) {
        return Err(Refused::missing(format!("there is no server {id}")));
    }
    Ok(Answer::done())
}
