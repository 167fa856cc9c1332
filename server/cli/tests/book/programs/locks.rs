use std::error::Error;
use std::time::Duration;

use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_lock_is_lost_when_its_session_expires() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::frozen(); // its clock moves when the test says so
    let client = Client::new(&server.url())?;
    let ttl = NewSession::new().ttl(Duration::from_secs(10));
    let session = client.sessions().create(&ttl).await?;
    assert!(client.kv().write("leader", "me").acquire(&session).await?);

    server.advance_async(Duration::from_secs(20)).await; // a session expires at twice its TTL

    let leader = server.explain("leader");
    assert_eq!(leader.holder, None);
    assert_eq!(leader.lock_delay_left, Some(Duration::from_secs(15)));
    Ok(())
}
