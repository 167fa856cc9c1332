//! What recipes do under lapses, lock-delays, cancelled calls and other contenders.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use proconsul_client::recipes::{Election, EphemeralKey, Keeper, Lock, Lost, Semaphore};
use proconsul_client::{Behavior, Error, NewSession};

use super::host::Host;

/// A lock that does not wait long for the end of a lock-delay, which the test decides on.
fn eager(host: &Host, name: &str) -> Lock {
    Lock::new(host.client(), host.key(name)).retry(Duration::from_millis(1))
}

/// Whether a guard was lost by a lapse: Consul says so, or the keeper knows that it slept too long.
fn lapsed(lost: Lost) -> bool {
    matches!(lost, Lost::Session | Lost::Unconfirmed)
}

pub(crate) async fn a_lapse_takes_the_lock_and_the_lock_delay_guards_it(
    host: Host,
) -> Result<(), Error> {
    let first = host.keeper().await?;
    let held = eager(&host, "l").acquire(&first).await?;
    let lock = eager(&host, "l");
    // The program is paused, and its session lapses.
    host.pass(2 * host.ttl());
    assert!(lapsed(held.lost().await));
    let second = Keeper::start(host.client(), NewSession::new()).await?;
    assert!(
        lock.try_acquire(&second).await?.is_none(),
        "the lock-delay is in force"
    );
    host.pass(host.lock_delay());
    let taken = lock.acquire(&second).await?;
    assert!(taken.fence().index > held.fence().index);
    assert_eq!(taken.fence().session, *second.id());
    Ok(())
}

pub(crate) async fn a_waiting_contender_gets_the_lock_when_it_is_released(
    host: Host,
) -> Result<(), Error> {
    let (first, second) = (host.keeper().await?, host.keeper().await?);
    let held = eager(&host, "l").value("one").acquire(&first).await?;
    let waiting = tokio::spawn({
        let lock = eager(&host, "l").value("two");
        async move { lock.acquire(&second).await.map(|held| (held, second)) }
    });
    held.release().await?;
    let (taken, _second) = waiting.await.expect("it does not panic")?;
    assert_eq!(taken.is_lost(), None);
    let pair = host.client().kv().get(&host.key("l")).await?.value;
    assert_eq!(pair.expect("it is held").value, b"two");
    Ok(())
}

pub(crate) async fn dropping_a_guard_and_closing_a_keeper_give_back(
    host: Host,
) -> Result<(), Error> {
    let session = host.keeper().await?;
    let id = session.id().clone();
    let lock = eager(&host, "l");
    drop(lock.acquire(&session).await?);
    // The same session again: its own release is waited for.
    let held = lock.acquire(&session).await?;
    assert_eq!(held.is_lost(), None);
    session.close().await?;
    assert_eq!(held.lost().await, Lost::Released);
    assert_eq!(host.client().sessions().info(&id).await?.value, None);
    Ok(())
}

pub(crate) async fn one_session_holds_a_key_for_one_guard_at_a_time(
    host: Host,
) -> Result<(), Error> {
    let session = host.keeper().await?;
    let lock = eager(&host, "l");
    let held = lock.acquire(&session).await?;
    assert!(lock.try_acquire(&session).await?.is_none());
    held.release().await?;
    assert!(lock.try_acquire(&session).await?.is_some());
    Ok(())
}

