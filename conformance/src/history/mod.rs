//! Histories: what several clients asked at the same time and what they were told, and whether any order explains it.
//!
//! [`register`] is what one key is allowed to do, step by step; [`History::is_linearizable`] looks for an order of all calls, each
//! somewhere between its start and its end, in which the key could have given these answers. [`lock`] looks at who held a lock when.
//! Both only judge; the cases of `cases/concurrent/` make the histories.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::time::Stopwatch;

pub mod chance;
pub mod lock;
pub mod register;

/// What happened at one end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What<Op, Ret> {
    /// The client is about to ask.
    Asked(Op),
    /// The client was told.
    WakeSignal(Ret),
}

/// One end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<Op, Ret> {
    /// Whose call; one client makes one call at a time.
    pub client: usize,
    /// Time since the history began.
    pub at: Duration,
    /// What happened.
    pub what: What<Op, Ret>,
}

/// All events, in the order in which they happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History<Op, Ret>(pub Vec<Event<Op, Ret>>);

impl<Op, Ret> History<Op, Ret>
where
    Op: Clone + fmt::Debug,
    Ret: Clone + fmt::Debug + PartialEq,
{
    /// Whether the calls can be put into an order that keeps them between their start and end, and in which `object` gives these
    /// answers.
    ///
    /// The search tries orders until one fits: keep histories short where many clients ask at once (a handful of clients with a
    /// handful of calls each).
    ///
    /// # Panics
    /// When a client asks before it was told, or is told without having asked: that is no history.
    #[must_use]
    pub fn is_linearizable<Object>(&self, object: Object) -> bool
    where
        Object: SequentialSpec<Op = Op, Ret = Ret> + Clone,
    {
        let mut tester = LinearizabilityTester::new(object);
        for event in &self.0 {
            let added = match event.what.clone() {
                What::Asked(operation) => tester.on_invoke(event.client, operation).map(drop),
                What::WakeSignal(told) => tester.on_return(event.client, told).map(drop),
            };
            added.expect("a client makes one call at a time");
        }
        tester.is_consistent()
    }
}

impl<Op: fmt::Debug, Ret: fmt::Debug> fmt::Display for History<Op, Ret> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.0 {
            let (client, at) = (event.client, event.at);
            match &event.what {
                What::Asked(operation) => {
                    writeln!(formatter, "{at:>9.1?} client {client}: {operation:?}")?;
                }
                What::WakeSignal(told) => {
                    writeln!(formatter, "{at:>9.1?} client {client}:     -> {told:?}")?;
                }
            }
        }
        Ok(())
    }
}

/// A history that is being made, by several threads at once.
#[derive(Debug)]
pub struct Recording<Op, Ret> {
    watch: Stopwatch,
    events: Mutex<Vec<Event<Op, Ret>>>,
}

impl<Op: Clone, Ret: Clone> Default for Recording<Op, Ret> {
    fn default() -> Self {
        Self::start()
    }
}

impl<Op: Clone, Ret: Clone> Recording<Op, Ret> {
    /// Begins a history.
    #[must_use]
    pub fn start() -> Self {
        Self {
            watch: Stopwatch::start(),
            events: Mutex::new(Vec::new()),
        }
    }

    /// Makes a call: `ask` does what `operation` says and gives what it was told.
    pub fn call(&self, client: usize, operation: Op, ask: impl FnOnce() -> Ret) -> Ret {
        self.happens(client, What::Asked(operation));
        let told = ask();
        self.happens(client, What::WakeSignal(told.clone()));
        told
    }

    fn happens(&self, client: usize, what: What<Op, Ret>) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that the order of the events is that of their times.
        let at = self.watch.elapsed();
        events.push(Event { client, at, what });
    }

    /// Ends it.
    #[must_use]
    pub fn end(self) -> History<Op, Ret> {
        History(
            self.events
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}
