//! Child processes of verbs.

pub(super) mod lock;
pub(super) mod watch;

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use crate::clock::machine_sleep;
use crate::go::syscall::error_text;

/// Returns the command of a verb's arguments: a line for a shell, or words.
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

/// Starts a command. Dropping the child kills it.
///
/// # Errors
/// The operating system's error.
pub(super) fn start(mut command: Command, input: Stdio) -> Result<Child, String> {
    command.stdin(input).kill_on_drop(true);
    command.spawn().map_err(|error| error_text(&error))
}

/// A program that is ended together with its children.
pub(super) struct Program {
    child: Child,
    id: Pid,
    /// Whether it leads a process group, which contains its children.
    leads: bool,
}

/// The interval between two checks whether a process group has ended.
const LOOK: Duration = Duration::from_millis(10);

impl Program {
    /// Starts a command, as the leader of a new process group if it `leads`. Such a group is not in the foreground of a
    /// terminal, so it cannot read from there.
    ///
    /// # Errors
    /// The operating system's error.
    pub(super) fn start(mut command: Command, input: Stdio, leads: bool) -> Result<Self, String> {
        if leads {
            command.process_group(0);
        }
        let child = start(command, input)?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let id = id.expect("a program that nobody has waited for has an id");
        Ok(Self { child, id, leads })
    }

    /// Returns the process id.
    pub(super) fn id(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// Waits for the program itself. Its background processes may still run.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Signals the program and its process group. A program that has ended is ignored.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = if self.leads {
            kill_process_group(self.id, signal)
        } else if self.child.id().is_some() {
            kill_process(self.id, signal)
        } else {
            Ok(())
        };
    }

    /// Waits for the program and its whole process group.
    pub(super) async fn wait_for_all(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        while self.leads && test_kill_process_group(self.id).is_ok() {
            machine_sleep(LOOK).await;
        }
        status
    }
}

/// Returns Go's text about a failed program; `None` for a successful one.
pub(super) fn failure(status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    Some(match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, signal) => {
            let core = if status.core_dumped() {
                " (core dumped)"
            } else {
                ""
            };
            format!("signal: {}{core}", signal_name(signal.unwrap_or(0)))
        }
    })
}

/// Returns Go's name for a signal.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        6 => "aborted",
        9 => "killed",
        11 => "segmentation fault",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
