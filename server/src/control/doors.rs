//! The doors of a server: whether it can be connected to at all.

use std::net::SocketAddr;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::Control;
use crate::clock::Patience;

/// How long the sockets may take to close or to listen again, in the machine's time.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Whether the sockets of a server are to listen, and whether they do.
#[derive(Debug)]
pub(crate) struct Doors {
    wanted: watch::Sender<bool>,
    standing: Mutex<Standing>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Standing {
    /// How many sockets there are.
    sockets: usize,
    /// How many of them do not listen.
    closed: usize,
    /// Why one of them cannot listen again.
    failure: Option<String>,
}

impl Default for Doors {
    fn default() -> Self {
        Self {
            wanted: watch::Sender::new(true),
            standing: Mutex::default(),
            changed: Condvar::new(),
        }
    }
}

impl Doors {
    /// Announces a socket that follows these doors.
    pub(crate) fn add_socket(&self) {
        self.standing.lock().sockets += 1;
    }

    /// Until the doors are closed, or open, as `open` says.
    pub(crate) async fn are(&self, open: bool) {
        let mut wanted = self.wanted.subscribe();
        if wanted.wait_for(|wanted| *wanted == open).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// A socket does not listen any more.
    pub(crate) fn has_closed(&self) {
        self.standing.lock().closed += 1;
        self.changed.notify_all();
    }

    /// A socket listens again, or says why it cannot.
    pub(crate) fn has_opened(&self, address: SocketAddr, opened: Result<(), std::io::Error>) {
        let mut standing = self.standing.lock();
        standing.closed -= 1;
        standing.failure = opened.err().map(|error| format!("{address}: {error}"));
        drop(standing);
        self.changed.notify_all();
    }

    fn set(&self, open: bool) -> Result<(), DoorError> {
        self.wanted.send_replace(open);
        let patience = Patience::of(AT_ONCE);
        let mut standing = self.standing.lock();
        loop {
            if let Some(failure) = standing.failure.take() {
                return Err(DoorError(failure));
            }
            let closed = if open { 0 } else { standing.sockets };
            if standing.closed == closed {
                return Ok(());
            }
            let waited = self.changed.wait_for(&mut standing, patience.left());
            if waited.timed_out() {
                return Err(DoorError("the sockets did not follow in time".to_owned()));
            }
        }
    }
}

/// A socket could not be closed or opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorError(String);

impl std::fmt::Display for DoorError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for DoorError {}

/// What a restart leaves of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Everything that Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are
    /// forgotten (session.md 3.3, 3.4).
    KeepState,
    /// Nothing, as of `consul agent -dev`.
    WipeState,
}

impl Control {
    /// Closes all connections and refuses new ones, as a server that is down does. The port stays this server's.
    ///
    /// # Errors
    /// A socket does not close.
    pub fn refuse_connections(&self) -> Result<(), DoorError> {
        self.note("connections refused");
        self.doors.set(false)
    }

    /// Takes connections again, on the same port.
    ///
    /// # Errors
    /// The port cannot be listened on any more.
    pub fn accept_connections(&self) -> Result<(), DoorError> {
        self.note("connections accepted");
        self.doors.set(true)
    }

    /// Restarts the server on the same port: connections are closed, and the state is what a restart leaves of it.
    ///
    /// # Errors
    /// As [`Control::accept_connections`].
    pub fn restart(&self, restart: Restart) -> Result<(), DoorError> {
        self.refuse_connections()?;
        match restart {
            Restart::KeepState => self.engine.restart(),
            Restart::WipeState => self.reset(),
        }
        self.accept_connections()
    }

    /// The doors, for the wire.
    pub(crate) fn doors(&self) -> &Doors {
        &self.doors
    }
}
