//! A lock that its holder loses because nobody renews its session: when it is lost, who can have it then, and why.
//!
//! `cargo run -p proconsul --example lock_lost_by_ttl`

use std::error::Error;
use std::time::Duration;

use proconsul_client::{Client, NewSession};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // The clock stands still: nothing below depends on how fast this machine is.
    let server = proconsul::test::frozen();
    let client = Client::new(&server.url())?;
    let lock = || client.kv().write("jobs/report", "at work");

    let ttl = Duration::from_secs(10);
    let session = NewSession::new().name("first").ttl(ttl);
    let first = client.sessions().create(&session).await?;
    let second = client.sessions().create(&NewSession::new()).await?;
    assert!(lock().acquire(&first).await?);
    assert!(!lock().acquire(&second).await?, "it is held");

    // Consul gives a holder twice its TTL. Time moves when the test says so.
    server
        .advance_async(2 * ttl - Duration::from_nanos(1))
        .await;
    assert_eq!(
        server.explain("jobs/report").holder,
        Some(first.to_string())
    );
    server.advance_async(Duration::from_nanos(1)).await;
    let report = client.kv().get("jobs/report").await?.value;
    assert_eq!(report.expect("the key stays").session, None);

    // The holder does not know yet that it has lost the lock, so Consul gives it to nobody for another 15 s.
    assert!(!lock().acquire(&second).await?, "the lock-delay runs");
    let left = server.explain("jobs/report").lock_delay_left;
    assert_eq!(left, Some(Duration::from_secs(15)));
    server.advance_async(Duration::from_secs(15)).await;
    assert!(lock().acquire(&second).await?);

    // The life of the lock, for people.
    let timeline = server.timeline("jobs/report");
    assert!(timeline.contains("its TTL ran out"), "{timeline}");
    Ok(())
}
