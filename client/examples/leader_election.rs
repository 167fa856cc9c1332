//! One candidate for the leadership of a service: it waits until it leads, and leads until its standard input ends.

use std::time::Duration;

use proconsul_client::recipes::{Election, Keeper};
use proconsul_client::{Client, NewSession};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("leader_election <name>")?;
    let client = Client::from_env()?;
    let session = NewSession::new().name(&name).ttl(Duration::from_secs(15));
    let session = Keeper::start(&client, session).await?;
    let election = Election::new(&client, "service/leader");
    let leadership = election.campaign(&session, name).await?;
    say("leading")?;
    tokio::select! {
        read = end_of_input() => read?,
        lost = leadership.lost() => return Err(format!("it does not lead any more: {lost}").into()),
    };
    leadership.resign().await?;
    session.close().await?;
    say("resigned")
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
