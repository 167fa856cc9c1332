//! A session that nobody renews. The book shows this test.

use std::error::Error;
use std::time::Duration;

use proconsul::control::Session;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn a_session_expires_while_its_owner_sleeps() -> Result<(), Box<dyn Error>> {
    let server = proconsul::Server::builder().seed(7).in_runtime()?;
    let ttl = Session::ttl(Duration::from_secs(10));
    server.sessions().create(ttl)?;
    sleep(Duration::from_secs(21)).await; // takes no time at all
    assert!(server.sessions().list().is_empty());
    Ok(())
}
