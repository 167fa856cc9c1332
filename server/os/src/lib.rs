//! What operating systems do differently: signals, programs with all that they start, Unix sockets, special files; and
//! how many threads run at once.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

#[cfg(unix)]
pub use unix::{
    Identity, ProcessGroup, Signals, UnixListener, exit_text, file_kind, listen_at, shell,
};
#[cfg(windows)]
pub use windows::{
    Identity, ProcessGroup, Signals, UnixListener, exit_text, file_kind, listen_at, shell,
};

/// How many threads the machine runs at once, as far as this process may use it. Linux says so in files, and so it is
/// asked once.
pub static CORES: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

/// A caught signal, or what Windows has in its place, where nothing is a hangup.
#[cfg_attr(windows, allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    /// SIGHUP: reload.
    Hangup,
    /// SIGINT, or Ctrl-C.
    Interrupt,
    /// SIGTERM, or the end of the session.
    Terminate,
}

impl Caught {
    /// Returns Go's name of the signal, for the log.
    pub fn name(self) -> &'static str {
        match self {
            Caught::Hangup => "hangup",
            Caught::Interrupt => "interrupt",
            Caught::Terminate => "terminated",
        }
    }

    /// Returns the number of the signal, for the log in JSON.
    pub fn number(self) -> u8 {
        match self {
            Caught::Hangup => 1,
            Caught::Interrupt => 2,
            Caught::Terminate => 15,
        }
    }
}

/// What a path may name besides a regular file and a folder; on Windows, devices alone.
#[cfg_attr(windows, allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A named pipe.
    Fifo,
    /// A device of bytes.
    CharacterDevice,
    /// A device of blocks.
    BlockDevice,
    /// A Unix socket.
    Socket,
}
