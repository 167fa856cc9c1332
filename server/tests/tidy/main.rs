//! The repository checks itself (design rule 10): circles of files, what is banned, how large things are, what
//! nobody uses, and whether the documents tell the truth.

mod circles;
mod documents;
mod endpoints;
mod links;
mod routes;
mod sources;
mod versions;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    let server = Path::new(env!("CARGO_MANIFEST_DIR"));
    server
        .parent()
        .expect("the crate lies in a workspace")
        .into()
}

/// A text file of the repository.
struct File {
    /// Relative to the root, with slashes.
    path: String,
    text: String,
}

/// Every text file that belongs to the repository, in the order of the paths.
fn files() -> Vec<File> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(
        found.len() > 50,
        "the repository is found, and not only a part of it"
    );
    found
}

/// The files that end in `.rs`.
fn rust_files() -> Vec<File> {
    let mut files = files();
    files.retain(|file| file.path.ends_with(".rs"));
    files
}

fn collect(folder: &Path, found: &mut Vec<File>) {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository can be read");
    for entry in entries {
        let path = entry
            .expect("a folder of the repository can be read")
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            // Build output and what other tools install is not ours.
            if !matches!(
                &*name,
                "target" | ".git" | "node_modules" | "__pycache__" | ".venv"
            ) {
                collect(&path, found);
            }
        } else if !matches!(&*name, "Cargo.lock" | ".git")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let relative = path
                .strip_prefix(root())
                .expect("the file lies below the root");
            found.push(File {
                path: relative.to_string_lossy().replace('\\', "/"),
                text,
            });
        }
    }
}

/// Fails with all complaints at once.
fn assert_none(what: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{what}:\n{}", complaints.join("\n"));
}
