//! Operations per second, CPU per operation, and latency on one connection.

use std::time::Duration;

use bytes::Bytes;

use crate::load::Load;
use crate::load::scripts::{self, Operation};
use crate::load::wire::{Answer, Caller};
use crate::servers::Servers;
use crate::servers::bare::Canned;
use crate::servers::process::{Kind, Process};
use crate::table::{Row, Target, Unit, median, median_ratio};

/// How often each server has its turn.
const ROUNDS: usize = 7;
/// How long a turn is.
const TURN: Duration = Duration::from_millis(300);

/// What one turn of one server came to.
#[derive(Clone, Copy, Debug)]
struct Sample {
    rate: f64,
    cpu_microseconds: f64,
    microseconds: f64,
}

/// All rows whose name contains `filter`.
pub(crate) fn rows(filter: &str, print: &mut dyn FnMut(Row)) {
    let wanted =
        |operation: &Operation| operation.name().contains(filter) || "throughput".contains(filter);
    let operations: Vec<Operation> = Operation::ALL.into_iter().filter(wanted).collect();
    if operations.is_empty() {
        return;
    }
    let proconsul = Process::start(Kind::Proconsul);
    scripts::prepare(proconsul.address);
    let servers = Servers {
        bare: Process::start_bare(&canned(&proconsul)),
        proconsul,
        consul: Servers::start_consul(),
    };
    if let Some(consul) = &servers.consul {
        scripts::prepare(consul.address);
    }
    for operation in operations {
        for connections in [1, 8, 64] {
            measure(&servers, operation, connections, print);
        }
    }
}

/// What proconsul answers to each operation, for the bare server to send.
fn canned(proconsul: &Process) -> Vec<Canned> {
    let mut caller = Caller::connect(proconsul.address).expect("the server accepts connections");
    let mut canned = Vec::new();
    for operation in Operation::ALL {
        let mut script = operation.script(proconsul.address, 0);
        let mut last = Answer::default();
        for _ in 0..script.requests_per_operation() {
            let mut request = Vec::new();
            script.next_request(&last, &mut request);
            let answer = caller.exchange(&request).expect("the server answers");
            assert_eq!(answer.status(), "200", "{}", operation.name());
            let line = String::from_utf8_lossy(&request);
            let mut words = line.split([' ', '?']);
            let method = words.next().unwrap_or_default();
            let path = words.next().unwrap_or_default();
            // `/v1/kv/lock/0` stands for the keys of all connections.
            let prefix: Vec<&str> = path.split('/').take(4).collect();
            canned.push(Canned {
                method: method.parse().expect("scripts send known methods"),
                prefix: prefix.join("/"),
                body: Bytes::copy_from_slice(&answer.body),
            });
            last = answer.clone();
        }
    }
    canned
}

fn measure(
    servers: &Servers,
    operation: Operation,
    connections: usize,
    print: &mut dyn FnMut(Row),
) {
    let load = |process: &Process| {
        let script = |connection| operation.script(process.address, connection);
        Load::connect(process.address, (0..connections).map(script).collect())
    };
    let [proconsul, bare, consul] = servers.interleaved(ROUNDS, load, |process, load| {
        let before = process.cpu();
        let round = load.run(TURN);
        let operations = round.operations as f64;
        Sample {
            rate: operations / round.elapsed.as_secs_f64(),
            cpu_microseconds: (process.cpu() - before).as_secs_f64() * 1e6 / operations,
            microseconds: round.elapsed.as_secs_f64() * 1e6 / operations,
        }
    });
    let row = |what: &str, target, unit, of: fn(&Sample) -> f64| Row {
        figure: format!("{}, {connections} connections, {what}", operation.name()),
        target,
        unit,
        proconsul: median(proconsul.iter().map(of)),
        bare: Some(median(bare.iter().map(of))),
        consul: (!consul.is_empty()).then(|| median(consul.iter().map(of))),
        ratio: Some(median_ratio(
            proconsul.iter().map(of).zip(bare.iter().map(of)),
        )),
    };
    let is_simple = matches!(operation, Operation::Get | Operation::Put);
    let (rate, cpu) = match (is_simple, connections) {
        (true, 64) => (Target::RatioAtLeast(0.7), Target::RatioAtMost(1.6)),
        (false, 64) => (Target::RatioAtLeast(0.5), Target::None),
        _ => (Target::None, Target::None),
    };
    if connections == 1 {
        let target = if is_simple {
            Target::RatioAtMost(1.3)
        } else {
            Target::None
        };
        print(row("latency", target, Unit::Microseconds, |sample| {
            sample.microseconds
        }));
    } else {
        print(row("rate", rate, Unit::PerSecond, |sample| sample.rate));
    }
    print(row("CPU", cpu, Unit::Microseconds, |sample| {
        sample.cpu_microseconds
    }));
}
