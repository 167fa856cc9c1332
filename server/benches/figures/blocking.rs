//! What blocking queries cost: waking many, keeping many, and writing beside many that wait for something else.

use std::time::Duration;

use crate::load::scripts::{Operation, value};
use crate::load::wire::{Answer, Caller, push_request};
use crate::load::{Load, Script};
use crate::servers::process::{Kind, Process, consul_program};
use crate::servers::{Servers, quiet};
use crate::stopwatch::Stopwatch;
use crate::table::{Row, Target, Unit, median, median_ratio};

/// How many wait for one key.
const WAITERS: usize = 5_000;
/// How many wait for other keys than the one that is written.
const BYSTANDERS: usize = 1_000;
const ROUNDS: usize = 5;
const WRITE_ROUNDS: usize = 9;
const WRITE_TURN: Duration = Duration::from_millis(300);

/// All rows.
pub(crate) fn rows(print: &mut dyn FnMut(Row)) {
    waking(print);
    bystanders("that exist", print, |process| {
        let mut caller = Caller::connect(process.address).expect("the server accepts connections");
        for waiter in 0..BYSTANDERS {
            caller.expect("PUT", &format!("/v1/kv/there/{waiter}"), &value(0));
        }
        wait_for(process, |waiter| format!("/v1/kv/there/{waiter}"))
    });
    bystanders("that are absent", print, |process| {
        wait_for(process, |waiter| format!("/v1/kv/absent/{waiter}"))
    });
}

/// A GET that waits for the next change of a key.
struct Wait {
    target: String,
    /// The last index known.
    index: u64,
}

impl Script for Wait {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        if let Some(index) = last.header("x-consul-index") {
            self.index = index.parse().expect("an index is a number");
        }
        let target = format!("{}?index={}&wait=10m", self.target, self.index);
        push_request(out, "GET", &target, b"");
    }

    /// An absent key is one that can be waited for.
    fn expected_status(&self) -> &'static str {
        if self.target.starts_with("/v1/kv/absent/") {
            "404"
        } else {
            "200"
        }
    }
}

/// The newest index of a server; 1 where it has none.
fn index(process: &Process) -> u64 {
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    caller.expect("PUT", "/v1/kv/index", b"");
    let answer = caller.expect("GET", "/v1/kv/index", b"");
    let index = answer.header("x-consul-index");
    index.map_or(1, |index| index.parse().expect("an index is a number"))
}

struct Waiting {
    load: Load,
    writer: Caller,
    writes: u64,
    /// The memory of the server before anybody waited.
    before: u64,
}

fn waking(print: &mut dyn FnMut(Row)) {
    let servers = Servers::start();
    let prepare = |process: &Process| {
        let mut writer = Caller::connect(process.address).expect("the server accepts connections");
        writer.expect("PUT", "/v1/kv/wait", b"");
        let before = process.resident();
        let index = index(process);
        let script = |_| -> Box<dyn Script> {
            let target = "/v1/kv/wait".to_owned();
            Box::new(Wait { target, index })
        };
        let load = Load::connect(process.address, (0..WAITERS).map(script).collect());
        Waiting {
            load,
            writer,
            writes: 0,
            before,
        }
    };
    let [proconsul, bare, consul] = servers.interleaved(ROUNDS, prepare, |process, waiting| {
        waiting.load.ask_all();
        quiet(process);
        let memory = (process.resident() - waiting.before) as f64 / 1024.0 / WAITERS as f64;
        waiting.writes += 1;
        let started = Stopwatch::start();
        let sent = waiting
            .writer
            .send("PUT", "/v1/kv/wait", &value(waiting.writes));
        sent.expect("the server reads what it is sent");
        waiting.load.await_all();
        let elapsed = started.elapsed().as_secs_f64() * 1e3;
        waiting.writer.receive().expect("the server answers");
        (elapsed, memory)
    });
    let milliseconds =
        |samples: &[(f64, f64)]| -> Vec<f64> { samples.iter().map(|(ms, _)| *ms).collect() };
    print(Row {
        figure: format!("{WAITERS} waiters on one key, all answered"),
        target: Target::RatioAtMost(1.5),
        unit: Unit::Milliseconds,
        proconsul: median(milliseconds(&proconsul)),
        bare: Some(median(milliseconds(&bare))),
        consul: (!consul.is_empty()).then(|| median(milliseconds(&consul))),
        ratio: Some(median_ratio(
            milliseconds(&proconsul)
                .into_iter()
                .zip(milliseconds(&bare)),
        )),
    });
    // Later rounds find buffers that have grown in the answers before: the first is what a new wait costs.
    let memory = |samples: &[(f64, f64)]| samples.first().map(|(_, memory)| *memory);
    print(Row {
        figure: "memory of a waiting connection".to_owned(),
        target: Target::AtMost(20.0),
        unit: Unit::KiB,
        proconsul: memory(&proconsul).expect("there was a round"),
        bare: memory(&bare),
        consul: memory(&consul),
        ratio: None,
    });
}

/// Lets one connection wait for each of the targets.
fn wait_for(process: &Process, target: impl Fn(usize) -> String) -> Load {
    let index = index(process);
    let script = |waiter| -> Box<dyn Script> {
        let target = target(waiter);
        Box::new(Wait { target, index })
    };
    let mut load = Load::connect(process.address, (0..BYSTANDERS).map(script).collect());
    load.ask_all();
    load
}

/// What a PUT costs while others wait for other keys, against what it costs while nobody waits.
fn bystanders(which: &str, print: &mut dyn FnMut(Row), wait: impl Fn(&Process) -> Load) {
    let times = |kind| {
        let (alone, watched) = (Process::start(kind), Process::start(kind));
        let _waiting = wait(&watched);
        let mut writers = [alone, watched].map(|process| {
            quiet(&process);
            let script = |connection| Operation::Put.script(process.address, connection);
            let load = Load::connect(process.address, (0..8).map(script).collect());
            (process, load)
        });
        let pairs = (0..WRITE_ROUNDS).map(|_| {
            let [alone, watched] = [0, 1].map(|writer| {
                let (process, load) = &mut writers[writer];
                let before = process.cpu();
                let round = load.run(WRITE_TURN);
                (process.cpu() - before).as_secs_f64() / round.operations as f64
            });
            (watched, alone)
        });
        median_ratio(pairs)
    };
    print(Row {
        figure: format!("PUT beside {BYSTANDERS} waiters on keys {which}, CPU"),
        target: Target::AtMost(1.1),
        unit: Unit::Times,
        proconsul: times(Kind::Proconsul),
        bare: None,
        consul: consul_program().map(|_| times(Kind::Consul)),
        ratio: None,
    });
}
