//! A session that is renewed for an hour. The book shows this test.

use std::error::Error;
use std::time::Duration;

use proconsul::control::Session;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn a_session_lives_while_a_loop_renews_it() -> Result<(), Box<dyn Error>> {
    let server = proconsul::Server::builder().in_runtime()?;
    let ttl = Session::ttl(Duration::from_secs(10));
    let session = server.sessions().create(ttl)?;

    for _ in 0..360 {
        sleep(Duration::from_secs(10)).await; // moves the server's clock, too
        server.sessions().renew(&session)?;
    }
    assert_eq!(server.sessions().list().len(), 1); // an hour later

    sleep(Duration::from_secs(21)).await; // without a renewal
    assert!(server.sessions().list().is_empty());
    Ok(())
}
