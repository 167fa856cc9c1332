//! `proconsul-lab sequences|mutate|shadow`.

mod mutate;
mod sequences;
mod shadow;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use proconsul_conformance::ToolError;
use proconsul_conformance::command::output::say;

/// Experiments on Consuls.
///
/// Exit status: 0 nothing was found, 1 something was, 2 the experiment could not be made.
#[derive(Debug, Parser)]
#[command(name = "proconsul-lab", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plays random sequences on two targets that nobody else uses, and shows the first that tells them apart.
    Sequences(sequences::Sequences),
    /// Alters a good target in one way after the other, and shows which case finds it out.
    Mutate(mutate::Mutate),
    /// Stands between your programs and your real Consul, does the same at proconsul, and shows what that answers differently.
    Shadow(shadow::Shadow),
}

/// Does what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let done = match &Cli::parse().command {
        Command::Sequences(command) => command.run(),
        Command::Mutate(command) => mutate::run(command),
        Command::Shadow(command) => command.run(),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(ToolError(message)) => {
            let message = format!("proconsul-lab: {message}");
            say(&mut io::stderr().lock(), &message);
            ExitCode::from(2)
        }
    }
}
