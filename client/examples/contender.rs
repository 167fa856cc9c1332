//! One of many who want the same lock, or one of two slots: it takes it, says so at a place outside of Consul, gives it
//! back, and begins again. `conformance/tests/contention` runs it against contenders in other languages.
//!
//! `contender lock|semaphore <prefix> <host:port of the place>`, with Consul at `CONSUL_HTTP_ADDR`.

use std::time::Duration;

use proconsul_client::recipes::{Keeper, Lock, Lost, Semaphore};
use proconsul_client::{Client, Error, NewSession};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error>;

/// So long that a machine that is busy for some seconds costs no session its life: it lapses after twice as long.
const TTL: Duration = Duration::from_secs(5);
/// After a session that ended while it held the lock, others wait so long.
const LOCK_DELAY: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, prefix, place] = &arguments[..] else {
        return Err("contender lock|semaphore <prefix> <place>".into());
    };
    let client = Client::from_env()?;
    let mut place = Place(BufReader::new(TcpStream::connect(place).await?));
    let lock = Lock::new(&client, format!("{prefix}/.lock")).retry(LOCK_DELAY / 10);
    let semaphore = Semaphore::new(&client, prefix, 2);
    loop {
        let session = NewSession::new()
            .name(format!("contender {}", std::process::id()))
            .ttl(TTL)
            .lock_delay(LOCK_DELAY);
        let session = Keeper::start(&client, session).await?;
        while session.is_lost().is_none() {
            let worked = match mode.as_str() {
                "lock" => under_lock(&lock, &session, &mut place).await,
                _ => in_slot(&semaphore, &session, &mut place).await,
            };
            match worked {
                Err(error) if error.is_session_lost() => {}
                worked => worked?,
            }
            place.asks("rest").await;
        }
    }
}

async fn under_lock(lock: &Lock, session: &Keeper, place: &mut Place) -> Result<(), Error> {
    let held = lock.acquire(session).await?;
    let who = format!("{} {}", session.id(), held.fence().index);
    place.visit(&who, held.lost()).await;
    held.release().await
}

async fn in_slot(semaphore: &Semaphore, session: &Keeper, place: &mut Place) -> Result<(), Error> {
    let slot = semaphore.acquire(session).await?;
    place
        .visit(&format!("{} -", session.id()), slot.lost())
        .await;
    slot.release().await
}

/// Where the work is done.
struct Place(BufReader<TcpStream>);

impl Place {
    /// The work: whoever is inside believes that it may be. It ends early when the lock is lost.
    async fn visit(&mut self, who: &str, lost: impl Future<Output = Lost>) {
        let enter = format!("enter rust {} {who}", std::process::id());
        tokio::select! {
            biased;
            _ = lost => {}
            () = async { self.say(&enter).await; self.hears("enter").await } => {}
        }
        self.asks("leave").await;
    }

    async fn asks(&mut self, word: &str) {
        self.say(word).await;
        self.hears(word).await;
    }

    async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        let said = self.0.get_mut().write_all(line.as_bytes()).await;
        said.expect("the place is open as long as we run");
    }

    async fn hears(&mut self, word: &str) {
        let mut line = String::new();
        while line.trim_end() != word {
            line.clear();
            let read = self.0.read_line(&mut line).await;
            assert!(
                read.is_ok_and(|read| read > 0),
                "the place is open as long as we run"
            );
        }
    }
}
