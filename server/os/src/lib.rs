//! What operating systems do differently: Unix sockets, special files, and, with the feature `processes`,
//! signals and programs with all that they start; how many threads run at once; and the time.

#[cfg(feature = "processes")]
pub mod process;
pub mod time;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

#[cfg(unix)]
pub use unix::{Identity, UnixListener, file_kind, listen_at};
#[cfg(windows)]
pub use windows::{Identity, UnixListener, UnixStream, file_kind, listen_at};

/// How many threads the machine runs at once, as far as this process may use it. Linux says so in files, and so it is
/// asked once.
pub static CORES: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

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
