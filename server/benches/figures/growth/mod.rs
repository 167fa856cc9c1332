//! How figures grow: the server's CPU for one operation beside 10, 1,000 and 100,000 keys, sessions, services or waiters.

pub(crate) mod plot;

use std::rc::Rc;

use plot::Line;

use crate::load::Load;
use crate::load::fill::{self, value};
use crate::load::scripts::{self, Operation};
use crate::measure::blocking::waiters;
use crate::measure::throughput::Asked;
use crate::servers::process::{Process, open_files};
use crate::servers::{Kind, Setting, quiet};
use crate::table::median;

const SIZES: [usize; 3] = [10, 1_000, 100_000];
const ROUNDS: usize = 9;
/// How many connections ask at once.
const CONNECTIONS: usize = 8;
/// Files that are open beside the connections of the most waiters: those of fewer, and some of the process' own.
const OTHER_FILES: usize = 1_500;
/// How many connections the kernel's range of ports allows to one server.
const PORTS: usize = 28_000;
/// How many waiters a turn wakes.
const WAKES: usize = 200;

/// What is done in the turns of a line.
enum What {
    /// An operation where so many lie beside it.
    Ask(fn(u64) -> Operation),
    /// A PUT to the key of one of those that wait, and the answer to it.
    Wake,
}

/// Lines that are measured on the same servers.
struct Group {
    /// Makes so many of what lies beside the operations; gives those that wait.
    fill: fn(&Process, usize) -> Option<Load>,
    /// Whether it is made of connections, of which there cannot be as many as of other things.
    of_connections: bool,
    lines: &'static [(&'static str, What)],
}

const GROUPS: [Group; 4] = [
    Group {
        fill: |process, count| {
            fill::keys(process, count as u64);
            fill::folders(process, count as u64, 10, "app/");
            fill::folders(process, count as u64, 10, "");
            scripts::prepare(process);
            None
        },
        of_connections: false,
        lines: &[
            ("GET of one of N keys", What::Ask(Operation::GetAmong)),
            ("PUT to one of N keys", What::Ask(Operation::PutAmong)),
            (
                "PUT and DELETE beside N keys",
                What::Ask(|_| Operation::PutDelete),
            ),
            (
                "keys?separator=/, N keys in 10 folders",
                What::Ask(|_| Operation::Folders("")),
            ),
            (
                "app/?keys&separator=/, N in 10 folders",
                What::Ask(|_| Operation::Folders("app/")),
            ),
            (
                "recurse of 100 keys beside N",
                What::Ask(|_| Operation::Recurse),
            ),
            (
                "txn of ten sets beside N keys",
                What::Ask(|_| Operation::Txn),
            ),
        ],
    },
    Group {
        fill: |process, count| {
            fill::sessions(process, count as u64);
            None
        },
        of_connections: false,
        lines: &[
            (
                "acquire and release beside N locks",
                What::Ask(|_| Operation::Lock),
            ),
            (
                "session create and destroy beside N",
                What::Ask(|_| Operation::Session),
            ),
        ],
    },
    Group {
        fill: |process, count| {
            fill::services(process, count as u64);
            None
        },
        of_connections: false,
        lines: &[
            (
                "health/service of one of N services",
                What::Ask(Operation::Health),
            ),
            (
                "two updates to one of N checks",
                What::Ask(Operation::Check),
            ),
            (
                "register and deregister beside N",
                What::Ask(|_| Operation::Register),
            ),
            ("PUT beside N TTL checks", What::Ask(|_| Operation::Put)),
        ],
    },
    Group {
        fill: |process, count| {
            let mut caller = process.caller();
            for waiter in 0..count {
                caller.expect("PUT", &format!("/v1/kv/wait/{waiter}"), b"");
            }
            let mut load = waiters(process, count, |waiter| format!("/v1/kv/wait/{waiter}"));
            load.ask_all();
            quiet(process);
            Some(load)
        },
        of_connections: true,
        lines: &[
            ("PUT beside N waiters", What::Ask(|_| Operation::Put)),
            ("PUT that wakes one of N waiters", What::Wake),
        ],
    },
];

