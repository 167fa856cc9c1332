//! Large stores: memory, point reads, long lists, deleted trees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::load::scripts::{set_all, value};
use crate::load::wire::{Answer, Caller, push_request};
use crate::load::{Load, Script};
use crate::servers::bare::Canned;
use crate::servers::process::{Kind, Process, consul_program};
use crate::servers::quiet;
use crate::stopwatch::{Stopwatch, pause};
use crate::table::{Row, Target, Unit, median, median_ratio};

const MANY_KEYS: u64 = 1_000_000;
const LISTED_KEYS: u64 = 100_000;
/// As many operations as a transaction of 1.8 takes.
const BATCH: u64 = 64;
const ROUNDS: usize = 9;
const TURN: Duration = Duration::from_millis(300);
/// How long lists are streamed.
const STREAMED: Duration = Duration::from_secs(3);
/// How long the writer beside a stream rests between two writes.
const WRITER_PAUSE: Duration = Duration::from_micros(500);
const DELETES: usize = 5;

/// All rows.
pub(crate) fn rows(print: &mut dyn FnMut(Row)) {
    million(print);
    listed(print);
}

/// The key with a number. Numbers that follow each other are far apart, as the writes of many clients are.
fn key(tree: &str, number: u64, of: u64) -> String {
    format!("{tree}/{:07}", number * 7_919 % of)
}

/// Writes keys of 100 B.
fn fill(process: &Process, tree: &str, count: u64) {
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    for first in (0..count).step_by(64) {
        let numbers = first..count.min(first + BATCH);
        let body = set_all(numbers.map(|number| (key(tree, number, count), number)));
        caller.expect("PUT", "/v1/txn", &body);
    }
}

struct GetAny {
    number: u64,
    keys: u64,
}

impl Script for GetAny {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        self.number += 1;
        let target = format!("/v1/kv/{}", key("many", self.number % self.keys, self.keys));
        push_request(out, "GET", &target, b"");
    }
}

fn million(print: &mut dyn FnMut(Row)) {
    let measure = |kind| {
        let (small, large) = (Process::start(kind), Process::start(kind));
        fill(&small, "many", 1);
        fill(&large, "many", MANY_KEYS);
        let memory = large.resident() as f64 / f64::from(1 << 20);
        let mut readers = [(small, 1), (large, MANY_KEYS)].map(|(process, keys)| {
            let script = |connection: u64| -> Box<dyn Script> {
                let number = connection * 12_345;
                Box::new(GetAny { number, keys })
            };
            let load = Load::connect(process.address, (0..8).map(script).collect());
            (process, load)
        });
        let pairs = (0..ROUNDS).map(|_| {
            let [small, large] = [0, 1].map(|reader| {
                let (process, load) = &mut readers[reader];
                let before = process.cpu();
                let round = load.run(TURN);
                (process.cpu() - before).as_secs_f64() / round.operations as f64
            });
            (large, small)
        });
        (memory, median_ratio(pairs))
    };
    let proconsul = measure(Kind::Proconsul);
    let consul = consul_program().map(|_| measure(Kind::Consul));
    print(Row {
        figure: format!("{MANY_KEYS} keys of 100 B, resident memory"),
        target: Target::AtMost(480.0),
        unit: Unit::MiB,
        proconsul: proconsul.0,
        bare: None,
        consul: consul.map(|(memory, _)| memory),
        ratio: None,
    });
    print(Row {
        figure: format!("GET among {MANY_KEYS} keys against GET of the only key, CPU"),
        target: Target::AtMost(1.3),
        unit: Unit::Times,
        proconsul: proconsul.1,
        bare: None,
        consul: consul.map(|(_, times)| times),
        ratio: None,
    });
}

/// What one server's lists and deletes came to.
#[derive(Clone, Copy, Debug)]
struct Listed {
    stream: Stream,
    /// The time and the CPU time of a delete in milliseconds; none for the bare server.
    delete: Option<(f64, f64)>,
}

/// What came of streaming lists while another connection writes.
#[derive(Clone, Copy, Debug)]
struct Stream {
    megabytes_per_second: f64,
    /// Megabytes for each second of the server's CPU.
    megabytes_per_cpu_second: f64,
    /// The 99th percentile of the writes in milliseconds.
    slow_put: f64,
}

