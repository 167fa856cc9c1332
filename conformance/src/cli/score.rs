//! `proconsul-conformance score`: how much of Consul a server covers, and how much of that it does right.

use std::io;
use std::path::PathBuf;

use clap::Args;
use proconsul_conformance::command::output::{say, write};
use proconsul_conformance::command::target::Start;
use proconsul_conformance::report::score;
use proconsul_conformance::target::starter;
use proconsul_conformance::{Runner, Selection, Target, ToolError, Version, cases};

/// Whom to score, and where the score goes. The exit status is 0 however low it is.
#[derive(Debug, Args)]
pub(super) struct Score {
    /// The server: an address, a binary's path, or the word consul for the binary that is found. Arguments for a binary
    /// may follow its path.
    #[arg(value_name = "TARGET", required_unless_present = "starter")]
    target: Option<String>,
    /// A program that starts a server for each case, as in `run`.
    #[arg(long, value_name = "COMMAND", conflicts_with = "target")]
    starter: Option<String>,
    /// The release that it is held to, if it is a server at an address that does not say one at /v1/agent/self.
    #[arg(long, value_name = "VERSION", conflicts_with = "starter")]
    held_to: Option<Version>,
    #[command(flatten)]
    start: Start,
    /// Only cases whose id contains this, or matches it. May be repeated.
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
    /// What to call the server.
    #[arg(long)]
    name: Option<String>,
    /// Write JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a badge for a README, as SVG.
    #[arg(long, value_name = "FILE")]
    badge: Option<PathBuf>,
}

impl Score {
    pub(super) fn run(&self) -> Result<u8, ToolError> {
        let selection = Selection::only(self.only.iter().cloned());
        selection.of(&cases::all())?;
        let words = self.target.as_deref().unwrap_or_default();
        let target = match (&self.starter, &self.held_to) {
            (Some(command), _) => starter::target(command)?,
            (None, Some(release)) => Target::address_held_to(words, *release)?,
            (None, None) => self.start.open_single(words, "")?,
        };
        let report = Runner::new(&target).run(&selection)?;
        let mut score = score::Score::of(&report, target.facts());
        if let Some(name) = &self.name {
            score.target.clone_from(name);
        }
        say(&mut io::stdout().lock(), &score.to_string());
        if let Some(file) = &self.json {
            write(file, &score.to_json())?;
        }
        if let Some(file) = &self.badge {
            write(file, &score.badge())?;
        }
        Ok(0)
    }
}