/// A server with so much on it, and connections for each line of its group.
struct Filled {
    process: Rc<Process>,
    count: usize,
    /// One for each line; `None` where the line is about those that wait.
    asked: Vec<Option<Asked>>,
    waiting: Option<Load>,
    wakes: usize,
}

impl Filled {
    fn new(setting: &Setting, kind: Kind, group: &Group, size: usize) -> Self {
        let process = Rc::new(setting.start(kind));
        let count = if group.of_connections {
            size.min(most_waiters())
        } else {
            size
        };
        let waiting = (group.fill)(&process, count);
        let connect = |(_, what): &(&str, What)| match what {
            What::Ask(operation) => {
                let operation = operation(count as u64);
                Some(Asked::connect(Rc::clone(&process), operation, CONNECTIONS))
            }
            What::Wake => None,
        };
        Self {
            asked: group.lines.iter().map(connect).collect(),
            process,
            count,
            waiting,
            wakes: 0,
        }
    }

    /// CPU of the server for one operation of a line, in microseconds.
    fn turn(&mut self, line: usize, setting: &Setting) -> f64 {
        if let Some(asked) = &mut self.asked[line] {
            return asked.turn(setting)[1];
        }
        let mut writer = self.process.caller();
        let waiting = self.waiting.as_mut().expect("there are those that wait");
        let (cpu, ()) = self.process.cpu_during(|| {
            for _ in 0..WAKES {
                // Far from the one before, as keys of different clients are.
                self.wakes += 7_919;
                let waiter = self.wakes % self.count;
                let target = format!("/v1/kv/wait/{waiter}");
                writer.expect("PUT", &target, &value(self.wakes as u64));
                waiting.await_one(waiter);
            }
        });
        cpu / WAKES as f64
    }
}

/// Measures the lines that are wanted, and prints them as a table; gives those of this commit.
pub(crate) fn run(setting: &Setting, wants: impl Fn(&str) -> bool) -> Vec<Line> {
    let mut drawn = Vec::new();
    for kind in Kind::OURS {
        let Some(program) = setting.program(kind) else {
            continue;
        };
        println!("{}, CPU for one operation:\n", program.display());
        println!("| figure | N = 10 | 1,000 | 100,000 | grows |\n|---|---|---|---|---|");
        for group in &GROUPS {
            let wanted: Vec<usize> = (0..group.lines.len())
                .filter(|line| wants(group.lines[*line].0))
                .collect();
            let lines = measure(setting, kind, group, &wanted);
            for line in &lines {
                println!("{line}");
            }
            if kind == Kind::This {
                drawn.extend(lines);
            }
        }
        println!();
    }
    println!(
        "There were {} waiters at most, as files and ports allow.",
        most_waiters()
    );
    drawn
}

fn most_waiters() -> usize {
    PORTS.min(open_files().saturating_sub(OTHER_FILES))
}

/// The wanted lines of a group, whose servers of all sizes take turns.
fn measure(setting: &Setting, kind: Kind, group: &Group, wanted: &[usize]) -> Vec<Line> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut filled = SIZES.map(|size| Filled::new(setting, kind, group, size));
    let measure = |line: &usize| {
        let mut turns = [const { Vec::new() }; SIZES.len()];
        for _ in 0..setting.rounds(ROUNDS) {
            for (filled, turns) in filled.iter_mut().zip(&mut turns) {
                turns.push(filled.turn(*line, setting));
            }
        }
        let points = filled.iter().zip(turns);
        let points = points.map(|(filled, turns)| {
            let value = median(turns).expect("there was a turn");
            (filled.count as f64, value)
        });
        Line {
            name: group.lines[*line].0,
            points: points.collect(),
        }
    };
    wanted.iter().map(measure).collect()
}
