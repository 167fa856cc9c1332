//! `proconsul-conformance run|list`.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use proconsul_conformance::consul::{self, Agent};
use proconsul_conformance::deviation::Deviations;
use proconsul_conformance::report::console;
use proconsul_conformance::{Runner, Selection, State, Target, ToolError, cases};

/// Holds a server against what Consul does.
///
/// Exit status: 0 every claim holds, 1 one does not, 2 the suite could not do its work.
#[derive(Debug, Parser)]
#[command(name = "proconsul-conformance", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs cases on one target.
    Run(Run),
    /// Lists cases with their claims.
    List(Choice),
}

#[derive(Debug, Args)]
struct Run {
    #[command(flatten)]
    target: TargetChoice,
    #[command(flatten)]
    choice: Choice,
    /// Cases at once.
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// Known differences of this target: TOML lines "case id" = "why".
    #[arg(long, value_name = "FILE")]
    deviations: Option<PathBuf>,
    /// Say a line for every case, not only for those that do not pass.
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Args)]
struct TargetChoice {
    /// A server that runs already: host:port or http://host:port.
    #[arg(long, env = "CONSUL_HTTP_ADDR", value_name = "ADDRESS")]
    address: Option<String>,
    /// A consul binary to start, instead of an address; without a value: CONSUL_BIN, the PATH, or what fetch-consul has fetched.
    #[arg(long, value_name = "BINARY", num_args = 0..=1)]
    consul: Option<Option<PathBuf>>,
    /// Start the binary as a plain server instead of with -dev.
    #[arg(long)]
    plain: bool,
    /// Configuration for the binary: a file or a directory. May be repeated.
    #[arg(long, value_name = "PATH")]
    agent_config: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct Choice {
    /// Only cases whose id contains this, or matches it as a whole when it has * or ? in it.
    #[arg(value_name = "CASE")]
    only: Vec<String>,
    /// Not these cases.
    #[arg(long, value_name = "CASE")]
    skip: Vec<String>,
}

impl Choice {
    fn selection(&self) -> Selection {
        Selection::only(self.only.iter().cloned()).without(self.skip.iter().cloned())
    }
}

/// Does what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.verb {
        Verb::Run(run) => run_cases(run),
        Verb::List(choice) => list(choice),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(ToolError(message)) => {
            say(
                &mut io::stderr().lock(),
                &format!("proconsul-conformance: {message}"),
            );
            ExitCode::from(2)
        }
    }
}

fn run_cases(run: &Run) -> Result<u8, ToolError> {
    // A misspelled case name is told before anything is started.
    run.choice.selection().of(&cases::all())?;
    let deviations = match &run.deviations {
        None => Deviations::none(),
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| ToolError(format!("{}: {error}", file.display())))?;
            Deviations::parse(&text, &cases::all())?
        }
    };
    let target = target(&run.target)?;
    let mut runner = Runner::new(&target)
        .deviations(deviations)
        .on_result(|result| {
            if run.verbose || !matches!(result.state, State::Pass | State::Skip(_)) {
                say(&mut io::stdout().lock(), &console::line(result));
            }
        });
    if let Some(jobs) = run.jobs {
        runner = runner.jobs(jobs);
    }
    let report = runner.run(&run.choice.selection())?;
    say(&mut io::stdout().lock(), &report.to_string());
    Ok(report.exit_status())
}

fn target(choice: &TargetChoice) -> Result<Target, ToolError> {
    let agent = Agent {
        plain: choice.plain,
        config: choice.agent_config.clone(),
    };
    match (&choice.consul, &choice.address) {
        (Some(Some(binary)), _) => consul::start(binary, &agent),
        (None, Some(address)) => Target::address(address),
        (Some(None), _) | (None, None) => match consul::find() {
            Some(binary) => consul::start(&binary, &agent),
            None => Err(ToolError(
                "no target: give --address, set CONSUL_HTTP_ADDR or CONSUL_BIN, put consul on the PATH, or run conformance/fetch-consul"
                    .to_owned(),
            )),
        },
    }
}

fn list(choice: &Choice) -> Result<u8, ToolError> {
    let mut out = io::stdout().lock();
    for case in choice.selection().of(&cases::all())? {
        say(
            &mut out,
            &format!("{}\n    {} ({})", case.id, case.claim, case.level),
        );
    }
    Ok(0)
}

/// A closed pipe (`| head`) is no reason to fail.
fn say(out: &mut impl Write, line: &str) {
    if writeln!(out, "{line}").is_err() {
        // Nobody listens any more; the exit status still tells.
    }
}
