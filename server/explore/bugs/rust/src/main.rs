//! The lock of rs-consul, acquired again and again for a job. Its documentation says that the lock is valid as long as its
//! object lives; nothing renews its session, and nothing says that it has ended.
//!
//! Usage: contenders TTLS    how many TTLs a job takes; in one of half a TTL no session expires

use std::env;
use std::io::Write;
use std::time::Duration;

use rs_consul::types::{CreateOrUpdateKeyRequest, LockRequest, LockWatchRequest};
use rs_consul::{Config, Consul, ConsulError, Lock};
use tokio::time::{Interval, interval};

/// What contenders compete for.
const LOCK_KEY: &str = "bugs/lock";
/// Where the holder writes, and nobody else may.
const WORK_KEY: &str = "work/item";

/// The time between two guarded writes.
const RHYTHM: Duration = Duration::from_millis(100);
/// What keeps a worker from a busy loop of its own after an error.
const PAUSE: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() {
    let ttls = env::args().nth(1).and_then(|number| number.parse().ok());
    let ttls = ttls.expect("the number of TTLs that a job takes");
    Contender::new().compete(ttls).await;
}

/// This process.
struct Contender {
    consul: Consul,
    name: String,
    ttl: Duration,
    lock_delay: Duration,
    writes: u64,
}

impl Contender {
    /// Reads the environment. SIGTERM ends the process at once, because nobody catches it.
    fn new() -> Self {
        let address = or("CONSUL_HTTP_ADDR", "127.0.0.1:8500");
        let config = Config {
            address: format!("http://{address}"),
            ..Default::default()
        };
        Self {
            consul: Consul::new(config),
            name: or("PROCONSUL_CONTENDER", "a"),
            ttl: duration("SESSION_TTL"),
            lock_delay: duration("LOCK_DELAY"),
            writes: 0,
        }
    }

    /// Acquires the lock again and again, and does a job of so many TTLs each time.
    async fn compete(mut self, ttls: f64) -> ! {
        let job = (self.ttl.mul_f64(ttls).as_millis() / RHYTHM.as_millis()).max(1);
        let mut rhythm = interval(RHYTHM);
        let mut pause = interval(PAUSE);
        loop {
            let request = LockRequest::builder()
                .key(LOCK_KEY)
                .timeout(self.ttl)
                .lock_delay(self.lock_delay)
                .build();
            match self.consul.get_lock(request, self.name.as_bytes()).await {
                Ok(lock) => {
                    self.writes = work(&self.name, &lock, self.writes, job, &mut rhythm).await;
                    // Off the threads that serve the runtime: the lock is released by a blocking request.
                    tokio::task::block_in_place(|| drop(lock));
                }
                Err(ConsulError::LockAcquisitionFailure(index)) => {
                    let watch = LockWatchRequest::builder()
                        .key(LOCK_KEY)
                        .index(index)
                        .wait(self.ttl)
                        .build();
                    if let Err(error) = self.consul.watch_lock(watch).await {
                        rest(&error, &mut pause).await;
                    }
                }
                Err(error) => rest(&error, &mut pause).await,
            }
        }
    }
}

/// A job under the lock. Returns the number of writes so far.
async fn work(name: &str, lock: &Lock<'_>, before: u64, job: u128, rhythm: &mut Interval) -> u64 {
    let mut writes = before;
    say("held");
    rhythm.reset_immediately();
    for _ in 0..job {
        rhythm.tick().await;
        writes += 1;
        let request = CreateOrUpdateKeyRequest::builder().key(WORK_KEY).build();
        let value = format!("{name} {writes}").into_bytes();
        if let Err(error) = lock.consul.create_or_update_key(request, value).await {
            eprintln!("{error}");
        }
    }
    say("lost");
    writes
}

/// Reports an error, and waits before the caller tries again.
async fn rest(error: &ConsulError, pause: &mut Interval) {
    eprintln!("{error}");
    pause.reset();
    pause.tick().await;
}

/// Prints a line at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.expect("standard output is a pipe that somebody reads");
}

fn or(variable: &str, usual: &str) -> String {
    env::var(variable).unwrap_or_else(|_| usual.to_owned())
}

/// A duration such as `1s` or `500ms`.
fn duration(variable: &str) -> Duration {
    let text = or(variable, "1s");
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.trim_end_matches('s'), 1.0),
    };
    let number: f64 = number.parse().expect("a duration such as 1s or 500ms");
    Duration::from_secs_f64(number * unit)
}
