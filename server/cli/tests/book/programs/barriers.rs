use std::error::Error;
use std::time::Duration;

use proconsul::control::BlockedOn;
use proconsul::history::{Filter, Kind};
use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_test_waits_for_what_a_program_does() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;
    let program = tokio::spawn(program(client.clone()));

    let patience = Duration::from_secs(5);
    let acquired = Filter::of(Kind::Acquired).key("leader");
    server.wait_for_async(&acquired, patience).await?; // it holds the lock
    let config = BlockedOn::prefix("config/");
    server.wait_blocked_async(&config, 1, patience).await?; // it watches its configuration
    client.kv().put("config/level", "debug").await?;

    assert_eq!(program.await??, "debug");
    Ok(())
}

/// The program under test: it becomes the leader, and waits for its configuration.
async fn program(client: Client) -> Result<String, proconsul_client::Error> {
    let session = client.sessions().create(&NewSession::new()).await?;
    client.kv().write("leader", "me").acquire(&session).await?;
    let mut watch = client.watch_key("config/level");
    loop {
        if let Some(level) = watch.next().await?.value {
            return Ok(String::from_utf8_lossy(&level.value).into_owned());
        }
    }
}
