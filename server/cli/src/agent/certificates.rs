//! The files of `-https-dev`: certificates that were made for this process.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use tracing::info;

use super::own_file::OwnFile;
use proconsul::process::DevCertificates;
use proconsul_config::resolve::Resolved;
use proconsul_gocompat::syscall::error_text;

/// The written files. They are deleted when this is dropped, and their folder with them if it was made for them.
#[derive(Debug)]
pub(super) struct Written {
    folder: PathBuf,
    is_own: bool,
    files: Vec<OwnFile>,
}

impl Written {
    /// Returns the path of the authority's certificate.
    pub(super) fn authority(&self) -> String {
        self.folder.join("ca.pem").display().to_string()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.files.clear();
        if self.is_own {
            // A folder in which a test has put something stays.
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

/// Writes the certificates that were made for HTTPS, if any, and logs where they are.
///
/// # Errors
/// A text about a file that cannot be written.
pub(super) fn write(
    resolved: &Resolved,
    made: Option<&DevCertificates>,
) -> Result<Option<Written>, String> {
    let Some(files) = made.map(files) else {
        return Ok(None);
    };
    let temporary = || {
        let name = format!("proconsul-https-{}", std::process::id());
        std::env::temp_dir().join(name)
    };
    let given = resolved.https_dev_dir.clone();
    let mut written = Written {
        is_own: given.is_none(),
        folder: given.unwrap_or_else(temporary),
        files: Vec::new(),
    };
    let folder = &written.folder;
    let mut maker = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o755);
    let made = maker.recursive(true).create(folder);
    made.map_err(|error| unwritten(folder, &error))?;
    for (name, text) in files {
        let path = written.folder.join(name);
        let file = write_one(&path, text).map_err(|error| unwritten(&path, &error))?;
        written.files.push(file);
    }
    let folder = written.folder.display();
    info!(
        target: "agent",
        ca_file = written.authority(),
        "proconsul: the certificates for HTTPS are in {folder}: ca.pem, server.pem, server-key.pem, client.pem, client-key.pem"
    );
    Ok(Some(written))
}

fn write_one(path: &Path, text: &str) -> io::Result<OwnFile> {
    let file = OwnFile::write(path, text)?;
    // Programs may refuse keys that others can read. On Windows a user's temporary files are readable for that user alone.
    #[cfg(unix)]
    if path.to_string_lossy().ends_with("-key.pem") {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    let (path, error) = (path.display(), error_text(error));
    format!("https-dev: {path}: {error}")
}

fn files(made: &DevCertificates) -> [(&'static str, &str); 5] {
    [
        ("ca.pem", &made.authority),
        ("server.pem", &made.server.certificate),
        ("server-key.pem", &made.server.key),
        ("client.pem", &made.client.certificate),
        ("client-key.pem", &made.client.key),
    ]
}
