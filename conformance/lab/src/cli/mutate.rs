//! `proconsul-lab mutate`: which case finds out which altered server.

use std::io;
use std::path::PathBuf;

use clap::Args;
use proconsul_conformance::ToolError;
use proconsul_conformance::command::output::{say, write, write_html};
use proconsul_conformance::command::target::TargetChoice;
use proconsul_conformance::report::document::Document;
use proconsul_conformance::time::Stopwatch;
use proconsul_lab::mutate::{self, Mutant, Verdict};

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
    /// Write JSON, of which `report` makes a page.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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
    let watch = Stopwatch::start();
    let verdicts = mutate::run(&target, &mutants, &|verdict| {
        say(&mut io::stdout().lock(), &verdict.to_string());
    })?;
    let document = Document::of_mutants(
        &target,
        verdicts.iter().map(Verdict::document).collect(),
        watch.elapsed(),
    );
    let survived = document.survivors();
    let (all, seconds) = (verdicts.len(), document.seconds);
    let line = format!("{all} mutants, {survived} survived; {seconds:.1}s");
    say(&mut io::stdout().lock(), &line);
    if let Some(file) = &verb.json {
        write(file, &document.to_json())?;
    }
    if let Some(file) = &verb.html {
        write_html(file, &[document])?;
    }
    Ok(u8::from(survived > 0))
}
