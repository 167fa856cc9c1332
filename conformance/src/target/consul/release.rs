//! Which release a binary is of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::case::version::Version;
use crate::target::site::ToolError;

/// What a binary says of its version, line by line.
///
/// # Errors
/// It does not run.
pub(super) fn version_text(binary: &Path) -> Result<String, ToolError> {
    let output = Command::new(binary)
        .arg("version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ToolError(format!("cannot run {}: {error}", binary.display())))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the release of a binary; `None` where it does not say one. A process asks a binary once.
pub(super) fn release_of(binary: &Path) -> Option<Version> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Option<Version>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(release) = known.get(binary) {
        return *release;
    }
    let release = version_text(binary).ok().and_then(|text| release_in(&text));
    known.insert(binary.to_owned(), release);
    release
}

/// The release in the first line, which is `Consul v1.22.0` or `Consul v1.18.1+ent`.
fn release_in(text: &str) -> Option<Version> {
    let release = text.lines().next()?.strip_prefix("Consul v")?;
    let end = release.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    release[..end.unwrap_or(release.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_says_the_release() {
        let of = |text: &str| release_in(text).map(|release| release.to_string());
        assert_eq!(of("Consul v1.8.7\nProtocol 2").as_deref(), Some("1.8.7"));
        assert_eq!(of("Consul v1.18.1+ent\n").as_deref(), Some("1.18.1"));
        assert_eq!(of("Consul v1.14.0-beta1\n").as_deref(), Some("1.14.0"));
        for text in ["", "1.8.7", "Consul", "Consul vdev"] {
            assert_eq!(of(text), None, "{text:?}");
        }
    }
}
