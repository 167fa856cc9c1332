//! Large stores: memory, point reads, deleted trees.

use crate::load::fill;
use crate::load::scripts::Operation;
use crate::measure::throughput::Asked;
use crate::servers::{Kind, Setting, Turns, quiet};
use crate::stopwatch::Stopwatch;

const MANY_KEYS: u64 = 1_000_000;
const DELETED_KEYS: u64 = 100_000;
const ROUNDS: usize = 13;
const DELETES: usize = 5;

/// The resident memory with a million keys in MiB, and the CPU of a GET of one of them against a GET of an only key.
pub(crate) fn million(setting: &Setting) -> Turns {
    let prepare = |kind| {
        [1, MANY_KEYS].map(|keys| {
            let process = setting.start(kind);
            fill::keys(&process, keys);
            Asked::connect(process.into(), Operation::GetAmong(keys), 8)
        })
    };
    let rounds = setting.rounds(ROUNDS);
    setting.interleaved(&Kind::REAL, rounds, prepare, |[small, large]| {
        let memory = large.process.resident();
        let [small, large] = [small, large].map(|asked| asked.turn(setting)[1]);
        vec![memory, large / small]
    })
}

/// The milliseconds that the deletion of a tree of 100,000 keys takes.
pub(crate) fn delete_tree(setting: &Setting) -> Turns {
    let prepare = |kind| setting.start(kind);
    let rounds = setting.rounds(DELETES);
    setting.interleaved(&Kind::REAL, rounds, prepare, |process| {
        fill::keys(process, DELETED_KEYS);
        quiet(process);
        let mut caller = process.caller();
        let started = Stopwatch::start();
        caller.expect("DELETE", "/v1/kv/many/?recurse", b"");
        vec![started.elapsed().as_secs_f64() * 1e3]
    })
}
