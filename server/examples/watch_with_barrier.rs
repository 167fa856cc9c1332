//! A program that follows a key, and a test that changes the key while the program watches it. The test does not sleep
//! until the program "must be watching by now": it waits until it is.
//!
//! `cargo run -p proconsul --example watch_with_barrier`

use std::error::Error;
use std::time::Duration;

use proconsul::control::BlockedOn;
use proconsul_client::Client;

/// What is tested: it follows a key until that is `stop`, and returns all that it has seen.
async fn follow(client: Client) -> Result<Vec<String>, proconsul_client::Error> {
    let mut watch = client.watch_key("config/level");
    let mut seen = Vec::new();
    loop {
        let level = watch.next().await?.value;
        let level = level.map_or(String::new(), |pair| {
            String::from_utf8_lossy(&pair.value).into_owned()
        });
        if level == "stop" {
            return Ok(seen);
        }
        seen.push(level);
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;
    let program = tokio::spawn(follow(client.clone()));

    let config = BlockedOn::prefix("config/");
    for level in ["debug", "info", "stop"] {
        // At least one request is blocked on a key under `config/`. In a program that never comes to watch, this is an
        // error after five seconds, and it says what was blocked instead.
        let patience = Duration::from_secs(5);
        let blocked = server.wait_blocked_async(&config, 1, patience).await?;
        assert!(blocked[0].target.contains("config/level"));
        client.kv().put("config/level", level).await?;
    }

    // It has missed nothing, since it was watching before each change.
    assert_eq!(program.await??, ["", "debug", "info"]);
    Ok(())
}
