//! The servers that are compared, and turns that they take on the same machine.

pub(super) mod bare;
pub(super) mod process;

use std::time::Duration;

use crate::servers::process::{Kind, Process, consul_program};
use crate::stopwatch::pause;

/// The three servers of a comparison.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) proconsul: Process,
    pub(crate) bare: Process,
    /// None where this machine has no Consul.
    pub(crate) consul: Option<Process>,
}

impl Servers {
    /// Starts all of them; the bare server answers everything in the same way.
    pub(crate) fn start() -> Self {
        Self {
            proconsul: Process::start(Kind::Proconsul),
            bare: Process::start(Kind::Bare),
            consul: Self::start_consul(),
        }
    }

    /// A real Consul, if this machine has one.
    pub(crate) fn start_consul() -> Option<Process> {
        consul_program().map(|_| Process::start(Kind::Consul))
    }

    /// Lets all servers take turns, so that whatever else the machine does disturbs all of them: `prepare` once
    /// for each, then `turn` in `rounds` rounds. What the turns of proconsul, bare server and Consul came to.
    pub(crate) fn interleaved<Load, Sample>(
        &self,
        rounds: usize,
        prepare: impl Fn(&Process) -> Load,
        turn: impl Fn(&Process, &mut Load) -> Sample,
    ) -> [Vec<Sample>; 3] {
        let processes = [
            Some(&self.proconsul),
            Some(&self.bare),
            self.consul.as_ref(),
        ];
        let mut contenders =
            processes.map(|process| Some((process?, prepare(process?), Vec::new())));
        for _ in 0..rounds {
            for (process, load, samples) in contenders.iter_mut().flatten() {
                samples.push(turn(process, load));
            }
        }
        contenders.map(|contender| contender.map_or_else(Vec::new, |(_, _, samples)| samples))
    }
}

/// Waits until a server has done all that it was asked and is doing nothing; a Consul is never quite still.
pub(crate) fn quiet(process: &Process) {
    const LOOK: Duration = Duration::from_millis(50);
    for _ in 0..100 {
        let before = process.cpu();
        pause(LOOK);
        if process.cpu() - before < LOOK / 50 {
            return;
        }
    }
}
