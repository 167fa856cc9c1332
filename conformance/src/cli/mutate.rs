//! `proconsul-conformance mutate`: which case finds out which altered server.

use std::io;

use clap::Args;
use proconsul_conformance::ToolError;
use proconsul_conformance::mutate::{self, Fate, Mutant};

use super::output::say;
use super::target::TargetChoice;

/// What to alter, and before which target.
#[derive(Debug, Args)]
pub(super) struct Mutate {
    #[command(flatten)]
    target: TargetChoice,
    /// Only mutants whose name contains this.
    #[arg(value_name = "MUTANT")]
    only: Vec<String>,
    /// List the mutants instead of running them.
    #[arg(long)]
    list: bool,
}

impl Mutate {
    fn mutants(&self) -> Result<Vec<&'static Mutant>, ToolError> {
        let all = mutate::all();
        let names = |mutant: &&Mutant, part: &String| mutant.name.contains(part.as_str());
        for part in &self.only {
            if !all.iter().any(|mutant| names(mutant, part)) {
                return Err(ToolError(format!("no mutant is called `{part}`")));
            }
        }
        let chosen = |mutant: &&Mutant| {
            self.only.is_empty() || self.only.iter().any(|part| names(mutant, part))
        };
        Ok(all.into_iter().filter(chosen).collect())
    }
}

/// Prints the fate of each mutant; 1 when one survives.
pub(super) fn run(verb: &Mutate) -> Result<u8, ToolError> {
    let mutants = verb.mutants()?;
    if verb.list {
        let mut out = io::stdout().lock();
        for mutant in &mutants {
            say(&mut out, &format!("{}\n    {}", mutant.name, mutant.what));
        }
        return Ok(0);
    }
    let target = verb.target.open_one()?;
    let address = target
        .shared_address()
        .ok_or_else(|| ToolError("mutants need one server".to_owned()))?;
    let verdicts = mutate::run(address, &mutants, &|verdict| {
        say(&mut io::stdout().lock(), &verdict.to_string());
    })?;
    let survived = verdicts
        .iter()
        .filter(|verdict| verdict.fate == Fate::Survived)
        .count();
    let line = format!("{} mutants, {survived} survived", verdicts.len());
    say(&mut io::stdout().lock(), &line);
    Ok(u8::from(survived > 0))
}
