//! The only place that prints. Other code returns text.

pub(super) mod writer;

use std::io::{self, Write};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use crate::output::writer::{Importance, Writer};

type Start = Box<dyn FnOnce() -> Option<Writer> + Send>;

/// The writer of standard output, once an agent has one. The first line starts it: an agent that logs nothing has no thread for
/// it.
static WRITER: OnceLock<LazyLock<Option<Writer>, Start>> = OnceLock::new();

/// How long the process waits at its end for unwritten output. A reader that takes longer has gone or hangs.
const WRITTEN_WITHIN: Duration = Duration::from_millis(500);

/// Writes standard output in a thread of its own from now on, so that printing never waits for the reader; where the operating
/// system starts no thread, as before. `dropped` makes a line about a number of dropped lines.
pub(super) fn write_in_background(dropped: impl Fn(u64) -> String + Send + 'static) {
    // A process runs one agent; a second writer would have nothing to write.
    WRITER.get_or_init(|| LazyLock::new(Box::new(|| Writer::start(io::stdout(), dropped).ok())));
}

fn writer() -> Option<&'static Writer> {
    WRITER.get()?.as_ref()
}

/// Prints text to standard output.
///
/// A reader that has gone is ignored, as in Consul.
pub(super) fn out(text: &str) {
    line(text, Importance::Awaited);
}

/// Prints a line of the log.
pub(super) fn line(text: &str, importance: Importance) {
    if let Some(writer) = writer() {
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
    if let Some(writer) = writer() {
        writer.drain(WRITTEN_WITHIN);
    }
}

/// Prints text to standard error.
pub(super) fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
