//! What servers inside a test process cost: a thousand of them, a lock that is lost in no time, and more agents than one.
//!
//! They are measured in a process of their own, by this program as it was built with either commit's library.

use std::process::Command;
use std::time::Duration;

use proconsul::Server;
use proconsul::control::Session;

use crate::load::wire::Caller;
use crate::servers::process::memory;
use crate::servers::{Kind, Setting, Turns};
use crate::stopwatch::Stopwatch;

/// The argument under which this program is the embedder.
pub(crate) const EMBED: &str = "embed";
/// The argument under which it embeds servers of three agents.
pub(crate) const EMBED_AGENTS: &str = "embed-agents";

const SERVERS: usize = 1000;
const TIMES: u32 = 50;
const ROUNDS: usize = 5;
const SECOND: Duration = Duration::from_secs(1);

/// What [`embed`] prints, of each commit.
pub(crate) fn measure(setting: &Setting) -> Turns {
    printed(setting, &Kind::OURS, EMBED)
}

/// What [`embed_agents`] prints.
pub(crate) fn agents(setting: &Setting) -> Turns {
    printed(setting, &[Kind::This], EMBED_AGENTS)
}

fn printed(setting: &Setting, kinds: &[Kind], argument: &str) -> Turns {
    let rounds = setting.rounds(ROUNDS);
    setting.interleaved(
        kinds,
        rounds,
        |kind| setting.embedder(kind),
        |embedder| {
            let Some(embedder) = embedder else {
                return Vec::new();
            };
            let output = Command::new(embedder).arg(argument).output();
            let output = output.expect("the program can be started").stdout;
            let words = String::from_utf8_lossy(&output);
            let numbers = words.split_whitespace().map(|word| word.parse());
            let numbers: Result<Vec<f64>, _> = numbers.collect();
            numbers.expect("the embedder prints numbers")
        },
    )
}

/// The resident memory of 1,000 servers in MiB; the milliseconds in which all of them start, serve a lock and stop; and the
/// milliseconds of a frozen server whose lock is lost.
pub(crate) fn embed() -> String {
    let (memory, thousand) = thousand();
    let started = Stopwatch::start();
    for _ in 0..TIMES {
        handover();
    }
    let handover = started.elapsed().as_secs_f64() * 1e3 / f64::from(TIMES);
    format!("{memory} {thousand} {handover}")
}

/// The milliseconds in which three agents start, and the MiB that they take more than one.
pub(crate) fn embed_agents() -> String {
    // The first finds what a process does once. All stay, so that none finds memory that was given back.
    let groups = [1, 1, 3].map(group);
    let [_, one, three] = &groups;
    format!("{} {}", three.start_ms, three.memory - one.memory)
}

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
    (memory, started.elapsed().as_secs_f64() * 1e3)
}

/// A lock is lost by its session's TTL, held back by the lock-delay, and taken over.
fn handover() {
    let server = Server::builder().frozen().start().expect("a free port");
    lock(&server, Session::ttl(15 * SECOND));
    server.advance(30 * SECOND);
    server.advance(15 * SECOND);
    lock(&server, Session::default());
}

/// Servers that have served a lock.
struct Group {
    _servers: Vec<Server>,
    start_ms: f64,
    /// Of each, in MiB.
    memory: f64,
}

fn group(agents: usize) -> Group {
    let (before, started) = (resident(), Stopwatch::start());
    let servers = (0..TIMES).map(|_| Server::builder().agents(agents).start());
    let servers: Vec<Server> = servers.map(|server| server.expect("free ports")).collect();
    let elapsed = started.elapsed().as_secs_f64() * 1e3;
    for server in &servers {
        lock(server, Session::default());
    }
    Group {
        _servers: servers,
        start_ms: elapsed / f64::from(TIMES),
        memory: (resident() - before) / f64::from(TIMES),
    }
}

/// Acquires the lock over the wire for a new session.
fn lock(server: &Server, session: Session) {
    let session = server.sessions().create(session).expect("a node");
    let mut caller = Caller::connect(server.addr()).expect("the server accepts connections");
    caller.expect("PUT", &format!("/v1/kv/lock?acquire={session}"), b"x");
    let holder = server.explain("lock").holder;
    assert_eq!(holder, Some(session), "the lock is acquired");
}

fn resident() -> f64 {
    memory("/proc/self/status", "VmRSS:")
}
