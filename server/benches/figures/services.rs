//! What services cost: registering them with the agent, reading the health of many instances, and waking those who
//! wait for the health of one of many.

use std::time::Duration;

use crate::load::wire::{Answer, Caller, push_request};
use crate::load::{Load, Script};
use crate::servers::process::{Kind, Process, consul_program};
use crate::servers::quiet;
use crate::stopwatch::Stopwatch;
use crate::table::{Row, Target, Unit, median};

/// How many services are registered, one after the other.
const REGISTRATIONS: usize = 500;
/// How many instances the service has whose health is read.
const INSTANCES: usize = 1_000;
/// How many services there are, each with one that waits for it.
const WATCHERS: usize = 100;
const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_millis(300);

/// All rows.
pub(crate) fn rows(print: &mut dyn FnMut(Row)) {
    compare(
        "agent/service/register, services with two checks",
        Unit::PerSecond,
        registrations,
        print,
    );
    compare(
        &format!("GET health/service of {INSTANCES} instances, 8 connections"),
        Unit::PerSecond,
        reads,
        print,
    );
    compare(
        &format!("one of {WATCHERS} watchers of services, from the change to the answer"),
        Unit::Milliseconds,
        wake,
        print,
    );
}

/// A row of what proconsul and a real Consul come to, one after the other on the same machine.
fn compare(figure: &str, unit: Unit, measure: fn(&Process) -> f64, print: &mut dyn FnMut(Row)) {
    print(Row {
        figure: figure.to_owned(),
        target: Target::None,
        unit,
        proconsul: measure(&Process::start(Kind::Proconsul)),
        bare: None,
        consul: consul_program().map(|_| measure(&Process::start(Kind::Consul))),
        ratio: None,
    });
}

fn connect(process: &Process) -> Caller {
    Caller::connect(process.address).expect("the server accepts connections")
}

/// Registers a service with two TTL checks with the agent.
fn register(caller: &mut Caller, id: usize, name: &str) {
    let check = r#"{"TTL":"1h","Status":"passing"}"#;
    let body = format!(r#"{{"ID":"i{id}","Name":"{name}","Port":80,"Checks":[{check},{check}]}}"#);
    caller.expect("PUT", "/v1/agent/service/register", body.as_bytes());
}

fn registrations(process: &Process) -> f64 {
    let mut caller = connect(process);
    caller.expect("PUT", "/v1/kv/ready", b"");
    let started = Stopwatch::start();
    for id in 0..REGISTRATIONS {
        register(&mut caller, id, &format!("s{id}"));
    }
    REGISTRATIONS as f64 / started.elapsed().as_secs_f64()
}

/// Reads the same target again and again.
struct Read(&'static str);

impl Script for Read {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        push_request(out, "GET", self.0, b"");
    }
}

fn reads(process: &Process) -> f64 {
    let mut caller = connect(process);
    caller.expect("PUT", "/v1/kv/ready", b"");
    for id in 0..INSTANCES {
        let body = format!(
            r#"{{"Node":"n{id}","Address":"10.0.0.1","Service":{{"ID":"i{id}","Service":"many","Port":80}},"Checks":[{{"Name":"c","ServiceID":"i{id}","Status":"passing"}}]}}"#
        );
        caller.expect("PUT", "/v1/catalog/register", body.as_bytes());
    }
    let script = |_| -> Box<dyn Script> { Box::new(Read("/v1/health/service/many")) };
    let mut load = Load::connect(process.address, (0..8).map(script).collect());
    let rounds = (0..ROUNDS).map(|_| {
        let round = load.run(TURN);
        round.operations as f64 / round.elapsed.as_secs_f64()
    });
    median(rounds)
}

/// Milliseconds from the report of a check to the answer of the one who waits for its service, while others wait
/// for other services.
fn wake(process: &Process) -> f64 {
    let mut writer = connect(process);
    writer.expect("PUT", "/v1/kv/ready", b"");
    for id in 0..WATCHERS {
        register(&mut writer, id, &format!("w{id}"));
    }
    // A real agent tells the catalog a little later.
    quiet(process);
    let mut watchers: Vec<(Caller, u64)> = (0..WATCHERS)
        .map(|id| {
            let mut caller = connect(process);
            let index = newest(&mut caller, id);
            (caller, index)
        })
        .collect();
    for (id, (caller, index)) in watchers.iter_mut().enumerate() {
        wait(caller, id, *index);
    }
    let rounds = (0..WATCHERS).map(|id| {
        let status = if id % 2 == 0 { "warn" } else { "fail" };
        let started = Stopwatch::start();
        let target = format!("/v1/agent/check/{status}/service:i{id}:1");
        writer.expect("PUT", &target, b"");
        let answer = watchers[id].0.receive();
        answer.expect("the one who waits is answered");
        started.elapsed().as_secs_f64() * 1e3
    });
    median(rounds)
}

fn newest(caller: &mut Caller, id: usize) -> u64 {
    let answer = caller.expect("GET", &format!("/v1/health/service/w{id}"), b"");
    let index = answer.header("x-consul-index");
    index.map_or(1, |index| index.parse().expect("an index is a number"))
}

fn wait(caller: &mut Caller, id: usize, index: u64) {
    let target = format!("/v1/health/service/w{id}?index={index}&wait=10m");
    let sent = caller.send("GET", &target, b"");
    sent.expect("the server reads what it is sent");
}
