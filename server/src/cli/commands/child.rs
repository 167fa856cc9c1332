//! Programs that a verb runs.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use crate::cli::os_error;
use crate::clock::machine_sleep;

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

/// A program that is ended together with everything that it has started.
pub(super) struct Program {
    child: Child,
    id: Pid,
    /// It leads a group of processes, which what it starts belongs to.
    leads: bool,
}

/// Between two looks at whether anything of a group is left.
const LOOK: Duration = Duration::from_millis(10);

impl Program {
    /// Starts it, as the leader of a group of its own if it `leads`. A group of its own is not in the foreground of a
    /// terminal, so it cannot read from there.
    ///
    /// # Errors
    /// The operating system's sentence.
    pub(super) fn start(mut command: Command, input: Stdio, leads: bool) -> Result<Self, String> {
        if leads {
            command.process_group(0);
        }
        let child = start(command, input)?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let id = id.expect("a program that nobody has waited for has an id");
        Ok(Self { child, id, leads })
    }

    /// Its process id.
    pub(super) fn id(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// Waits for the program itself: what it has put into the background may run on.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Signals all of it. Who is gone already cannot be signalled, and need not be.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = if self.leads {
            kill_process_group(self.id, signal)
        } else if self.child.id().is_some() {
            kill_process(self.id, signal)
        } else {
            Ok(())
        };
    }

    /// Ends when the program and everything of its group has ended.
    pub(super) async fn wait_for_all(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        while self.leads && test_kill_process_group(self.id).is_ok() {
            machine_sleep(LOOK).await;
        }
        status
    }
}

/// Go's sentence about a program that did not end well; `None` for one that did.
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

/// Go's name for a signal.
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
