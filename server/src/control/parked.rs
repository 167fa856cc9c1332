//! Waiting on a thread. Everything that waits is written once, as a future; the synchronous form parks its thread until
//! the future is ready.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Handle, RuntimeFlavor, worker_index};

/// Returns whether this thread runs the tasks of a tokio current-thread runtime, so that all of them stop while it is
/// parked. False on the threads of `spawn_blocking`.
pub(super) fn stops_its_runtime() -> bool {
    runs_tasks_of(&RuntimeFlavor::CurrentThread)
}

fn runs_tasks_of(flavor: &RuntimeFlavor) -> bool {
    let here = Handle::try_current();
    here.is_ok_and(|runtime| runtime.runtime_flavor() == *flavor) && worker_index().is_some()
}

/// Runs a future on this thread, which is parked while the future is pending. A worker of a multi-thread runtime hands
/// its tasks to another thread first.
pub(super) fn park_on<T>(future: impl Future<Output = T>) -> T {
    if runs_tasks_of(&RuntimeFlavor::MultiThread) {
        tokio::task::block_in_place(|| poll_parked(future))
    } else {
        poll_parked(future)
    }
}

fn poll_parked<T>(future: impl Future<Output = T>) -> T {
    // A task that has used up its budget is woken when it returns to its runtime, and a parked one never does.
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
