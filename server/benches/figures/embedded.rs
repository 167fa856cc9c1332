//! What servers inside a test process cost: a thousand of them, one of them, and a lock that is lost in no time.

use std::time::Duration;

use proconsul::Server;
use proconsul::control::Session;

use crate::load::wire::Caller;
use crate::stopwatch::Stopwatch;
use crate::table::{Row, Target, Unit, median};

const SERVERS: usize = 1000;
const TIMES: usize = 21;
const SECOND: Duration = Duration::from_secs(1);

/// All rows.
pub(crate) fn rows(print: &mut dyn FnMut(Row)) {
    let row = |figure: &str, limit, unit, proconsul| Row {
        figure: figure.to_owned(),
        target: Target::AtMost(limit),
        unit,
        proconsul,
        bare: None,
        consul: None,
        ratio: None,
    };
    let (milliseconds, memory) = thousand();
    let figure = "embedded: 1,000 servers start, serve a lock, stop";
    print(row(figure, 2000.0, Unit::Milliseconds, milliseconds));
    let figure = "embedded: resident memory of 1,000 servers";
    print(row(figure, 100.0, Unit::MiB, memory));
    let figure = "embedded: start to first answer";
    print(row(figure, 2.0, Unit::Milliseconds, middle(first_answer)));
    let figure = "embedded: a lock lost by TTL and taken over, frozen";
    print(row(figure, 5.0, Unit::Milliseconds, middle(handover)));
}

fn middle(life: fn()) -> f64 {
    median((0..TIMES).map(|_| {
        let started = Stopwatch::start();
        life();
        started.elapsed().as_secs_f64() * 1e3
    }))
}

/// How long a thousand servers live that serve one session and one lock each, and what they take meanwhile.
fn thousand() -> (f64, f64) {
    let before = resident();
    let started = Stopwatch::start();
    let servers: Vec<Server> = (0..SERVERS)
        .map(|_| {
            let server = Server::start();
            lock(&server, Session::default());
            server
        })
        .collect();
    let memory = resident() - before;
    drop(servers);
    (started.elapsed().as_secs_f64() * 1e3, memory)
}

fn first_answer() {
    let server = Server::start();
    let mut caller = Caller::connect(server.addr()).expect("the server accepts connections");
    caller.expect("PUT", "/v1/kv/k", b"x");
}

fn handover() {
    let server = Server::builder().frozen().start().expect("a free port");
    lock(&server, Session::ttl(15 * SECOND));
    server.advance(30 * SECOND);
    server.advance(15 * SECOND);
    lock(&server, Session::default());
}

/// Acquires the lock over the wire for a new session.
fn lock(server: &Server, session: Session) {
    let session = server.sessions().create(session).expect("a node");
    let mut caller = Caller::connect(server.addr()).expect("the server accepts connections");
    caller.expect("PUT", &format!("/v1/kv/lock?acquire={session}"), b"x");
    let holder = server.explain("lock").holder;
    assert_eq!(holder, Some(session), "the lock is acquired");
}

/// What this process holds in memory, in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.expect("Linux tells what a process holds");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    let kilobytes: f64 = kilobytes.expect("the line has a number");
    kilobytes / 1024.0
}
