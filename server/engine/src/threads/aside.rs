//! Long work beside the thread that serves. One thread serves many connections, one request after the other, so a request
//! that turns out to be long goes on on another thread, and nobody waits for it.
//!
//! Whether it does follows from what a request is about to do, not from the time that it takes: from the rows that a read
//! goes through, from the bytes of a body. A short request stays where it is and pays nothing.

use std::cell::Cell;
use std::future::poll_fn;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::thread;

use parking_lot::Mutex;
use tokio::runtime::worker_index;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::engine::Engine;

/// The most rows that the thread that serves goes through, shows or frees at once: some milliseconds of work.
pub const MANY_ROWS: usize = 2048;
/// The longest text that it decodes or compresses at once.
pub const MANY_BYTES: usize = 128 * 1024;

thread_local! {
    /// Whether this thread serves connections.
    static SERVES: Cell<bool> = const { Cell::new(false) };
    /// Whether what this thread does can go on on another one.
    static LEAVING: Cell<Leaving> = const { Cell::new(Leaving::Impossible) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Impossible,
    Possible,
    Asked,
}

/// Has long work leave this thread from now on. On other threads all work stays: where a test runs a server in a runtime of
/// its own, the order in which things happen is the test's.
pub fn serve_on_this_thread() {
    SERVES.set(true);
}

/// Goes on on another thread if this one serves connections, up to the next wait. Only [`Work`] can do so.
pub async fn leave() {
    poll_fn(|_| match LEAVING.get() {
        Leaving::Impossible => Poll::Ready(()),
        Leaving::Possible | Leaving::Asked => {
            LEAVING.set(Leaving::Asked);
            Poll::Pending
        }
    })
    .await;
}

/// Frees what has so many rows, on a thread of its own if they are many.
pub fn free<T: Send + 'static>(rows: usize, freed: T) {
    if rows > MANY_ROWS {
        // A thread that cannot be had drops what it was given.
        let _ = thread::Builder::new().spawn(move || drop(freed));
    }
}

/// A future of any type.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A future that can go on on another thread.
pub struct Work<T> {
    place: Place<T>,
    is_long: bool,
}

enum Place<T> {
    Here(Boxed<T>),
    /// On another thread, until it is done or waits.
    Aside(JoinHandle<(Boxed<T>, Poll<T>)>, Arc<Signal>),
    Over,
}

impl<T: Send + 'static> Work<T> {
    /// Returns work that leaves this thread where it asks for that.
    pub fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::of(Box::pin(work), false)
    }

    /// Returns [`Work::long`] or [`Work::new`] of a future that is boxed already.
    pub fn of(work: Boxed<T>, is_long: bool) -> Self {
        Self {
            place: Place::Here(work),
            is_long,
        }
    }

    /// Returns work no part of which is done on a thread that serves.
    pub fn long(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::of(Box::pin(work), true)
    }

    /// Does the next part of the work. Returns the result, or the place of the work.
    fn go_on(&self, mut work: Boxed<T>, task: &mut Context<'_>) -> Result<T, Place<T>> {
        // The threads of `spawn_blocking` are no workers.
        let may_leave = SERVES.get() && worker_index().is_some();
        if !(self.is_long && may_leave) {
            let leaving = if may_leave {
                Leaving::Possible
            } else {
                Leaving::Impossible
            };
            let outer = LEAVING.replace(leaving);
            let polled = work.as_mut().poll(task);
            let is_asked = LEAVING.replace(outer) == Leaving::Asked;
            match polled {
                Poll::Ready(done) => return Ok(done),
                Poll::Pending if !is_asked => return Err(Place::Here(work)),
                Poll::Pending => {}
            }
        }
        let signal = Arc::new(Signal {
            is_woken: AtomicBool::new(false),
            waker: Mutex::new(task.waker().clone()),
        });
        let (waker, call) = (Waker::from(Arc::clone(&signal)), Engine::call_of_this());
        let aside = spawn_blocking(move || {
            let mut task = Context::from_waker(&waker);
            let polled = Engine::of_call(call, || work.as_mut().poll(&mut task));
            (work, polled)
        });
        Err(Place::Aside(aside, signal))
    }
}

impl<T: Send + 'static> Future for Work<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        loop {
            let work = match &mut self.place {
                Place::Here(_) => match mem::replace(&mut self.place, Place::Over) {
                    Place::Here(work) => work,
                    Place::Aside(..) | Place::Over => unreachable!("it is here"),
                },
                Place::Aside(aside, signal) => {
                    signal.wakes(task.waker());
                    let (work, polled) = match ready!(Pin::new(aside).poll(task)) {
                        Ok(done) => done,
                        Err(failed) if failed.is_panic() => resume_unwind(failed.into_panic()),
                        // The runtime ends, and with it all that it has begun.
                        Err(_) => return Poll::Pending,
                    };
                    let is_woken = signal.is_woken.load(Ordering::Acquire);
                    match polled {
                        Poll::Ready(done) => {
                            self.place = Place::Over;
                            return Poll::Ready(done);
                        }
                        Poll::Pending if is_woken => work,
                        Poll::Pending => {
                            self.place = Place::Here(work);
                            return Poll::Pending;
                        }
                    }
                }
                Place::Over => unreachable!("a future is polled until it is done"),
            };
            match self.go_on(work, task) {
                Ok(done) => return Poll::Ready(done),
                Err(place @ Place::Aside(..)) => self.place = place,
                Err(place) => {
                    self.place = place;
                    return Poll::Pending;
                }
            }
        }
    }
}

/// Passes wakes on to the task that waits for the work, and remembers them.
struct Signal {
    is_woken: AtomicBool,
    waker: Mutex<Waker>,
}

impl Signal {
    /// Wakes this task from now on.
    fn wakes(&self, waker: &Waker) {
        self.waker.lock().clone_from(waker);
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.waker.lock().wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::{Pin, Place, Poll, SERVES, Work, leave, poll_fn};

    fn here() -> ThreadId {
        thread::current().id()
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
            let mut work = Work::new(async move {
                let before = here();
                leave().await;
                let after = here();
                receiver.await.expect("somebody sends");
                [before, after, here()]
            });
            let done = tokio::spawn(async move {
                poll_fn(|task| {
                    let polled = Pin::new(&mut work).poll(task);
                    assert!(polled.is_pending(), "nobody has sent");
                    match work.place {
                        Place::Here(_) => Poll::Ready(()),
                        Place::Aside(..) | Place::Over => Poll::Pending,
                    }
                })
                .await;
                sender.send(()).expect("somebody listens");
                work.await
            });
            let [before, after, behind_the_wait] = done.await.expect("no panic");
            assert_eq!([before, behind_the_wait], [here(), here()]);
            assert_ne!(after, here());
        });
    }

    #[test]
    fn long_work_never_runs_here() {
        serving(async {
            let (sender, receiver) = oneshot::channel();
            let work = Work::long(async move {
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
        for work in [Work::new, Work::long] {
            let done = work(async {
                leave().await;
                here()
            });
            assert_eq!(done.await, here());
        }
    }

    #[test]
    fn a_panic_is_that_of_the_caller() {
        serving(async {
            let work = Work::<()>::long(async { panic!("a bug of ours") });
            let ended = tokio::spawn(work).await;
            assert!(ended.is_err_and(|error| error.is_panic()));
        });
    }
}
