//! Contenders with and without bugs.

use std::future::ready;
use std::time::Duration;

use proconsul::explore::Contender;
use proconsul_client::recipes::{Election, Keeper};
use proconsul_client::{Client, Connector, Error, NewSession};
use tokio::time::sleep;

const TTL: Duration = Duration::from_secs(10);
const KEY: &str = "service/leader";

/// What kind of contender it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// The client's recipes.
    Election,
    /// One loop renews the session and does the leader's work, and nothing else looks.
    OneLoop,
}

/// Competes for the lock until the run is over.
pub(super) async fn contend(contender: Contender, kind: Kind) {
    let own = contender.clone();
    let connector = Connector::new(move |_uri| ready(own.connect()));
    let timeout = match kind {
        Kind::Election => Duration::from_secs(2),
        Kind::OneLoop => Duration::from_secs(60),
    };
    let builder = Client::builder().address("consul:8500").timeout(timeout);
    let client = builder.connector(connector).build().expect("an address");
    loop {
        let led = match kind {
            Kind::Election => lead(&client, &contender).await,
            Kind::OneLoop => lead_and_renew(&client, &contender).await,
        };
        contender.lost();
        drop(led);
        sleep(Duration::from_secs(1)).await;
    }
}

async fn lead(client: &Client, contender: &Contender) -> Result<(), Error> {
    let session = Keeper::start(client, NewSession::new().ttl(TTL)).await?;
    let election = Election::new(client, KEY);
    let leadership = election.campaign(&session, contender.name()).await?;
    contender.holds(None);
    leadership.lost().await;
    Ok(())
}

async fn lead_and_renew(client: &Client, contender: &Contender) -> Result<(), Error> {
    let (kv, sessions) = (client.kv(), client.sessions());
    let session = sessions.create(&NewSession::new().ttl(TTL)).await?;
    while !kv.write(KEY, contender.name()).acquire(&session).await? {
        sleep(Duration::from_secs(1)).await;
        if sessions.renew(&session).await?.is_none() {
            return Ok(());
        }
    }
    contender.holds(None);
    while sessions.renew(&session).await?.is_some() {
        sleep(TTL / 3).await;
        kv.put("work/item", contender.name()).await?;
    }
    Ok(())
}
