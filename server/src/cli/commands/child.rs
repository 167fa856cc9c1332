//! Programs that a verb runs.

use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::cli::os_error;

/// A program from the arguments of a verb: one line for a shell, or words.
pub(super) fn command(words: &[String], shell: bool) -> Command {
    if shell {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &words.join(" ")]);
        command
    } else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }
}

/// Starts it; it is killed when it is dropped.
///
/// # Errors
/// The operating system's sentence.
pub(super) fn start(mut command: Command, input: Stdio) -> Result<Child, String> {
    command.stdin(input).kill_on_drop(true);
    command.spawn().map_err(|error| os_error::text(&error))
}

/// Go's sentence about a program that did not end well; `None` for one that did.
pub(super) fn failure(status: std::process::ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    if status.success() {
        return None;
    }
    Some(match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, signal) => format!("signal: {}", signal.unwrap_or(0)),
    })
}