fn listed(print: &mut dyn FnMut(Row)) {
    let measure = |kind| {
        let process = Process::start(kind);
        fill(&process, "listed", LISTED_KEYS);
        let listed = Listed {
            stream: stream(&process),
            delete: Some(delete(&process)),
        };
        fill(&process, "listed", LISTED_KEYS);
        (listed, process)
    };
    let (proconsul, process) = measure(Kind::Proconsul);
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    let list = caller
        .expect("GET", "/v1/kv/listed/?recurse", b"")
        .body
        .clone();
    let bare = Process::start_bare(&[Canned {
        method: http::Method::GET,
        prefix: "/v1/kv/listed".to_owned(),
        body: list.into(),
    }]);
    let bare = Listed {
        stream: stream(&bare),
        delete: None,
    };
    let consul = consul_program().map(|_| measure(Kind::Consul).0);
    let row = |what: &str, target, unit, of: fn(&Listed) -> Option<f64>| Row {
        figure: format!("{what} of {LISTED_KEYS} keys"),
        target,
        unit,
        proconsul: of(&proconsul).expect("proconsul deletes"),
        bare: of(&bare),
        consul: consul.as_ref().and_then(of),
        ratio: None,
    };
    let unit = Unit::MegabytesPerSecond;
    print(row("recurse", Target::AtLeast(200.0), unit, |listed| {
        Some(listed.stream.megabytes_per_second)
    }));
    print(row(
        "recurse, by the server's CPU time,",
        Target::None,
        unit,
        |listed| Some(listed.stream.megabytes_per_cpu_second),
    ));
    let limit = Target::AtMost(5.0);
    let unit = Unit::Milliseconds;
    print(row(
        "99th percentile of PUT during recurse",
        limit,
        unit,
        |listed| Some(listed.stream.slow_put),
    ));
    let limit = Target::AtMost(100.0);
    print(row("delete-tree", limit, unit, |listed| {
        Some(listed.delete?.0)
    }));
    print(row("delete-tree, CPU,", Target::None, unit, |listed| {
        Some(listed.delete?.1)
    }));
}

/// Streams one list after the other on one connection while another writes.
fn stream(process: &Process) -> Stream {
    let over = AtomicBool::new(false);
    let connect = || Caller::connect(process.address).expect("the server accepts connections");
    let (mut reader, mut writer) = (connect().counting(), connect());
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut durations = Vec::new();
            for number in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let started = Stopwatch::start();
                writer.expect("PUT", "/v1/kv/beside", &value(number));
                durations.push(started.elapsed().as_secs_f64() * 1e3);
                pause(WRITER_PAUSE);
            }
            durations
        });
        let (started, cpu) = (Stopwatch::start(), process.cpu());
        let mut bytes = 0;
        while started.elapsed() < STREAMED {
            bytes += reader.expect("GET", "/v1/kv/listed/?recurse", b"").length;
        }
        let megabytes = bytes as f64 / 1e6;
        let seconds = started.elapsed().as_secs_f64();
        let cpu_seconds = (process.cpu() - cpu).as_secs_f64();
        over.store(true, Ordering::Relaxed);
        let mut durations = writing.join().expect("every write succeeds");
        durations.sort_by(f64::total_cmp);
        Stream {
            megabytes_per_second: megabytes / seconds,
            megabytes_per_cpu_second: megabytes / cpu_seconds,
            slow_put: durations[durations.len() * 99 / 100],
        }
    })
}

/// How long the delete of the whole tree takes, and how much CPU time, in milliseconds.
fn delete(process: &Process) -> (f64, f64) {
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    let deletes: Vec<(f64, f64)> = (0..DELETES)
        .map(|_| {
            fill(process, "listed", LISTED_KEYS);
            quiet(process);
            let (started, cpu) = (Stopwatch::start(), process.cpu());
            caller.expect("DELETE", "/v1/kv/listed/?recurse", b"");
            let elapsed = started.elapsed().as_secs_f64() * 1e3;
            quiet(process);
            (elapsed, (process.cpu() - cpu).as_secs_f64() * 1e3)
        })
        .collect();
    let time = median(deletes.iter().map(|(time, _)| *time));
    (time, median(deletes.iter().map(|(_, cpu)| *cpu)))
}