pub(crate) async fn a_cancelled_acquire_leaves_nothing_behind(host: Host) -> Result<(), Error> {
    let (first, second) = (host.keeper().await?, host.keeper().await?);
    let lock = eager(&host, "l");
    // Cancelled at every point that it passes: after one poll, after two, ...
    for polls in 1..200 {
        let mut acquire = Box::pin(lock.acquire(&first));
        let mut left = polls;
        let done = poll_fn(|context| {
            left -= 1;
            match acquire.as_mut().poll(context) {
                Poll::Ready(held) => Poll::Ready(Some(held)),
                Poll::Pending if left == 0 => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
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

pub(crate) async fn a_lock_that_somebody_takes_away_is_lost(host: Host) -> Result<(), Error> {
    let session = host.keeper().await?;
    let kv = host.client().kv();
    let held = eager(&host, "l").acquire(&session).await?;
    assert!(kv.write(&host.key("l"), "").release(session.id()).await?);
    assert_eq!(held.lost().await, Lost::Taken);
    let held = eager(&host, "m").acquire(&session).await?;
    kv.delete(&host.key("m")).await?;
    assert_eq!(held.lost().await, Lost::Taken);
    Ok(())
}

pub(crate) async fn a_lost_session_ends_the_wait_and_a_used_key_is_a_conflict(
    host: Host,
) -> Result<(), Error> {
    let session = host.keeper().await?;
    host.client().kv().put(&host.key("data"), "x").await?;
    let conflict = eager(&host, "data").acquire(&session).await;
    assert!(matches!(conflict, Err(Error::Conflict(_))), "{conflict:?}");
    let held = eager(&host, "data").flags(0).acquire(&session).await?;
    held.release().await?;
    host.client().sessions().destroy(session.id()).await?;
    let lost = eager(&host, "l").acquire(&session).await;
    assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
    Ok(())
}

pub(crate) async fn an_observer_sees_every_kind_of_change(host: Host) -> Result<(), Error> {
    let election = Election::new(host.client(), host.key("leader"));
    let mut observer = election.observe();
    assert_eq!(observer.next().await?, None);
    let session = host.keeper().await?;
    let first = election.campaign(&session, "one").await?;
    let leader = observer.next().await?.expect("somebody leads");
    assert_eq!(leader.value, b"one");
    assert_eq!(leader.session, *session.id());
    assert_eq!(election.leader().await?, Some(leader));
    first.resign().await?;
    assert_eq!(observer.next().await?, None);
    let second = election.campaign(&session, "two").await?;
    let leader = observer.next().await?.expect("somebody leads");
    assert_eq!(leader.lock_index, 2);
    host.pass(2 * host.ttl());
    assert_eq!(observer.next().await?, None);
    assert!(lapsed(second.lost().await));
    Ok(())
}

pub(crate) async fn a_semaphore_has_so_many_slots(host: Host) -> Result<(), Error> {
    let semaphore = Semaphore::new(host.client(), host.key("s"), 2);
    let sessions = [
        host.keeper().await?,
        host.keeper().await?,
        host.keeper().await?,
    ];
    let first = semaphore.acquire(&sessions[0]).await?;
    let second = semaphore.acquire(&sessions[1]).await?;
    assert!(semaphore.try_acquire(&sessions[2]).await?.is_none());
    let other = Semaphore::new(host.client(), host.key("s"), 3);
    let other = other.try_acquire(&sessions[2]).await;
    assert!(matches!(other, Err(Error::Conflict(_))), "{other:?}");
    let (released, third) = tokio::join!(first.release(), semaphore.acquire(&sessions[2]));
    released?;
    let third = third?;
    // A holder whose session ends makes room at once: nothing is locked but its own key.
    host.client().sessions().destroy(sessions[1].id()).await?;
    assert_eq!(second.lost().await, Lost::Session);
    let again = semaphore.acquire(&sessions[0]).await?;
    third.release().await?;
    again.release().await?;
    let left = host.client().kv().keys(&host.key("s/"), None).await?.value;
    let dead = host.key(&format!("s/{}", sessions[1].id()));
    assert_eq!(left, [host.key("s/.lock"), dead]);
    Ok(())
}

pub(crate) async fn a_slot_that_an_operator_takes_away_is_lost(host: Host) -> Result<(), Error> {
    let semaphore = Semaphore::new(host.client(), host.key("s"), 1);
    let session = host.keeper().await?;
    let slot = semaphore.acquire(&session).await?;
    host.client().kv().delete(&host.key("s/.lock")).await?;
    assert_eq!(slot.lost().await, Lost::Taken);
    let none = Semaphore::new(host.client(), host.key("t"), 0);
    let none = none.acquire(&session).await;
    assert!(matches!(none, Err(Error::Input(_))), "{none:?}");
    Ok(())
}

pub(crate) async fn a_published_key_goes_with_its_session(host: Host) -> Result<(), Error> {
    let name = host.key("e");
    let key = EphemeralKey::new(host.client(), &name);
    let kv = host.client().kv();
    let wrong = key.publish(&host.keeper().await?, "x").await;
    assert!(matches!(wrong, Err(Error::Input(_))), "{wrong:?}");
    let ephemeral = host.session().behavior(Behavior::Delete);
    let session = Keeper::start(host.client(), ephemeral).await?;
    let published = key.publish(&session, "one").await?;
    published.set("two").await?;
    assert_eq!(
        kv.get(&name).await?.value.expect("it is there").value,
        b"two"
    );
    published.withdraw().await?;
    assert_eq!(kv.get(&name).await?.value, None);
    let published = key.publish(&session, "three").await?;
    host.pass(2 * host.ttl());
    assert!(lapsed(published.lost().await));
    assert_eq!(kv.get(&name).await?.value, None);
    let lost = published.set("four").await;
    assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
    Ok(())
}
