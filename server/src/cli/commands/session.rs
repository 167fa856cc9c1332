//! `session`: ours. Consul's command line has no such verb.

use std::time::Duration;

use proconsul_client::{Behavior, NewSession, Session, SessionId};

use super::flags::{Flag, Given, text, time};
use super::table::columns;
use super::{Command, Failure, Outcome, because};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["session", "create"],
        arguments: "",
        usage: "Creates a session and prints its id (not in Consul)",
        flags: CREATE,
        run: |given| Box::pin(create(given)),
    },
    Command {
        words: &["session", "destroy"],
        arguments: "ID",
        usage: "Ends a session (not in Consul)",
        flags: &[],
        run: |given| Box::pin(destroy(given)),
    },
    Command {
        words: &["session", "info"],
        arguments: "ID",
        usage: "Prints a session (not in Consul)",
        flags: &[],
        run: |given| Box::pin(info(given)),
    },
    Command {
        words: &["session", "list"],
        arguments: "[NODE]",
        usage: "Lists the sessions, of all nodes or one (not in Consul)",
        flags: &[],
        run: |given| Box::pin(list(given)),
    },
    Command {
        words: &["session", "renew"],
        arguments: "ID",
        usage: "Starts a session's TTL again (not in Consul)",
        flags: &[],
        run: |given| Box::pin(renew(given)),
    },
];

const CREATE: &[Flag] = &[
    text(
        "behavior",
        "What happens to its keys: release or delete (default: release)",
    ),
    time(
        "lock-delay",
        "How long its keys stay closed after its loss (default: 15s)",
    ),
    text("name", "A name for people"),
    text("node", "The node that it belongs to (default: the agent's)"),
    time(
        "ttl",
        "When it lapses unless it is renewed (default: never)",
    ),
];

async fn create(given: Given) -> Outcome {
    given.only(0)?;
    let mut session = NewSession::new();
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
    session = session.behavior(match given.text("behavior") {
        None | Some("release") => Behavior::Release,
        Some("delete") => Behavior::Delete,
        Some(other) => {
            return Err(format!("The behavior {other:?} is not release or delete").into());
        }
    });
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
    let lines = [
        ("Behavior", behavior(session).to_owned()),
        ("Checks", checks.join(", ")),
        ("CreateIndex", session.create_index.to_string()),
        ("ID", session.id.to_string()),
        ("LockDelay", seconds(session.lock_delay)),
        ("Name", session.name.clone()),
        ("Node", session.node.clone()),
        ("TTL", ttl(session)),
    ];
    let line =
        |(name, value): (&str, String)| format!("{name:<17}{value}").trim_end().to_owned() + "\n";
    lines.into_iter().map(line).collect()
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
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|session| {
        let text = [
            session.id.to_string(),
            session.node.clone(),
            ttl(session),
            behavior(session).to_owned(),
            seconds(session.lock_delay),
            session.name.clone(),
        ];
        text.to_vec()
    }));
    Ok(columns(&rows))
}
