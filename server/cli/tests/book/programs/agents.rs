//! Parts of `docs/src/agents.md`.

use std::error::Error;
use std::time::Duration;

use proconsul::Server;
use proconsul_client::{Client, Consistency, QueryOptions};

#[tokio::test]
async fn another_server_leads() -> Result<(), Box<dyn Error>> {
    let server = Server::builder().agents(3).frozen().start()?;
    let [old, new] = [0, 1].map(|agent| Client::new(&server.agent(agent).url()));
    let (old, new) = (old?, new?);
    new.kv().put("config", "before").await?;

    server.agent(0).cut(); // the leader
    server.advance_async(Duration::from_secs(4)).await;
    assert!(server.agent(1).leads());
    new.kv().put("config", "after").await?;

    let stale = QueryOptions::new().consistency(Consistency::Stale);
    let seen = old.with(stale).kv().get("config").await?;
    assert_eq!(seen.value.expect("it is there").text()?, "before");
    Ok(())
}
