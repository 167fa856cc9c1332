//! The only file here that reads the machine's time or sleeps.

use std::time::{Duration, Instant};

/// Time that passes from now on.
#[derive(Clone, Copy)]
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

/// How long this thread has been on a processor. Zero where the system does not tell: only Linux does.
pub(crate) fn own_cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = told
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    Duration::from_nanos(first.unwrap_or(0))
}

/// Lets a request arrive and begin to wait.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
