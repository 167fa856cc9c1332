//! A session that lives as long as this program: kept until standard input ends, or the session is lost.

use std::time::Duration;

use proconsul_client::recipes::Keeper;
use proconsul_client::{Client, NewSession};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::from_env()?;
    let session = NewSession::new()
        .name("keeper")
        .ttl(Duration::from_secs(15));
    let session = Keeper::start(&client, session).await?;
    say(&format!("session {}", session.id()))?;
    tokio::select! {
        read = end_of_input() => {
            read?;
            session.close().await?;
            say("destroyed")
        }
        lost = session.lost() => Err(format!("lost: {lost}").into()),
    }
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
