//! The example of the book.

use std::future::ready;
use std::time::Duration;

use proconsul::explore::{Contender, Explore};
use proconsul_client::recipes::{Election, Keeper};
use proconsul_client::{Client, Connector, NewSession};
use tokio::time::sleep;

#[test]
fn an_election_is_not_broken() {
    let report = Explore::new().contenders(2).runs(60).search(lead);
    report.assert_not_broken();
}

/// Leads for as long as it can, again and again.
async fn lead(contender: Contender) {
    let own = contender.clone();
    let connector = Connector::new(move |_uri| ready(own.connect()));
    let builder = Client::builder().address("consul:8500");
    let builder = builder.connector(connector).timeout(Duration::from_secs(2));
    let client = builder.build().expect("an address");
    let ttl = NewSession::new().ttl(Duration::from_secs(10));
    loop {
        if let Ok(session) = Keeper::start(&client, ttl.clone()).await
            && let Ok(leads) = Election::new(&client, "leader")
                .campaign(&session, "me")
                .await
        {
            contender.holds(None);
            leads.lost().await;
            contender.lost();
        }
        sleep(Duration::from_secs(1)).await;
    }
}
