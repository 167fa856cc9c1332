//! Files that the agent writes for other programs: its process id and its addresses.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use proconsul_os::{FileKind, Identity, file_kind};

/// The most names that are tried for the unfinished file.
const NAMES_TRIED: u32 = 100;

/// A written file. Dropping it deletes the file, unless another process has replaced it.
#[derive(Debug)]
pub(super) struct OwnFile {
    path: PathBuf,
    /// `None` for a file that another program has created.
    identity: Option<Identity>,
}

/// Checks that `path` can be written, without touching it.
///
/// # Errors
/// The path is neither a file nor a stream.
pub(super) fn check(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) => kind_of(path, &metadata).map(drop),
        // Creating the file may still fail.
        Err(_) => Ok(()),
    }
}

/// The kind of file at a path.
enum Kind {
    /// A regular file, which is replaced.
    File,
    /// A terminal or similar, which is written to.
    Stream,
    /// A FIFO, whose opening waits for a reader.
    Fifo,
}

fn kind_of(path: &Path, metadata: &Metadata) -> io::Result<Kind> {
    let kind = metadata.file_type();
    // A file behind a descriptor, such as a redirected /dev/stdout, belongs to another program.
    let descriptors = ["/dev/fd", "/dev/stderr", "/dev/stdout", "/proc"];
    let is_descriptor = descriptors.iter().any(|place| path.starts_with(place));
    let wrong = match file_kind(kind) {
        Some(FileKind::Fifo) => return Ok(Kind::Fifo),
        Some(FileKind::CharacterDevice) => return Ok(Kind::Stream),
        Some(FileKind::Socket) => "a socket",
        Some(FileKind::BlockDevice) => "a block device",
        None if kind.is_dir() => "a directory",
        None if is_descriptor => return Ok(Kind::Stream),
        None => return Ok(Kind::File),
    };
    Err(io::Error::other(format!(
        "this is {wrong}; expected a file, a FIFO or a character device"
    )))
}

impl OwnFile {
    /// Writes `text` to `path`. A regular file is replaced atomically; a stream is written to, and a FIFO when a reader
    /// opens it.
    ///
    /// # Errors
    /// Those of [`check`], and errors of the operating system. The path is unchanged then.
    pub(super) fn write(path: &Path, text: &str) -> io::Result<OwnFile> {
        match fs::metadata(path) {
            Ok(metadata) => match kind_of(path, &metadata)? {
                // The target of a symbolic link is replaced, not the link.
                Kind::File => replace(&fs::canonicalize(path)?, text),
                Kind::Stream => {
                    pour(path, text)?;
                    Ok(OwnFile::of_others(path))
                }
                Kind::Fifo => {
                    let (fifo, text) = (path.to_owned(), text.to_owned());
                    // A reader that has gone is ignored.
                    let wait = move || drop(pour(&fifo, &text));
                    std::thread::Builder::new()
                        .name("fifo".to_owned())
                        .spawn(wait)?;
                    Ok(OwnFile::of_others(path))
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => replace(path, text),
            Err(error) => Err(error),
        }
    }

    /// Returns a file of another program, which is not deleted.
    fn of_others(path: &Path) -> OwnFile {
        OwnFile {
            path: path.to_owned(),
            identity: None,
        }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let there = fs::metadata(&self.path).ok();
        let there = there.as_ref().map(Identity::of);
        if self.identity.is_some() && there == self.identity {
            // The file may be gone already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a new file and moves it to `path`.
fn replace(path: &Path, text: &str) -> io::Result<OwnFile> {
    let (unfinished, mut file) = create_beside(path)?;
    let written = file.write_all(text.as_bytes());
    // Windows may set the time of the last change when the file is closed.
    drop(file);
    let written = written
        .and_then(|()| fs::metadata(&unfinished))
        .and_then(|metadata| fs::rename(&unfinished, path).map(|()| metadata));
    match written {
        Ok(metadata) => Ok(OwnFile {
            path: path.to_owned(),
            identity: Some(Identity::of(&metadata)),
        }),
        Err(error) => {
            // The first error matters, not one of the clean-up.
            let _ = fs::remove_file(&unfinished);
            Err(error)
        }
    }
}

/// Creates a file with a free name in the same folder.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("expected the name of a file"))?;
    let mut number = 0;
    loop {
        let mut unfinished = name.to_owned();
        unfinished.push(format!(".{}.{number}.new", std::process::id()));
        let unfinished = path.with_file_name(unfinished);
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&unfinished);
        match created {
            Ok(file) => return Ok((unfinished, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < NAMES_TRIED => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Appends to an existing stream.
fn pour(path: &Path, text: &str) -> io::Result<()> {
    let mut stream = OpenOptions::new().append(true).open(path)?;
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder of this test.
    fn folder(name: &str) -> PathBuf {
        let name = format!("proconsul-own-file-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // An earlier run may have left it.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the machine has a folder for this");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder is there");
        let name = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.expect("the folder can be read");
            entry.file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_goes_away_with_its_owner() {
        let folder = folder("replaced");
        let path = folder.join("port");
        fs::write(&path, "left by another").expect("the folder can be written");
        let own = OwnFile::write(&path, "line\n").expect("the folder can be written");
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("line\n"));
        drop(own);
        assert!(names(&folder).is_empty());
    }

    #[test]
    fn what_has_taken_its_place_stays() {
        let folder = folder("taken");
        let path = folder.join("port");
        let own = OwnFile::write(&path, "first").expect("the folder can be written");
        let other = OwnFile::write(&path, "second").expect("the folder can be written");
        drop(own);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("second"));
        drop(other);
        assert!(names(&folder).is_empty());
    }

    #[test]
    fn what_cannot_be_replaced_stays_and_nothing_is_left_beside_it() {
        let folder = folder("stays");
        let path = folder.join("folder");
        fs::create_dir(&path).expect("the folder can be written");
        let refused = OwnFile::write(&path, "x").expect_err("it is a folder");
        assert_eq!(
            refused.to_string(),
            "this is a directory; expected a file, a FIFO or a character device"
        );
        let socket = folder.join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&socket).expect("a short path");
        let refused = check(&socket).expect_err("it is a socket");
        assert!(
            refused.to_string().starts_with("this is a socket"),
            "{refused}"
        );
        drop(listener);
        assert_eq!(names(&folder), ["folder", "socket"]);
        // A rename onto a folder fails after the file was written.
        replace(&path, "x").expect_err("it is a folder");
        assert_eq!(names(&folder), ["folder", "socket"]);
    }

    #[test]
    fn the_end_of_a_link_is_replaced() {
        let folder = folder("link");
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").expect("the folder can be written");
        std::os::unix::fs::symlink(&file, &link).expect("the folder can be written");
        let own = OwnFile::write(&link, "new").expect("the folder can be written");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("new"));
        drop(own);
        assert_eq!(names(&folder), ["link"]);
    }
}
