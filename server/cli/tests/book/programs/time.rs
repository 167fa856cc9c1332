use std::error::Error;
use std::time::Duration;

use proconsul::control::Rate;
use proconsul::history::Kind;
use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_lock_is_free_after_the_lock_delay() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::frozen();
    let client = Client::new(&server.url())?;
    let ttl = NewSession::new().ttl(Duration::from_secs(10));
    let first = client.sessions().create(&ttl).await?;
    let second = client.sessions().create(&NewSession::new()).await?;
    assert!(client.kv().write("leader", "1").acquire(&first).await?);

    // The first session expires, and the lock-delay begins.
    let caused = server.advance_async(Duration::from_secs(20)).await;
    let kinds: Vec<Kind> = caused.iter().map(|record| record.what.kind()).collect();
    assert!(kinds.contains(&Kind::Released));
    assert!(!client.kv().write("leader", "2").acquire(&second).await?);

    server.advance_async(Duration::from_secs(15)).await; // the lock-delay ends
    assert!(client.kv().write("leader", "2").acquire(&second).await?);
    Ok(())
}

#[tokio::test]
async fn a_program_with_timers_of_its_own_keeps_its_session() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    server.set_rate(Rate::new(10.0)?); // from here on a TTL of 60 s is 6 s of the program's
    assert!(server.next_deadline().is_none());
    Ok(())
}
