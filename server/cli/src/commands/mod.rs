//! The verbs that are clients of a running server, proconsul or a real Consul, with Consul's flags, output and exit
//! codes.
//!
//! | module | verbs |
//! |---|---|
//! | `acl` | `acl ...`; `login`, `logout` |
//! | `kv` | `kv get`, `put`, `delete`, `export`, `import` |
//! | `session` | `session list`, `info`, `create`, `renew`, `destroy`: not in Consul |
//! | `lock`, `watch` | run programs while a lock is held, or whenever something changes |
//! | `mesh` | `config ...`, `intention ...` |
//! | `catalog`, `cluster` | `catalog ...`; `members`, `info`, `event`, `maint`, `leave`, `reload`, `join`, `force-leave` |
//! | `operator` | `operator raft ...`, `connect ca get-config`, `rtt`; `keygen`, `validate`, which ask nobody |
//! | `changes` | what releases do otherwise: not in Consul |
//! | `compat` | runs a command once for each release: not in Consul |
//! | `explore` | searches for a schedule that breaks a program: not in Consul |
//! | `ready` | waits until a server can be used: not in Consul |
//! | `services` | `services register`, `deregister`, from flags or configuration files |
//! | `snapshot` | `snapshot save`, `inspect`, `restore` |
//! | `proxy` | stands between a client and a server, for `compat` and `explore` |
//! | `flags`, `source` | flags of all verbs; arguments that name a file or standard input |
//! | `table`, `shown` | columns; JSON as Consul's client prints it |

/// Makes a table of flags: each an [`ArgumentKind`](support::flags::ArgumentKind), its name and a sentence for the help.
macro_rules! flags {
    ($($kind:ident $name:literal $usage:literal;)*) => {
        &[$(proconsul_config::settings::go_flags::Flag {
            name: $name,
            kind: crate::commands::support::flags::ArgumentKind::$kind,
            usage: $usage,
        }),*]
    };
}

/// Makes the table of a file's verbs: each a name, its arguments behind the flags, its function (and what it is to work
/// on), a sentence for the help, tables of flags that it shares with others, and its own flags.
macro_rules! commands {
    ($($name:literal $arguments:literal $run:ident $(($kind:path))? $usage:literal $([$($shared:ident),*])? {
        $($flags:tt)*
    })*) => {
        pub(in crate::commands) const COMMANDS: &[crate::commands::Command] =
            &[$(crate::commands::Command {
                name: $name,
                arguments: $arguments,
                usage: $usage,
                flags: &[
                    flags! { $($flags)* },
                    $($($shared,)*)?
                    crate::commands::support::flags::COMMON,
                ],
                run: |given| Box::pin($run($(&$kind,)? given)),
            }),*];
    };
}

mod acl;
mod catalog;
mod changes;
mod child;
mod cluster;
mod compat;
mod explore;
mod kv;
mod mesh;
mod operator;
mod ready;
mod session;
mod snapshot;
mod support;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;

use proconsul_client::Error;

use self::support::flags::{ArgumentKind, Given};
use self::support::{shown, source, table};
use crate::output;
use proconsul_config::settings::go_flags::{self, Flag, FlagError, ParsedFlags};

/// The output of a verb at its end, or its failure.
type Outcome = Result<String, Failure>;

/// Why a verb failed.
#[derive(Debug)]
struct Failure {
    /// The text for standard error, without the last line end.
    text: String,
    code: u8,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { text, code: 1 }
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Makes a failure of Consul's text and an error behind it.
fn because(what: &str) -> impl Fn(Error) -> Failure + use<> {
    let what = what.to_owned();
    move |error| format!("{what}: {}", go_text(&error)).into()
}

/// Returns the text of an error in the form of Consul's command, if it has one.
fn go_text(error: &Error) -> String {
    match error {
        Error::PermissionDenied { text } => format!("Unexpected response code: 403 ({text})"),
        Error::Status { status, text } => format!("Unexpected response code: {status} ({text})"),
        other => other.to_string(),
    }
}

type Running = Pin<Box<dyn Future<Output = Outcome>>>;

/// A verb of one to three words.
struct Command {
    name: &'static str,
    /// The arguments behind the flags, for the help.
    arguments: &'static str,
    usage: &'static str,
    flags: &'static [&'static [Flag<ArgumentKind>]],
    run: fn(Given) -> Running,
}

