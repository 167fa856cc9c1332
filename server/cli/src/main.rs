//! The command line: `proconsul agent` takes what `consul agent` takes.
//!
//! | module | what it does |
//! |---|---|
//! | `agent` | the verb `agent`, with its banner, log and files |
//! | `entrypoint` | the start script of Consul's image as a verb |
//! | `commands`, `version` | the verbs that are clients of a running server; the verb `version` |
//! | `output` | printing |
//!
//! Scripts and files for Consul rely on the rules of Go's `flag` package and on version 1 of HCL, and no crate reads
//! either.
//!
//! No other part reads the environment or files, but for `https`, which reads certificates, and `server`, which reads
//! what it starts with.

mod agent;
mod commands;
mod entrypoint;
mod output;
mod version;

use std::path::Path;
use std::process::ExitCode;

use proconsul_config::settings::Settings;
use proconsul_config::settings::environment::Variables;
use proconsul_config::settings::flags::{self, version_flags};
use proconsul_config::settings::go_flags::{self, FlagError};
use proconsul_version::Version;

/// Consul's exit code for an unknown verb.
const NOT_UNDERSTOOD: u8 = 127;

/// The verbs of Consul that proconsul lacks.
const MISSING_VERBS: &str = "
    connect debug exec keygen keyring monitor operator peering resource rtt tls troubleshoot
    validate
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let program = arguments.next().unwrap_or_default();
    let program = Path::new(&program)
        .file_name()
        .map_or("proconsul".into(), |name| name.to_string_lossy());
    let arguments: Vec<String> = arguments.collect();
    let variables = Variables::of_process();
    match entrypoint::asked(&program, &arguments) {
        Some(rest) => match entrypoint::command(rest, variables) {
            Ok((command, variables)) => run(&program, &command, variables),
            Err(text) => {
                output::err(&format!("==> {text}\n"));
                ExitCode::FAILURE
            }
        },
        None => run(&program, &arguments, variables),
    }
}

/// Runs a verb.
fn run(program: &str, arguments: &[String], variables: Variables) -> ExitCode {
    let Some((verb, rest)) = arguments.split_first() else {
        output::err(&help(program));
        return ExitCode::from(NOT_UNDERSTOOD);
    };
    match &verb[..] {
        "agent" => agent::run(program, rest, variables),
        "version" => print_version(program, rest, &variables),
        "-v" | "-version" | "--version" => print_version(program, &[], &variables),
        verb if go_flags::asks_for_help(verb) => {
            output::out(&help(program));
            ExitCode::SUCCESS
        }
        _ => run_command(program, arguments),
    }
}

/// Runs a verb that is a client of a running server.
fn run_command(program: &str, arguments: &[String]) -> ExitCode {
    if let Some(code) = commands::run(program, arguments) {
        return code;
    }
    let verb = arguments.first().map_or("", String::as_str);
    if MISSING_VERBS.split_whitespace().any(|name| name == verb) {
        output::err(&format!(
            "{program} {verb}: proconsul does not have this verb of Consul's. Consul's own command line works against \
             it, and so does every client of the HTTP API.\n"
        ));
        return ExitCode::FAILURE;
    }
    output::err(&help(program));
    ExitCode::from(NOT_UNDERSTOOD)
}

fn help(program: &str) -> String {
    format!(
        "Usage: {program} [--version] [--help] <command> [<args>]\n\n\
         Available commands are:\n    \
         agent                   Runs a stand-in for a Consul agent\n    \
         entrypoint              Does what the start script of Consul's image does (not in Consul)\n\
         {}    \
         version                 Prints which Consul is emulated\n\n",
        commands::summary()
    )
}

fn print_version(program: &str, arguments: &[String], variables: &Variables) -> ExitCode {
    match version_text(program, arguments, variables) {
        Ok(text) => {
            output::out(&text);
            ExitCode::SUCCESS
        }
        Err(text) => {
            output::err(&text);
            ExitCode::FAILURE
        }
    }
}

/// Returns the output of `version`.
///
/// # Errors
/// The text about an invalid flag or setting.
fn version_text(
    program: &str,
    arguments: &[String],
    variables: &Variables,
) -> Result<String, String> {
    let given = match go_flags::cut(arguments, &[version_flags()]) {
        Ok(given) => given,
        Err(FlagError::HelpWanted) => {
            let flags = go_flags::long_usage(&[version_flags()]);
            return Ok(format!("Usage: {program} version [options]\n\n{flags}"));
        }
        Err(FlagError::Bad(text)) => {
            return Err(format!(
                "{text}\n{}",
                go_flags::short_usage(&[version_flags()])
            ));
        }
    };
    let mut settings = settings_of(variables)?;
    for (flag, argument) in &given.flags {
        flag.take(argument, &mut settings)?;
    }
    let (version, _) =
        proconsul_config::resolve::version(&settings).map_err(|error| format!("{error}\n"))?;
    match settings.format.as_deref() {
        None | Some("pretty") => Ok(version::pretty(version)),
        Some("json") => Ok(version::json(version)),
        Some(other) => Err(format!("Unknown format: {other}\n")),
    }
}

/// Returns the settings of the variables that `version` knows.
fn settings_of(variables: &Variables) -> Result<Settings, String> {
    let mut settings = Settings::default();
    flags::take_variables(version_flags(), variables, &mut settings)?;
    Ok(settings)
}

/// Returns the release whose kinds of entries and words the verbs follow that send them.
///
/// # Errors
/// The text about an invalid variable.
fn emulated_version() -> Result<Version, String> {
    let settings = settings_of(&Variables::of_process())?;
    proconsul_config::resolve::version(&settings).map(|(version, _)| version)
}
