//! A job that only one worker may do at a time: it works until its standard input ends, or until it is interrupted.
//! The key goes with the session, so nothing is left of a worker that dies. However the job ends, the session's
//! lock-delay keeps the next worker away for a while.

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
    let how = tokio::select! {
        // In this order: whoever sees it work may interrupt it.
        biased;
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            "interrupted, cleaning up"
        }
        lost = held.lost() => return Err(format!("stopped in the middle: {lost}").into()),
        worked = work() => {
            worked?;
            "finished"
        }
    };
    // Not `held.release()`, which would let the next worker in at once.
    session.close().await?;
    say(how)
}

async fn work() -> Result<(), Box<dyn std::error::Error>> {
    say("working")?;
    Ok(end_of_input().await?)
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
