//! A job that only one worker may do at a time: it works until its standard input ends. The key goes with the session,
//! so nothing is left of a worker that dies.

use std::time::Duration;

use proconsul_client::recipes::{Keeper, Lock};
use proconsul_client::{Behavior, Client, NewSession};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::from_env()?;
    let session = NewSession::new().ttl(Duration::from_secs(15));
    let session = Keeper::start(&client, session.behavior(Behavior::Delete)).await?;
    let lock = Lock::new(&client, "service/job/leader").value(session.id().as_str());
    let Some(held) = lock.try_acquire(&session).await? else {
        session.close().await?;
        return say("somebody else does it");
    };
    say("working")?;
    tokio::select! {
        read = end_of_input() => read?,
        lost = held.lost() => return Err(format!("stopped in the middle: {lost}").into()),
    };
    held.release().await?;
    session.close().await?;
    say("finished")
}

async fn end_of_input() -> std::io::Result<()> {
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
    Ok(())
}

fn say(line: &str) -> Result<(), Box<dyn std::error::Error>> {
    use std::io::Write as _;
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
