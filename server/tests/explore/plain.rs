//! Verdicts in plain tests, which say themselves what happens.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use proconsul::Server;
use proconsul::control::Lag;
use proconsul::explore::{Judge, Property, contender_address};
use proconsul::in_runtime::RuntimeServer;
use proconsul_client::{Client, Connector, Consistency, NewSession, QueryOptions};
use tokio::io::duplex;
use tokio::time::sleep;

const TTL: Duration = Duration::from_secs(10);

fn server() -> Arc<RuntimeServer> {
    Arc::new(Server::builder().in_runtime().expect("a server"))
}

fn client(server: &Arc<RuntimeServer>, number: u8) -> Client {
    client_of(server, 0, number)
}

/// Returns a client of an agent.
fn client_of(server: &Arc<RuntimeServer>, agent: usize, number: u8) -> Client {
    let server = Arc::clone(server);
    let connector = Connector::new(move |_uri| {
        let (client, own) = duplex(1024);
        server.serve_connection_to(agent, own, Some(contender_address(number)));
        ready(Ok(client))
    });
    let builder = Client::builder().address("consul:8500");
    builder.connector(connector).build().expect("an address")
}

/// The first contender holds a lock, says so, and writes; then another does. The first one says that it is over only if it is
/// careful.
async fn hand_over(server: &Arc<RuntimeServer>, is_careful: bool) {
    let new = NewSession::new().ttl(TTL).lock_delay(Duration::ZERO);
    for (number, name) in [(0, "a"), (1, "b")] {
        let client = client(server, number);
        let session = client.sessions().create(&new).await.expect("a session");
        let acquired = client.kv().write("leader", name).acquire(&session).await;
        assert!(acquired.expect("an answer"), "{name}");
        server.note_belief(name, true, None);
        client.kv().put("work/item", name).await.expect("written");
        if number == 0 && is_careful {
            server.note_belief(name, false, None);
            client
                .sessions()
                .destroy(&session)
                .await
                .expect("an answer");
        }
        sleep(3 * TTL).await;
    }
}

async fn write_late(server: &Arc<RuntimeServer>) {
    let late = client(server, 0).kv().put("work/item", "late").await;
    late.expect("written");
}

#[tokio::test(start_paused = true)]
async fn a_careful_holder_breaks_nothing() {
    let server = server();
    hand_over(&server, true).await;
    let judge = Judge::new().guard("work/");
    judge.assert_not_broken(&server, Property::StaleWrite);
    judge.assert_not_broken(&server, Property::ActedAfterLoss);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "broken: stale-write: at ")]
async fn a_write_of_a_former_holder_is_asserted() {
    let server = server();
    hand_over(&server, false).await;
    write_late(&server).await;
    let judge = Judge::new().guard("work/");
    judge.assert_not_broken(&server, Property::StaleWrite);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a deleted \"work/\"")]
async fn a_deletion_of_all_guarded_keys_is_a_write() {
    let server = server();
    hand_over(&server, false).await;
    let late = client(&server, 0).kv().delete_tree("work/").await;
    late.expect("deleted");
    let judge = Judge::new().guard("work/");
    judge.assert_not_broken(&server, Property::StaleWrite);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "broken: two-believers: at ")]
async fn two_that_believe_are_asserted() {
    let server = server();
    hand_over(&server, false).await;
    Judge::new().assert_not_broken(&server, Property::TwoBelievers);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "stale-write is not judged: no prefix of guarded keys is given")]
async fn what_cannot_be_judged_does_not_pass() {
    let server = server();
    hand_over(&server, true).await;
    Judge::new().assert_not_broken(&server, Property::StaleWrite);
}

/// A contender writes to the leader, and then another reads from a follower.
async fn write_and_read(lag: Lag) -> Arc<RuntimeServer> {
    let server = Server::builder().agents(3).in_runtime();
    let server = Arc::new(server.expect("a server"));
    server.agent(1).lag(lag);
    let written = client_of(&server, 0, 0).kv().put("k", "v").await;
    written.expect("written");
    sleep(Duration::from_secs(1)).await;
    let stale = QueryOptions::new().consistency(Consistency::Stale);
    let read = client_of(&server, 1, 1).with(stale).kv().get("k").await;
    read.expect("an answer");
    server
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_has_applied_all_shows_what_is() {
    let server = write_and_read(Lag::default()).await;
    Judge::new().assert_not_broken(&server, Property::StaleRead);
}

#[tokio::test(start_paused = true)]
#[should_panic(
    expected = "broken: stale-read: at 1.000s b read /v1/kv/k?stale= as it was before \"k\" was written at 0.000s"
)]
async fn a_follower_that_has_not_applied_a_write_shows_what_was() {
    let server = write_and_read(Lag::Hold).await;
    Judge::new().assert_not_broken(&server, Property::StaleRead);
}
