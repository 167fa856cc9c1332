//! Recipes under lapses, lock-delays, lost answers, cancelled calls and other contenders.

use std::sync::Arc;
use std::time::Duration;

use proconsul_client::recipes::{Election, EphemeralKey, Keeper, Lock, Lost, Semaphore};
use proconsul_client::{Behavior, Client, Clock, Error, NewSession};

use super::support::{ManualClock, frozen, keeper};

const TTL: Duration = Duration::from_secs(10);

fn eager(client: &Client, key: &str) -> Lock {
    Lock::new(client, key).retry(Duration::from_millis(1))
}

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
    assert_eq!(session.lost().await, Lost::Unreachable);
    assert_eq!(held.lost().await, Lost::Unreachable);
    Ok(())
}

#[tokio::test]
async fn a_lapse_takes_the_lock_and_the_lock_delay_guards_it() -> Result<(), Error> {
    let (server, client) = frozen();
    let (first, second) = (keeper(&client).await, keeper(&client).await);
    let held = eager(&client, "l").acquire(&first).await?;
    let lock = eager(&client, "l");
    server.advance(2 * TTL - Duration::from_secs(1));
    client.sessions().renew(second.id()).await?;
    assert!(lock.try_acquire(&second).await?.is_none());
    server.advance(Duration::from_secs(1));
    assert_eq!(held.lost().await, Lost::Session);
    assert!(
        lock.try_acquire(&second).await?.is_none(),
        "the lock-delay is in force"
    );
    server.advance(Duration::from_secs(15));
    let taken = lock
        .try_acquire(&second)
        .await?
        .expect("the lock-delay is over");
    assert!(taken.fence().lock_index > held.fence().lock_index);
    assert_eq!(taken.fence().session, *second.id());
    Ok(())
}

#[tokio::test]
async fn a_waiting_contender_gets_the_lock_when_it_is_released() -> Result<(), Error> {
    let (_server, client) = frozen();
    let (first, second) = (keeper(&client).await, keeper(&client).await);
    let held = eager(&client, "l").value("one").acquire(&first).await?;
    let waiting = tokio::spawn({
        let lock = eager(&client, "l").value("two");
        async move { lock.acquire(&second).await.map(|held| (held, second)) }
    });
    held.release().await?;
    let (taken, _second) = waiting.await.expect("it does not panic")?;
    assert_eq!(taken.is_lost(), None);
    assert_eq!(
        client.kv().get("l").await?.value.expect("it is held").value,
        b"two"
    );
    Ok(())
}

#[tokio::test]
async fn dropping_a_guard_and_closing_a_keeper_give_back() -> Result<(), Error> {
    let (_server, client) = frozen();
    let session = keeper(&client).await;
    let lock = eager(&client, "l");
    drop(lock.acquire(&session).await?);
    // The same session again: its own release is waited for.
    let held = lock.acquire(&session).await?;
    assert_eq!(held.is_lost(), None);
    session.close().await?;
    assert_eq!(held.lost().await, Lost::Released);
    assert!(client.sessions().list().await?.value.is_empty());
    Ok(())
}

