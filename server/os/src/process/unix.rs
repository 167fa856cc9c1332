//! Linux, macOS and the other Unixes.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, kill_process, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Caught;

/// Catches signals from [`Signals::listen`] on. Before, they end the process at once.
pub struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to catch signals.
    ///
    /// # Errors
    /// The operating system accepts no handler.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.hangup.recv() => Caught::Hangup,
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::Terminate,
        }
    }
}

/// A program with all that it starts: a process group that it leads. Without one it is the program alone.
pub struct ProcessGroup {
    leader: Pid,
    leads: bool,
}

impl ProcessGroup {
    /// Starts a command, as the leader of a new process group if it `leads`. Such a group is not in the foreground of a
    /// terminal, so it cannot read from there.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn start(command: &mut Command, leads: bool) -> io::Result<(Child, Self)> {
        if leads {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let leader = id.expect("a program that nobody has waited for has an id");
        Ok((child, Self { leader, leads }))
    }

    /// Returns the id of the program itself.
    pub fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().cast_unsigned()
    }

    /// Passes a signal on. Programs that have ended are ignored.
    pub fn pass(&mut self, child: &mut Child, caught: Caught) {
        self.send(
            child,
            match caught {
                Caught::Hangup => rustix::process::Signal::HUP,
                Caught::Interrupt => rustix::process::Signal::INT,
                Caught::Terminate => rustix::process::Signal::TERM,
            },
        );
    }

    /// Stops all where they are, or lets them go on. Returns whether this system can.
    pub fn pause(&mut self, child: &mut Child, paused: bool) -> bool {
        self.send(
            child,
            if paused {
                rustix::process::Signal::STOP
            } else {
                rustix::process::Signal::CONT
            },
        );
        true
    }

    /// Kills all. Programs that have ended are ignored.
    pub fn kill(&mut self, child: &mut Child) {
        self.send(child, rustix::process::Signal::KILL);
    }

    fn send(&self, child: &Child, signal: rustix::process::Signal) {
        let _ = if self.leads {
            kill_process_group(self.leader, signal)
        } else if child.id().is_some() {
            kill_process(self.leader, signal)
        } else {
            // It was waited for, and its id may be that of another program.
            Ok(())
        };
    }

    /// Returns whether a program of the group runs, for a group; false without one.
    pub fn is_running(&self) -> bool {
        self.leads && test_kill_process_group(self.leader).is_ok()
    }
}

/// Returns a command that hands a line to the shell.
pub fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// Returns Go's text about a program that a signal has ended.
pub fn exit_text(status: ExitStatus) -> String {
    let core = if status.core_dumped() {
        " (core dumped)"
    } else {
        ""
    };
    let name = signal_name(status.signal().unwrap_or(0));
    format!("signal: {name}{core}")
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
