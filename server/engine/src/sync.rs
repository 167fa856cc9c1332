//! Waiting for what others do, on any runtime or none.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// Something that one task waits for. It is remembered until that task asks.
#[derive(Debug, Default)]
pub struct Signal {
    is_set: AtomicBool,
    waiting: Mutex<Option<Waker>>,
}

impl Signal {
    /// Lets the task go on that waits, or that waits next.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        let waiting = self.waiting.lock().take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    /// Waits until it is set, and clears it. One task waits at a time.
    pub async fn wait(&self) {
        poll_fn(|task| {
            if self.is_set.swap(false, Ordering::Acquire) {
                return Poll::Ready(());
            }
            *self.waiting.lock() = Some(task.waker().clone());
            // It may have been set in between.
            if self.is_set.swap(false, Ordering::Acquire) {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Something that any number of tasks wait for, and that happens again and again.
#[derive(Debug, Default)]
pub struct Event {
    /// How often it has happened.
    happened: AtomicU64,
    waiting: Mutex<Waiting>,
}

/// The wakers of the tasks that wait, by number. There may be a task for each connection, so none is searched for.
#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Event {
    /// Lets everybody go on who waits.
    pub fn notify(&self) {
        let mut waiting = self.waiting.lock();
        // Counted under the lock: only wakers of those are taken for whom it has happened.
        self.happened.fetch_add(1, Ordering::AcqRel);
        let wakers = mem::take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Returns how often it has happened.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.happened.load(Ordering::Acquire)
    }

    /// Waits until it happens, from this call on: also if that is before the future is polled.
    pub fn next(&self) -> Next<'_> {
        Next {
            event: self,
            seen: self.count(),
            waits: None,
        }
    }
}

/// The next time that an [`Event`] happens.
#[derive(Debug)]
pub struct Next<'a> {
    event: &'a Event,
    seen: u64,
    /// While it waits: its number in [`Waiting`], and its waker.
    waits: Option<(u64, Waker)>,
}

impl Next<'_> {
    /// Returns how often it had happened before.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether it has happened since it is waited for.
    #[must_use]
    pub fn has_happened(&self) -> bool {
        self.event.count() != self.seen
    }
}

impl Future for Next<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.has_happened() {
            return Poll::Ready(());
        }
        // A busy connection asks at every step, and need not wait for others who ask.
        let waits = self.waits.as_ref();
        if waits.is_some_and(|(_, waker)| waker.will_wake(task.waker())) {
            return Poll::Pending;
        }
        let mut waiting = self.event.waiting.lock();
        // Looked at again under the lock, under which it is counted.
        if self.has_happened() {
            return Poll::Ready(());
        }
        let number = self.waits.as_ref().map(|(number, _)| *number);
        let number = number.unwrap_or_else(|| {
            waiting.last += 1;
            waiting.last
        });
        waiting.wakers.insert(number, task.waker().clone());
        drop(waiting);
        self.waits = Some((number, task.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Next<'_> {
    fn drop(&mut self) {
        if let Some((number, _)) = self.waits {
            self.event.waiting.lock().wakers.remove(&number);
        }
    }
}

/// Returns what is ready first; `first` where both are.
pub async fn either<T>(first: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut first, mut other) = (pin!(first), pin!(other));
    poll_fn(|task| match first.as_mut().poll(task) {
        Poll::Pending => other.as_mut().poll(task),
        ready @ Poll::Ready(_) => ready,
    })
    .await
}

/// Lets other tasks go on once.
pub async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|task| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::task::{Context, Wake, Waker};
    use std::thread;

    use super::{Event, Signal, either};

    fn is_ready(future: &mut std::pin::Pin<&mut impl Future<Output = ()>>) -> bool {
        let task = &mut Context::from_waker(Waker::noop());
        future.as_mut().poll(task).is_ready()
    }

    #[test]
    fn a_signal_is_remembered_once() {
        let signal = Signal::default();
        signal.set();
        signal.set();
        assert!(is_ready(&mut pin!(signal.wait())));
        let mut next = pin!(signal.wait());
        assert!(!is_ready(&mut next));
        signal.set();
        assert!(is_ready(&mut next));
    }

    #[test]
    fn an_event_reaches_those_who_wait_and_nobody_later() {
        let event = Event::default();
        let (mut early, mut dropped) = (pin!(event.next()), Box::pin(event.next()));
        assert!(!is_ready(&mut dropped.as_mut()));
        drop(dropped);
        assert!(event.waiting.lock().wakers.is_empty());
        event.notify();
        assert!(is_ready(&mut early), "it was made before");
        assert!(!is_ready(&mut pin!(event.next())));
    }

    #[test]
    fn a_wait_that_moves_to_another_task_wakes_that_one() {
        let event = Event::default();
        let woken = Arc::new(AtomicU64::new(0));
        let mut next = pin!(event.next());
        assert!(!is_ready(&mut next));
        let waker = Waker::from(Arc::new(Count(Arc::clone(&woken))));
        let task = &mut Context::from_waker(&waker);
        assert!(next.as_mut().poll(task).is_pending());
        assert!(next.as_mut().poll(task).is_pending());
        event.notify();
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        assert!(next.as_mut().poll(task).is_ready());
    }

    /// Otherwise its next poll would take it for registered, and the next event would pass it by.
    #[test]
    fn who_is_woken_finds_that_it_happened() {
        let event = Event::default();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    event.notify();
                }
            });
            let missed = (0..100_000).position(|_| {
                let woken = Arc::new(AtomicU64::new(0));
                let waker = Waker::from(Arc::new(Count(Arc::clone(&woken))));
                let task = &mut Context::from_waker(&waker);
                let mut next = pin!(event.next());
                if next.as_mut().poll(task).is_ready() {
                    return false;
                }
                while woken.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                next.as_mut().poll(task).is_pending()
            });
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(missed, None);
        });
    }

    /// Counts its wakes.
    struct Count(Arc<AtomicU64>);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Release);
        }
    }

    #[test]
    fn the_first_of_two_wins() {
        let both = either(async { 1 }, async { 2 });
        let task = &mut Context::from_waker(Waker::noop());
        assert!(pin!(both).poll(task) == std::task::Poll::Ready(1));
    }
}
