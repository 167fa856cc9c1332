//! Contenders with and without bugs.

use std::future::{pending, ready};
use std::time::Duration;

use proconsul::explore::Contender;
use proconsul_client::recipes::{Election, Keeper, Lock};
use proconsul_client::{
    Client, Connector, Consistency, Error, NewSession, Pair, QueryOptions, SessionId,
};
use tokio::time::sleep;

use crate::watches;

pub(super) const SECOND: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);
const KEY: &str = "service/leader";

/// What kind of contender it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// The client's election.
    Election,
    /// The client's lock, with its fencing token.
    Lock,
    /// The client's lock, whose LockIndex is taken for a fencing token.
    LockIndex,
    /// One loop renews the session and does the leader's work, and nothing else looks (bug 8 of `client_bugs`).
    OneLoop,
    /// A renewal that is answered 404 is taken for a hiccup (bug 5).
    RenewsForEver,
    /// An acquire whose response is lost is begun anew, with another session that has no TTL (bug 4).
    BeginsAnew,
    /// Three refused acquires in a row are enough (bug 7).
    TriesThrice,
    /// A look at the lock that is answered 429 is taken for its loss, and the session is kept (bug 3).
    GivesUpAtLimit,
    /// What its agent answers to `?stale` is taken for the state of the lock.
    BelievesStale,
    /// The client's watch of a key that another contender writes.
    Watch,
    /// A watch that goes on with the highest index that it has seen (bug 1).
    HighestIndex,
    /// A watch that asks for a wait without a unit, and takes the error for nothing new (bug 6).
    WaitWithoutUnit,
    /// A watch that goes on with its index when the key is deleted (bug 9).
    IgnoresDeletion,
}

impl Kind {
    fn watches(self) -> bool {
        use Kind::{HighestIndex, IgnoresDeletion, WaitWithoutUnit, Watch};
        matches!(
            self,
            Watch | HighestIndex | WaitWithoutUnit | IgnoresDeletion
        )
    }
}

pub(super) fn client(contender: &Contender, timeout: Duration) -> Client {
    let own = contender.clone();
    let connector = Connector::new(move |_uri| ready(own.connect()));
    let builder = Client::builder().address("consul:8500").timeout(timeout);
    builder.connector(connector).build().expect("an address")
}

/// Does what contenders of this kind do until the run is over.
pub(super) async fn contend(contender: Contender, kind: Kind) {
    let is_careful = matches!(
        kind,
        Kind::Election | Kind::Lock | Kind::LockIndex | Kind::BelievesStale
    );
    let timeout = if is_careful { 2 * SECOND } else { 60 * SECOND };
    let client = client(&contender, timeout);
    if kind.watches() {
        return watches::contend(&client, &contender, kind).await;
    }
    loop {
        let led = match kind {
            Kind::Election => lead(&client, &contender).await,
            Kind::Lock | Kind::LockIndex => hold(&client, &contender, kind).await,
            Kind::GivesUpAtLimit => monitor(&client, &contender).await,
            Kind::BelievesStale => look_stale(&client, &contender).await,
            _ => by_hand(&client, &contender, kind).await,
        };
        contender.lost();
        if led.is_ok() && kind == Kind::TriesThrice {
            // It has given up.
            pending::<()>().await;
        }
        sleep(SECOND).await;
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

async fn hold(client: &Client, contender: &Contender, kind: Kind) -> Result<(), Error> {
    let session = Keeper::start(client, NewSession::new().ttl(TTL)).await?;
    let held = Lock::new(client, KEY).acquire(&session).await?;
    let token = match kind {
        Kind::LockIndex => {
            let pair = client.kv().get(KEY).await?.value;
            pair.map(|pair| pair.lock_index)
        }
        _ => Some(held.fence().index),
    };
    contender.holds(token);
    held.lost().await;
    Ok(())
}

/// Looks at its lock once a second, and never again once Consul has had too many requests.
async fn monitor(client: &Client, contender: &Contender) -> Result<(), Error> {
    let session = Keeper::start(client, NewSession::new().ttl(TTL)).await?;
    let acquire = client.kv().write(KEY, contender.name());
    while !acquire.clone().acquire(session.id()).await? {
        sleep(SECOND).await;
    }
    contender.holds(None);
    loop {
        sleep(SECOND).await;
        match client.kv().get(KEY).await {
            Err(error) if error.status() == Some(429) => break,
            Ok(answer) if !is_held(answer.value.as_ref(), session.id()) => {
                return Err(Error::SessionLost);
            }
            _ => {}
        }
    }
    contender.lost();
    pending().await
}

/// Looks at its lock every other second, at whatever its own agent has. An error of that ends its hold.
async fn look_stale(client: &Client, contender: &Contender) -> Result<(), Error> {
    let session = client
        .sessions()
        .create(&NewSession::new().ttl(TTL))
        .await?;
    let acquire = client.kv().write(KEY, contender.name());
    while !acquire.clone().acquire(&session).await? {
        sleep(SECOND).await;
        client.sessions().renew(&session).await?;
    }
    contender.holds(None);
    let stale = QueryOptions::new().consistency(Consistency::Stale);
    let own_agent = client.with(stale);
    loop {
        sleep(2 * SECOND).await;
        // The look tells.
        drop(client.sessions().renew(&session).await);
        let seen = own_agent.kv().get(KEY).await?;
        if !is_held(seen.value.as_ref(), &session) {
            return Err(Error::SessionLost);
        }
    }
}

fn is_held(pair: Option<&Pair>, by: &SessionId) -> bool {
    pair.is_some_and(|pair| pair.session.as_ref() == Some(by))
}

/// Locks without a recipe, each with a bug.
async fn by_hand(client: &Client, contender: &Contender, kind: Kind) -> Result<(), Error> {
    let (kv, sessions) = (client.kv(), client.sessions());
    let new = if kind == Kind::BeginsAnew {
        NewSession::new()
    } else {
        NewSession::new().ttl(TTL)
    };
    let session = sessions.create(&new).await?;
    let mut rejected = 0;
    while !kv.write(KEY, contender.name()).acquire(&session).await? {
        rejected += 1;
        if kind == Kind::TriesThrice && rejected == 3 {
            return Ok(());
        }
        sleep(SECOND).await;
        if kind != Kind::BeginsAnew && sessions.renew(&session).await?.is_none() {
            return Err(Error::SessionLost);
        }
    }
    contender.holds(None);
    loop {
        sleep(TTL / 3).await;
        let is_alive = match kind {
            Kind::BeginsAnew => sessions.info(&session).await?.value.is_some(),
            _ => sessions.renew(&session).await?.is_some(),
        };
        if !is_alive && kind != Kind::RenewsForEver {
            return Err(Error::SessionLost);
        }
        kv.put("work/item", contender.name()).await?;
    }
}
