//! Verbs that run no cases.

use std::io;
use std::path::Path;

use clap::Args;
use proconsul_conformance::report::coverage;
use proconsul_conformance::runner::asked::Asked;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::sequence::{self, Plan, Side};
use proconsul_conformance::{Target, ToolError, cases};

use super::output::{read, say};
use super::target::Start;

/// Two targets and how much to play on them.
#[derive(Debug, Args)]
pub(super) struct Sequences {
    /// One server: an address, a binary's path, or the word consul; a binary may be followed by arguments of its own, as with `diff`.
    #[arg(value_name = "TARGET")]
    left: String,
    /// The other.
    #[arg(value_name = "TARGET")]
    right: String,
    #[command(flatten)]
    start: Start,
    /// How many operations to play in all.
    #[arg(long, default_value_t = 20_000)]
    operations: usize,
    /// Plays the sequences of an earlier run again.
    #[arg(long)]
    seed: Option<u64>,
    /// Blocks reads of all kinds while some operations change something. On a busy machine these may differ without a reason.
    #[arg(long)]
    blocked_reads: bool,
}

impl Sequences {
    pub(super) fn run(&self) -> Result<u8, ToolError> {
        let one = self.start.open_single(&self.left)?;
        let other = self.start.open_single(&self.right)?;
        let (left, right) = (side(&one), side(&other));
        let seed = self.seed.unwrap_or_else(sequence::new_seed);
        let mut out = io::stdout().lock();
        say(&mut out, &format!("seed {seed}"));
        let plan = Plan {
            operations: self.operations,
            seed,
            blocked_reads: self.blocked_reads,
        };
        match sequence::compare(&left, &right, plan) {
            Ok(played) => {
                say(&mut out, &format!("{played} operations: the servers agree"));
                Ok(0)
            }
            Err(disagreement) => {
                let (left, right) = (&self.left, &self.right);
                say(&mut out, &format!("- {left}, + {right}\n{disagreement}"));
                Ok(1)
            }
        }
    }
}

fn side(target: &Target) -> Side {
    let address = target.shared_address().expect("it was opened as one");
    Side {
        address: address.clone(),
        node: target.facts().node.clone(),
    }
}

/// Makes the generated parts of documents anew.
pub(super) fn coverage() -> Result<u8, ToolError> {
    let cases = cases::all();
    let deviations = Deviations::of_the_emulator(&cases)?;
    let readme = Path::new("README.md");
    let asked = Asked::read_all(Path::new("fixtures"))?;
    let table = coverage::table(&cases, &deviations, &asked);
    let made = coverage::renewed(&read(readme)?, &table);
    let made = made.ok_or_else(|| {
        ToolError(
            "README.md has no place for the table: run this at the root of the repository".into(),
        )
    })?;
    write(readme, &made)?;
    write(Path::new("conformance/UNCOVERED.md"), &coverage::page())?;
    Ok(0)
}

fn write(path: &Path, text: &str) -> Result<(), ToolError> {
    std::fs::write(path, text).map_err(|error| ToolError(format!("{}: {error}", path.display())))
}
