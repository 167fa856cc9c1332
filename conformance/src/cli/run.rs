//! `proconsul-conformance run`: once, or again and again and many times at once, to find what only sometimes holds.

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};

use clap::Args;
use proconsul_conformance::command::output::{Output, say};
use proconsul_conformance::command::target::TargetChoice;
use proconsul_conformance::runner::asked::Asked;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::{Report, Runner, Selection, Target, ToolError};

use super::{Choice, Known};

/// Cases at once in one of several copies.
const JOBS_OF_A_COPY: NonZero<usize> = NonZero::new(12).expect("12 is not 0");

/// What to run, where, and how often.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    target: TargetChoice,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    output: Output,
    /// Cases at once; in one of several copies 12 unless told.
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// Runs all of it so often, one run after the other. The report is that of the worst run.
    #[arg(long, default_value = "1", value_name = "TIMES")]
    repeat: NonZero<usize>,
    /// Runs all of it so many times at once on the one server. Cases that get a server of their own run in one copy alone.
    #[arg(long, default_value = "1", value_name = "TIMES")]
    copies: NonZero<usize>,
    #[command(flatten)]
    known: Known,
    /// Keep which cases held, and when, in FOLDER/<version>/asked.json, from which the figures in the documentation are counted. A real Consul only.
    #[arg(long, value_name = "FOLDER")]
    count: Option<PathBuf>,
}

impl Run {
    /// The exit status of the worst run, whose report is shown.
    pub(super) fn run(&self) -> Result<u8, ToolError> {
        let selection = self.choice.selection()?;
        let deviations = self.known.deviations()?;
        let target = self.target.open_one()?;
        let mut worst: Option<Report> = None;
        for _ in 0..self.repeat.get() {
            for report in self.at_once(&target, &deviations, &selection)? {
                if self.repeat.get() * self.copies.get() > 1 {
                    say(&mut io::stdout().lock(), &report.summary());
                }
                let is_worse = |known: &Report| report.exit_status() > known.exit_status();
                if worst.as_ref().is_none_or(is_worse) {
                    worst = Some(report);
                }
            }
        }
        let worst = worst.expect("it runs at least once, and at least one copy");
        if let Some(folder) = &self.count {
            Asked::add(folder, target.facts(), &worst)?;
        }
        self.output.finish(&worst)
    }

    /// One report for each copy.
    fn at_once(
        &self,
        target: &Target,
        deviations: &Deviations,
        selection: &Selection,
    ) -> Result<Vec<Report>, ToolError> {
        let others = target.without_own_servers();
        thread::scope(|scope| {
            let copies: Vec<_> = (0..self.copies.get())
                .map(|copy| if copy == 0 { target } else { &others })
                .map(|target| scope.spawn(|| self.once(target, deviations.clone(), selection)))
                .collect();
            let joined = copies.into_iter().map(ScopedJoinHandle::join);
            joined
                .map(|report| report.expect("a case that panics is caught"))
                .collect()
        })
    }

    fn once(
        &self,
        target: &Target,
        deviations: Deviations,
        selection: &Selection,
    ) -> Result<Report, ToolError> {
        let mut runner = Runner::new(target)
            .deviations(deviations)
            .on_result(|result| self.output.line(result));
        let of_a_copy = (self.copies.get() > 1).then_some(JOBS_OF_A_COPY);
        if let Some(jobs) = self.jobs.or(of_a_copy) {
            runner = runner.jobs(jobs);
        }
        runner.run(selection)
    }
}
