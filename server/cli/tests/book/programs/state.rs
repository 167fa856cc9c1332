use std::error::Error;

use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_test_goes_back_to_a_checkpoint() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;
    let session = client.sessions().create(&NewSession::new()).await?;
    assert!(client.kv().write("leader", "me").acquire(&session).await?);

    server.checkpoint("held"); // takes as long for a million keys as for one
    client.sessions().destroy(&session).await?;
    server.rollback("held")?; // blocked requests are answered
    assert_eq!(server.explain("leader").holder, Some(session.to_string()));

    println!("{}", server.timeline("leader")); // the life of the lock
    server.assert_lock_safety("leader", &[]); // no two holders, and no holder during a lock-delay

    let other = proconsul::Server::start();
    other.load(&server.dump())?; // returns the same responses from here on
    let there = Client::new(&other.url())?.kv().get("leader").await?.value;
    assert_eq!(there.expect("it was loaded").session, Some(session));
    Ok(())
}
