//! Large stores: memory, point reads, deleted trees.

use std::time::Duration;

use crate::load::fill;
use crate::load::scripts::Operation;
use crate::measure::throughput::Asked;
use crate::servers::{Kind, Setting, Turns, quiet};
use crate::stopwatch::Stopwatch;

const MANY_KEYS: u64 = 1_000_000;
const DELETED_KEYS: u64 = 100_000;
const ROUNDS: usize = 13;
const DELETES: usize = 5;
/// A tree whose rows take a server some hundred milliseconds to go through.
const LARGE_TREE: u64 = 600_000;
/// How long others are looked at while a tree is deleted, and its memory freed behind the answer.
const BESIDE: Duration = Duration::from_millis(500);

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

/// The longest wait for a GET, in milliseconds, beside the deletion of a tree of 600,000 keys.
pub(crate) fn beside_delete_tree(setting: &Setting) -> Turns {
    let prepare = |kind| {
        let process = setting.start(kind);
        process.caller().expect("PUT", "/v1/kv/get", b"");
        process
    };
    let rounds = setting.rounds(DELETES);
    setting.interleaved(&Kind::REAL, rounds, prepare, |process| {
        fill::keys(process, LARGE_TREE);
        quiet(process);
        let (mut deleter, mut bystander) = (process.caller(), process.caller());
        let sent = deleter.send("DELETE", "/v1/kv/many/?recurse", b"");
        sent.expect("the server reads");
        let (beside, mut longest) = (Stopwatch::start(), Duration::ZERO);
        while beside.elapsed() < BESIDE {
            let started = Stopwatch::start();
            bystander.expect("GET", "/v1/kv/get", b"");
            longest = longest.max(started.elapsed());
        }
        deleter.receive().expect("the tree is deleted");
        vec![longest.as_secs_f64() * 1e3]
    })
}
