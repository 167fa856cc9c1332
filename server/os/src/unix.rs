//! Linux, macOS and the other Unixes.

use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use socket2::SockRef;

use super::FileKind;

pub use tokio::net::UnixListener;

/// Binds a Unix socket with a backlog of this length.
///
/// # Errors
/// The operating system's error.
pub fn listen_at(path: &Path, backlog: u16) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    SockRef::from(&listener).listen(backlog.into())?;
    Ok(listener)
}

/// Distinguishes a file from another one at its path, and from itself after a change. The inode alone is not enough: a
/// new file may get that of a deleted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    number: u64,
    length: u64,
    modified: (i64, i64),
}

impl Identity {
    /// Returns the identity of the file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            number: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Returns the kind of a special file; `None` for regular files and folders.
pub fn file_kind(kind: FileType) -> Option<FileKind> {
    if kind.is_fifo() {
        Some(FileKind::Fifo)
    } else if kind.is_char_device() {
        Some(FileKind::CharacterDevice)
    } else if kind.is_block_device() {
        Some(FileKind::BlockDevice)
    } else if kind.is_socket() {
        Some(FileKind::Socket)
    } else {
        None
    }
}
