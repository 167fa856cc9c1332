//! The only place that prints. Other code returns text.

pub(super) mod writer;

use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::Duration;

use crate::cli::output::writer::{Importance, Writer};

/// The writer of standard output, once an agent has started one.
static WRITER: OnceLock<Writer> = OnceLock::new();

/// How long the process waits at its end for unwritten output. A reader that takes longer has gone or hangs.
const WRITTEN_WITHIN: Duration = Duration::from_millis(500);

/// Writes standard output in a thread of its own from now on, so that printing never waits for the reader. `dropped`
/// makes a line about a number of dropped lines.
///
/// # Errors
/// The operating system cannot start a thread.
pub(super) fn write_in_background(
    dropped: impl Fn(u64) -> String + Send + 'static,
) -> io::Result<()> {
    let writer = Writer::start(io::stdout(), dropped)?;
    // A process runs one agent; a second writer would have nothing to write.
    WRITER.get_or_init(|| writer);
    Ok(())
}

/// Prints text to standard output.
///
/// A reader that has gone is ignored, as in Consul.
pub(super) fn out(text: &str) {
    line(text, Importance::Awaited);
}

/// Prints a line of the log.
pub(super) fn line(text: &str, importance: Importance) {
    if let Some(writer) = WRITER.get() {
        writer.push(text, importance);
        return;
    }
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Waits until the output is written, at most [`WRITTEN_WITHIN`], before the process exits.
pub(super) fn finish() {
    if let Some(writer) = WRITER.get() {
        writer.drain(WRITTEN_WITHIN);
    }
}

/// Prints text to standard error.
pub(super) fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