impl Command {
    /// Returns the words of the name.
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.name.split(' ')
    }

    /// Returns the exit code of a command line that is not understood. 1 is an answer of `intention check`.
    fn misuse(&self) -> u8 {
        match self.name {
            "intention check" => mesh::intention::CHECK_FAILED,
            _ => 1,
        }
    }

    fn help(&self, program: &str) -> String {
        let usage = format!("{program} {} [options] {}", self.name, self.arguments);
        format!(
            "Usage: {}\n\n  {}\n\n{}",
            usage.trim_end(),
            self.usage,
            go_flags::long_usage(self.flags)
        )
    }
}

/// Returns all verbs, in the order of the help.
fn commands() -> impl Iterator<Item = &'static Command> {
    [
        acl::COMMANDS,
        acl::login::COMMANDS,
        catalog::COMMANDS,
        cluster::COMMANDS,
        changes::COMMANDS,
        compat::COMMANDS,
        explore::COMMANDS,
        kv::COMMANDS,
        child::lock::COMMANDS,
        mesh::config::COMMANDS,
        mesh::intention::COMMANDS,
        operator::COMMANDS,
        ready::COMMANDS,
        catalog::services::COMMANDS,
        session::COMMANDS,
        snapshot::COMMANDS,
        child::watch::COMMANDS,
    ]
    .into_iter()
    .flatten()
}

/// Returns one line per verb for the help of the whole command line.
pub(super) fn summary() -> String {
    let line = |command: &Command| format!("    {:<26}{}\n", command.name, command.usage);
    commands().map(line).collect()
}

/// Runs a verb; `None` for an unknown one.
pub(super) fn run(program: &str, arguments: &[String]) -> Option<ExitCode> {
    let mut matching: Vec<&Command> = commands().collect();
    let mut known = 0;
    let command = loop {
        let whole = |command: &&&Command| command.words().count() == known;
        if let Some(command) = matching.iter().find(whole) {
            break *command;
        }
        let word = arguments.get(known).map(String::as_str);
        let goes_on = |command: &&&Command| command.words().nth(known) == word;
        let longer: Vec<&Command> = matching.iter().filter(goes_on).copied().collect();
        if longer.is_empty() {
            return (known > 0)
                .then(|| unfinished(program, &matching, &arguments[..known], arguments));
        }
        matching = longer;
        known += 1;
    };
    let given = match go_flags::cut(&arguments[known..], command.flags) {
        Ok(given) => given,
        Err(FlagError::HelpWanted) => {
            output::out(&command.help(program));
            return Some(ExitCode::SUCCESS);
        }
        Err(FlagError::Bad(text)) => {
            let usage = go_flags::short_usage(command.flags);
            output::err(&format!("{text}\n{usage}"));
            return Some(ExitCode::from(command.misuse()));
        }
    };
    Some(finish(command, given))
}

/// Prints the verbs that begin with `words`.
fn unfinished(
    program: &str,
    matching: &[&Command],
    words: &[String],
    arguments: &[String],
) -> ExitCode {
    let line = |command: &&Command| {
        let rest: Vec<&str> = command.words().skip(words.len()).collect();
        format!("    {:<20}{}\n", rest.join(" "), command.usage)
    };
    let lines: String = matching.iter().map(line).collect();
    let verb = words.join(" ");
    let help =
        format!("Usage: {program} {verb} <subcommand> [options] [args]\n\nSubcommands:\n{lines}");
    // A request for help before `--` is no failure (seen on 1.8.7).
    let mut words = arguments.iter().take_while(|word| *word != "--");
    if words.any(|word| go_flags::asks_for_help(word)) {
        output::out(&help);
        ExitCode::SUCCESS
    } else {
        output::err(&help);
        ExitCode::FAILURE
    }
}

fn finish(command: &Command, given: ParsedFlags<ArgumentKind>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            output::err(&format!("the runtime does not start: {error}\n"));
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on((command.run)(Given(given))) {
        Ok(text) => {
            output::out(&text);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            if !failure.text.is_empty() {
                output::err(&format!("{}\n", failure.text));
            }
            ExitCode::from(failure.code)
        }
    }
}
