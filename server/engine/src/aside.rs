//! Long work beside the thread that serves. One thread serves many connections, one request after the other, so a request
//! that turns out to be long goes on on another thread, and nobody waits for it.
//!
//! Whether it does follows from what a request is about to do, not from the time that it takes: from the rows that a read
//! goes through, from the bytes of a body. A short request stays where it is and pays nothing.

use std::any::Any;
use std::cell::Cell;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use crate::engine::Engine;
use crate::host::{Boxed, Host};
use crate::sync::Signal;

/// The most rows that the thread that serves goes through, shows or frees at once: some milliseconds of work.
pub const MANY_ROWS: usize = 2048;
/// The longest text that it decodes or compresses at once.
pub const MANY_BYTES: usize = 128 * 1024;

thread_local! {
    /// Whether what this thread does can go on on another one.
    static LEAVING: Cell<Leaving> = const { Cell::new(Leaving::Impossible) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Impossible,
    Possible,
    Asked,
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

/// Frees what has so many rows, on another thread if they are many.
pub fn free<T: Send + 'static>(host: &Arc<dyn Host>, rows: usize, freed: T) {
    if rows > MANY_ROWS {
        host.spawn(Box::new(move || drop(freed)));
    }
}

/// A future that can go on on another thread.
pub struct Work<T> {
    host: Arc<dyn Host>,
    place: Place<T>,
    is_long: bool,
}

enum Place<T> {
    Here(Boxed<T>),
    /// On another thread, until it is done or waits.
    Aside(Arc<Aside<T>>),
    Over,
}

/// What another thread has come to; the panic with which it ended.
type Came<T> = Result<(Boxed<T>, Poll<T>), Box<dyn Any + Send>>;

impl<T: Send + 'static> Work<T> {
    /// Returns work that leaves this thread where it asks for that; if it `is_long`, no part of it is done on a thread that
    /// serves.
    pub fn new(host: &Arc<dyn Host>, work: Boxed<T>, is_long: bool) -> Self {
        Self {
            host: Arc::clone(host),
            place: Place::Here(work),
            is_long,
        }
    }

    /// Does the next part of the work. Returns the result, or the place of the work.
    fn go_on(&self, mut work: Boxed<T>, task: &mut Context<'_>) -> Result<T, Place<T>> {
        let may_leave = self.host.serves_here();
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
        let aside = Arc::new(Aside {
            came: Mutex::new(None),
            is_woken: AtomicBool::new(false),
            waker: Mutex::new(task.waker().clone()),
        });
        let (done, call) = (Arc::clone(&aside), Engine::call_of_this());
        self.host.spawn(Box::new(move || {
            let waker = Waker::from(Arc::clone(&done));
            let mut task = Context::from_waker(&waker);
            let polled = catch_unwind(AssertUnwindSafe(|| {
                let polled = Engine::of_call(call, || work.as_mut().poll(&mut task));
                (work, polled)
            }));
            *done.came.lock() = Some(polled);
            done.waker.lock().wake_by_ref();
        }));
        Err(Place::Aside(aside))
    }
}

impl<T: Send + 'static> Future for Work<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        loop {
            let work = match mem::replace(&mut self.place, Place::Over) {
                Place::Here(work) => work,
                Place::Aside(aside) => {
                    aside.waker.lock().clone_from(task.waker());
                    let came = aside.came.lock().take();
                    match came {
                        None => {
                            self.place = Place::Aside(aside);
                            return Poll::Pending;
                        }
                        Some(Err(panic)) => resume_unwind(panic),
                        Some(Ok((_, Poll::Ready(done)))) => return Poll::Ready(done),
                        Some(Ok((work, Poll::Pending))) => {
                            if !aside.is_woken.load(Ordering::Acquire) {
                                self.place = Place::Here(work);
                                return Poll::Pending;
                            }
                            work
                        }
                    }
                }
                Place::Over => unreachable!("a future is polled until it is done"),
            };
            match self.go_on(work, task) {
                Ok(done) => return Poll::Ready(done),
                Err(place @ Place::Aside(_)) => self.place = place,
                Err(place) => {
                    self.place = place;
                    return Poll::Pending;
                }
            }
        }
    }
}

/// Does work on another thread if there are any. It goes on when the caller is gone.
///
/// # Errors
/// The panic with which the work ended.
pub async fn elsewhere<T: Send + 'static>(
    host: &Arc<dyn Host>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Box<dyn Any + Send>> {
    let done = Arc::new((Mutex::new(None), Signal::default()));
    let doing = Arc::clone(&done);
    host.spawn(Box::new(move || {
        *doing.0.lock() = Some(catch_unwind(AssertUnwindSafe(work)));
        doing.1.set();
    }));
    done.1.wait().await;
    let came = done.0.lock().take();
    came.expect("it is there before the signal is set")
}

/// Work on another thread. It passes wakes on to the task that waits for it, and remembers them.
struct Aside<T> {
    came: Mutex<Option<Came<T>>>,
    is_woken: AtomicBool,
    waker: Mutex<Waker>,
}

impl<T: Send + 'static> Wake for Aside<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.waker.lock().wake_by_ref();
    }
}
