//! The only file here that reads the machine's time or sleeps.

#![expect(
    clippy::disallowed_methods,
    reason = "this program measures the machine's time; the server never reads it outside of its clock"
)]

use std::time::{Duration, Instant};

/// Time that passes from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// What has passed since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Lets other processes run, while a server starts or settles or is to be seen doing nothing.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
