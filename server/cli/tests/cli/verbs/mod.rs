//! The verbs that are clients of a server.

pub(super) mod acl;
pub(super) mod commands;
pub(super) mod compat;
pub(super) mod explore;
pub(super) mod lock;
pub(super) mod mesh;
pub(super) mod ready;
pub(super) mod replay;
pub(super) mod service_files;
pub(super) mod snapshots;

use std::fs;
use std::path::{Path, PathBuf};

/// A folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("the target folder can be written");
    }
    folder
}
