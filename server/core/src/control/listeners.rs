//! Opens and closes the listeners of a server, for restarts and outages.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::Controls;
use proconsul_engine::clock::Patience;
use proconsul_engine::host::Host;
use proconsul_engine::sync::{Event, either};

/// How long the sockets may take to close or listen again, in the machine's time.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Whether the sockets of a server should listen, and whether they do.
#[derive(Debug)]
pub struct Listeners {
    is_wanted: AtomicBool,
    wanted: Event,
    standing: Mutex<Standing>,
    changed: Event,
}

#[derive(Debug, Default)]
struct Standing {
    /// How many sockets there are.
    sockets: usize,
    /// How many of them do not listen.
    closed: usize,
    /// Why one of them could not listen again.
    failure: Option<String>,
    /// Whether they should open as soon as they have closed: the call that closed them was given up.
    reopen: bool,
}

impl Default for Listeners {
    fn default() -> Self {
        Self {
            is_wanted: AtomicBool::new(true),
            wanted: Event::default(),
            standing: Mutex::default(),
            changed: Event::default(),
        }
    }
}

impl Listeners {
    /// Announces a socket that follows these listeners.
    pub fn add_socket(&self) {
        self.standing.lock().sockets += 1;
    }

    /// Waits until the listeners should be open, or closed, as `open` says.
    pub async fn are(&self, open: bool) {
        loop {
            let wanted = self.wanted.next();
            if self.is_wanted() == open {
                return;
            }
            wanted.await;
        }
    }

    /// Notes that a socket has stopped listening.
    pub fn has_closed(&self) {
        let mut standing = self.standing.lock();
        standing.closed += 1;
        if standing.reopen && standing.closed == standing.sockets {
            standing.reopen = false;
            self.want(true);
        }
        drop(standing);
        self.changed.notify();
    }

    /// Notes that a socket listens again, or why it cannot.
    pub fn has_opened(&self, address: SocketAddr, opened: Result<(), std::io::Error>) {
        let mut standing = self.standing.lock();
        standing.closed -= 1;
        standing.failure = opened.err().map(|error| format!("{address}: {error}"));
        drop(standing);
        self.changed.notify();
    }

    /// Returns whether the sockets should listen.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }

    /// Closes the sockets, which follow on their own.
    pub(crate) fn close(&self) {
        self.want(false);
    }

    fn want(&self, open: bool) {
        self.is_wanted.store(open, Ordering::Release);
        self.wanted.notify();
    }

    /// Closes or opens the listeners, and waits until all sockets have followed. An earlier change is completed first: a
    /// socket that is about to close looks like an open one.
    async fn set(&self, host: &Arc<dyn Host>, open: bool) -> Result<(), ListenerError> {
        self.followed(host).await?;
        self.want(open);
        self.followed(host).await
    }

    /// Waits until all sockets are as wanted.
    async fn followed(&self, host: &Arc<dyn Host>) -> Result<(), ListenerError> {
        let patience = Patience::new(host, AT_ONCE);
        let mut over = patience.over();
        loop {
            let changed = self.changed.next();
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            if patience.left().is_zero() {
                return Err(ListenerError(
                    "the sockets did not follow in time".to_owned(),
                ));
            }
            either(changed, &mut over).await;
        }
    }

    /// Returns the outcome of closing or opening; `None` while some sockets have not followed.
    fn outcome(&self) -> Option<Result<(), ListenerError>> {
        let mut standing = self.standing.lock();
        if let Some(failure) = standing.failure.take() {
            return Some(Err(ListenerError(failure)));
        }
        let open = self.is_wanted();
        let closed = if open { 0 } else { standing.sockets };
        (standing.closed == closed && !standing.reopen).then_some(Ok(()))
    }

    /// Opens the sockets, once those that are closing have closed.
    fn reopen(&self) {
        let mut standing = self.standing.lock();
        if standing.closed == standing.sockets {
            self.want(true);
        } else if !self.is_wanted() {
            standing.reopen = true;
        }
    }
}

/// A socket could not be closed or opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerError(String);

impl std::fmt::Display for ListenerError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ListenerError {}

/// Opens the listeners when dropped: a restart that fails or is given up must not leave a server that refuses connections.
struct Reopening<'a>(&'a Listeners);

impl Drop for Reopening<'_> {
    fn drop(&mut self) {
        self.0.reopen();
    }
}

/// What a restart leaves of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restart {
    /// Everything that Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are
    /// forgotten (session.md 3.3, 3.4).
    KeepState,
    /// Nothing, as of `consul agent -dev`.
    WipeState,
}

/// # Connections
impl Controls {
    /// Does what `Server::refuse_connections` does without holding a thread.
    ///
    /// # Errors
    /// As `Server::refuse_connections`.
    pub async fn refuse_connections_async(&self) -> Result<(), ListenerError> {
        self.note("connections refused");
        self.set_doors(false).await
    }

    /// Does what `Server::accept_connections` does without holding a thread.
    ///
    /// # Errors
    /// As `Server::accept_connections`.
    pub async fn accept_connections_async(&self) -> Result<(), ListenerError> {
        self.note("connections accepted");
        self.set_doors(true).await
    }

    /// Does what `Server::restart` does without holding a thread. Dropping the future lets the server take
    /// connections again, whether it has been restarted by then or not.
    ///
    /// # Errors
    /// As `Server::accept_connections`.
    pub async fn restart_async(&self, restart: Restart) -> Result<(), ListenerError> {
        let _reopening = self.listeners.iter().map(Reopening).collect::<Vec<_>>();
        self.refuse_connections_async().await?;
        match restart {
            Restart::KeepState => self.engine.restart(None),
            Restart::WipeState => self.engine.restart(Some(&self.initial)),
        }
        self.accept_connections_async().await
    }

    async fn set_doors(&self, open: bool) -> Result<(), ListenerError> {
        for agent in 0..self.listeners.len() {
            self.open(agent, open).await?;
        }
        Ok(())
    }

    /// Opens or closes the listeners of an agent.
    pub(super) async fn open(&self, agent: usize, open: bool) -> Result<(), ListenerError> {
        let stopped = async {
            self.engine.closed().await;
            Err(ListenerError("the server has stopped".to_owned()))
        };
        let listeners = &self.listeners[agent];
        either(stopped, listeners.set(self.engine.host(), open)).await
    }

    /// Returns the listeners of an agent, for its listening sockets.
    pub fn listeners(&self, agent: usize) -> &Listeners {
        &self.listeners[agent]
    }
}
