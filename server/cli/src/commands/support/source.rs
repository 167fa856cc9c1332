//! Arguments that may name a file or standard input in place of their content.

use std::io::{ErrorKind, Read as _};

use proconsul_gocompat::syscall::error_text;

/// Returns the content of an argument: that of the file behind `@`, standard input for `-`, or the argument itself.
///
/// # Errors
/// Consul's text about a file that cannot be read.
pub(in crate::commands) fn load(argument: &str) -> Result<Vec<u8>, String> {
    if argument == "-" {
        let mut bytes = Vec::new();
        return match std::io::stdin().read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(format!("Failed to read stdin: {error}")),
        };
    }
    match argument.strip_prefix('@') {
        Some(path) => file(path).map_err(|error| format!("Failed to read file: {error}")),
        None => Ok(argument.as_bytes().to_vec()),
    }
}

/// Returns the content of an argument as text.
///
/// # Errors
/// Consul's text about a file that cannot be read.
pub(in crate::commands) fn load_text(argument: &str) -> Result<String, String> {
    load(argument).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the content of a file.
///
/// # Errors
/// Go's text, such as `open /a: no such file or directory`.
pub(in crate::commands) fn file(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| {
        // A folder can be opened.
        let step = match error.kind() {
            ErrorKind::IsADirectory => "read",
            _ => "open",
        };
        format!("{step} {path}: {}", error_text(&error))
    })
}
