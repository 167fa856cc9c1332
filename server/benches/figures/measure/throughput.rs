//! Operations per second, CPU per operation, and latency.

use std::rc::Rc;

use bytes::Bytes;

use crate::load::Load;
use crate::load::scripts::{self, Operation};
use crate::load::wire::Answer;
use crate::servers::bare::Canned;
use crate::servers::process::Process;
use crate::servers::{Kind, Sample, Setting, Turns};

/// How often each server has its turn.
const ROUNDS: usize = 13;

/// A server and connections to it that ask for one operation.
pub(crate) struct Asked {
    pub(crate) process: Rc<Process>,
    load: Load,
}

impl Asked {
    /// Connects to a server on which all lies that the operation needs.
    pub(crate) fn connect(process: Rc<Process>, operation: Operation, connections: usize) -> Self {
        let script = |connection| operation.script(process.address, connection);
        let load = Load::connect(process.address, (0..connections).map(script).collect());
        Self { process, load }
    }

    /// One turn: operations per second, CPU in microseconds for each, and the latencies of requests in microseconds that half
    /// of them and that 99.9 % of them did not exceed.
    pub(crate) fn turn(&mut self, setting: &Setting) -> Sample {
        let Self { process, load } = self;
        let (cpu, mut round) = process.cpu_during(|| load.run(setting.turn()));
        let (half, slow) = (round.percentile(0.5), round.percentile(0.999));
        vec![round.rate(), cpu / round.operations as f64, half, slow]
    }
}

/// Rate, CPU and latencies of an operation, see [`Asked::turn`]. `fill` makes what it needs.
pub(crate) fn measure(
    setting: &Setting,
    operation: Operation,
    connections: usize,
    fill: fn(&Process),
) -> Turns {
    let start = |kind| {
        let process = setting.start(kind);
        fill(&process);
        process
    };
    let prepare = |kind: Kind| {
        let process = match kind.threads_of_bare() {
            Some(threads) => setting.start_bare(threads, &canned(&start(Kind::This), operation)),
            None => start(kind),
        };
        Asked::connect(process.into(), operation, connections)
    };
    setting.interleaved(&Kind::ALL, setting.rounds(ROUNDS), prepare, |asked| {
        asked.turn(setting)
    })
}

/// The same for what needs but a few keys.
pub(crate) fn simple(setting: &Setting, operation: Operation, connections: usize) -> Turns {
    measure(setting, operation, connections, scripts::prepare)
}

/// What proconsul answers to an operation, for the bare server to send.
fn canned(proconsul: &Process, operation: Operation) -> Vec<Canned> {
    let mut caller = proconsul.caller();
    let mut script = operation.script(proconsul.address, 0);
    let mut last = Answer::default();
    let requests = 0..script.requests_per_operation();
    let answers = requests.map(|_| {
        let mut request = Vec::new();
        script.next_request(&last, &mut request);
        let answer = caller.exchange(&request).expect("the server answers");
        assert_eq!(answer.status(), "200", "{operation:?}");
        let line = String::from_utf8_lossy(&request);
        let mut words = line.split([' ', '?']);
        let method = words.next().unwrap_or_default();
        let path = words.next().unwrap_or_default();
        // `/v1/kv/lock` stands for the keys of all connections.
        let prefix: Vec<&str> = path.split('/').take(4).collect();
        last = answer.clone();
        Canned {
            method: method.parse().expect("scripts send known methods"),
            prefix: prefix.join("/"),
            body: Bytes::copy_from_slice(&answer.body),
        }
    });
    answers.collect()
}
