//! Lists beside the folders of recordings, which say per release what is expected of a replay.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::case::version::Version;
use crate::target::site::ToolError;

/// The entries of one release in a file beside the folder of its recordings; none where there is no file.
///
/// # Errors
/// A file that cannot be read or is something else.
pub(super) fn entries<T: DeserializeOwned>(
    folder: &Path,
    file: &str,
    version: Version,
) -> Result<BTreeMap<String, T>, ToolError> {
    let file = folder.parent().unwrap_or(Path::new(".")).join(file);
    let wrong = |why: &str| ToolError(format!("{}: {why}", file.display()));
    match fs::read_to_string(&file) {
        Ok(text) => of_release(&text, version).map_err(|error| wrong(error.message())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// The entries below `["1.22.0"]`.
pub(super) fn of_release<T: DeserializeOwned>(
    text: &str,
    version: Version,
) -> Result<BTreeMap<String, T>, toml::de::Error> {
    let mut releases: BTreeMap<String, BTreeMap<String, T>> = toml::from_str(text)?;
    Ok(releases.remove(&version.to_string()).unwrap_or_default())
}
