//! A keeper renews in time, and knows when it cannot vouch any more. What recipes do on any server is in
//! `tests/recipes`.

use std::time::Duration;

use proconsul::faults::{Effect, FaultGuard, Rule};
use proconsul_client::recipes::{Lock, Lost};
use proconsul_client::{Clock, Error};

use super::support::{driven, keeper};

const TTL: Duration = Duration::from_secs(10);
/// What one renewal may take.
const ATTEMPT: Duration = TTL.checked_div(6).expect("six is not zero");

fn hanging_renewals() -> Rule {
    Rule::new(Effect::Hang).path("/v1/session/renew/")
}

/// Returns when the server has let so many requests hang.
async fn arrived(hangs: &FaultGuard, times: u64) {
    while hangs.hits() < times {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_keeper_renews_and_learns_of_a_lapse() -> Result<(), Error> {
    let (server, client, clock) = driven();
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
    let (server, client, clock) = driven();
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

#[tokio::test]
async fn a_renewal_that_hangs_costs_a_sixth_of_the_ttl_and_not_the_session() -> Result<(), Error> {
    let (server, client, clock) = driven();
    let pass = |time| {
        server.advance(time);
        clock.advance(time);
    };
    let session = keeper(&client).await;
    let hangs = server.fault(hanging_renewals().times(1));
    let hangs = hangs.expect("it can match");
    clock.asked(TTL / 2, 1).await;
    pass(TTL / 2);
    // Half a TTL is asked for once more: all that renewing may take.
    clock.asked(TTL / 2, 2).await;
    clock.asked(ATTEMPT, 1).await;
    arrived(&hangs, 1).await;
    pass(ATTEMPT);
    clock.pass_backoff(1).await;
    // The second attempt is answered, and the next renewal is half a TTL away.
    clock.asked(TTL / 2, 3).await;
    assert!(clock.now() < TTL);
    assert_eq!((session.is_lost(), hangs.hits()), (None, 1));
    // Without it the session would lapse after twice the TTL.
    let left = 2 * TTL - clock.now();
    server.advance(left + ATTEMPT);
    assert_eq!(server.sessions().list().len(), 1);
    Ok(())
}

#[tokio::test]
async fn renewals_that_all_hang_are_told_when_the_ttl_is_over_and_no_later() -> Result<(), Error> {
    let (server, client, clock) = driven();
    let session = keeper(&client).await;
    let hangs = server.fault(hanging_renewals());
    let hangs = hangs.expect("it can match");
    clock.asked(TTL / 2, 1).await;
    clock.advance(TTL / 2);
    for attempt in 1..=2 {
        clock.asked(ATTEMPT, attempt as usize).await;
        arrived(&hangs, attempt.into()).await;
        clock.advance(ATTEMPT);
        clock.pass_backoff(attempt).await;
    }
    clock.asked(ATTEMPT, 3).await;
    let moment = Duration::from_millis(1);
    clock.advance(TTL - moment - clock.now());
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(session.is_lost(), None, "nobody else can hold a lock yet");
    clock.advance(moment);
    assert_eq!(session.lost().await, Lost::Unconfirmed);
    assert_eq!(clock.now(), TTL);
    Ok(())
}
