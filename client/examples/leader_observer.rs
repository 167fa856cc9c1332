//! Two candidates for the leadership of a service, and an observer that says who leads: the first, and when that one has
//! resigned the second.

use std::time::Duration;

use proconsul_client::recipes::{Election, Keeper, Leader};
use proconsul_client::{Client, Error, NewSession};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::from_env()?;
    let election = Election::new(&client, "service/observed/leader");
    let mut observer = election.observe();
    say(observer.next().await?.as_ref())?;

    let (one, two) = (session(&client).await?, session(&client).await?);
    let first = election.campaign(&one, "one").await?;
    say(observer.next().await?.as_ref())?;

    // The second has waited for this moment.
    let (second, resigned) = tokio::join!(election.campaign(&two, "two"), first.resign());
    let (second, ()) = (second?, resigned?);
    loop {
        // For a moment nobody led, which an observer may see or not.
        let leader = observer.next().await?;
        say(leader.as_ref())?;
        if leader.is_some() {
            break;
        }
    }

    second.resign().await?;
    one.close().await?;
    two.close().await?;
    Ok(())
}

async fn session(client: &Client) -> Result<Keeper, Error> {
    let session = NewSession::new().name("candidate");
    Keeper::start(client, session.ttl(Duration::from_secs(15))).await
}

fn say(leader: Option<&Leader>) -> Result<(), Box<dyn std::error::Error>> {
    use std::io::Write as _;
    let name = leader.map_or("nobody".into(), |leader| {
        String::from_utf8_lossy(&leader.value)
    });
    Ok(writeln!(std::io::stdout(), "{name} leads")?)
}
