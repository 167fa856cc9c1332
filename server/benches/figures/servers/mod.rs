//! The servers that are compared, and turns that they take on the same machine.

pub(crate) mod bare;
pub(crate) mod other;
pub(crate) mod process;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bare::Canned;
use other::Other;
use process::Process;

use crate::stopwatch::pause;

/// Which server a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The server of this commit.
    This,
    /// The server of another commit.
    Other,
    /// Hyper with nothing behind it, on as many threads as an agent of this repository has.
    Bare,
    /// The same on a thread for each core.
    Wide,
    /// A real Consul.
    Consul,
}

impl Kind {
    /// All kinds, in the order of the table's columns.
    pub(crate) const ALL: [Self; 5] = [
        Self::This,
        Self::Other,
        Self::Bare,
        Self::Wide,
        Self::Consul,
    ];
    /// Those that keep what they are told.
    pub(crate) const REAL: [Self; 3] = [Self::This, Self::Other, Self::Consul];
    /// Those of this repository.
    pub(crate) const OURS: [Self; 2] = [Self::This, Self::Other];

    /// How many threads answer in a bare server of this kind; `None` for other servers.
    pub(crate) fn threads_of_bare(self) -> Option<usize> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match self {
            // As `proconsul agent` counts its own.
            Self::Bare => Some((cores / 2).max(1)),
            Self::Wide => Some(cores),
            Self::This | Self::Other | Self::Consul => None,
        }
    }
}

/// What one turn of one server came to: a number for each figure of the measurement, NaN where that figure is another turn's.
pub(crate) type Sample = Vec<f64>;

/// The turns of each kind; a kind that took no part has none.
pub(crate) type Turns = [Vec<Sample>; 5];

/// What is compared, and how thoroughly.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The program of this commit.
    pub(crate) this: PathBuf,
    pub(crate) other: Option<Other>,
    pub(crate) consul: Option<PathBuf>,
    /// Two minutes in all.
    pub(crate) quick: bool,
}

impl Setting {
    /// How often each server has its turn, where `thorough` are enough for a table that is kept.
    pub(crate) fn rounds(&self, thorough: usize) -> usize {
        if self.quick {
            thorough.div_ceil(4)
        } else {
            thorough
        }
    }

    /// How long a turn is.
    pub(crate) fn turn(&self) -> Duration {
        Duration::from_millis(if self.quick { 200 } else { 400 })
    }

    /// The program of a kind, if it takes part.
    pub(crate) fn program(&self, kind: Kind) -> Option<PathBuf> {
        match kind {
            Kind::This => Some(self.this.clone()),
            Kind::Other => Some(self.other.as_ref()?.program.clone()),
            Kind::Bare | Kind::Wide => std::env::current_exe().ok(),
            Kind::Consul => self.consul.clone(),
        }
    }

    /// The repository as of a commit, where it is known.
    pub(crate) fn source(&self, kind: Kind) -> Option<PathBuf> {
        match kind {
            Kind::This => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")),
            Kind::Other => self.other.as_ref()?.source.clone(),
            Kind::Bare | Kind::Wide | Kind::Consul => None,
        }
    }

    /// The program that embeds servers of a commit.
    pub(crate) fn embedder(&self, kind: Kind) -> Option<PathBuf> {
        match kind {
            Kind::Other => self.other.as_ref()?.embedder.clone(),
            _ => std::env::current_exe().ok(),
        }
    }

    /// Starts a server, and waits until it answers.
    pub(crate) fn start(&self, kind: Kind) -> Process {
        self.start_with(kind, &[])
    }

    /// The same with further arguments of an agent.
    pub(crate) fn start_with(&self, kind: Kind, arguments: &[&str]) -> Process {
        let process = self.spawn(kind, arguments);
        process.first_put();
        process
    }

    /// Starts a server, and waits for nothing.
    pub(crate) fn spawn(&self, kind: Kind, arguments: &[&str]) -> Process {
        let program = self.program(kind).expect("the kind takes part");
        match kind.threads_of_bare() {
            Some(threads) => Process::spawn_bare(program.as_os_str(), threads, Stdio::null()),
            None => Process::spawn_agent(program.as_os_str(), arguments),
        }
    }

    /// Starts a bare server of so many threads that sends `canned`.
    pub(crate) fn start_bare(&self, threads: usize, canned: &[Canned]) -> Process {
        let program = self.program(Kind::Bare);
        let program = program.as_deref().map_or(OsStr::new(""), OsStr::new);
        let mut process = Process::spawn_bare(program, threads, Stdio::piped());
        process.feed(canned);
        process.first_put();
        process
    }

    /// Lets those of `kinds` that there are take turns, so that whatever else the machine does disturbs all of them: `prepare`
    /// once for each, then `turn` in `rounds` rounds. Every other round goes backwards: no server always has its turn behind
    /// Consul's, which works on for a while after its own.
    pub(crate) fn interleaved<State>(
        &self,
        kinds: &[Kind],
        rounds: usize,
        prepare: impl Fn(Kind) -> State,
        turn: impl Fn(&mut State) -> Sample,
    ) -> Turns {
        let takes_part = |kind: &&Kind| self.program(**kind).is_some();
        let kinds = kinds.iter().filter(takes_part);
        let mut states: Vec<(Kind, State)> = kinds.map(|kind| (*kind, prepare(*kind))).collect();
        let mut turns = Turns::default();
        for _ in 0..rounds {
            for (kind, state) in &mut states {
                turns[*kind as usize].push(turn(state));
            }
            states.reverse();
        }
        turns
    }
}

/// Waits until a server has done all that it was asked and is doing nothing; a Consul is never quite still. One quiet look is not
/// enough: on a busy machine the server may have had no processor.
pub(crate) fn quiet(process: &Process) {
    const LOOK: Duration = Duration::from_millis(50);
    const LOOKS: u32 = 3;
    let mut still = 0;
    for _ in 0..100 {
        let before = process.cpu();
        pause(LOOK);
        let is_still = process.cpu() - before < LOOK / 50;
        still = if is_still { still + 1 } else { 0 };
        if still == LOOKS {
            return;
        }
    }
}
