//! What a server costs before and beside its work: starting, doing nothing, stopping.

use std::time::Duration;

use crate::load::scripts::value;
use crate::load::wire::Caller;
use crate::servers::process::{Kind, Process, consul_program};
use crate::stopwatch::{Stopwatch, pause};
use crate::table::{Row, Target, Unit, median, median_ratio};

/// How often the quick servers are started.
const STARTS: usize = 21;
/// How often a Consul is, at a few hundred milliseconds each.
const CONSUL_STARTS: usize = 3;
/// How long an idle server is looked at.
const IDLE: Duration = Duration::from_secs(2);

/// All rows.
pub(crate) fn rows(print: &mut dyn FnMut(Row)) {
    let first_put = |process: Process, started: Stopwatch| {
        process.first_put();
        started.elapsed()
    };
    let ratio = Target::RatioAtMost(2.0);
    print(timed(
        "start: exec to first successful PUT",
        ratio,
        first_put,
    ));
    let forty_requests = |process: Process, started: Stopwatch| {
        process.first_put();
        ask(&process);
        process.stop();
        started.elapsed()
    };
    let limit = Target::AtMost(8.0);
    print(timed("start, 40 requests, stop", limit, forty_requests));
    idle(print);
}

/// Forty requests on one connection.
fn ask(process: &Process) {
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    for number in 0..20 {
        let target = format!("/v1/kv/start/{number}");
        caller.expect("PUT", &target, &value(number));
        caller.expect("GET", &target, b"");
    }
}

fn timed(figure: &str, target: Target, life: impl Fn(Process, Stopwatch) -> Duration) -> Row {
    let live = |kind| {
        let started = Stopwatch::start();
        life(Process::spawn(kind, &[]), started).as_secs_f64() * 1e3
    };
    let pairs: Vec<(f64, f64)> = (0..STARTS)
        .map(|_| (live(Kind::Proconsul), live(Kind::Bare)))
        .collect();
    let consul = consul_program().map(|_| median((0..CONSUL_STARTS).map(|_| live(Kind::Consul))));
    Row {
        figure: figure.to_owned(),
        target,
        unit: Unit::Milliseconds,
        proconsul: median(pairs.iter().map(|(proconsul, _)| *proconsul)),
        bare: Some(median(pairs.iter().map(|(_, bare)| *bare))),
        consul,
        ratio: Some(median_ratio(pairs)),
    }
}

/// What a server takes that has answered one request and is asked no more.
fn idle(print: &mut dyn FnMut(Row)) {
    let look = |kind| {
        let process = Process::start(kind);
        pause(Duration::from_millis(300));
        let before = process.cpu();
        pause(IDLE);
        let cpu = (process.cpu() - before).as_secs_f64() * 1e3 / IDLE.as_secs_f64();
        (process.resident() as f64 / f64::from(1 << 20), cpu)
    };
    let (memory, cpu) = look(Kind::Proconsul);
    let (bare_memory, bare_cpu) = look(Kind::Bare);
    let consul = consul_program().map(|_| look(Kind::Consul));
    print(Row {
        figure: "idle: resident memory".to_owned(),
        target: Target::AtMost(8.0),
        unit: Unit::MiB,
        proconsul: memory,
        bare: Some(bare_memory),
        consul: consul.map(|(memory, _)| memory),
        ratio: None,
    });
    print(Row {
        figure: "idle: CPU in a second".to_owned(),
        target: Target::AtMost(0.0),
        unit: Unit::Milliseconds,
        proconsul: cpu,
        bare: Some(bare_cpu),
        consul: consul.map(|(_, cpu)| cpu),
        ratio: None,
    });
}
