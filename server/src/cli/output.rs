//! The one place that prints: everything else returns text.

use std::io::{self, Write};

/// Prints text to standard output.
///
/// A reader that has gone away is no reason to stop: Consul goes on as well.
pub(super) fn out(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Prints text to standard error.
pub(super) fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
