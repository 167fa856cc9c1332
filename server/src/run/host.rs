//! What servers of this crate run in: the machine's clock, and the threads of a tokio runtime.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, thread};

use tokio::runtime::{Handle, worker_index};

use proconsul_engine::host::{Boxed, Host, Job};
use proconsul_os::time;

thread_local! {
    /// Whether this thread serves connections.
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// Has long work leave this thread from now on. On other threads all work stays: where a test runs a server in a runtime of
/// its own, the order in which things happen is the test's.
pub fn serve_on_this_thread() {
    SERVES.set(true);
}

/// The machine that this process runs on.
#[derive(Debug)]
pub(crate) struct MachineHost;

impl MachineHost {
    pub(crate) fn shared() -> Arc<dyn Host> {
        Arc::new(Self)
    }
}

impl Host for MachineHost {
    fn elapsed(&self) -> Duration {
        time::elapsed()
    }

    fn wall(&self) -> Duration {
        time::wall_clock()
    }

    fn sleep(&self, duration: Duration) -> Boxed<()> {
        Box::pin(time::delay(duration))
    }

    fn sleep_anywhere(&self, duration: Duration) -> Boxed<()> {
        Box::pin(time::delay_anywhere(duration))
    }

    fn serves_here(&self) -> bool {
        // The threads of `spawn_blocking` are no workers.
        SERVES.get() && worker_index().is_some()
    }

    fn spawn(&self, job: Job) {
        match Handle::try_current() {
            // Not awaited: the job says itself when it is done. The runtime may end, and with it all that it has begun.
            Ok(runtime) => drop(runtime.spawn_blocking(job)),
            // A thread that cannot be had drops what it was given.
            Err(_) => drop(thread::Builder::new().spawn(job)),
        }
    }

    fn system(&self) -> (&'static str, &'static str) {
        (env::consts::OS, env::consts::ARCH)
    }

    fn command_line(&self) -> Vec<String> {
        env::args().collect()
    }

    fn read_file(&self, path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    fn remove_file(&self, path: &Path) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::thread::{self, ThreadId};

    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::{MachineHost, SERVES};
    use proconsul_engine::aside::{Work, leave};
    use proconsul_engine::host::Boxed;

    fn here() -> ThreadId {
        thread::current().id()
    }

    fn work<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Work<T> {
        Work::new(&MachineHost::shared(), Box::pin(work), false)
    }

    fn long<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Work<T> {
        Work::new(&MachineHost::shared(), Box::pin(work), true)
    }

    /// Runs a test on a thread that serves.
    fn serving(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        SERVES.set(true);
        runtime.expect("a runtime").block_on(test);
        SERVES.set(false);
    }

    #[test]
    fn work_leaves_where_it_asks_for_that_and_comes_back_after_a_wait() {
        serving(async {
            let (sender, receiver) = oneshot::channel();
            let (stands, has_stopped) = oneshot::channel();
            let work = work(async move {
                let before = here();
                leave().await;
                let after = here();
                let (mut receiver, mut stands) = (receiver, Some(stands));
                poll_fn(|task| {
                    let polled = Pin::new(&mut receiver).poll(task);
                    if let Some(stands) = stands.take() {
                        stands.send(()).expect("somebody listens");
                    }
                    polled
                })
                .await
                .expect("somebody sends");
                [before, after, here()]
            });
            let done = tokio::spawn(work);
            has_stopped.await.expect("it waits");
            sender.send(()).expect("somebody listens");
            let [before, after, behind_the_wait] = done.await.expect("no panic");
            assert_eq!([before, behind_the_wait], [here(), here()]);
            assert_ne!(after, here());
        });
    }

    #[test]
    fn long_work_never_runs_here() {
        serving(async {
            let (sender, receiver) = oneshot::channel();
            let work = long(async move {
                let before = here();
                receiver.await.expect("somebody sends");
                [before, here()]
            });
            let work = tokio::spawn(work);
            yield_now().await;
            sender.send(()).expect("somebody listens");
            assert!(!work.await.expect("no panic").contains(&here()));
        });
    }

    #[tokio::test]
    async fn in_the_runtime_of_a_test_all_work_stays() {
        for is_long in [false, true] {
            let here_after_all: Boxed<ThreadId> = Box::pin(async {
                leave().await;
                here()
            });
            let done = Work::new(&MachineHost::shared(), here_after_all, is_long);
            assert_eq!(done.await, here());
        }
    }

    #[test]
    fn a_panic_is_that_of_the_caller() {
        serving(async {
            let work = long(async {
                if true {
                    panic!("a bug of ours")
                }
            });
            let ended = tokio::spawn(work).await;
            assert!(ended.is_err_and(|error| error.is_panic()));
        });
    }
}
