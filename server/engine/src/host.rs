//! What an engine needs of the program that it runs in: the time that passes there, timers, and other threads.
//!
//! An engine has no clock, thread or runtime of its own. A driver gives it a [`Host`]: one of the machine's clock, one of a
//! runtime's, or a [`ManualHost`], whose time moves when its caller says so.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

/// A future of any type.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Work for another thread.
pub type Job = Box<dyn FnOnce() + Send>;

/// The surroundings of a server.
pub trait Host: Debug + Send + Sync {
    /// Returns the time that has passed since a moment that never changes.
    fn elapsed(&self) -> Duration;

    /// Returns the wall clock, as the time since the Unix epoch.
    fn wall(&self) -> Duration;

    /// Sleeps. The future is polled by a task of the server.
    fn sleep(&self, duration: Duration) -> Boxed<()>;

    /// Sleeps as [`Host::sleep`] does, and may be polled by anybody: by the thread of a test, which has no runtime.
    fn sleep_anywhere(&self, duration: Duration) -> Boxed<()> {
        self.sleep(duration)
    }

    /// Returns whether this thread serves many, so that long work is to go on on another one.
    fn serves_here(&self) -> bool {
        false
    }

    /// Does work on another thread if there are any.
    fn spawn(&self, job: Job) {
        job();
    }

    /// Returns the operating system and the architecture that the agent says it runs on, in Rust's words.
    fn system(&self) -> (&'static str, &'static str) {
        ("linux", "x86_64")
    }

    /// Returns the program and its arguments, which `/debug/pprof/cmdline` shows.
    fn command_line(&self) -> Vec<String> {
        vec!["consul".to_owned()]
    }

    /// Reads a file; `None` if there is none.
    fn read_file(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Removes a file, if that is possible.
    fn remove_file(&self, _path: &Path) {}
}

/// A host without threads, whose time its caller moves. Clones share it.
#[derive(Clone, Debug)]
pub struct ManualHost {
    /// The wall clock at the start, as the time since the Unix epoch.
    started: Duration,
    timers: Arc<Mutex<Timers>>,
}

#[derive(Debug, Default)]
struct Timers {
    now: Duration,
    /// The number of the last timer, which orders those that end at the same time.
    last: u64,
    waiting: BTreeMap<(Duration, u64), Waker>,
}

impl ManualHost {
    /// Returns a host whose wall clock is now at `started`, as the time since the Unix epoch.
    #[must_use]
    pub fn new(started: Duration) -> Self {
        Self {
            started,
            timers: Arc::default(),
        }
    }

    /// Returns when the first timer ends, as [`Host::elapsed`] has it.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        let timers = self.timers.lock();
        timers.waiting.keys().next().map(|(at, _)| *at)
    }

    /// Moves the time on to `now`, and wakes the tasks whose timers have ended, in their order. Time never goes back.
    pub fn advance_to(&self, now: Duration) {
        let mut timers = self.timers.lock();
        timers.now = timers.now.max(now);
        let now = timers.now;
        let later = timers.waiting.split_off(&(now, u64::MAX));
        let ended = std::mem::replace(&mut timers.waiting, later);
        drop(timers);
        ended.into_values().for_each(Waker::wake);
    }
}

impl Host for ManualHost {
    fn elapsed(&self) -> Duration {
        self.timers.lock().now
    }

    fn wall(&self) -> Duration {
        self.started + self.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Boxed<()> {
        let mut timers = self.timers.lock();
        timers.last += 1;
        let key = (timers.now.saturating_add(duration), timers.last);
        drop(timers);
        let timers = Arc::clone(&self.timers);
        Box::pin(Sleep { timers, key })
    }
}

struct Sleep {
    timers: Arc<Mutex<Timers>>,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.timers.lock();
        if timers.now >= self.key.0 {
            return Poll::Ready(());
        }
        timers.waiting.insert(self.key, task.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.timers.lock().waiting.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};
    use std::time::Duration;

    use super::{Host, ManualHost};

    #[test]
    fn timers_end_when_their_time_has_come_and_are_forgotten_when_dropped() {
        let host = ManualHost::new(Duration::from_secs(100));
        let second = Duration::from_secs(1);
        let mut task = Context::from_waker(Waker::noop());
        let (mut first, mut other) = (host.sleep(second), host.sleep(2 * second));
        assert_eq!(host.next(), None, "nobody has asked them yet");
        assert!(first.as_mut().poll(&mut task).is_pending());
        assert!(other.as_mut().poll(&mut task).is_pending());
        assert_eq!(host.next(), Some(second));
        host.advance_to(second);
        assert!(first.as_mut().poll(&mut task).is_ready());
        assert!(other.as_mut().poll(&mut task).is_pending());
        assert_eq!(host.next(), Some(2 * second));
        drop(other);
        assert_eq!(host.next(), None);
        assert_eq!(host.wall(), 101 * second);
    }
}
