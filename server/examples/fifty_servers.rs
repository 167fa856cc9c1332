//! Fifty tests at once, each with a Consul of its own: no test sees another's keys, sessions, faults or time, and none has
//! to wait for a port.
//!
//! `cargo run -p proconsul --example fifty_servers`

use std::error::Error;
use std::time::Duration;

use proconsul::Server;
use proconsul_client::{Client, NewSession};
use tokio::task::JoinSet;

/// One of the tests. All use the same key, and each moves its own clock.
async fn test(number: u64) -> Result<String, proconsul_client::Error> {
    // The number is the seed as well: what is drawn by chance, such as the id of a session, is the same in every run.
    let server = proconsul::test::server_with(Server::builder().frozen().seed(number));
    let client = Client::new(&server.url())?;
    let session = NewSession::new().ttl(Duration::from_secs(10));
    let session = client.sessions().create(&session).await?;
    let key = client.kv().write("leader", number.to_string());
    assert!(key.acquire(&session).await?);

    let seconds = Duration::from_secs(number);
    server.advance_async(seconds).await;
    let leader = client.kv().get("leader").await?.value;
    let leader = leader.expect("this test has written it");
    assert_eq!(leader.value, number.to_string().into_bytes());
    // A session with a TTL of 10 s lapses after 20.
    assert_eq!(leader.session.is_some(), number < 20);
    assert_eq!(server.now().as_nanos(), number * 1_000_000_000);
    Ok(session.to_string())
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let mut tests = JoinSet::new();
    for number in 0..50 {
        tests.spawn(test(number));
    }
    let mut sessions = Vec::new();
    while let Some(session) = tests.join_next().await {
        sessions.push(session??);
    }
    sessions.sort();
    sessions.dedup();
    assert_eq!(
        sessions.len(),
        50,
        "servers with other seeds draw other ids"
    );

    // The same seed draws the same id again.
    assert!(sessions.contains(&test(7).await?));
    Ok(())
}
