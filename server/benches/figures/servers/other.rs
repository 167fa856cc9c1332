//! Another commit to compare with, built once and kept below `target/figures`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cargo::{cargo, commit, folder, git};

/// What there is of another commit.
#[derive(Debug)]
pub(crate) struct Other {
    /// What the table calls it.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    /// This program, with the other commit's library in it; `None` where only the binary is known, or where this program does
    /// not compile with that library.
    pub(crate) embedder: Option<PathBuf>,
    pub(crate) source: Option<PathBuf>,
}

impl Other {
    /// A program of which no more is known.
    pub(crate) fn binary(program: &str) -> Self {
        Self {
            name: program.to_owned(),
            program: program.into(),
            embedder: None,
            source: None,
        }
    }

    /// What was built of a commit, which is built now if it was not.
    pub(crate) fn commit(revision: &str) -> Self {
        let name = commit(&format!("{revision}^{{commit}}"));
        let kept = folder(&name);
        let [source, program, embedder] =
            ["source", "proconsul", "figures"].map(|name| kept.join(name));
        if !program.is_file() {
            let built = build(&name, &kept, &source);
            built.unwrap_or_else(|error| panic!("commit {name}: {error}"));
        }
        Self {
            name,
            program,
            embedder: Some(embedder).filter(|embedder| embedder.is_file()),
            source: Some(source),
        }
    }
}

/// Builds the binary, and this program with the commit's library in place of the program that the commit had.
fn build(name: &str, kept: &Path, source: &Path) -> io::Result<()> {
    eprintln!("commit {name} is built, once, in {}", kept.display());
    let _ = fs::remove_dir_all(kept);
    let worktree = source.to_string_lossy();
    git(&["worktree", "add", "--force", "--detach", &worktree, name])?;
    let figures = source.join("server/benches/figures");
    fs::remove_dir_all(&figures)?;
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/figures"),
        &figures,
    )?;
    let target = kept.join("build");
    let arguments = ["bench", "--no-run", "--bench", "figures"];
    if cargo(source, &target, &arguments).status()?.success() {
        let programs = fs::read_dir(target.join("release/deps"))?.flatten();
        let is_figures = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("figures-") && path.extension().is_none()
        };
        let built = programs.map(|entry| entry.path()).find(is_figures);
        let built = built.ok_or(io::ErrorKind::NotFound)?;
        fs::copy(built, kept.join("figures"))?;
    } else {
        eprintln!(
            "this program does not compile with that library: no embedded servers are measured"
        );
        let arguments = ["build", "--profile=bench", "--bin", "proconsul"];
        let built = cargo(source, &target, &arguments).status()?;
        if !built.success() {
            return Err(io::Error::other("it does not build"));
        }
    }
    fs::copy(target.join("release/proconsul"), kept.join("proconsul"))?;
    fs::remove_dir_all(target)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