#[tokio::test]
async fn one_session_holds_a_key_for_one_guard_at_a_time() -> Result<(), Error> {
    let (_server, client) = frozen();
    let session = keeper(&client).await;
    let lock = eager(&client, "l");
    let held = lock.acquire(&session).await?;
    assert!(lock.try_acquire(&session).await?.is_none());
    held.release().await?;
    assert!(lock.try_acquire(&session).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn a_cancelled_acquire_leaves_nothing_behind() -> Result<(), Error> {
    let (_server, client) = frozen();
    let (first, second) = (keeper(&client).await, keeper(&client).await);
    let lock = eager(&client, "l");
    // Cancelled at every point that it passes: after one poll, after two, ...
    for polls in 1..200 {
        let mut acquire = Box::pin(lock.acquire(&first));
        let mut left = polls;
        let done = std::future::poll_fn(|context| {
            left -= 1;
            match acquire.as_mut().poll(context) {
                std::task::Poll::Ready(held) => std::task::Poll::Ready(Some(held)),
                std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(None),
                std::task::Poll::Pending => std::task::Poll::Pending,
            }
        })
        .await;
        drop(acquire);
        let finished = done.is_some();
        drop(done);
        lock.acquire(&second).await?.release().await?;
        if finished {
            return Ok(());
        }
    }
    panic!("the lock was never acquired");
}

#[tokio::test]
async fn a_lock_that_somebody_takes_away_is_lost() -> Result<(), Error> {
    let (_server, client) = frozen();
    let session = keeper(&client).await;
    let held = eager(&client, "l").acquire(&session).await?;
    assert!(client.kv().write("l", "").release(session.id()).await?);
    assert_eq!(held.lost().await, Lost::Taken);
    let held = eager(&client, "m").acquire(&session).await?;
    client.kv().delete("m").await?;
    assert_eq!(held.lost().await, Lost::Taken);
    Ok(())
}

#[tokio::test]
async fn a_lost_session_ends_the_wait_and_a_used_key_is_a_conflict() -> Result<(), Error> {
    let (_server, client) = frozen();
    let session = keeper(&client).await;
    client.kv().put("data", "x").await?;
    let conflict = eager(&client, "data").acquire(&session).await;
    assert!(matches!(conflict, Err(Error::Conflict(_))), "{conflict:?}");
    let held = eager(&client, "data").flags(0).acquire(&session).await?;
    held.release().await?;
    client.sessions().destroy(session.id()).await?;
    let lost = eager(&client, "l").acquire(&session).await;
    assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
    Ok(())
}

#[tokio::test]
async fn an_observer_sees_every_kind_of_change() -> Result<(), Error> {
    let (server, client) = frozen();
    let election = Election::new(&client, "leader");
    let mut observer = election.observe();
    assert_eq!(observer.next().await?, None);
    let session = keeper(&client).await;
    let first = election.campaign(&session, "one").await?;
    let leader = observer.next().await?.expect("somebody leads");
    assert_eq!(
        (leader.value.as_slice(), &leader.session),
        (&b"one"[..], session.id())
    );
    assert_eq!(election.leader().await?, Some(leader));
    first.resign().await?;
    assert_eq!(observer.next().await?, None);
    let second = election.campaign(&session, "two").await?;
    assert_eq!(
        observer.next().await?.expect("somebody leads").lock_index,
        2
    );
    server.advance(2 * TTL);
    assert_eq!(observer.next().await?, None);
    assert_eq!(second.lost().await, Lost::Session);
    Ok(())
}

#[tokio::test]
async fn a_semaphore_has_so_many_slots() -> Result<(), Error> {
    let (_server, client) = frozen();
    let semaphore = Semaphore::new(&client, "s", 2);
    let sessions = [
        keeper(&client).await,
        keeper(&client).await,
        keeper(&client).await,
    ];
    let first = semaphore.acquire(&sessions[0]).await?;
    let second = semaphore.acquire(&sessions[1]).await?;
    assert!(semaphore.try_acquire(&sessions[2]).await?.is_none());
    let other = Semaphore::new(&client, "s", 3)
        .try_acquire(&sessions[2])
        .await;
    assert!(matches!(other, Err(Error::Conflict(_))), "{other:?}");
    let [_, _, third] = &sessions;
    let (released, third) = tokio::join!(first.release(), semaphore.acquire(third));
    released?;
    let third = third?;
    // A holder whose session ends makes room at once: nothing is locked but its own key.
    client.sessions().destroy(sessions[1].id()).await?;
    assert_eq!(second.lost().await, Lost::Session);
    let again = semaphore.acquire(&sessions[0]).await?;
    third.release().await?;
    again.release().await?;
    let left: Vec<String> = client.kv().keys("s/", None).await?.value;
    let dead = format!("s/{}", sessions[1].id());
    assert_eq!(left, ["s/.lock".to_owned(), dead]);
    Ok(())
}

#[tokio::test]
async fn a_slot_that_an_operator_takes_away_is_lost() -> Result<(), Error> {
    let (_server, client) = frozen();
    let semaphore = Semaphore::new(&client, "s", 1);
    let session = keeper(&client).await;
    let slot = semaphore.acquire(&session).await?;
    client.kv().delete("s/.lock").await?;
    assert_eq!(slot.lost().await, Lost::Taken);
    let none = Semaphore::new(&client, "t", 0).acquire(&session).await;
    assert!(matches!(none, Err(Error::Input(_))), "{none:?}");
    Ok(())
}

#[tokio::test]
async fn a_published_key_goes_with_its_session() -> Result<(), Error> {
    let (server, client) = frozen();
    let key = EphemeralKey::new(&client, "e");
    let wrong = key.publish(&keeper(&client).await, "x").await;
    assert!(matches!(wrong, Err(Error::Input(_))), "{wrong:?}");
    let ephemeral = NewSession::new().ttl(TTL).behavior(Behavior::Delete);
    let session = Keeper::start(&client, ephemeral).await?;
    let published = key.publish(&session, "one").await?;
    published.set("two").await?;
    assert_eq!(
        client
            .kv()
            .get("e")
            .await?
            .value
            .expect("it is there")
            .value,
        b"two"
    );
    published.withdraw().await?;
    assert_eq!(client.kv().get("e").await?.value, None);
    let published = key.publish(&session, "three").await?;
    server.advance(2 * TTL);
    assert_eq!(published.lost().await, Lost::Session);
    assert_eq!(client.kv().get("e").await?.value, None);
    let lost = published.set("four").await;
    assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
    Ok(())
}
