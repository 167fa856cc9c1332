//! What a server costs before and beside its work: starting, doing nothing, lying on a disk.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::cargo::folder;
use crate::servers::{Kind, Setting, Turns};
use crate::stopwatch::{Stopwatch, pause};

/// How often a server is started.
const STARTS: usize = 41;
/// How long a server has been idle when it is looked at.
const IDLE: Duration = Duration::from_millis(300);
const IDLE_ROUNDS: usize = 5;

/// The milliseconds from the start of the program to the first PUT that succeeded, and its CPU until then.
pub(crate) fn first_put(setting: &Setting) -> Turns {
    let rounds = setting.rounds(STARTS);
    setting.interleaved(
        &Kind::ALL,
        rounds,
        |kind| kind,
        |kind| {
            let started = Stopwatch::start();
            let process = setting.spawn(*kind, &[]);
            process.first_put();
            let elapsed = started.elapsed();
            vec![
                elapsed.as_secs_f64() * 1e3,
                process.cpu().as_secs_f64() * 1e3,
            ]
        },
    )
}

/// The private memory in MiB of a server that has answered one request and is asked no more.
pub(crate) fn idle(setting: &Setting) -> Turns {
    let rounds = setting.rounds(IDLE_ROUNDS);
    setting.interleaved(
        &Kind::ALL,
        rounds,
        |kind| kind,
        |kind| {
            let process = setting.start(*kind);
            pause(IDLE);
            vec![process.private()]
        },
    )
}

/// The size of the program in MiB without what debuggers read and without the page's files.
pub(crate) fn binary(setting: &Setting) -> Turns {
    setting.interleaved(
        &Kind::REAL,
        1,
        |kind| kind,
        |kind| {
            let program = setting.program(*kind).expect("the kind takes part");
            let source = setting.source(*kind);
            let page = source.map_or(0, |source| {
                size(&source.join("server/core/src/extensions/ui/page"))
            });
            vec![(stripped(&program) - page) as f64 / f64::from(1 << 20)]
        },
    )
}

fn stripped(program: &Path) -> u64 {
    let copy = folder("stripped");
    let status = Command::new("strip")
        .arg("-o")
        .arg(&copy)
        .arg(program)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "binutils' strip is there"
    );
    let size = size(&copy);
    let _ = std::fs::remove_file(&copy);
    size
}

/// The bytes of a file, or of all files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |file| file.len());
    };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}
