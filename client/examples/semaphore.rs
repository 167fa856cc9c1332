//! One of two slots of a semaphore, held until standard input ends.

use std::time::Duration;

use proconsul_client::recipes::{Keeper, Semaphore};
use proconsul_client::{Client, NewSession};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::from_env()?;
    let session = NewSession::new()
        .name("db-semaphore")
        .ttl(Duration::from_secs(15));
    let session = Keeper::start(&client, session).await?;
    let semaphore = Semaphore::new(&client, "service/db/semaphore", 2);
    let Some(slot) = semaphore.try_acquire(&session).await? else {
        session.close().await?;
        return say("no slot is free");
    };
    say("has a slot")?;
    tokio::select! {
        read = end_of_input() => read?,
        lost = slot.lost() => return Err(format!("stopped in the middle: {lost}").into()),
    };
    slot.release().await?;
    session.close().await?;
    say("gave it back")
}

async fn end_of_input() -> std::io::Result<()> {
    let (ended, end) = tokio::sync::oneshot::channel();
    // Tokio's own standard input keeps a program that has lost its session from ending before its input does.
    std::thread::spawn(move || {
        ended.send(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()))
    });
    end.await
        .expect("the thread sends what it read")
        .map(|_| ())
}

fn say(line: &str) -> Result<(), Box<dyn std::error::Error>> {
    use std::io::Write as _;
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
