//! The one place that prints: everything else returns text.

pub(super) mod writer;

use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::Duration;

use crate::cli::output::writer::{Importance, Writer};

/// The writer of standard output, once an agent has started one.
static WRITER: OnceLock<Writer> = OnceLock::new();

/// How long the end of a process waits for what is not written yet. Who reads nothing then has gone or hangs.
const WRITTEN_WITHIN: Duration = Duration::from_millis(500);

/// From now on standard output is written by a thread of its own, so that printing never waits for the reader. `dropped` makes a
/// line of the number of lines that were left out because they were not read in time.
///
/// # Errors
/// The operating system gives no thread.
pub(super) fn write_in_background(
    dropped: impl Fn(u64) -> String + Send + 'static,
) -> io::Result<()> {
    let writer = Writer::start(io::stdout(), dropped)?;
    // A process runs one agent; a second writer would have nothing to write.
    WRITER.get_or_init(|| writer);
    Ok(())
}

/// Prints text to standard output, after all that was printed before.
///
/// A reader that has gone away is no reason to stop: Consul goes on as well.
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

/// Waits for a moment until all that was printed is written: the process ends.
pub(super) fn finish() {
    if let Some(writer) = WRITER.get() {
        writer.drain(WRITTEN_WITHIN);
    }
}

/// Prints text to standard error.
pub(super) fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
