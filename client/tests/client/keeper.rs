//! A keeper renews in time, and knows when it cannot vouch any more. What recipes do on any server is in
//! `tests/recipes`.

use std::sync::Arc;
use std::time::Duration;

use proconsul_client::recipes::{Lock, Lost};
use proconsul_client::{Client, Clock, Error};

use super::support::{ManualClock, frozen, keeper};

const TTL: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_keeper_renews_and_learns_of_a_lapse() -> Result<(), Error> {
    let (server, _) = frozen();
    let clock = ManualClock::new();
    let client = Client::builder()
        .address(server.url())
        .clock(Arc::new(clock.clone()))
        .build()?;
    let session = keeper(&client).await;
    // A renewal asks for half a TTL twice: as the most that it may take, and as the time to the next one.
    for round in 0..10 {
        clock.asked(TTL / 2, 2 * round + 1).await;
        server.advance(TTL / 2);
        clock.advance(TTL / 2);
    }
    clock.asked(TTL / 2, 21).await;
    assert_eq!(session.is_lost(), None);
    // The program was paused: twice the TTL has passed at the server.
    server.advance(2 * TTL);
    clock.advance(TTL / 2);
    assert_eq!(session.lost().await, Lost::Session);
    Ok(())
}

#[tokio::test]
async fn a_keeper_that_is_cut_off_stops_vouching_after_one_ttl() -> Result<(), Error> {
    let (server, _) = frozen();
    let clock = ManualClock::new();
    let client = Client::builder()
        .address(server.url())
        .clock(Arc::new(clock.clone()))
        .build()?;
    let session = keeper(&client).await;
    let held = Lock::new(&client, "l").acquire(&session).await?;
    clock.asked(TTL / 2, 1).await;
    drop(server);
    clock.advance(TTL / 2);
    while session.is_lost().is_none() {
        clock.advance(Duration::from_millis(100));
        tokio::task::yield_now().await;
    }
    assert!(clock.now() >= TTL, "nobody else can hold the lock before");
    assert_eq!(session.lost().await, Lost::Unconfirmed);
    assert_eq!(held.lost().await, Lost::Unconfirmed);
    Ok(())
}
