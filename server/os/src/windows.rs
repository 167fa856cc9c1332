//! Windows: devices alone are special files, and there are no Unix sockets.

use std::convert::Infallible;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::windows::fs::MetadataExt;
use std::path::Path;

use super::FileKind;

/// A listener that cannot exist: tokio has no Unix sockets for Windows.
#[derive(Debug)]
pub struct UnixListener(Infallible);

/// A connection that cannot exist, either.
#[derive(Debug)]
pub enum UnixStream {}

impl UnixListener {
    /// Accepts no connection: there is no listener.
    ///
    /// # Errors
    /// None: it is never called.
    pub async fn accept(&self) -> io::Result<(UnixStream, ())> {
        match self.0 {}
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
