//! Windows: events of the console in place of signals, job objects in place of process groups.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};
use win32job::Job;

use super::Caught;

/// Catches events of the console from [`Signals::listen`] on. Before, they end the process at once. Go calls them by the
/// names of signals; nothing is called a hangup, so files are read again by `consul reload` alone.
pub struct Signals {
    interrupt: (CtrlC, CtrlBreak),
    terminate: (CtrlClose, CtrlLogoff, CtrlShutdown),
}

impl Signals {
    /// Starts to catch events.
    ///
    /// # Errors
    /// The operating system accepts no handler.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: (ctrl_c()?, ctrl_break()?),
            terminate: (ctrl_close()?, ctrl_logoff()?, ctrl_shutdown()?),
        })
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.0.recv() => Caught::Interrupt,
            _ = self.interrupt.1.recv() => Caught::Interrupt,
            _ = self.terminate.0.recv() => Caught::Terminate,
            _ = self.terminate.1.recv() => Caught::Terminate,
            _ = self.terminate.2.recv() => Caught::Terminate,
        }
    }
}

/// A program with all that it starts: a job.
pub struct ProcessGroup {
    id: u32,
    /// `None` when all have been killed, and for a program that ended before it could be put into a job.
    job: Option<Job>,
}

impl ProcessGroup {
    /// Starts a command. `_leads` matters to terminals of Unix alone.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn start(command: &mut Command, _leads: bool) -> io::Result<(Child, Self)> {
        let job = Job::create().map_err(io::Error::other)?;
        let child = command.spawn()?;
        let handle = child.raw_handle().map(|handle| handle as isize);
        let is_in = handle.is_some_and(|handle| job.assign_process(handle).is_ok());
        let id = child.id().unwrap_or_default();
        Ok((
            child,
            Self {
                id,
                job: is_in.then_some(job),
            },
        ))
    }

    /// Returns the id of the program itself.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Passes an event on: an interrupt has reached the program already, as all programs of the console, and only
    /// killing ends one from outside.
    pub fn pass(&mut self, child: &mut Child, caught: Caught) {
        if caught == Caught::Terminate {
            self.kill(child);
        }
    }

    /// Stops all where they are, or lets them go on. Returns whether this system can.
    pub fn pause(&mut self, _child: &mut Child, _paused: bool) -> bool {
        false
    }

    /// Kills all. Programs that have ended are ignored.
    pub fn kill(&mut self, child: &mut Child) {
        if let Some(job) = self.job.take()
            && let Ok(mut limits) = job.query_extended_limit_info()
        {
            // Dropping the job closes it.
            let _ = job.set_extended_limit_info(limits.limit_kill_on_job_close());
        }
        let _ = child.start_kill();
    }

    /// Returns whether a program of the job runs.
    pub fn is_running(&self) -> bool {
        let ids = self.job.as_ref().map(Job::query_process_id_list);
        ids.is_some_and(|ids| ids.is_ok_and(|ids| !ids.is_empty()))
    }
}

/// Returns a command that hands a line to the shell.
pub fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    // The line as it is: `cmd` has rules of its own for quotes.
    command.arg("/C").raw_arg(line);
    command
}

/// Returns the text about a program that ended without an exit code, which Windows does not know.
pub fn exit_text(status: ExitStatus) -> String {
    status.to_string()
}
