//! Three candidates elect a leader in turmoil, while links break and hosts crash.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proconsul::control::{Controls, Timestamp};
use proconsul::history::Interval;
use proconsul::{Server, in_runtime};
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

use crate::http::{Response, call, session_id};

const SECOND: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);
const KEY: &str = "service/leader";
const CANDIDATES: [&str; 3] = ["a", "b", "c"];
/// How long an election is watched, on the simulated clock.
const WATCHED: Duration = Duration::from_secs(120);

/// Whether a candidate gives up its leadership in time when a renewal does not come back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Candidate {
    /// It believes in its session until the TTL after its last renewal was sent.
    Careful,
    /// It renews in turn with its calls, and a call that takes long delays all: it believes until a renewal fails.
    Trusting,
}

/// What a simulation came to.
#[derive(Debug, Default)]
struct Seen {
    controls: Option<Controls>,
    /// What each candidate has believed, by its name.
    beliefs: BTreeMap<&'static str, Vec<Interval>>,
}

type Shared = Arc<Mutex<Seen>>;

fn now() -> Timestamp {
    Timestamp::ZERO.plus(turmoil::sim_elapsed().expect("this is a simulation"))
}

async fn ask(method: &str, target: &str, body: &str) -> io::Result<Response> {
    let mut connection = TcpStream::connect("consul:8500").await?;
    call(&mut connection, method, target, body).await
}

/// Asks, and gives up after two seconds.
async fn ask_shortly(method: &str, target: &str, body: &str) -> io::Result<Response> {
    let asked = timeout(2 * SECOND, ask(method, target, body)).await;
    asked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn consul(seed: u64, seen: Shared) -> turmoil::Result {
    struct Simulated(TcpListener);
    impl in_runtime::Listener for Simulated {
        type Io = TcpStream;

        async fn accept(&mut self) -> io::Result<(TcpStream, Option<std::net::SocketAddr>)> {
            let (stream, peer) = self.0.accept().await?;
            Ok((stream, Some(peer)))
        }
    }
    let epoch = "2026-01-01T00:00:00Z".parse()?;
    let server = Server::builder().seed(seed).epoch(epoch).in_runtime()?;
    seen.lock().expect("no panic").controls = Some(Controls::clone(&server));
    let listener = Simulated(TcpListener::bind("0.0.0.0:8500").await?);
    server.serve(listener).await?;
    Ok(())
}

async fn candidate(name: &'static str, kind: Candidate, seen: Shared) -> turmoil::Result {
    loop {
        if lead(name, kind, &seen).await.is_err() {
            sleep(SECOND).await;
        }
    }
}

/// Stands for election once: waits for the leadership, and keeps it for as long as it can.
async fn lead(name: &'static str, kind: Candidate, seen: &Shared) -> io::Result<()> {
    let mut renewed = Instant::now();
    let created = ask_shortly("PUT", "/v1/session/create", r#"{"TTL":"10s"}"#).await?;
    let session = session_id(&created).to_owned();
    let acquire = format!("/v1/kv/{KEY}?acquire={session}");
    while ask_shortly("PUT", &acquire, name).await?.body != "true" {
        sleep(SECOND).await;
        renewed = Instant::now();
        let renew = format!("/v1/session/renew/{session}");
        if ask_shortly("PUT", &renew, "").await?.status() != "200" {
            return Ok(());
        }
    }
    let from = now();
    let believe = |to: Timestamp| {
        let session = session.clone();
        let mut seen = seen.lock().expect("no panic");
        let own = seen.beliefs.entry(name).or_default();
        own.retain(|one| one.session != session);
        own.push(Interval { session, from, to });
    };
    let renew = format!("/v1/session/renew/{session}");
    loop {
        let asked = Instant::now();
        let renewing = async {
            sleep(TTL / 3).await;
            ask("PUT", &renew, "").await
        };
        let answer = match kind {
            Candidate::Trusting => {
                believe(Timestamp::ZERO.plus(WATCHED));
                renewing.await
            }
            Candidate::Careful => {
                let left = (renewed + TTL).saturating_duration_since(asked);
                believe(now().plus(left));
                let answer = timeout(left, renewing).await;
                answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            }
        };
        believe(now());
        if answer?.status() != "200" {
            return Ok(());
        }
        renewed = asked;
    }
}

/// Runs one election, and returns its trace and what was wrong with it.
fn run(seed: u64, kind: Candidate) -> (String, Vec<String>) {
    let seen = Shared::default();
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(2 * WATCHED)
        .tick_duration(Duration::from_millis(50))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(200))
        .build();
    let of_consul = Arc::clone(&seen);
    sim.host("consul", move || consul(seed, Arc::clone(&of_consul)));
    for name in CANDIDATES {
        let seen = Arc::clone(&seen);
        sim.host(name, move || candidate(name, kind, Arc::clone(&seen)));
    }
    let mut chance = fastrand::Rng::with_seed(seed);
    while sim.elapsed() < WATCHED {
        let until = sim.elapsed() + chance.u32(1..8) * SECOND;
        while sim.elapsed() < until {
            sim.step().expect("no host fails");
        }
        let name = CANDIDATES[chance.usize(..CANDIDATES.len())];
        match chance.u8(..8) {
            0..3 => sim.partition(name, "consul"),
            3..6 => sim.repair(name, "consul"),
            6 => {
                sim.crash(name);
                let ended = Timestamp::ZERO.plus(sim.elapsed());
                let mut seen = seen.lock().expect("no panic");
                let own = seen.beliefs.entry(name).or_default();
                own.iter_mut().for_each(|one| one.to = one.to.min(ended));
            }
            _ => sim.bounce(name),
        }
    }
    let seen = std::mem::take(&mut *seen.lock().expect("no panic"));
    let controls = seen.controls.expect("the server has started");
    let beliefs: Vec<_> = seen.beliefs.into_values().flatten().collect();
    let wrong = controls.check_lock_safety(KEY, &beliefs).err();
    let wrong = wrong.unwrap_or_default().into_iter();
    (
        controls.history_text(),
        wrong.map(|one| one.to_string()).collect(),
    )
}

fn number_of(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn at_most_one_candidate_leads_whatever_breaks() {
    let elections = number_of("PROCONSUL_ELECTIONS", 30);
    for seed in 0..elections {
        let (trace, wrong) = run(seed, Candidate::Careful);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}\n{trace}");
    }
}

#[test]
fn the_same_seed_gives_the_same_election() {
    let (once, _) = run(3, Candidate::Careful);
    let (again, _) = run(3, Candidate::Careful);
    let (other, _) = run(4, Candidate::Careful);
    assert!(once.lines().count() > 100, "{once}");
    assert_eq!(once, again);
    assert_ne!(once, other);
}

#[test]
fn a_candidate_that_waits_too_long_for_a_renewal_is_found() {
    let found = (0..50).find(|seed| !run(*seed, Candidate::Trusting).1.is_empty());
    let seed = found.expect("two candidates lead at once, sooner or later");
    let (_, wrong) = run(seed, Candidate::Trusting);
    assert!(!wrong.is_empty(), "seed {seed} shows it again");
}
