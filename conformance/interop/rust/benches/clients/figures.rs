//! What is measured. Everybody takes a turn in every round, so that whatever else the machine does disturbs all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use proconsul_interop::own;
use tokio::runtime::{Builder, Runtime};

use crate::allocations::Tally;
use crate::client::{Client, Kind};
use crate::raw::Writer;
use crate::stopwatch::{Stopwatch, own_cpu, pause};
use crate::table::{Row, Unit, median};

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Turns of each client.
    pub(crate) rounds: usize,
    /// How long a turn is.
    pub(crate) turn: Duration,
    /// Changes in a turn of those who watch.
    pub(crate) changes: usize,
}

/// How many requests are under way at once, where that is more than one.
const AT_ONCE: usize = 16;
/// Requests whose allocations or time on a processor are counted in a turn.
const COUNTED: u32 = 200;
const VALUE: &[u8] = &[b'x'; 100];

/// All rows, each as soon as it is known.
pub(crate) fn print_all(address: &str, effort: Effort) {
    let key = own("figures");
    let alone = || Builder::new_current_thread().enable_all().build();
    let alone = alone().expect("the system gives a reactor");
    let many = Builder::new_multi_thread().enable_all().build();
    let many = many.expect("the system gives threads");
    alone.block_on(Kind::Ours.connect(address).put(&key, VALUE.to_vec()));
    let show = |figure, unit, samples| {
        let row = Row {
            figure,
            unit,
            samples,
        };
        println!("{row}");
    };
    let rate = |figure, at_once, request: Request| {
        let runtime = if at_once == 1 { &alone } else { &many };
        let samples = interleaved(address, effort.rounds, |client| {
            runtime.block_on(per_second(client, &key, request, at_once, effort.turn))
        });
        show(figure, Unit::PerSecond, samples);
    };
    rate("gets of 100 B, one after the other", 1, Request::Get);
    rate("gets of 100 B, 16 at once", AT_ONCE, Request::Get);
    rate("puts of 100 B, one after the other", 1, Request::Put);
    rate("puts of 100 B, 16 at once", AT_ONCE, Request::Put);

    let cpu = |figure, request: Request| {
        let samples = interleaved(address, effort.rounds, |client| {
            alone.block_on(cpu_of_one(client, &key, request))
        });
        show(figure, Unit::Microseconds, samples);
    };
    cpu("CPU of a get of 100 B", Request::Get);
    cpu("CPU of a put of 100 B", Request::Put);

    let tallies = interleaved(address, effort.rounds, |client| {
        allocations(&alone, client, &key)
    });
    let of = |part: fn(&(f64, f64)) -> f64| {
        tallies
            .each_ref()
            .map(|rounds| rounds.iter().map(part).collect())
    };
    show("allocations of a get", Unit::Times, of(|tally| tally.0));
    show(
        "memory asked for by a get",
        Unit::Bytes,
        of(|tally| tally.1),
    );

    let samples = interleaved(address, effort.rounds, |client| {
        change_to_watcher(&alone, client, address, &key, effort.changes)
    });
    show(
        "from the change of a key to its watcher",
        Unit::Microseconds,
        samples,
    );
    alone.block_on(async {
        let client = proconsul_client::Client::new(address).expect("the address is one");
        client.kv().delete(&key).await.expect("it is answered");
    });
}

#[derive(Clone, Copy)]
enum Request {
    Get,
    Put,
}

impl Request {
    async fn send(self, client: &Client, key: &str) {
        match self {
            Self::Get => assert_eq!(client.get(key).await, VALUE.len()),
            Self::Put => client.put(key, VALUE.to_vec()).await,
        }
    }
}

/// Everybody's samples, in the order of [`Kind::ALL`].
fn interleaved<Sample>(
    address: &str,
    rounds: usize,
    turn: impl Fn(&Arc<Client>) -> Sample,
) -> [Vec<Sample>; 3] {
    let clients = Kind::ALL.map(|kind| Arc::new(kind.connect(address)));
    let mut samples = [(); 3].map(|()| Vec::new());
    for round in 0..rounds {
        for position in 0..clients.len() {
            // Nobody is always the first.
            let at = (round + position) % clients.len();
            samples[at].push(turn(&clients[at]));
        }
    }
    samples
}

/// How many requests are answered in a second, with so many under way.
async fn per_second(
    client: &Arc<Client>,
    key: &str,
    request: Request,
    at_once: usize,
    turn: Duration,
) -> f64 {
    let started = Stopwatch::start();
    let tasks: Vec<_> = (0..at_once)
        .map(|_| {
            let (client, key) = (Arc::clone(client), key.to_owned());
            tokio::spawn(async move {
                let mut answered = 0_u32;
                while started.elapsed() < turn {
                    request.send(&client, &key).await;
                    answered += 1;
                }
                answered
            })
        })
        .collect();
    let mut answered = 0;
    for task in tasks {
        answered += task.await.expect("no request fails");
    }
    f64::from(answered) / started.elapsed().as_secs_f64()
}

/// The time on a processor that a request takes of its client, in microseconds: everything runs on this thread.
async fn cpu_of_one(client: &Client, key: &str, request: Request) -> f64 {
    request.send(client, key).await;
    let before = own_cpu();
    for _ in 0..COUNTED {
        request.send(client, key).await;
    }
    (own_cpu() - before).as_secs_f64() * 1e6 / f64::from(COUNTED)
}

/// How often a get asks for memory, and for how much of it.
fn allocations(runtime: &Runtime, client: &Client, key: &str) -> (f64, f64) {
    runtime.block_on(async {
        // The first ones make connections and tables.
        for _ in 0..10 {
            client.get(key).await;
        }
        let before = Tally::now();
        for _ in 0..COUNTED {
            client.get(key).await;
        }
        let after = Tally::now();
        let each = |after: u64, before: u64| {
            let asked = u32::try_from(after - before).expect("a get takes little");
            f64::from(asked) / f64::from(COUNTED)
        };
        (
            each(after.times, before.times),
            each(after.bytes, before.bytes),
        )
    })
}

/// From when a write is sent until its key's watcher has the change, in microseconds: the median of some changes.
fn change_to_watcher(
    runtime: &Runtime,
    client: &Client,
    address: &str,
    key: &str,
    changes: usize,
) -> f64 {
    let (go, to_write) = mpsc::channel();
    let (sent, when_sent) = mpsc::channel();
    let mut writer = Writer::connect(address, key);
    let writing = std::thread::spawn(move || {
        /// To write what is there already is no change, for whoever watches.
        static CHANGES: AtomicU64 = AtomicU64::new(0);
        for () in to_write {
            let change = CHANGES.fetch_add(1, Ordering::Relaxed);
            pause(Duration::from_millis(10));
            // Before it is sent: the watcher may be faster than this thread.
            sent.send(Stopwatch::start()).expect("somebody watches");
            writer.send(&format!("{change:0>100}"));
            writer.answered();
        }
    });
    let mut samples = Vec::new();
    let mut waits = 0;
    runtime.block_on(client.follow(key, || {
        if waits > 0 {
            let since: Stopwatch = when_sent.recv().expect("somebody wrote");
            samples.push(since.elapsed().as_secs_f64() * 1e6);
        }
        waits += 1;
        let more = samples.len() < changes;
        if more {
            go.send(()).expect("somebody writes");
        }
        more
    }));
    drop(go);
    writing.join().expect("the writer does not panic");
    median(samples)
}
