//! The verbs of `session`, which Consul does not have.

use std::time::Duration;

use proconsul_client::{Behavior, NewSession, Session, SessionId};

use super::{Failure, Outcome, because};
use crate::commands::support::flags::Given;
use crate::commands::support::table::{columns, fields};

commands! {
    "session create" "" create "Creates a session and prints its id (not in Consul)" {
        Text "behavior" "What happens to its keys: release or delete (default: release)";
        Time "lock-delay" "How long its keys stay closed after its loss (default: 15s)";
        Text "name" "A name for people";
        Text "node" "The node that it belongs to (default: the agent's)";
        Time "ttl" "When it lapses unless it is renewed (default: never)";
    }
    "session destroy" "ID" destroy "Ends a session (not in Consul)" {}
    "session info" "ID" info "Prints a session (not in Consul)" {}
    "session list" "[NODE]" list "Lists the sessions, of all nodes or one (not in Consul)" {}
    "session renew" "ID" renew "Starts a session's TTL again (not in Consul)" {}
}

async fn create(given: Given) -> Outcome {
    given.only(0)?;
    let behavior = match given.text("behavior") {
        None | Some("release") => Behavior::Release,
        Some("delete") => Behavior::Delete,
        Some(other) => {
            return Err(format!("The behavior {other:?} is not release or delete").into());
        }
    };
    let mut session = NewSession::new().behavior(behavior);
    if let Some(name) = given.text("name") {
        session = session.name(name);
    }
    if let Some(node) = given.text("node") {
        session = session.node(node);
    }
    if let Some(ttl) = given.time("ttl") {
        session = session.ttl(ttl);
    }
    if let Some(delay) = given.time("lock-delay") {
        session = session.lock_delay(delay);
    }
    let id = given.client()?.sessions().create(&session).await;
    Ok(format!(
        "{}\n",
        id.map_err(because("Error creating session"))?
    ))
}

fn one_id(given: &Given) -> Result<SessionId, Failure> {
    match given.rest() {
        [id] => Ok(SessionId::from(id.as_str())),
        _ => Err("Exactly one session ID must be specified".into()),
    }
}

async fn destroy(given: Given) -> Outcome {
    let id = one_id(&given)?;
    let destroyed = given.client()?.sessions().destroy(&id).await;
    destroyed.map_err(because("Error destroying session"))?;
    Ok(format!("Destroyed session: {id}\n"))
}

async fn info(given: Given) -> Outcome {
    let id = one_id(&given)?;
    let session = given.client()?.sessions().info(&id).await;
    found(
        &id,
        session.map_err(because("Error reading session"))?.value,
    )
}

async fn renew(given: Given) -> Outcome {
    let id = one_id(&given)?;
    let session = given.client()?.sessions().renew(&id).await;
    found(&id, session.map_err(because("Error renewing session"))?)
}

fn found(id: &SessionId, session: Option<Session>) -> Outcome {
    match session {
        Some(session) => Ok(details(&session)),
        None => Err(format!("No session exists with ID: {id}").into()),
    }
}

fn ttl(session: &Session) -> String {
    if session.ttl().is_some() {
        session.ttl_text.clone()
    } else {
        "-".to_owned()
    }
}

fn seconds(duration: Duration) -> String {
    format!("{}s", duration.as_secs_f64())
}

fn behavior(session: &Session) -> &'static str {
    match session.behavior {
        Behavior::Release => "release",
        Behavior::Delete => "delete",
    }
}

fn details(session: &Session) -> String {
    let checks: Vec<&str> = session
        .node_checks
        .iter()
        .chain(session.service_checks.iter().map(|check| &check.id))
        .map(String::as_str)
        .collect();
    fields([
        ("Behavior", behavior(session).to_owned()),
        ("Checks", checks.join(", ")),
        ("CreateIndex", session.create_index.to_string()),
        ("ID", session.id.to_string()),
        ("LockDelay", seconds(session.lock_delay)),
        ("Name", session.name.clone()),
        ("Node", session.node.clone()),
        ("TTL", ttl(session)),
    ])
}

async fn list(given: Given) -> Outcome {
    given.only(1)?;
    let client = given.client()?;
    let listed = match given.rest() {
        [node, ..] => client.sessions().node(node).await,
        [] => client.sessions().list().await,
    };
    let sessions = listed.map_err(because("Error listing sessions"))?.value;
    let heads = ["ID", "Node", "TTL", "Behavior", "LockDelay", "Name"];
    let rows = sessions.iter().map(|session| {
        let row = [
            session.id.to_string(),
            session.node.clone(),
            ttl(session),
            behavior(session).to_owned(),
            seconds(session.lock_delay),
            session.name.clone(),
        ];
        row.to_vec()
    });
    Ok(columns(heads, rows))
}
