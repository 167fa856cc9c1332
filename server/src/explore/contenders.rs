//! Contenders as tasks of the simulation's runtime.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::io::{DuplexStream, duplex};
use tokio::task::AbortHandle;

use crate::in_runtime::RuntimeServer;
use proconsul_explore as explore;
use proconsul_explore::Schedule;

/// The bytes that a connection holds in each direction.
const DUPLEX_BYTES: usize = 64 * 1024;

/// One contender of a run: its way to the server, and to say what it believes.
#[derive(Clone)]
pub struct Contender {
    name: explore::Contender,
    /// The number of the agent that it uses.
    agent: usize,
    server: Arc<RuntimeServer>,
    state: Arc<State>,
    /// Which start of the contender this is.
    start: u64,
    has_beliefs: Arc<AtomicBool>,
}

impl fmt::Debug for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Contender({})", self.name)
    }
}

/// What the schedule does to a contender.
#[derive(Default)]
struct State {
    starts: AtomicU64,
    paused: AtomicBool,
    wants_start: AtomicBool,
    waker: Mutex<Option<Waker>>,
    running: Mutex<Option<AbortHandle>>,
}

impl Contender {
    /// Returns its name: `a`, `b` and so on.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// Returns its number, counted from 0.
    #[must_use]
    pub fn number(&self) -> usize {
        self.name.index()
    }

    /// Returns the client's end of a new connection to the server.
    ///
    /// # Errors
    /// The contender has been restarted, and this is what is left of an earlier start.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        if self.is_over() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (client, own) = duplex(DUPLEX_BYTES);
        let peer = Some(self.name.address());
        self.server.serve_connection_to(self.agent, own, peer);
        Ok(client)
    }

    /// Says that the contender believes from now on that it holds the lock, with this fencing token if it has one.
    pub fn holds(&self, token: Option<u64>) {
        let token = token.map(|token| token.to_string());
        self.note(true, token.as_deref());
    }

    /// Says that the contender no longer believes that it holds the lock.
    pub fn lost(&self) {
        self.note(false, None);
    }

    fn note(&self, holds: bool, token: Option<&str>) {
        self.has_beliefs.store(true, Ordering::Relaxed);
        if !self.is_over() {
            self.server.note_belief(&self.name(), holds, token);
        }
    }

    fn is_over(&self) -> bool {
        self.state.starts.load(Ordering::Relaxed) != self.start
    }
}

/// The contenders of a run.
pub(super) struct Tasks {
    schedule: Schedule,
    server: Arc<RuntimeServer>,
    states: Vec<Arc<State>>,
    has_beliefs: Arc<AtomicBool>,
}

impl Tasks {
    pub(super) fn new(server: &Arc<RuntimeServer>, schedule: &Schedule) -> Self {
        Self {
            schedule: schedule.clone(),
            server: Arc::clone(server),
            states: (0..schedule.contenders).map(|_| Arc::default()).collect(),
            has_beliefs: Arc::default(),
        }
    }

    /// Returns whether a contender has said what it believes.
    pub(super) fn has_beliefs(&self) -> bool {
        self.has_beliefs.load(Ordering::Relaxed)
    }

    /// Starts a contender.
    pub(super) fn start<F>(&self, number: u8, contender: &impl Fn(Contender) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = explore::Contender(number);
        let state = &self.states[name.index()];
        let start = state.starts.fetch_add(1, Ordering::Relaxed) + 1;
        let made = contender(Contender {
            name,
            agent: self.schedule.agent(name),
            server: Arc::clone(&self.server),
            state: Arc::clone(state),
            start,
            has_beliefs: Arc::clone(&self.has_beliefs),
        });
        let server = Arc::clone(&self.server);
        let ends = async move {
            made.await;
            server.note(&format!("{name} ended by itself: its future is over"));
        };
        let running = tokio::spawn(Pausable {
            inner: Box::pin(ends),
            state: Arc::clone(state),
        });
        *state.running.lock() = Some(running.abort_handle());
    }

    /// Starts the contenders that the schedule starts anew.
    pub(super) fn restart<F>(&self, contender: &impl Fn(Contender) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        for (number, state) in (0..).zip(&self.states) {
            if state.wants_start.swap(false, Ordering::Relaxed) {
                self.start(number, contender);
            }
        }
    }
}

impl explore::Contenders for Tasks {
    fn pause(&self, contender: explore::Contender, paused: bool) {
        let state = &self.states[contender.index()];
        state.paused.store(paused, Ordering::Relaxed);
        let waker = state.waker.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }

    fn run(&self, contender: explore::Contender, runs: bool) {
        let state = &self.states[contender.index()];
        if runs {
            state.wants_start.store(true, Ordering::Relaxed);
            return;
        }
        state.starts.fetch_add(1, Ordering::Relaxed);
        let running = state.running.lock().take();
        running.into_iter().for_each(|running| running.abort());
    }
}

/// A contender that stands still while the schedule pauses it.
struct Pausable {
    inner: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: Arc<State>,
}

impl Future for Pausable {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.state.paused.load(Ordering::Relaxed) {
            *self.state.waker.lock() = Some(task.waker().clone());
            return Poll::Pending;
        }
        self.inner.as_mut().poll(task)
    }
}
