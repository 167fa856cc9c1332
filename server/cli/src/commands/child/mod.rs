//! Child processes of verbs.

pub(super) mod lock;
pub(super) mod watch;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

use proconsul_gocompat::syscall::error_text;
use proconsul_os::process::{self, Caught, ProcessGroup};
use proconsul_os::time::delay;

/// Returns the command of a verb's arguments: a line for a shell, or words.
pub(super) fn command(words: &[String], shell: bool) -> Command {
    if shell {
        process::shell(&words.join(" "))
    } else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }
}

/// Starts a command with a piped input. Dropping the child kills it.
///
/// # Errors
/// The operating system's error.
pub(super) fn start(mut command: Command) -> Result<Child, String> {
    command.stdin(Stdio::piped()).kill_on_drop(true);
    command.spawn().map_err(|error| error_text(&error))
}

/// A program that is ended together with its children.
pub(super) struct Program {
    child: Child,
    family: ProcessGroup,
}

/// The interval between two checks whether all have ended.
const LOOK: Duration = Duration::from_millis(10);

impl Program {
    /// Starts a command; see [`ProcessGroup::start`]. Dropping the program kills it.
    ///
    /// # Errors
    /// The operating system's error.
    pub(super) fn start(mut command: Command, input: Stdio, leads: bool) -> Result<Self, String> {
        command.stdin(input).kill_on_drop(true);
        let started = ProcessGroup::start(&mut command, leads);
        let (child, family) = started.map_err(|error| error_text(&error))?;
        Ok(Self { child, family })
    }

    /// Returns the process id.
    pub(super) fn id(&self) -> u32 {
        self.family.id()
    }

    /// Waits for the program itself. Its background processes may still run.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Passes a signal on to the program and all that it has started.
    pub(super) fn pass(&mut self, caught: Caught) {
        self.family.pass(&mut self.child, caught);
    }

    /// Kills the program and all that it has started.
    pub(super) fn kill(&mut self) {
        self.family.kill(&mut self.child);
    }

    /// Waits for the program and all that it has started.
    pub(super) async fn wait_for_all(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        while self.family.is_running() {
            delay(LOOK).await;
        }
        status
    }
}

/// Returns Go's text about a failed program; `None` for a successful one.
pub(super) fn failure(status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    Some(match status.code() {
        Some(code) => format!("exit status {code}"),
        None => process::exit_text(status),
    })
}
