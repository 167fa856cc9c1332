//! Windows: events of the console in place of signals, job objects in place of process groups, no Unix sockets.

use std::convert::Infallible;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::windows::fs::MetadataExt;
use std::path::Path;
use std::process::ExitStatus;

use proconsul_h1::Stream;
use tokio::process::{Child, Command};
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};
use win32job::Job;

use super::{Caught, FileKind};

/// A listener that cannot exist: tokio has no Unix sockets for Windows.
#[derive(Debug)]
pub struct UnixListener(Infallible);

/// A connection that cannot exist, either.
#[derive(Debug)]
pub struct UnixStream(Infallible);

impl UnixListener {
    pub async fn accept(&self) -> io::Result<(UnixStream, ())> {
        match self.0 {}
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        match stream.0 {}
    }
}

/// Refuses to listen at a path.
///
/// # Errors
/// Always.
pub fn listen_at(_path: &Path, _backlog: u16) -> io::Result<UnixListener> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "proconsul has no Unix sockets on Windows: listen at an address with a port",
    ))
}

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

/// Distinguishes a file from another one at its path, and from itself after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    created: u64,
    length: u64,
    modified: u64,
}

impl Identity {
    /// Returns the identity of the file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            created: metadata.creation_time(),
            length: metadata.file_size(),
            modified: metadata.last_write_time(),
        }
    }
}

/// Returns the kind of a special file; `None` for regular files and folders.
pub fn file_kind(kind: FileType) -> Option<FileKind> {
    let is_other = !kind.is_file() && !kind.is_dir();
    is_other.then_some(FileKind::CharacterDevice)
}
