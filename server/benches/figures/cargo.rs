//! Cargo and Git, and where what they make is kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A place below `target/` for what this program keeps.
pub(crate) fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let kept = root
        .expect("the crate lies in a workspace")
        .join("target/figures");
    fs::create_dir_all(&kept).expect("the target folder can be written");
    kept.join(name)
}

/// Cargo in a folder, with all that it builds in another. What Cargo has told this program of its own build is not passed on.
pub(crate) fn cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
        .args(arguments)
        .args(["--color", "never"])
        .current_dir(folder);
    command.env("CARGO_TARGET_DIR", target);
    command
}

/// The short name of a commit.
pub(crate) fn commit(revision: &str) -> String {
    let arguments = ["rev-parse", "--short=12", revision];
    git(&arguments).unwrap_or_else(|error| panic!("git does not know {revision}: {error}"))
}

/// What Git prints.
pub(crate) fn git(arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new("git");
    let output = command
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
