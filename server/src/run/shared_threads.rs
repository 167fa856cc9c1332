//! The threads of the servers that are embedded in tests: as many as the machine can run at once, for all servers of the
//! process.
//!
//! A server stays on one of them, which handles its requests one after the other. A thread for each server would cost a
//! stack, a runtime and three open files, and most of the time that a server takes to start.

use std::cell::Cell;
use std::future::pending;
use std::io;
use std::thread::Builder;

use parking_lot::Mutex;
use tokio::runtime::{self, Handle};

use super::host;
use proconsul_os::CORES;

/// Those of this process.
pub(super) static THREADS: SharedThreads = SharedThreads(Mutex::new((Vec::new(), 0)));

/// The runtimes of the threads, and the number of servers that have got one.
pub(super) struct SharedThreads(Mutex<(Vec<Handle>, usize)>);

thread_local! {
    static IS_SHARED: Cell<bool> = const { Cell::new(false) };
}

impl SharedThreads {
    /// Returns the runtime for the next server. The threads take turns, and are started when they are first needed.
    ///
    /// # Errors
    /// The operating system has no thread or event queue left.
    pub(super) fn next(&self) -> io::Result<Handle> {
        let mut guard = self.0.lock();
        let (threads, servers) = &mut *guard;
        if threads.len() < (*CORES).min(*servers + 1) {
            threads.push(start()?);
        }
        let next = *servers % threads.len();
        *servers += 1;
        Ok(threads[next].clone())
    }
}

/// Returns whether this is one of the threads, which never waits for a server: it may be its own.
pub(super) fn is_this_one() -> bool {
    IS_SHARED.get()
}

fn start() -> io::Result<Handle> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let handle = runtime.handle().clone();
    let thread = Builder::new().name("proconsul".into());
    thread.spawn(move || {
        IS_SHARED.set(true);
        host::serve_on_this_thread();
        runtime.block_on(pending::<()>());
    })?;
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread::{self, ThreadId};

    use super::{CORES, Mutex, SharedThreads, THREADS, is_this_one};

    fn this_thread() -> (ThreadId, bool) {
        (thread::current().id(), is_this_one())
    }

    #[tokio::test]
    async fn servers_take_turns_on_as_many_threads_as_the_machine_runs_at_once() {
        let all = *CORES;
        let shared = SharedThreads(Mutex::default());
        let mut threads = HashSet::new();
        for _ in 0..4 * all {
            let runtime = shared.next().expect("a thread");
            let (thread, is_shared) = runtime.spawn(async { this_thread() }).await.expect("done");
            assert!(is_shared);
            threads.insert(thread);
        }
        assert_eq!(threads.len(), all);
        assert!(!is_this_one());
    }

    #[tokio::test]
    async fn a_panic_ends_the_task_and_not_the_thread() {
        let runtime = THREADS.next().expect("a thread");
        let panicked = runtime.spawn(async { panic!("a bug of ours") }).await;
        assert!(panicked.is_err_and(|error| error.is_panic()));
        runtime.spawn(async {}).await.expect("the thread goes on");
    }
}
