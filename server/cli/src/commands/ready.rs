//! The verb `ready`, which Consul does not have: waits until a server can be used, for scripts and health checks.
//!
//! It only reads, because a health check asks every few seconds and must not move an index or take a session id from
//! the seed. What it reads is what a write depends on: a leader that other servers confirm, without which no key and no
//! session is written, and the node in the catalog with a health that is not critical, which a new session is bound to
//! (`conformance/contract/session.md` 1.1). A real Consul has the second a moment after the first.

use std::cell::RefCell;
use std::time::Duration;

use proconsul_client::{Client, Consistency, Error, Status};

use super::{Outcome, go_text};
use crate::commands::support::flags::Given;
use proconsul_os::time::delay;

commands! {
    "ready" "" ready "Waits until keys and sessions work (not in Consul)" {
        Time "timeout" "How long to wait (default: 10s)";
    }
}

/// How long to wait where nothing else is said.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long after a failure to ask again.
const PAUSE: Duration = Duration::from_millis(50);
/// A key that is asked for, and need not exist.
const KEY: &str = "proconsul/ready";
/// The check of a node by which sessions are bound to it.
const NODE_CHECK: &str = "serfHealth";

async fn ready(given: Given) -> Outcome {
    given.only(0)?;
    let client = given.client()?;
    let patience = given.time("timeout").unwrap_or(PATIENCE);
    let consistent = client
        .options()
        .clone()
        .consistency(Consistency::Consistent);
    let reads = client.with(consistent);
    let why = RefCell::new("it has not answered".to_owned());
    let asked = async {
        while let Err(flaw) = flaw_of(&client, &reads).await {
            *why.borrow_mut() = flaw;
            delay(PAUSE).await;
        }
    };
    let address = client.address();
    tokio::select! {
        () = asked => Ok(format!("{address} is ready: keys and sessions work\n")),
        () = delay(patience) => {
            let why = why.borrow();
            Err(format!("{address} is not ready after {patience:?}: {why}").into())
        }
    }
}

/// Asks once.
///
/// # Errors
/// Why the server cannot be used yet.
async fn flaw_of(client: &Client, reads: &Client) -> Result<(), String> {
    allowed(reads.kv().get(KEY).await)?;
    let Some(agent) = allowed(client.agent().config().await)? else {
        return Ok(());
    };
    let node = agent["Config"]["NodeName"].as_str().unwrap_or_default();
    let Some(checks) = allowed(reads.health().node(node).await)? else {
        return Ok(());
    };
    let health = checks
        .value
        .iter()
        .find(|check| check.check_id == NODE_CHECK);
    match health {
        Some(check) if check.status != Status::Critical => Ok(()),
        Some(_) => Err(format!("the health of its node {node:?} is critical")),
        None => Err(format!(
            "its node {node:?} is not in the catalog, or the token may not read it"
        )),
    }
}

/// Takes a refusal for the sake of the token for an answer: the server works, and who may use it is another question.
fn allowed<T>(answer: Result<T, Error>) -> Result<Option<T>, String> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_forbidden() => Ok(None),
        Err(error) => Err(go_text(&error)),
    }
}
