//! What blocking queries cost: waking many, and keeping many.

use crate::load::fill::value;
use crate::load::wire::{Answer, push_request};
use crate::load::{Load, Script};
use crate::servers::process::Process;
use crate::servers::{Kind, Setting, Turns, quiet};
use crate::stopwatch::Stopwatch;

/// How many wait for one key.
const WAITERS: usize = 5_000;
const ROUNDS: usize = 9;

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
}

/// The newest index of a server; 1 where it has none.
fn index(process: &Process) -> u64 {
    let mut caller = process.caller();
    caller.expect("PUT", "/v1/kv/index", b"");
    let answer = caller.expect("GET", "/v1/kv/index", b"");
    let index = answer.header("x-consul-index");
    index.map_or(1, |index| index.parse().expect("an index is a number"))
}

/// Connections that wait, once they ask, for the next change of a key, each for the one that `target` names.
pub(crate) fn waiters(process: &Process, count: usize, target: impl Fn(usize) -> String) -> Load {
    let index = index(process);
    let script = |waiter| -> Box<dyn Script> {
        let target = target(waiter);
        Box::new(Wait { target, index })
    };
    Load::connect(process.address, (0..count).map(script).collect())
}

/// The milliseconds from a PUT to the last of 5,000 answers, and, of the first turn, the memory of a connection that waits in
/// KiB. The waiters are gone between the turns: no process may have open as many connections as all servers together keep.
pub(crate) fn waking(setting: &Setting) -> Turns {
    let prepare = |kind| {
        let process = setting.start(kind);
        process.caller().expect("PUT", "/v1/kv/wait", b"");
        (process, 0)
    };
    setting.interleaved(&Kind::ALL, setting.rounds(ROUNDS), prepare, |state| {
        let (process, writes) = state;
        let mut writer = process.caller();
        let before = process.resident();
        let mut load = waiters(process, WAITERS, |_| "/v1/kv/wait".to_owned());
        load.ask_all();
        quiet(process);
        let memory = (process.resident() - before) * 1024.0 / WAITERS as f64;
        *writes += 1;
        let started = Stopwatch::start();
        let sent = writer.send("PUT", "/v1/kv/wait", &value(*writes));
        sent.expect("the server reads what it is sent");
        load.await_all();
        let elapsed = started.elapsed().as_secs_f64() * 1e3;
        writer.receive().expect("the server answers");
        // Later turns find memory that the waiters of those before have given back.
        vec![elapsed, if *writes == 1 { memory } else { f64::NAN }]
    })
}
