use std::error::Error;
use std::time::Duration;

use proconsul_client::recipes::{Keeper, Lock};
use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_program_holds_a_lock() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;

    let session = NewSession::new().ttl(Duration::from_secs(15));
    let session = Keeper::start(&client, session).await?; // renews it
    let lock = Lock::new(&client, "jobs/report").value("me");
    let held = lock.acquire(&session).await?;
    assert!(server.explain("jobs/report").holder.is_some());
    held.release().await?;
    session.close().await?;
    Ok(())
}
